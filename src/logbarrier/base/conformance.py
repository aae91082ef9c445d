"""Conformance: the checks that a rule must pass, carried out one by one, whatever the rule learns from."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .failure import INVALID, RuleError

SENTENCES = (AssertionError, NotImplementedError, RuleError, *INVALID)  # their message says who and what


@dataclass(frozen=True)
class Check:
    """One check and its outcome: failure is empty if it passed."""

    name: str
    claim: str
    failure: str
    seconds: float

    def __str__(self) -> str:
        verdict = f"FAILED: {self.failure}" if self.failure else "ok"
        return f"{self.claim}: {verdict} ({self.seconds:.1f} s)"


@dataclass(frozen=True)
class Conformance:
    """The outcome of every check of a rule."""

    rule: Any
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether all of them passed."""
        return not self.failures

    @property
    def failures(self) -> list[str]:
        """A sentence for each check that failed."""
        return [check.failure for check in self.checks if check.failure]

    def __str__(self) -> str:
        return "\n".join([f"{self.rule!r}: {len(self.checks)} checks, {len(self.failures)} failed", *map(str, self.checks)])


def carry_out(
    rule: Any, checks: Iterable[Callable[..., None]], *, show: Callable[[str], object] | None, raises: bool, **options: Any
) -> Conformance:
    """Call check(rule, **options) for every check; it fails by an AssertionError, or by any other exception of the rule.

    show    is given the outcome of every check as it ends, such as print
    raises  AssertionError with the sentence of every failed check; False leaves them to `Conformance.failures`
    """
    done = []
    for check in checks:
        started, failure = time.perf_counter(), ""
        try:
            check(rule, **options)
        except SENTENCES as error:
            failure = str(error) or f"{type(rule).__name__}: {check.__name__} needs a method that is not implemented"
        except Exception as error:
            failure = f"{type(rule).__name__}: {check.__name__} ended with {type(error).__name__}: {error}"
        claim = " ".join((check.__doc__ or check.__name__).split()).rstrip(".")
        done.append(Check(check.__name__, claim, failure, time.perf_counter() - started))
        if show is not None:
            show(str(done[-1]))
    result = Conformance(rule, tuple(done))
    if raises and not result.passed:
        raise AssertionError("; ".join(dict.fromkeys(result.failures)))
    return result
