"""Where tables and progress bars go, and what may go there."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ..base.progress import Bar

COLUMNS_OFF_A_TERMINAL = 100


def printable(text: str) -> str:
    r"""Text from a file or folder name, safe to show: control characters, which could steer a terminal, as \x1b.

    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def wide_console() -> Console:
    """stdout, as wide as the terminal, or 100 columns in a pipe or a file."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=COLUMNS_OFF_A_TERMINAL)


def unwrapped_console() -> Console:
    """stdout, as wide as the terminal; in a pipe or a file one row stays one line, however long, for grep and awk."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=1000)


def table_of(left: Sequence[str], right: Sequence[str]) -> Table:
    """A table without lines: words of columns to the left, numbers of columns to the right."""
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in left:
        table.add_column(heading, overflow="fold")
    for heading in right:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def bar_of(total: int, label: str, *, quiet: bool) -> contextlib.AbstractContextManager[Bar | None]:
    """A progress bar on stderr until the block ends; None where it is to be quiet."""
    from ..base.progress import Bar

    return contextlib.nullcontext() if quiet else contextlib.closing(Bar(total, label))
