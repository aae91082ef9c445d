"""Bounded rewards: Bernoulli, uniform and beta."""

from __future__ import annotations

from typing import Any

from ...base import validate
from ...engine.codegen.lanes import select_above
from ...engine.compiled import compiled
from ...engine.elementary import exp, log
from ...engine.gamma import log_gamma_variate
from ...engine.random import REWARD, reward_uniform
from .bandit import Bandit, per_arm


@compiled
def uniform_noise(u):
    """The uniform itself."""
    return u


@compiled
def bernoulli_reward(noise, parameters, arm, stream):
    """R = 1 with probability r(a), else 0."""
    return select_above(parameters[0, arm], noise, 1.0, 0.0)


@compiled
def interval_reward(noise, parameters, arm, stream):
    """R uniform on r(a) +- half_width."""
    return parameters[0, arm] + parameters[1, arm] * (2.0 * noise - 1.0)


@compiled
def small_log_gamma_variate(shape, u, block, stream):
    """log of a Gamma(shape, 1) variate of any shape and the next free block; u boosts a shape below 1."""
    boost = 0.0
    if shape < 1.0:
        boost = log(u) / shape
        shape += 1.0
    variate, block = log_gamma_variate(shape, block, REWARD, stream)
    return variate + boost, block


@compiled
def beta_reward(noise, parameters, arm, stream):
    """R ~ Beta(a, b) as a ratio of two gamma variates, in logarithms so that tiny shapes are safe."""
    one, block = small_log_gamma_variate(parameters[1, arm], noise, 1, stream)
    boost, _ = reward_uniform(block, stream)
    other, _ = small_log_gamma_variate(parameters[2, arm], boost, block + 1, stream)
    return 1.0 / (1.0 + exp(other - one))


class BernoulliBandit(Bandit):
    """R = 1 with probability r(a), else 0. means (K,): r in [0, 1]."""

    noise = staticmethod(uniform_noise)
    reward_of = staticmethod(bernoulli_reward)

    def __init__(self, means: Any, *, allow_ties: bool = False) -> None:
        checked = validate.vector("BernoulliBandit", "means", means)
        if checked.min() < 0 or checked.max() > 1:
            bad = checked.min() if checked.min() < 0 else checked.max()
            raise ValueError(f"BernoulliBandit: means must be between 0 and 1, got {bad}")
        super().__init__(checked, allow_ties=allow_ties)


class UniformBandit(Bandit):
    """R uniform on [r(a) - half_width, r(a) + half_width]: bounded, as the theory assumes. half_width: one for all or (K,)."""

    noise = staticmethod(uniform_noise)
    reward_of = staticmethod(interval_reward)

    def __init__(self, means: Any, half_width: Any = 1.0, *, allow_ties: bool = False) -> None:
        checked = validate.vector("UniformBandit", "means", means)
        super().__init__(checked, per_arm("UniformBandit", "half_width", half_width, checked), allow_ties=allow_ties)

    def arguments(self) -> dict[str, Any]:
        return {**super().arguments(), "half_width": self.parameters[1].tolist()}


class BetaBandit(Bandit):
    """R ~ Beta(r c, (1 - r) c): bounded in [0, 1] with mean r(a). means (K,) in (0, 1); concentration c > 0."""

    noise = staticmethod(uniform_noise)
    reward_of = staticmethod(beta_reward)

    def __init__(self, means: Any, concentration: float = 2.0, *, allow_ties: bool = False) -> None:
        checked = validate.vector("BetaBandit", "means", means)
        if checked.min() <= 0 or checked.max() >= 1:
            bad = checked.min() if checked.min() <= 0 else checked.max()
            raise ValueError(f"BetaBandit: means must be strictly between 0 and 1, got {bad}")
        c = validate.positive("BetaBandit", "concentration", concentration)
        if min(checked.min(), 1.0 - checked.max()) * c < 1e-100:
            raise ValueError(f"BetaBandit: concentration must be large enough for shapes above 1e-100, got {c}")
        super().__init__(checked, checked * c, (1.0 - checked) * c, allow_ties=allow_ties)

    def arguments(self) -> dict[str, Any]:
        concentration = self.parameters[1:].sum(axis=0)[0]
        return {**super().arguments(), "concentration": float(f"{concentration:.12g}")}  # a c + (1 - a) c is c but for rounding
