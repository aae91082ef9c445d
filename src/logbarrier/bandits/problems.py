"""Bandit problems: reward distributions with known means, and families that draw a fresh instance for every run.

A distribution is one small class: its parameters, row 0 of which are the means, and two compiled functions,
    noise(u)                                    the randomness of a step from a uniform u in (0, 1), before the arm is known
    reward_of(noise, parameters, arm, stream)   the reward of an arm; `stream` gives further uniforms where one is not enough
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np

from ..base import validate
from ..engine.codegen.lanes import select_above
from ..engine.compiled import compiled, from_python
from ..engine.elementary import exp, log
from ..engine.gamma import log_gamma_variate
from ..engine.random import INSTANCE, REWARD, philox, reward_uniform, standard_normal, stream_key, uniform
from .loops.policy import LARGEST_REWARD


class ProblemSource(Protocol):
    """What the simulator asks of a problem or a family."""

    noise: Any
    reward_of: Any

    @property
    def n_arms(self) -> int:
        """K."""
        ...

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """The parameters (P, K) that run number `run` faces; row 0 holds the mean rewards."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        ...


class Bandit:
    """One fixed instance. Subclasses name a distribution.

    allow_ties: the theory needs all means to differ (Assumption 2.1), so ties are refused unless this is True.
    """

    noise: ClassVar[Any]
    reward_of: ClassVar[Any]

    def __init__(self, means: Any, *further: np.ndarray, allow_ties: bool = False) -> None:
        owner = type(self).__name__
        checked = validate.vector(owner, "means", means)
        if np.abs(checked).max() > LARGEST_REWARD:
            raise ValueError(f"{owner}: means must be at most {LARGEST_REWARD:g} in size, got {np.abs(checked).max()}")
        if not allow_ties:
            order = np.argsort(checked, kind="stable")
            tied = np.flatnonzero(np.diff(checked[order]) == 0)
            if len(tied):
                a, b = sorted((int(order[tied[-1]]), int(order[tied[-1] + 1])))
                raise ValueError(
                    f"{owner}: means must differ (Assumption 2.1), got {checked[a]} for arms {a} and {b}; "
                    "pass allow_ties=True to run it anyway"
                )
        self.parameters = np.vstack([checked, *further])
        self.parameters.setflags(write=False)

    @property
    def means(self) -> np.ndarray:
        """Mean rewards r (K,)."""
        return np.asarray(self.parameters[0])

    @property
    def n_arms(self) -> int:
        """K."""
        return int(self.parameters.shape[1])

    @property
    def optimal_arm(self) -> int:
        """a*, the arm of the largest mean."""
        return int(np.argmax(self.means))

    @property
    def optimal_reward(self) -> float:
        """r(a*)."""
        return float(self.means.max())

    @property
    def optimal_gap(self) -> float:
        """Delta* = r(a*) minus the second largest mean."""
        second, first = np.sort(self.means)[-2:]
        return float(first - second)

    @property
    def minimum_gap(self) -> float:
        """Delta, the smallest difference between any two means."""
        return float(np.diff(np.sort(self.means)).min())

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """The same parameters for every run."""
        return self.parameters

    def arguments(self) -> dict[str, Any]:
        """Plain JSON values that make it again, `type(self)(**arguments)`; a subclass that takes more adds them."""
        tied = len(np.unique(self.means)) < self.n_arms
        return {"means": self.means.tolist(), **({"allow_ties": True} if tied else {})}

    def to_dict(self) -> dict[str, Any]:
        """What a record keeps of it: the parameters themselves, equal for equal instances however they were written."""
        return {"problem": type(self).__name__, "parameters": self.parameters.tolist()}

    def __repr__(self) -> str:
        with np.printoptions(threshold=8, precision=4):
            return f"{type(self).__name__}(means={self.means})"


@compiled
def uniform_noise(u):
    """The uniform itself."""
    return u


@compiled
def gaussian_reward(noise, parameters, arm, stream):
    """R = r(a) + scale * N(0, 1)."""
    return parameters[0, arm] + parameters[1, arm] * noise


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


class GaussianBandit(Bandit):
    """R ~ N(r(a), scale^2), the paper's experiment (Appendix E).

    means (K,): r. scale: the standard deviation, one for all arms or (K,).

    >>> import logbarrier as lb
    >>> lb.GaussianBandit(means=[0.1, 0.5, 0.3], scale=1.0).optimal_arm
    1
    """

    noise = staticmethod(standard_normal)
    reward_of = staticmethod(gaussian_reward)

    def __init__(self, means: Any, scale: Any = 1.0, *, allow_ties: bool = False) -> None:
        checked = validate.vector("GaussianBandit", "means", means)
        super().__init__(checked, per_arm("GaussianBandit", "scale", scale, checked), allow_ties=allow_ties)

    def arguments(self) -> dict[str, Any]:
        return {**super().arguments(), "scale": self.parameters[1].tolist()}


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


@compiled
def fill_gap_means(means, key, run, lowest, best, gap):
    """Best mean `best`, second `best - gap`, the rest uniform on [lowest, best - gap), best and second at random places."""
    n_arms = means.shape[0]
    high, low = philox(0, 0, run, INSTANCE, key)
    first = int(uniform(high) * n_arms)
    second = int(uniform(low) * (n_arms - 1))
    second += 1 if second >= first else 0
    for a in range(n_arms):
        high, low = philox(1 + a, 0, run, INSTANCE, key)
        means[a] = lowest + uniform(high) * (best - gap - lowest)
    means[second] = best - gap
    means[first] = best


