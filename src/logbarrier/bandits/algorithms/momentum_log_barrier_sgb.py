"""Log-barrier policy gradient with variance-reduced momentum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import Positive
from ...engine.compiled import compiled
from ...engine.elementary import exp, log
from ..loops.policy import within_reach
from .rule import policy_gradient
from .vector_rule import VectorRule


@compiled
def step_size(t, step, offset):
    """step / (offset + t)^(1/3)."""
    return step * exp(-log(offset + t) / 3.0)


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """u <- g + (1 - beta)(u - g'), theta += step_t u; g and g' are the sampled gradients at this and the last policy."""
    weight, step, offset, decay = hyper
    theta, momentum, previous = vectors
    n_arms = theta.shape[0]
    carried = 0.0 if t == 1 else 1.0 - min(1.0, decay * step_size(t - 1, step, offset) ** 2)
    earlier = within_reach(previous[arm] / probability * reward)  # the reward, weighted to be one of the last policy
    for a in range(n_arms):
        hit = 1.0 if a == arm else 0.0
        now = reward * (hit - policy[a]) + weight * (1.0 / n_arms - policy[a])
        then = earlier * (hit - previous[a]) + weight * (1.0 / n_arms - previous[a])
        momentum[a] = within_reach(now + carried * (momentum[a] - then))
        theta[a] += within_reach(step_size(t, step, offset) * momentum[a])
        previous[a] = policy[a]
    return True


@dataclass(frozen=True, kw_only=True)
class MomentumLogBarrierSGB(VectorRule):
    """Log-barrier policy gradient with momentum (Ding, Zhang and Lavaei 2022, after STORM, in bandit form as we read it).

        g  = R (e_a - p) + (weight/K)(1 - K p)
        g' = (p'(a)/p(a)) R (e_a - p') + (weight/K)(1 - K p'),       p' the policy before p
        u <- g + (1 - beta_t)(u - g'),   theta <- theta + step_t u
        step_t = step / (offset + t)^(1/3),   beta_t = min(1, decay step_{t-1}^2)

    and u = g at the first pull. With late rewards p' is the policy of the reward before.

    weight > 0: the barrier's, K/eta of `LogBarrierSGB`. step, offset, decay: theirs depend on
    smoothness constants that nobody knows; the defaults are ours.
    """

    name = "momentum-log-barrier-sgb"
    place = "Table 2, Ding et al. 2022"
    rows = ("theta", "momentum", "previous policy")
    never_negative = ("previous policy",)
    learn = staticmethod(learn)

    weight: Positive
    step: Positive = 0.5
    offset: Positive = 8.0
    decay: Positive = 4.0

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return float(self.weight), float(self.step), float(self.offset), float(self.decay)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """step_t [grad Phi(p) + (1 - beta_t)(u - grad Phi(p'))]: the weighted g' has the last policy's gradient as its mean."""
        _, momentum, previous = vectors
        n_arms = len(policy)
        carried = 0.0 if t == 1 else 1 - min(1.0, self.decay * (self.step / (self.offset + t - 1) ** (1 / 3)) ** 2)
        now, then = (policy_gradient(p, means) + self.weight * (1 / n_arms - p) for p in (policy, previous))
        return np.asarray(self.step / (self.offset + t) ** (1 / 3) * (now + carried * (momentum - then)))
