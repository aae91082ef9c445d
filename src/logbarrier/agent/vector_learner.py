"""The learner of rules that keep vectors. It runs the functions of the vector loop, so agent and simulator agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bandits.algorithms.vector_rule import VectorRule
from ..bandits.loops import vectors
from ..bandits.loops.faults import refuse_fault
from ..bandits.loops.functions import vector_functions_of
from ..engine.compiled import Bound, from_python
from ..engine.random import step_uniforms
from .drawn import PRESENT, Drawn
from .inputs import numbers


class VectorLearner:
    """A policy that the vectors of a rule weigh."""

    def __init__(
        self, rule: VectorRule, theta: np.ndarray, means: np.ndarray | None, features: np.ndarray | None = None
    ) -> None:
        self._rule, self._calls = rule, vector_functions_of(rule, len(theta))
        self._vectors, self._memory = rule.vectors_with(theta, means, features), rule.new_memory()
        self._policy = np.empty(len(theta))
        self._steps, self.follows_arms, self.needs_past_policy = 0, rule.is_table, not rule.is_table
        self._bind()
        self._set_policy()

    @property
    def _arrays(self) -> tuple[Any, ...]:
        return self._calls, self._vectors, self._memory, self._policy

    def _bind(self) -> None:
        """Bind the kernels to the arrays, which stay where they are until arms come or go."""
        self._weigh: Bound = from_python(vectors.set_policy_of).bound((self._arrays,), (0,), ())
        self._update: Bound = from_python(vectors.update).bound((self._arrays, self._policy), (0, 0.0, 0), ())
        self._draw: Bound | None = None  # made at first use, for one key
        self._key: np.ndarray | None = None

    def _set_policy(self) -> None:
        (fault,) = self._weigh(self._steps)
        if fault:
            refuse_fault("Agent", self._rule, fault)

    @property
    def probabilities(self) -> np.ndarray:
        return self._policy.copy()

    @property
    def theta(self) -> np.ndarray:
        if not self._rule.has_preferences:
            raise AttributeError(f"Agent.theta: {self._rule.name} has no preferences")
        return np.asarray(self._vectors[0])

    def note_pending(self, arm: int, change: int) -> None:
        """Count a decision that is pending from now on (1), or no longer (-1), of an arm (-1: removed)."""
        if self._rule.counts_pending and arm >= 0:
            self._vectors[self._rule.rows.index("pending"), arm] += change
            self._memory[self._rule.memory_fields.index("pending")] += change
            self._set_policy()

    def draw(self, number: int, key: np.ndarray) -> tuple[int, float]:
        if self._rule.counts_pending:  # its draw knows of no pending decisions
            if self._draw is None or self._key is not key:
                self._draw, self._key = from_python(vectors.draw_next).bound((self._policy,), (0,), (key,)), key
            arm, probability = self._draw(number)
            return arm, probability
        u, _ = from_python(step_uniforms)(number, 0, key)
        arm, fault = from_python(vectors.draw_of)(self._arrays, u, self._steps, (key, number, 0))
        refuse_fault("Agent", self._rule, fault)
        return int(arm), float(self._policy[arm])

    def update(self, t: int, arm: int, reward: float, earlier: np.ndarray) -> None:
        changed = self._vectors, self._memory, self._policy
        before = [array.copy() for array in changed]
        if len(earlier):
            fault = from_python(vectors.update)(self._arrays, earlier, arm, reward, t)
        else:
            (fault,) = self._update(arm, reward, t)
        if fault:
            for array, kept in zip(changed, before, strict=True):
                array[:] = kept
            refuse_fault("Agent", self._rule, fault)
        self._steps = t

    def restricted(self, arms: np.ndarray) -> np.ndarray:
        if len(arms) == len(self._policy):
            return self._policy.copy()
        memory = self._memory.copy()
        if self._rule.counts_pending:
            self._rule.memory_at(memory).stale = 1.0  # the stored values are for all arms
        return policy_of_table(self._rule, self._vectors[:, arms], memory, self._steps)

    def draw_subset(self, number: int, key: np.ndarray, arms: np.ndarray, floor: float) -> tuple[int, np.ndarray, float]:
        q = self.restricted(arms)
        drawn_from = floor / len(arms) + (1.0 - floor) * q
        u, _ = from_python(step_uniforms)(number, 0, key)
        place = int(from_python(vectors.draw_by_probabilities)(u, drawn_from, len(arms)))
        return place, q, float(drawn_from[place])

    def update_subset(self, t: int, arm: int, reward: float, drawn: Drawn) -> None:
        if arm >= 0:
            self.update(t, arm, reward, PRESENT)
        else:  # of an arm that was removed, nothing is left to learn
            self._steps = t
            self._set_policy()

    def add(self, probability: float | None) -> None:
        """Add an arm without rewards."""
        if probability is not None:
            raise ValueError(
                f"Agent.add_arm: probability must be None for {self._rule.name}, where a new arm starts without rewards"
            )
        self._set_vectors(np.append(self._vectors, self._rule.new_vectors(np.zeros(1), None), axis=1))

    def remove(self, arm: int) -> None:
        self._set_vectors(np.delete(self._vectors, arm, axis=1))

    def _set_vectors(self, table: np.ndarray) -> None:
        n_arms = table.shape[1]
        self._vectors, self._policy = np.ascontiguousarray(table), np.empty(n_arms)
        self._calls = vector_functions_of(self._rule, n_arms)
        if self._rule.counts_pending:
            memory = self._rule.memory_at(self._memory)
            memory.pending, memory.stale = self._vectors[self._rule.rows.index("pending")].sum(), 1.0
        self._bind()
        self._set_policy()

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


def policy_of_table(rule: VectorRule, table: np.ndarray, memory: np.ndarray | None = None, steps: int = 0) -> np.ndarray:
    """The policy (n,) of a rule with `is_table` on the columns of a table (V, n)."""
    columns, policy = np.ascontiguousarray(table), np.empty(table.shape[1])
    arrays = vector_functions_of(rule, len(policy)), columns, rule.new_memory() if memory is None else memory, policy
    refuse_fault("Agent", rule, from_python(vectors.set_policy_of)(arrays, steps))
    return policy
