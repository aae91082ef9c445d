"""Learners: the state of one policy that an online agent draws from and teaches, for each kind of rule.

They run the very functions of the simulator's dense loops, so agent and simulator agree to the bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from ..bandits.algorithms.rule import Rule, TwoScalarRule
from ..bandits.algorithms.vector_rule import VectorRule
from ..bandits.loops import dense, subset, vectors
from ..bandits.loops.faults import refuse_fault
from ..bandits.loops.functions import functions_of, vector_functions_of
from ..bandits.loops.policy import HIGHEST_TOTAL, LOWEST_TOTAL, SHIFT, TOTAL, new_policy, weigh_arrays
from ..base import validate
from ..base.failure import WrongTypeError
from ..engine.compiled import Bound, from_python
from ..engine.random import step_uniforms

PRESENT = dense.PRESENT


class Drawn(NamedTuple):
    """What an arm was drawn from, as loops/subset.py takes it: arms (m,), q (m,), q(arm), n and the weight w."""

    arms: np.ndarray
    policy: np.ndarray
    probability: float
    size: int
    weight: float


class Learner(Protocol):
    """What an agent needs of a policy."""

    @property
    def probabilities(self) -> np.ndarray:
        """Probabilities (K,) of the next pull."""
        ...

    @property
    def theta(self) -> np.ndarray:
        """Preferences (K,), where the rule has any."""
        ...

    def draw(self, number: int, key: np.ndarray) -> tuple[int, float]:
        """The arm of decision `number` = 0, 1, ... and its probability: a pure function of the key and the number."""
        ...

    def update(self, t: int, arm: int, reward: float, earlier: np.ndarray) -> None:
        """Step t = 1, 2, ... from the reward of an arm drawn from probabilities `earlier` (K,), PRESENT for today's."""
        ...

    def state(self) -> dict[str, Any]:
        """Plain JSON values."""
        ...

    def restore(self, owner: str, state: dict[str, Any], t: int) -> None:
        """Go on from what `state` returned after t steps; checked."""
        ...


class TwoScalarLearner:
    """softmax(theta), moved by lift and drain."""

    def __init__(self, rule: TwoScalarRule, theta: np.ndarray) -> None:
        self._rule = rule
        self._set(theta, rule.new_memory(), *rule.new_arm_numbers(len(theta)))

    def _set(self, theta: np.ndarray, memory: np.ndarray, arm_means: np.ndarray, arm_counts: np.ndarray) -> None:
        self._n_arms, self._calls = len(theta), functions_of(self._rule, len(theta))
        self._policy = new_policy(theta)
        self._learned = (memory, arm_means, arm_counts)
        self._draw: Bound | None = None  # all three made at first use
        self._update: Bound | None = None
        self._late_update: Bound | None = None
        self._earlier = np.zeros(self._n_arms)
        self._key: np.ndarray | None = None

    @property
    def probabilities(self) -> np.ndarray:
        _, weights, _, scalars = self._policy
        return np.asarray(weights[: self._n_arms] / scalars[TOTAL])

    @property
    def theta(self) -> np.ndarray:
        return self._policy[0][: self._n_arms]

    def draw(self, number: int, key: np.ndarray) -> tuple[int, float]:
        if self._draw is None or self._key is not key:
            self._draw, self._key = from_python(subset.draw_next).bound((self._policy,), (0,), (key,)), key
        arm, probability = self._draw(number)
        return arm, probability

    def update(self, t: int, arm: int, reward: float, earlier: np.ndarray) -> None:
        before = self._learned[0].tobytes()
        if earlier is PRESENT:
            if self._update is None:
                self._update = self._bound_update(PRESENT)
            (fault,) = self._update(t, arm, reward)
        else:
            if self._late_update is None:
                self._late_update = self._bound_update(self._earlier)
            self._earlier[:] = earlier
            (fault,) = self._late_update(t, arm, reward)
        if fault:
            self._refuse(fault, before)

    def _refuse(self, fault: float, memory: bytes) -> None:
        """Raise the sentence of a step that failed, with the memory as it was before."""
        self._learned[0][:] = np.frombuffer(memory)
        refuse_fault("Agent", self._rule, fault)

    def _bound_update(self, earlier: np.ndarray) -> Bound:
        fixed = self._policy, self._calls, self._learned, self._n_arms
        bound: Bound = dense.update_kernel().bound(fixed, (0, 0, 0.0), (earlier,))
        return bound

    def draw_subset(self, number: int, key: np.ndarray, arms: np.ndarray, floor: float) -> tuple[int, np.ndarray, float]:
        """Where in arms (n,) the arm of decision `number` stands, the policy q (n,) on them, and its propensity."""
        q, drawn_from = np.empty(len(arms)), np.empty(len(arms))
        place, propensity = from_python(subset.draw_subset)(self._policy[0], arms, floor, number, key, q, drawn_from)
        return place, q, propensity

    def restricted(self, arms: np.ndarray) -> np.ndarray:
        """The policy q (n,) on arms (n,)."""
        q = np.empty(len(arms))
        if len(arms):
            from_python(subset.restrict)(self._policy[0], arms, q)
        return q

    def update_subset(self, t: int, arm: int, reward: float, drawn: Drawn) -> None:
        """Step t from the reward of an arm (-1: removed since) drawn from a subset of the arms or by another policy."""
        calls = functions_of(self._rule, drawn.size), self._calls
        step = (self._n_arms, t, arm, reward, tuple(drawn))
        before = self._learned[0].tobytes()
        fault = subset.update_kernel()(self._policy, calls, self._learned, *step)
        if fault:
            self._refuse(fault, before)

    def add(self, probability: float) -> None:
        """Add an arm, as the last one, at this probability; the odds among the others stay."""
        entering = from_python(subset.entering_theta)(self._policy[3], probability)
        memory, *of_arms = self._learned
        means, counts = (np.append(values, np.zeros(min(len(values), 1))) for values in of_arms)
        self._set(np.append(self.theta, entering), memory, means, counts)

    def remove(self, arm: int) -> None:
        """Remove an arm; the odds among the others stay."""
        memory, *of_arms = self._learned
        means, counts = (np.delete(values, arm) if len(values) else values for values in of_arms)
        self._set(np.delete(self.theta, arm), memory, means, counts)

    def state(self) -> dict[str, Any]:
        memory, arm_means, arm_counts = self._learned
        return {
            "theta": self.theta.tolist(),
            "shift": float(self._policy[3][SHIFT]),
            "memory": memory.tolist(),
            "arm_means": arm_means.tolist(),
            "arm_counts": arm_counts.tolist(),
        }

    def restore(self, owner: str, state: dict[str, Any], t: int) -> None:
        theta, _, _, scalars = self._policy
        theta[: self._n_arms] = numbers(owner, "theta", state["theta"], self._n_arms)
        scalars[SHIFT] = validate.number(owner, "shift", state["shift"])
        scalars[TOTAL] = from_python(weigh_arrays)(self._policy)
        if not LOWEST_TOTAL <= scalars[TOTAL] <= HIGHEST_TOTAL:
            raise ValueError(f"{owner}: shift must fit theta, got {scalars[SHIFT]}")
        for array, name in zip(self._learned, ("memory", "arm_means", "arm_counts"), strict=True):
            array[:] = numbers(owner, name, state[name], len(array))
        if self._rule.uses_arm_means and (self._learned[2] < 0).any():
            raise ValueError(f"{owner}: arm_counts must be zero or positive")


