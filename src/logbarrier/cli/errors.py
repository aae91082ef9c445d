"""How a command ends when it cannot go on: one sentence on stderr and an exit code, never a traceback."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

import typer


@contextlib.contextmanager
def one_sentence(when_stopped: str) -> Iterator[None]:
    """What a user can cause becomes exit code 2 (wrong usage) or 130 (Ctrl-C, with what that left behind)."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write(f"logbarrier: stopped; {when_stopped}\n")
        raise typer.Exit(130) from None
    except (ValueError, KeyError, OSError, MemoryError, ArithmeticError) as error:
        message = error.args[0] if isinstance(error, KeyError) else error
        sys.stderr.write(f"logbarrier: {message}\n")
        raise typer.Exit(2) from None
