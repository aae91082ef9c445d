"""The learner of rules with two scalars per step. It runs the functions of the dense loop, so agent and simulator agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bandits.algorithms.rule import TwoScalarRule
from ..bandits.loops import dense, subset
from ..bandits.loops.faults import refuse_fault
from ..bandits.loops.functions import functions_of
from ..bandits.loops.policy import HIGHEST_TOTAL, LOWEST_TOTAL, SHIFT, TOTAL, new_policy, weigh_arrays
from ..base import validate
from ..engine.compiled import Bound, from_python
from .drawn import PRESENT, Drawn
from .inputs import numbers


class TwoScalarLearner:
    """softmax(theta), moved by lift and drain."""

    follows_arms = needs_past_policy = True

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

    def note_pending(self, arm: int, change: int) -> None:
        """Change nothing: softmax policies have no uncertainty that pending decisions could lower."""

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
        q, drawn_from = np.empty(len(arms)), np.empty(len(arms))
        place, propensity = from_python(subset.draw_subset)(self._policy[0], arms, floor, number, key, q, drawn_from)
        return place, q, propensity

    def restricted(self, arms: np.ndarray) -> np.ndarray:
        q = np.empty(len(arms))
        if len(arms):
            from_python(subset.restrict)(self._policy[0], arms, q)
        return q

    def update_subset(self, t: int, arm: int, reward: float, drawn: Drawn) -> None:
        calls = functions_of(self._rule, drawn.size), self._calls
        step = (self._n_arms, t, arm, reward, tuple(drawn))
        before = self._learned[0].tobytes()
        fault = subset.update_kernel()(self._policy, calls, self._learned, *step)
        if fault:
            self._refuse(fault, before)

    def add(self, probability: float | None) -> None:
        """Add an arm at this probability, 1/(K + 1) by default; the odds among the others stay."""
        share = 1 / (self._n_arms + 1) if probability is None else probability
        entering = from_python(subset.entering_theta)(self._policy[3], share)
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
