"""The model of a contextual agent: regressions, the scale of the features, and the first observations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...contexts.algorithms import Rule
from ...contexts.decide import decide_kernel, new_buffers, score_actions, score_arms
from ...contexts.regression import FIRST, Regressions, count, learn, new_regressions, rebuild, start, start_arm
from ...contexts.scaling import fit, is_due, new_scaling, scaled
from ...engine.compiled import Bound, compiled, from_python


@compiled
def _learn_numbers(state, x, arm, reward, ridge):
    """`learn` with the numbers that change in the middle."""
    return 1 if learn(state, arm, x, reward, ridge) else 0


@dataclass(slots=True, eq=False)
class Observed:
    """One of the first observations: raw features, those that the scale is estimated from, arm (-1: removed) and reward."""

    raw: np.ndarray
    fitted: np.ndarray
    arm: int
    reward: float = np.nan


class Chosen(NamedTuple):
    """A decision: place among the arms or actions offered, propensity, scaled context (d,), and its index if a first one.

    probabilities (n,) of all that was offered are a view, until the next decision.
    """

    place: int
    probability: float
    probabilities: np.ndarray
    x: np.ndarray
    first: int


class Situation(NamedTuple):
    """What a pending decision needs: place of its arm (-1: removed), scaled context and index if a first one (else -1)."""

    arm: int
    x: np.ndarray
    first: int


class Model:
    """Regressions of n_arms arms on d features, or of one shared one where n_arms is 0."""

    def __init__(self, rule: Rule, n_arms: int, is_number: np.ndarray, key: np.ndarray) -> None:
        self.rule, self.is_shared, self._key = rule, n_arms == 0, key
        self._is_number = is_number
        self.scaling = new_scaling(len(is_number))
        self.state = new_regressions(max(n_arms, 1), len(is_number) + 1, rule.follows_changes)
        from_python(start)(self.state, rule.ridge)
        self.seen = 0  # contexts
        self.first: list[Observed] = []
        self.rewarded: list[int] = []  # indices of first observations, in the order of their rewards
        self._bind(max(n_arms, 1))

    def _bind(self, n_arms: int) -> None:
        """Make buffers for n_arms arms or actions, and the compiled calls that use them."""
        size = self.state.counted.shape[1]
        self._buffers = new_buffers(n_arms if self.is_shared else 1, n_arms, size)
        self._x = np.zeros(size)
        decide = decide_kernel(self.rule.weigh, score_actions if self.is_shared else score_arms)
        fixed = self.state, self.scaling, self._buffers, self.rule.hyper, self._key
        self._decide: Bound = decide.bound(fixed, (0, 1, 0.0, 0), ())
        self._learn: Bound = from_python(_learn_numbers).bound((self.state, self._x), (0, 0.0), (self.rule.ridge,))

    def decide(self, rows: np.ndarray, arms: np.ndarray | None, number: int, floor: float) -> Chosen:
        """Draw an arm for a context, rows (1, d), from arms (n,), or one of the actions, rows (n, d)."""
        self._fill(rows, arms)
        self.seen += 1
        first = -1
        if self.seen <= FIRST:
            first = len(self.first)
            self.first.append(Observed(rows[0], self.row_to_fit(rows).copy(), -1))
        n = len(rows) if self.is_shared else self._n(arms)
        place, probability = self._decide(number, n, floor, 1)
        if first >= 0:
            self.first[first].raw = rows[place if self.is_shared else 0].copy()
            self.first[first].arm = 0 if self.is_shared else int(self._buffers.arms[place])
        offered = self._buffers.probabilities[:n]
        return Chosen(int(place), probability, offered, self._buffers.context.copy(), first)

    def weigh(self, rows: np.ndarray, arms: np.ndarray | None, number: int, floor: float) -> tuple[np.ndarray, ...]:
        """Estimated rewards, their standard errors and probabilities (n,), without a draw."""
        self._fill(rows, arms)
        n = len(rows) if self.is_shared else self._n(arms)
        self._decide(number, n, floor, 0)
        deviation = float(np.sqrt(self.state.memories[0, 2]))
        filled = self._buffers
        return filled.values[:n].copy(), deviation * filled.widths[:n], filled.probabilities[:n].copy()

    def _n(self, arms: np.ndarray | None) -> int:
        return len(self.state.counted) if arms is None else len(arms)

    def _fill(self, rows: np.ndarray, arms: np.ndarray | None) -> None:
        if self.is_shared and len(rows) > len(self._buffers.values):
            self._bind(2 * len(rows))
        self._buffers.raw[: len(rows)] = rows
        if arms is not None:
            self._buffers.arms[: len(arms)] = arms
        elif not self.is_shared:
            self._buffers.arms[:] = np.arange(len(self._buffers.arms))

    def row_to_fit(self, rows: np.ndarray) -> np.ndarray:
        """The features (d,) that the scale is estimated from; of several actions, the root of their mean squares."""
        return np.asarray(np.sqrt(np.mean(np.square(rows), axis=0))) if self.is_shared else rows[0]

    def is_due(self) -> bool:
        """Whether the scale is to be estimated again before the next decision."""
        return is_due(self.seen + 1)

    def rescale(self, row: np.ndarray) -> np.ndarray:
        """Estimate the scale again from the first contexts and `row` (d,), and learn from the rewards so far again.

        Return the first contexts in the new scale. All that is pending must then be counted with its context from there.
        """
        fit(self.scaling, np.array([each.fitted for each in self.first] + [row]), self._is_number)
        raw = np.array([each.raw for each in self.first]).reshape(len(self.first), len(row))
        contexts = scaled(self.scaling, raw)
        arms = np.array([each.arm for each in self.first], dtype=np.int64)
        rewards = np.array([each.reward for each in self.first])
        rewarded = np.array([i for i in self.rewarded if arms[i] >= 0], dtype=np.int64)
        from_python(rebuild)(self.state, contexts, arms, rewards, rewarded, self.rule.ridge)
        return contexts

    def learn(self, situation: Situation, reward: float) -> bool:
        """Learn from a reward; return whether a candidate replaced the memory: then all that is pending must be counted."""
        if situation.first >= 0 and self.seen < FIRST:
            self.first[situation.first].reward = reward
            self.rewarded.append(situation.first)
        if situation.arm < 0:
            return False
        self._x[:] = situation.x
        (replaced,) = self._learn(situation.arm, reward)
        return bool(replaced)

    def observe(self, row: np.ndarray, arm: int) -> Situation:
        """Count an observation that the agent did not draw, with raw features row (d,), so that it can be learnt from."""
        first, self.seen = -1, self.seen + 1
        if self.seen <= FIRST:
            first = len(self.first)
            self.first.append(Observed(row.copy(), row.copy(), arm))
        situation = Situation(arm, scaled(self.scaling, row[None, :])[0], first)
        self.count([situation], 1.0)
        return situation

    def count(self, pending: Iterable[Situation], sign: float) -> None:
        """Count pending decisions in the uncertainty (sign 1), or remove them (sign -1)."""
        for situation in pending:
            if situation.arm >= 0:
                from_python(count)(self.state, situation.arm, situation.x, sign)

    def add_arm(self) -> None:
        """Add an arm without observations, as the last one."""
        memories, n_arms, size = self.state.one_weights.shape
        larger = new_regressions(n_arms + 1, size, self.rule.follows_changes)
        self._set({name: _with_room(getattr(self.state, name), getattr(larger, name)) for name in Regressions._fields})
        for memory in range(memories):
            from_python(start_arm)(self.state, memory, n_arms, self.rule.ridge)

    def remove_arm(self, arm: int) -> None:
        """Remove the regressions of an arm."""
        arrays = self.state._asdict()
        for name in ("inverse", "reward_weights", "one_weights"):
            arrays[name] = np.ascontiguousarray(np.delete(arrays[name], arm, axis=1))
        arrays["counted"] = np.ascontiguousarray(np.delete(arrays["counted"], arm, axis=0))
        for each in self.first:
            each.arm = -1 if each.arm == arm else each.arm - (each.arm > arm)
        self._set(arrays)

    def _set(self, arrays: dict[str, Any]) -> None:
        self.state = Regressions(**arrays)
        self._bind(len(self.state.counted))


def _with_room(values: np.ndarray, room: np.ndarray) -> np.ndarray:
    """`room` with the values at the front of every axis."""
    room[tuple(slice(length) for length in values.shape)] = values
    return room
