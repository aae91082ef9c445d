"""How a command ends when it cannot go on: one sentence on stderr and an exit code, never a traceback."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import typer

from ..base.failure import INVALID, RuleError, whole_traceback
from .console import printable

T = TypeVar("T")
PACKAGE = Path(__file__).parents[1]


@contextlib.contextmanager
def one_sentence(when_stopped: str, *, traceback: bool = False) -> Iterator[None]:
    """Turn errors a user can cause into one sentence: exit code 2 for a mistake, 1 for user-defined code that fails.

    Ctrl-C ends with exit code 130 and says what it left behind. traceback: print also that of user-defined code that fails.
    """
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write(f"logbarrier: stopped; {when_stopped}\n")
        raise typer.Exit(130) from None
    except BrokenPipeError:  # whoever read the output has gone: `whole_output` ends the command
        raise
    except SystemExit as error:
        if _is_ours(error):
            raise
        sys.stderr.write(f"logbarrier: user-defined code called sys.exit({error.code}), which must not end a command\n")
        raise typer.Exit(1) from None
    except RuleError as error:
        if traceback:
            sys.stderr.write(whole_traceback(error))
        sys.stderr.write(f"logbarrier: {printable(str(error))}\n")
        raise typer.Exit(1) from None
    except (*INVALID, KeyError, OSError, MemoryError, ArithmeticError) as error:  # another TypeError is a defect: a traceback
        message = error.args[0] if isinstance(error, KeyError) else error
        sys.stderr.write(f"logbarrier: {printable(str(message))}\n")
        raise typer.Exit(2) from None


def _is_ours(error: SystemExit) -> bool:
    """Whether this package called sys.exit, as the service does when it is terminated."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and Path(trace.tb_frame.f_code.co_filename).is_relative_to(PACKAGE)


def renamed(old: str, given: T | None, new: str, value: T | None) -> T | None:
    """Return the value of an option that may also be given under its former name, and say on stderr that it has another."""
    if given is None:
        return value
    if value is not None:
        raise ValueError(f"{old} is the former name of {new}: give only {new}")
    sys.stderr.write(f"logbarrier: {old} is now called {new}; the former name will be removed\n")
    return given


def check_figure(path: Path | None) -> None:
    """Refuse, before anything is computed, a figure that could not be written."""
    from ..plots.style import check_figure_name

    if path is not None:
        check_folder(check_figure_name(path))


def check_folder(path: Path) -> None:
    """Refuse a file whose folder does not exist."""
    if not path.resolve().parent.is_dir():
        raise ValueError(f"{path}: the folder {path.parent} does not exist")


@contextlib.contextmanager
def whole_output() -> Iterator[None]:
    """Flush stdout when the block ends; if that fails (a full disk), print one sentence and exit with code 1.

    A stream that is closed already, as by the shell's >&-, loses what is written to it.
    """
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _abandon_stdout()
        raise SystemExit(1) from None
    except OSError as error:
        _abandon_stdout()
        sys.stderr.write(f"logbarrier: cannot write the output: {error.strerror or error}\n")
        raise SystemExit(1) from None


def _abandon_stdout() -> None:
    """Have Python not try to flush it again when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
