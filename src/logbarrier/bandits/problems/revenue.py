"""Money: revenue, which is mostly zero and then log-normal, and costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import validate
from ...engine.codegen.lanes import select_above
from ...engine.compiled import compiled
from ...engine.elementary import exp
from ...engine.random import standard_normal
from ..loops.policy import LARGEST_REWARD
from .bandit import Bandit, per_arm
from .bounded import uniform_noise
from .family import Family, around, instance_uniforms

LARGEST_SIGMA = 5.0  # single rewards decide everything long before
BELOW_ONE = 1.0 - 2.0**-53
LARGEST_AMOUNT = LARGEST_REWARD * 1e-30  # so that no reward passes LARGEST_REWARD


@compiled
def revenue_reward(noise, parameters, arm, stream):
    """R = amount exp(sigma N(0, 1) - sigma^2/2) with probability rate, else 0."""
    rate, amount, sigma = parameters[1, arm], parameters[2, arm], parameters[3, arm]
    within = select_above(rate, noise, noise / rate, 0.5)  # uniform on (0, 1) again where the noise is below the rate
    z = standard_normal(select_above(within, BELOW_ONE, BELOW_ONE, within))
    return select_above(rate, noise, amount * exp(sigma * z - 0.5 * sigma * sigma), 0.0)


class RevenueBandit(Bandit):
    """A purchase with probability rate(a); its amount is log-normal with mean amount(a). So r(a) = rate(a) amount(a).

    rates (K,): conversion rates in (0, 1]. amount: the mean of a purchase, one for all arms or (K,).
    sigma > 0: the standard deviation of the logarithm of an amount.

    >>> import logbarrier as lb
    >>> lb.RevenueBandit(rates=[0.03, 0.04], amount=[50.0, 40.0]).means.tolist()
    [1.5, 1.6]
    """

    noise = staticmethod(uniform_noise)
    reward_of = staticmethod(revenue_reward)

    def __init__(self, rates: Any, amount: Any = 1.0, sigma: float = 1.0, *, allow_ties: bool = False) -> None:
        checked = validate.vector("RevenueBandit", "rates", rates)
        if checked.min() <= 0 or checked.max() > 1:
            bad = checked.min() if checked.min() <= 0 else checked.max()
            raise ValueError(f"RevenueBandit: rates must be above 0 and at most 1, got {bad}")
        amounts = per_arm("RevenueBandit", "amount", amount, checked, LARGEST_AMOUNT)
        sigmas = np.full(len(checked), validate.positive_up_to("RevenueBandit", "sigma", sigma, LARGEST_SIGMA))
        super().__init__(checked * amounts, checked, amounts, sigmas, allow_ties=allow_ties)

    def arguments(self) -> dict[str, Any]:
        rates, amounts, sigmas = self.parameters[1:]
        return {"rates": rates.tolist(), "amount": amounts.tolist(), "sigma": float(sigmas[0]), **self.ties()}


class CostBandit(Bandit):
    """Every pull costs a log-normal amount: R = -costs(a) exp(sigma N(0, 1) - sigma^2/2), so r(a) = -costs(a).

    costs (K,): mean costs, above 0. sigma > 0: the standard deviation of the logarithm of a cost.
    """

    noise = staticmethod(uniform_noise)
    reward_of = staticmethod(revenue_reward)

    def __init__(self, costs: Any, sigma: float = 0.5, *, allow_ties: bool = False) -> None:
        checked = validate.vector("CostBandit", "costs", costs)
        amounts = per_arm("CostBandit", "costs", checked, checked, LARGEST_AMOUNT)
        sigmas = np.full(len(checked), validate.positive_up_to("CostBandit", "sigma", sigma, LARGEST_SIGMA))
        super().__init__(-amounts, np.ones(len(checked)), -amounts, sigmas, allow_ties=allow_ties)

    def arguments(self) -> dict[str, Any]:
        return {"costs": (-self.means).tolist(), "sigma": float(self.parameters[3, 0]), **self.ties()}


class RevenueInstances(Family):
    """Revenue with rates and mean amounts that are uniform on their typical value (1 - spread) .. (1 + spread).

    rate, amount, sigma as of `RevenueBandit`; spread in (0, 1). A fresh instance for every run.
    """

    bandit = RevenueBandit

    def __init__(self, n_arms: int, rate: float = 0.03, amount: float = 1.0, spread: float = 0.3, sigma: float = 1.0) -> None:
        self.n_arms = validate.integer("RevenueInstances", "n_arms", n_arms, 2)
        self.rate = validate.positive("RevenueInstances", "rate", rate)
        self.amount = validate.positive_up_to("RevenueInstances", "amount", amount, LARGEST_AMOUNT)
        self.spread = validate.between("RevenueInstances", "spread", spread, 1e-6, 0.99)
        self.sigma = validate.positive_up_to("RevenueInstances", "sigma", sigma, LARGEST_SIGMA)
        if self.rate * (1.0 + self.spread) > 1.0:
            largest = self.rate * (1.0 + self.spread)
            raise ValueError(f"RevenueInstances: rate (1 + spread) must be at most 1, got {largest:g}")

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """Return the parameters (4, K) of a run: means, rates, amounts, sigma."""
        _, uniforms = instance_uniforms(key, run, self.n_arms)
        rates, amounts = around(self.rate, self.spread, uniforms[0]), around(self.amount, self.spread, uniforms[1])
        return np.vstack([rates * amounts, rates, amounts, np.full(self.n_arms, self.sigma)])


class CostInstances(Family):
    """Log-normal costs whose means are uniform on cost (1 - spread) .. cost (1 + spread), fresh for every run.

    cost, sigma as of `CostBandit`; spread in (0, 1). All rewards are negative.
    """

    bandit = CostBandit

    def __init__(self, n_arms: int, cost: float = 1.0, spread: float = 0.3, sigma: float = 0.5) -> None:
        self.n_arms = validate.integer("CostInstances", "n_arms", n_arms, 2)
        self.cost = validate.positive_up_to("CostInstances", "cost", cost, LARGEST_AMOUNT)
        self.spread = validate.between("CostInstances", "spread", spread, 1e-6, 0.99)
        self.sigma = validate.positive_up_to("CostInstances", "sigma", sigma, LARGEST_SIGMA)

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """Return the parameters (4, K) of a run: means, rates, amounts, sigma."""
        _, uniforms = instance_uniforms(key, run, self.n_arms)
        means = -around(self.cost, self.spread, uniforms[0])
        return np.vstack([means, np.ones(self.n_arms), means, np.full(self.n_arms, self.sigma)])