class GapInstances:
    """The paper's family (Appendix E): a fresh Gaussian instance for every run.

    The best mean is r_max, the second r_max - gap, the rest uniform on [-r_max, r_max - gap); places are random; rewards
    are N(r(a), scale^2). Run number i of a seed faces the same instance whatever the rule.

    >>> import logbarrier as lb
    >>> lb.GapInstances(n_arms=5, gap=0.1).problem(seed=0, run=3).optimal_reward
    1.0
    """

    noise = staticmethod(standard_normal)
    reward_of = staticmethod(gaussian_reward)

    def __init__(self, n_arms: int, gap: float = 0.1, r_max: float = 1.0, scale: float = 1.0) -> None:
        self.n_arms = validate.integer("GapInstances", "n_arms", n_arms, 2)
        self.r_max = validate.positive_up_to("GapInstances", "r_max", r_max, LARGEST_REWARD)
        self.gap = checked_gap("GapInstances", gap, -self.r_max, self.r_max)
        self.scale = validate.positive_up_to("GapInstances", "scale", scale, LARGEST_REWARD)

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """The parameters (2, K) of a run: means and scale."""
        parameters = np.empty((2, self.n_arms))
        from_python(fill_gap_means)(parameters[0], key, run, -self.r_max, self.r_max, self.gap)
        parameters[1] = self.scale
        return parameters

    def problem(self, seed: int, run: int) -> GaussianBandit:
        """The instance that run number `run` of `seed` faces, as a problem in itself."""
        return GaussianBandit(*self.instance(*_checked_run("GapInstances.problem", seed, run)), allow_ties=True)

    def arguments(self) -> dict[str, Any]:
        """Plain JSON values that make it again."""
        return dict(vars(self))

    def to_dict(self) -> dict[str, Any]:
        """What a record keeps of it."""
        return {"problem": "GapInstances", **self.arguments()}

    def __repr__(self) -> str:
        return f"GapInstances(n_arms={self.n_arms}, gap={self.gap:g}, r_max={self.r_max:g}, scale={self.scale:g})"


class BernoulliGapInstances:
    """The gap construction with Bernoulli rewards: best mean r_max, second r_max - gap, the rest on [0, r_max - gap)."""

    noise = staticmethod(uniform_noise)
    reward_of = staticmethod(bernoulli_reward)

    def __init__(self, n_arms: int, gap: float = 0.1, r_max: float = 0.9) -> None:
        self.n_arms = validate.integer("BernoulliGapInstances", "n_arms", n_arms, 2)
        self.r_max = validate.positive("BernoulliGapInstances", "r_max", r_max)
        if self.r_max > 1:
            raise ValueError(f"BernoulliGapInstances: r_max must be at most 1, got {self.r_max}")
        self.gap = checked_gap("BernoulliGapInstances", gap, 0.0, self.r_max)

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """The parameters (1, K) of a run: means."""
        parameters = np.empty((1, self.n_arms))
        from_python(fill_gap_means)(parameters[0], key, run, 0.0, self.r_max, self.gap)
        return parameters

    def problem(self, seed: int, run: int) -> BernoulliBandit:
        """The instance that run number `run` of `seed` faces, as a problem in itself."""
        key, number = _checked_run("BernoulliGapInstances.problem", seed, run)
        return BernoulliBandit(self.instance(key, number)[0], allow_ties=True)

    def arguments(self) -> dict[str, Any]:
        """Plain JSON values that make it again."""
        return dict(vars(self))

    def to_dict(self) -> dict[str, Any]:
        """What a record keeps of it."""
        return {"problem": "BernoulliGapInstances", **self.arguments()}

    def __repr__(self) -> str:
        return f"BernoulliGapInstances(n_arms={self.n_arms}, gap={self.gap:g}, r_max={self.r_max:g})"


def per_arm(owner: str, name: str, value: Any, means: np.ndarray) -> np.ndarray:
    """A positive number for every arm (K,), from one for all or one each."""
    if np.ndim(value) == 0:
        return np.full(len(means), validate.positive_up_to(owner, name, value, LARGEST_REWARD))
    given = validate.vector(owner, name, value)
    if len(given) != len(means):
        raise ValueError(f"{owner}: {name} must have one entry per arm, {len(means)}, got {len(given)}")
    if given.min() <= 0:
        raise ValueError(f"{owner}: {name} must be positive, got {given.min()}")
    if given.max() > LARGEST_REWARD:
        raise ValueError(f"{owner}: {name} must be at most {LARGEST_REWARD:g}, got {given.max()}")
    return given


def checked_gap(owner: str, gap: Any, lowest: float, best: float) -> float:
    """A gap that leaves the second mean below the best and above the lowest, in float64 too."""
    checked = validate.positive(owner, "gap", gap)
    if best - checked <= lowest:
        raise ValueError(f"{owner}: gap must be below {best - lowest:g}, got {checked}")
    if best - checked >= best:
        raise ValueError(f"{owner}: gap must be large enough to tell the two best means apart, got {checked}")
    return checked


def _checked_run(owner: str, seed: Any, run: Any) -> tuple[np.ndarray, int]:
    """The key of a seed and a run number, as the simulator takes them."""
    return stream_key(validate.integer(owner, "seed", seed, 0)), validate.integer(owner, "run", run, 0, 2**32 - 1)
