"""Exceptions: an argument of the wrong type, and user-defined code that fails while the package runs it."""

from __future__ import annotations


class RuleError(RuntimeError):
    """A user-defined rule, problem or environment failed: it does not compile, raised an exception or returned no number."""


class WrongTypeError(TypeError):
    """An argument has the wrong type, found by a check of this package; any other TypeError is a defect."""


INVALID = (ValueError, WrongTypeError)  # an argument is wrong, in value or type
