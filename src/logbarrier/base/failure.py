"""Exceptions: an argument of the wrong type, and user-defined code that fails while the package runs it."""

from __future__ import annotations

import traceback


class RuleError(RuntimeError):
    """A user-defined rule, problem or environment failed: it does not compile, raised an exception or returned no number."""


class WrongTypeError(TypeError):
    """An argument has the wrong type, found by a check of this package; any other TypeError is a defect."""


INVALID = (ValueError, WrongTypeError)  # an argument is wrong, in value or type


def whole_traceback(error: BaseException) -> str:
    """The traceback of an exception and of what it was raised for, such as the hundred lines that Numba writes."""
    error.__suppress_context__ = False
    return "".join(traceback.format_exception(error))
