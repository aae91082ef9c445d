"""Evidence for or against a statement: an effect with its 95 % interval, and whether that leaves any doubt.

It holds where the whole interval is on the right side of the bound, and fails where it is on the wrong side. It is undecided
where the interval covers the bound. A statement about several comparisons has the evidence of its weakest one. It
holds only if each of them does, an intersection-union test that needs no correction for their number. It fails if one of them
does, and as one of m may do so by chance, at an m-th of the level.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..statistics import share_interval, t_quantile

TAIL = 0.025  # on each side of a 95 % interval


@dataclass(frozen=True)
class Evidence:
    """effect must be above (or below) `bound`; p is the chance of data this favourable if it just missed it.

    against: the chance of data this unfavourable if it just reached it.
    where: which comparison. p is None where the statement is about every single run, and no sampling error is left.
    holds, fails: neither where the interval covers the bound.
    """

    where: str
    effect: float
    low: float
    high: float
    bound: float
    above: bool
    p: float | None
    against: float | None
    holds: bool
    fails: bool

    @property
    def margin(self) -> float:
        """How far on the right side of the bound the effect is; negative on the wrong side."""
        return self.effect - self.bound if self.above else self.bound - self.effect


def weakest(evidence: Iterable[Evidence]) -> Evidence:
    """The evidence that decides a statement about all of them."""
    found = list(evidence)
    level = TAIL / len(found)
    evaluated = [replace(one, fails=one.fails and (one.against is None or one.against < level)) for one in found]
    return max(evaluated, key=lambda one: (one.fails, not one.holds, one.p if one.p is not None else 0.0, -one.margin))


def above(where: str, values: np.ndarray, bound: float) -> Evidence:
    """The mean of independent values (runs,) is above the bound: one-sample t-test."""
    spread = float(values.std(ddof=1)) / math.sqrt(len(values))
    return _t_evidence(where, float(values.mean()), spread, len(values) - 1, bound, is_above=True)


def below(where: str, values: np.ndarray, bound: float) -> Evidence:
    """The mean of independent values (runs,) is below the bound: one-sample t-test."""
    spread = float(values.std(ddof=1)) / math.sqrt(len(values))
    return _t_evidence(where, float(values.mean()), spread, len(values) - 1, bound, is_above=False)


def greater(where: str, one: np.ndarray, other: np.ndarray) -> Evidence:
    """The mean of `one` is greater than that of an independent `other`: Welch's t-test."""
    a, b = one.var(ddof=1) / len(one), other.var(ddof=1) / len(other)
    freedom = float((a + b) ** 2 / (a**2 / (len(one) - 1) + b**2 / (len(other) - 1))) if a + b > 0 else 1.0
    return _t_evidence(where, float(one.mean() - other.mean()), math.sqrt(a + b), freedom, 0.0, is_above=True)


def close(where: str, values: np.ndarray, target: float, margin: float) -> Evidence:
    """The mean of independent values is within `margin` of a target: two one-sided t-tests, on the worse side."""
    difference = values - target
    return weakest([above(where, difference, -margin), below(where, difference, margin)])


def share_above(where: str, hits: np.ndarray, bound: float) -> Evidence:
    """More than a share `bound` of runs does something: exact binomial test, Clopper-Pearson interval."""
    from scipy.stats import binomtest

    p, against = (binomtest(int(hits.sum()), len(hits), bound, alternative=side).pvalue for side in ("greater", "less"))
    low, high = share_interval(int(hits.sum()), len(hits))
    return Evidence(where, float(hits.mean()), low, high, bound, True, float(p), float(against), low > bound, high < bound)


def every_run_above(where: str, values: np.ndarray, bound: float) -> Evidence:
    """The smallest of all values is above the bound; the interval is the range of the values."""
    least = float(values.min())
    return Evidence(where, least, least, float(values.max()), bound, True, None, None, least > bound, least <= bound)


def _t_evidence(where: str, mean: float, error: float, freedom: float, bound: float, *, is_above: bool) -> Evidence:
    from scipy.stats import t

    margin = mean - bound if is_above else bound - mean
    p = float(t.sf(margin / error, freedom)) if error > 0.0 else float(margin <= 0)
    half = t_quantile(0.975, freedom) * error
    low, high = mean - half, mean + half
    holds, fails = (low > bound, high <= bound) if is_above else (high < bound, low >= bound)
    return Evidence(where, mean, low, high, bound, is_above, p, 1.0 - p, holds, fails)
