"""Which arm wins: means with confidence sequences, lift, probability of being best, and one sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from ..bandits.algorithms.beta_thompson_sampling import BetaThompsonSampling
from ..bandits.algorithms.thompson_sampling import ThompsonSampling
from ..base import validate
from ..statistics import LEVEL
from .arm_statistics import ArmStatistics
from .confidence import Amounts, Clicks, evidence_of
from .vector_learner import policy_of_table

Verdict = Literal["winner", "no difference", "undecided"]


@dataclass(frozen=True)
class ArmSummary:
    """One arm.

    decisions, rewards  how many; mean: of the rewards, None without any
    low, high           its interval; all intervals of a summary hold at once and at all times with probability `level`
    lift                mean / baseline's mean - 1, with bounds from the two intervals; None where the baseline may be 0 or less
    best                the posterior probability that its mean is the largest
    """

    arm: Any
    decisions: int
    rewards: int
    mean: float | None
    low: float | None
    high: float | None
    lift: float | None
    lift_low: float | None
    lift_high: float | None
    best: float


@dataclass(frozen=True)
class Summary:
    """The arms, and the verdict in one word and in one sentence. intervals: "exact" for rewards 0 or 1, else "asymptotic"."""

    arms: tuple[ArmSummary, ...]
    baseline: Any
    level: float
    intervals: Literal["exact", "asymptotic"]
    verdict: Verdict
    leader: Any
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)


def summarise(
    names: Sequence[Any],
    seen: ArmStatistics,
    *,
    baseline: Any = None,
    difference: float | None = None,
    level: float = LEVEL,
) -> Summary:
    """Summarise the rewards of an experiment.

    baseline: the arm that lifts refer to, the first by default; difference: the largest difference that does not matter
    """
    chosen = names[0] if baseline is None else baseline
    if chosen not in names:
        raise ValueError(f"summary: baseline must be an arm, got {chosen!r}")
    if not 0 < validate.number("summary", "level", level) < 1:
        raise ValueError(f"summary: level must be between 0 and 1, got {level}")
    if difference is not None:
        validate.positive("summary", "difference", difference)
    evidence = evidence_of(seen.is_binary, seen.rewards, seen.means, seen.squares)
    log_bound = math.log(len(names) / (1 - level))
    intervals = [each.interval(log_bound) for each in evidence]
    best = _probabilities_of_being_best(evidence)
    place = list(names).index(chosen)
    arms = tuple(
        ArmSummary(
            arm=name,
            decisions=seen.decisions[i],
            rewards=seen.rewards[i],
            mean=seen.means[i] if seen.rewards[i] else None,
            low=_finite(intervals[i][0]),
            high=_finite(intervals[i][1]),
            best=float(best[i]),
            **_lift(evidence, intervals, i, place),
        )
        for i, name in enumerate(names)
    )
    verdict, leader, sentence = _verdict(names, evidence, intervals, difference, level)
    return Summary(arms, chosen, level, "exact" if seen.is_binary else "asymptotic", verdict, leader, sentence)


def _verdict(
    names: Sequence[Any],
    evidence: Any,
    intervals: Sequence[tuple[float, float]],
    difference: float | None,
    level: float,
) -> tuple[Verdict, Any, str]:
    """A winner is better than each of the K - 1 others, each with error probability (1 - level)/(K - 1)."""
    known = [i for i, each in enumerate(evidence) if each.rewards]
    if not known:
        return "undecided", None, "Undecided: there are no rewards yet."
    first = max(known, key=lambda i: evidence[i].mean)
    others = [i for i in range(len(names)) if i != first]
    leader, enough = names[first], math.log(len(others) / (1 - level))
    if all(evidence[i].rewards and evidence[first].against(evidence[i]) >= enough for i in others):
        return "winner", leader, f"{leader!r} wins: its mean reward is the largest, at level {level:g}."
    at_most = max(intervals[i][1] for i in others) - intervals[first][0]
    if not math.isfinite(at_most):
        sentence = f"Undecided: {leader!r} has the largest mean so far, with too few rewards to bound the differences."
        return "undecided", leader, sentence
    if difference is not None and at_most <= difference:
        sentence = f"No difference larger than {difference:g}: no arm is better than {leader!r} by more than {at_most:.3g}."
        return "no difference", leader, sentence
    return "undecided", leader, f"Undecided: {leader!r} leads, and no other arm is better by more than {at_most:.3g}."


def _lift(evidence: Any, intervals: Sequence[tuple[float, float]], arm: int, baseline: int) -> dict[str, float | None]:
    """The mean over the baseline's, less 1."""
    nothing: dict[str, float | None] = {"lift": None, "lift_low": None, "lift_high": None}
    if arm == baseline or not (evidence[arm].rewards and evidence[baseline].rewards) or evidence[baseline].mean <= 0:
        return nothing
    (low, high), (base_low, base_high) = intervals[arm], intervals[baseline]
    lift = evidence[arm].mean / evidence[baseline].mean - 1
    if base_low <= 0:
        smallest = low / base_high - 1 if low >= 0 else -math.inf
        return {"lift": lift, "lift_low": _finite(smallest), "lift_high": None}
    smallest = low / (base_high if low >= 0 else base_low) - 1
    largest = high / (base_low if high >= 0 else base_high) - 1
    return {"lift": lift, "lift_low": _finite(smallest), "lift_high": _finite(largest)}


def _probabilities_of_being_best(evidence: list[Clicks] | list[Amounts]) -> np.ndarray:
    """Posterior probabilities (K,): beta posteriors of a uniform prior for clicks, else normal ones around the means.

    An arm without rewards counts as one reward at the mean of all.
    """
    counts = np.array([each.rewards for each in evidence], dtype=np.float64)
    means = np.array([each.mean for each in evidence])
    if not counts.any():
        return np.full(len(counts), 1 / len(counts))
    if isinstance(evidence[0], Clicks):
        return policy_of_table(BetaThompsonSampling(), np.array([counts * means, counts]))
    variances = np.array([each.variance for each in evidence if isinstance(each, Amounts)])
    if not variances.any():
        return np.asarray((means == means.max()) / (means == means.max()).sum())
    centres = np.where(counts > 0, means, counts @ means / counts.sum())
    deviations = np.sqrt(np.maximum(variances, 1e-12 * variances.max()) / np.maximum(counts, 1))
    return policy_of_table(ThompsonSampling(), np.array([centres, counts, deviations]))


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
