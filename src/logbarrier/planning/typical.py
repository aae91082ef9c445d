"""What somebody who knows a problem would give to a rule: the range of the means and the noise of a reward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..bandits.problems import ProblemSource
from ..engine.random import step_uniforms, stream_key

INSTANCES, ARMS, DRAWS = 3, 12, 400  # looked at
SEED = 20_201  # no seed that anything is evaluated on


@dataclass(frozen=True)
class Typical:
    """Means lie between lowest and highest; a reward deviates from its mean by `deviation`; clicks: rewards are 0 or 1."""

    lowest: float
    highest: float
    deviation: float
    clicks: bool

    @property
    def reach(self) -> float:
        """The largest size of a mean."""
        return max(abs(self.lowest), abs(self.highest))


def typical(problem: ProblemSource) -> Typical:
    """Return what a few instances of a problem and some thousand of its rewards show; the same at every call.

    >>> import logbarrier as lb
    >>> typical(lb.BernoulliBandit([0.2, 0.8])).clicks
    True
    """
    key = stream_key(SEED)
    means, variances, kinds = [], [], set()
    for run in range(INSTANCES):
        parameters = np.array(problem.instance(key, run), dtype=np.float64)
        means += [parameters[0].min(), parameters[0].max()]
        for arm in np.unique(np.linspace(0, problem.n_arms - 1, min(ARMS, problem.n_arms)).astype(int)):
            rewards = _rewards(problem, key, run, parameters, int(arm))
            variances.append(np.mean((rewards - parameters[0, arm]) ** 2))
            kinds |= set(rewards[:50])
    clicks = kinds <= {0.0, 1.0} and float(np.max(means)) <= 1.0
    return Typical(float(min(means)), float(max(means)), float(np.sqrt(np.mean(variances))), clicks)


def _rewards(problem: ProblemSource, key: np.ndarray, run: int, parameters: np.ndarray, arm: int) -> np.ndarray:
    """Return DRAWS rewards of an arm."""
    steps = range(arm * DRAWS, (arm + 1) * DRAWS)
    noises = [problem.noise(step_uniforms(t, run, key)[1]) for t in steps]
    return np.array([problem.reward_of(u, parameters, arm, (key, t, run)) for t, u in zip(steps, noises, strict=True)])