class VectorLearner:
    """A policy that the vectors of a rule weigh."""

    def __init__(
        self, rule: VectorRule, theta: np.ndarray, means: np.ndarray | None, features: np.ndarray | None = None
    ) -> None:
        self._rule, self._calls = rule, vector_functions_of(rule, len(theta))
        self._vectors, self._memory = rule.vectors_with(theta, means, features), rule.new_memory()
        self._policy = np.empty(len(theta))
        self._arrays = (self._calls, self._vectors, self._memory, self._policy)
        self._steps = 0
        self._set_policy()

    def _set_policy(self) -> None:
        refuse_fault("Agent", self._rule, from_python(vectors.set_policy_of)(self._arrays, self._steps))

    @property
    def probabilities(self) -> np.ndarray:
        return self._policy.copy()

    @property
    def theta(self) -> np.ndarray:
        if not self._rule.has_preferences:
            raise AttributeError(f"Agent.theta: {self._rule.name} has no preferences")
        return np.asarray(self._vectors[0])

    def draw(self, number: int, key: np.ndarray) -> tuple[int, float]:
        u, _ = from_python(step_uniforms)(number, 0, key)
        arm, fault = from_python(vectors.draw_of)(self._arrays, u, self._steps, (key, number, 0))
        refuse_fault("Agent", self._rule, fault)
        return int(arm), float(self._policy[arm])

    def update(self, t: int, arm: int, reward: float, earlier: np.ndarray) -> None:
        drawn_from = earlier if len(earlier) else self._policy
        changed = self._vectors, self._memory, self._policy
        before = [array.copy() for array in changed]
        fault = from_python(vectors.update)(self._arrays, drawn_from, arm, reward, t)
        if fault:
            for array, kept in zip(changed, before, strict=True):
                array[:] = kept
            refuse_fault("Agent", self._rule, fault)
        self._steps = t

    def state(self) -> dict[str, Any]:
        return {"vectors": self._vectors.tolist(), "memory": self._memory.tolist()}

    def restore(self, owner: str, state: dict[str, Any], t: int) -> None:
        rows = state["vectors"]
        names = self._rule.row_names(len(self._vectors))
        if len(rows) != len(self._vectors):
            raise ValueError(f"{owner}: vectors must be {', '.join(names)}")
        for row, name, values in zip(self._vectors, names, rows, strict=True):
            row[:] = numbers(owner, name, values, len(row))
            if name in self._rule.never_negative and (row < 0).any():
                raise ValueError(f"{owner}: {name} must be zero or positive")
        self._memory[:] = numbers(owner, "memory", state["memory"], len(self._memory))
        self._steps = t
        self._set_policy()
        if not (np.isfinite(self._policy).all() and (self._policy >= 0).all()):
            raise ValueError(f"{owner}: vectors must give every arm a probability")


def learner_of(rule: Rule, theta: np.ndarray, means: np.ndarray | None, features: np.ndarray | None = None) -> Learner:
    """A policy at the start: theta (K,) log probabilities; means (K,) and features (m, K) for a rule that knows them."""
    if isinstance(rule, VectorRule):
        return VectorLearner(rule, theta, means, features)
    if not isinstance(rule, TwoScalarRule):
        raise WrongTypeError(
            f"{type(rule).__name__}: must inherit from TwoScalarRule or VectorRule, which say how it learns, not from Rule"
        )
    return TwoScalarLearner(rule, theta)


def numbers(owner: str, name: str, values: Any, length: int) -> np.ndarray:
    """A finite array (length,) from plain JSON values."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{owner}: {name} must be {length} finite numbers") from None
    if array.shape != (length,) or not np.isfinite(array).all():
        raise ValueError(f"{owner}: {name} must be {length} finite numbers")
    return array
