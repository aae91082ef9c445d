"""Contextual problems: contexts, the mean reward of every arm at each, and what the rewards are drawn from.

A problem has n_arms, n_features, scale and delay (rewards come so many decisions later). It has the compiled
reward_of(mean, u, scale), and the pure function rows(key, run, first, count). That returns the contexts (count, d) and mean
rewards (count, K) of these steps.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, TypeGuard

import numpy as np

from ..base import validate
from ..engine.compiled import compiled, from_python
from ..engine.random import INSTANCE, philox, standard_normal, uniform
from .loop import binary_reward, gaussian_reward

CONTEXT = 5  # the purpose, in the random counter, of a context
LARGEST_RATE = 0.5  # of clicks


class ContextSource(Protocol):
    """What the simulator asks of a problem."""

    reward_of: Any
    delay: int
    scale: float

    @property
    def n_arms(self) -> int:
        """K."""
        ...

    @property
    def n_features(self) -> int:
        """The length of a context."""
        ...

    def rows(self, key: np.ndarray, run: int, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Contexts (count, d) and mean rewards (count, K) of steps first .. first + count - 1."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        ...


def is_contextual(problem: Any) -> TypeGuard[ContextSource]:
    """Whether a problem has contexts."""
    return not isinstance(problem, type) and hasattr(problem, "rows")


@compiled
def _fill(values, first, run, purpose, key, is_normal):
    """Uniforms or normals (n, m): row i is a pure function of first + i, run and purpose."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            u = uniform(philox(first + i, j, run, purpose, key)[0])
            values[i, j] = standard_normal(u) if is_normal else u


@compiled
def _products(contexts, weights, products):
    """products (n, K) <- contexts (n, d) weights (K, d)', summed in a fixed order."""
    for i in range(contexts.shape[0]):
        for a in range(weights.shape[0]):
            total = 0.0
            for j in range(contexts.shape[1]):
                total += contexts[i, j] * weights[a, j]
            products[i, a] = total


def _normals(shape: tuple[int, int], first: int, run: int, purpose: int, key: np.ndarray) -> np.ndarray:
    values = np.empty(shape)
    from_python(_fill)(values, first, run, purpose, key, True)
    return values


def _uniforms(shape: tuple[int, int], first: int, run: int, purpose: int, key: np.ndarray) -> np.ndarray:
    values = np.empty(shape)
    from_python(_fill)(values, first, run, purpose, key, False)
    return values


class _Problem:
    """Options of all problems: change_every (steps; None: nothing changes) and delay (decisions before a reward)."""

    reward_of: ClassVar[Any]
    scale: float = 0.0

    def __init__(self, n_arms: Any, change_every: Any, delay: Any) -> None:
        owner = type(self).__name__
        self.n_arms = validate.integer(owner, "n_arms", n_arms, 2)
        self.change_every = None if change_every is None else validate.integer(owner, "change_every", change_every, 1)
        self.delay = validate.integer(owner, "delay", delay, 0, 10**7)

    def _epochs(self, first: int, count: int) -> np.ndarray:
        """How often the problem has changed, (count,)."""
        steps = np.arange(first, first + count)
        return steps // self.change_every if self.change_every else np.zeros(count, dtype=np.int64)

    def arguments(self) -> dict[str, Any]:
        """Plain JSON values that make it again."""
        options: dict[str, Any] = {} if self.change_every is None else {"change_every": self.change_every}
        return {**options, **({"delay": self.delay} if self.delay else {})}

    def to_dict(self) -> dict[str, Any]:
        """What a record holds of it."""
        return {"problem": type(self).__name__, **self.arguments()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.arguments().items())})"


