"""The exception for code of a user that fails while the package runs it."""

from __future__ import annotations


class RuleError(RuntimeError):
    """A user-defined rule, problem or environment failed: it does not compile, raised an exception or returned no number."""
