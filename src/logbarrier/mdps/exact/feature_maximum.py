"""The maximum of an objective with features, with its certificates."""

from __future__ import annotations

import math

import numpy as np

from ...base.runs import Progress, Reporter
from ..problem import FiniteMDP
from .elliptical import Elliptical
from .frank_wolfe import Iterate, PolicyIteration, frank_wolfe
from .maxima import FeatureMaximum
from .sparse_chain import SparseChains

SMALL = 1000  # states; up to here the maximum is cheap to find to many digits
EXACT, CLOSE = 1e-8, 1e-3  # tolerance for small MDPs, and for larger ones
USEFUL = 0.1  # of the bias bound: a gap above this is refused
PERCENT = 100


def feature_maximum(
    mdp: FiniteMDP, objective: Elliptical, start: np.ndarray, tolerance: float | None, progress: bool | Progress
) -> FeatureMaximum:
    """The maximum from a policy without zeros, to a gap of `tolerance` times the bias bound."""
    objective.check(mdp)
    wanted = (EXACT if mdp.n_states <= SMALL else CLOSE) if tolerance is None else tolerance
    best, count, shown, first = None, 0, 0, math.inf
    with Reporter(progress, PERCENT) as report:
        for count, stand in enumerate(frank_wolfe(mdp, objective, start), start=1):
            best = stand if best is None or stand.gap < best.gap else best
            enough = wanted * stand.ellipse.dimension
            first = min(first, max(stand.gap, 2.0 * enough)) if count > 1 else max(stand.gap, 2.0 * enough)
            done = min(PERCENT, int(PERCENT * math.log(first / max(best.gap, enough)) / math.log(first / enough)))
            report(max(done - shown, 0))
            shown = max(shown, done)
            if stand.gap <= enough:
                break
        report(PERCENT - shown)
    assert best is not None  # the first iterate is the start
    if not best.gap <= max(wanted, USEFUL) * best.ellipse.dimension:
        raise ValueError(
            f"maximise: the gap must fall below {USEFUL:g} of the bias bound, got {best.gap / best.ellipse.dimension:.1e}: "
            "some features are nearly dependent or hardly ever seen; leave them out, or use ridge="
        )
    return _summary(mdp, objective, best, count)


def _summary(mdp: FiniteMDP, objective: Elliptical, best: Iterate, iterations: int) -> FeatureMaximum:
    mu, eta = best.mixture.mu, objective.eta
    leverage = best.ellipse.leverage + np.zeros(mdp.R.shape)
    chains = SparseChains(mdp)
    _, optimal, _ = PolicyIteration(chains).optimal(mdp.R, np.zeros(mdp.n_states), 0.0)
    mu_star = chains.occupancy(optimal)[:, None] * optimal
    policy = best.mixture.policy
    reward = mdp.R + leverage / eta
    values = chains.of(policy).values((policy * reward).sum(axis=1), best.values / eta)
    coverage, bound, gap = float((mu_star * leverage).sum()), best.ellipse.dimension / eta, max(best.gap, 0.0) / eta
    performance = float((mu * mdp.R).sum())
    return FeatureMaximum(
        policy=policy,
        occupancy=mu.sum(axis=1),
        performance=performance,
        objective=performance + best.ellipse.log_det / eta,
        bias=float((mu_star * mdp.R).sum()) - performance,
        bias_bound=bound,
        certificate=bound - coverage / eta,
        gap=gap,
        coverage=coverage,
        upper_bound=performance + bound + gap,
        stationarity=float(np.abs(mu * (reward + mdp.expected_next(values) - values[:, None])).max()),
        iterations=iterations,
    )