class LinearContexts(_Problem):
    """Contexts x ~ N(0, I) and rewards x' theta(a) + scale N(0, 1), with theta(a) ~ N(0, I/d) drawn for each run.

    change_every  all theta are drawn again after so many steps
    delay         rewards come so many decisions later

    >>> from logbarrier import contexts
    >>> problem = contexts.LinearContexts(n_arms=5, n_features=10)
    >>> record = contexts.simulate(contexts.ContextualBarrier(), problem, horizon=500, runs=4)
    >>> bool(record.mean("regret")[-1] < 250)
    True
    """

    reward_of = staticmethod(gaussian_reward)

    def __init__(
        self, n_arms: int, n_features: int, *, scale: float = 0.5, change_every: int | None = None, delay: int = 0
    ) -> None:
        super().__init__(n_arms, change_every, delay)
        self.n_features = validate.integer("LinearContexts", "n_features", n_features, 1)
        self.scale = validate.at_least_zero("LinearContexts", "scale", scale)

    def rows(self, key: np.ndarray, run: int, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        contexts = _normals((count, self.n_features), first, run, CONTEXT, key)
        epochs, means = self._epochs(first, count), np.empty((count, self.n_arms))
        for epoch in np.unique(epochs):
            flat = _normals((self.n_arms, self.n_features), int(epoch) * self.n_arms, run, INSTANCE, key)
            here = np.flatnonzero(epochs == epoch)
            part = np.empty((len(here), self.n_arms))
            from_python(_products)(contexts[here], flat / np.sqrt(self.n_features), part)
            means[here] = part
        return contexts, means

    def arguments(self) -> dict[str, Any]:
        return {"n_arms": self.n_arms, "n_features": self.n_features, "scale": self.scale, **super().arguments()}


class SegmentedClicks(_Problem):
    """Visitors of equally likely segments, one-hot encoded, who click on ad a with a probability of their segment and ad.

    The probabilities are log-normal with mean `rate` and log standard deviation `spread`, at most 0.5, drawn for each run.
    change_every  all are drawn again after so many visitors
    """

    reward_of = staticmethod(binary_reward)

    def __init__(
        self,
        n_arms: int = 12,
        n_segments: int = 10,
        *,
        rate: float = 0.02,
        spread: float = 0.6,
        change_every: int | None = None,
        delay: int = 0,
    ) -> None:
        super().__init__(n_arms, change_every, delay)
        self.n_segments = validate.integer("SegmentedClicks", "n_segments", n_segments, 1)
        self.rate = validate.positive_up_to("SegmentedClicks", "rate", rate, LARGEST_RATE)
        self.spread = validate.at_least_zero("SegmentedClicks", "spread", spread)

    @property
    def n_features(self) -> int:
        """One for each segment."""
        return self.n_segments

    def rows(self, key: np.ndarray, run: int, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        drawn = _uniforms((count, 1), first, run, CONTEXT, key)[:, 0]
        segments = np.minimum((drawn * self.n_segments).astype(np.int64), self.n_segments - 1)
        epochs, means = self._epochs(first, count), np.empty((count, self.n_arms))
        for epoch in np.unique(epochs):
            normals = _normals((self.n_segments, self.n_arms), int(epoch) * self.n_segments, run, INSTANCE, key)
            rates = self.rate * np.exp(self.spread * normals - self.spread**2 / 2)
            here = epochs == epoch
            means[here] = np.minimum(rates, LARGEST_RATE)[segments[here]]
        return np.eye(self.n_segments)[segments], means

    def arguments(self) -> dict[str, Any]:
        sizes = {"n_arms": self.n_arms, "n_segments": self.n_segments}
        return {**sizes, "rate": self.rate, "spread": self.spread, **super().arguments()}


class ClassificationBandit(_Problem):
    """Labelled data as a bandit: the context is a row of X (n, d), the arms are the labels, the right one has reward 1.

    y (n,) are whole numbers 0 .. K - 1. Every run passes through its own shuffle of the rows, as often as it needs.
    change_every  after so many steps the right arm of label k becomes that of label k + 1
    """

    reward_of = staticmethod(binary_reward)

    def __init__(self, X: Any, y: Any, *, change_every: int | None = None, delay: int = 0) -> None:
        owner = type(self).__name__
        self.X = np.ascontiguousarray(validate.array(owner, "X", X, "a table of numbers"))
        labels = validate.array(owner, "y", y, "a sequence of labels")
        if self.X.ndim != 2 or 0 in self.X.shape or not np.isfinite(self.X).all():
            raise ValueError(f"{owner}: X must be a table of finite numbers, got shape {self.X.shape}")
        if labels.shape != (len(self.X),) or (labels != np.floor(labels)).any() or (labels < 0).any():
            raise ValueError(f"{owner}: y must be one whole number from 0 on for each row of X")
        self.y = labels.astype(np.int64)
        super().__init__(int(self.y.max()) + 1, change_every, delay)

    @property
    def n_features(self) -> int:
        """The columns of X."""
        return int(self.X.shape[1])

    def rows(self, key: np.ndarray, run: int, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        n = len(self.y)
        passes = range(first // n, (first + count - 1) // n + 1)
        orders = [np.argsort(_uniforms((n, 1), number * n, run, CONTEXT, key)[:, 0], kind="stable") for number in passes]
        chosen = np.concatenate(orders)[first - passes[0] * n :][:count]
        right = (self.y[chosen] + self._epochs(first, count)) % self.n_arms
        return self.X[chosen], np.eye(self.n_arms)[right]

    def arguments(self) -> dict[str, Any]:
        return {"X": self.X.tolist(), "y": self.y.tolist(), **super().arguments()}

    def __repr__(self) -> str:
        return f"ClassificationBandit({len(self.y)} rows, {self.n_features} features, {self.n_arms} labels)"
