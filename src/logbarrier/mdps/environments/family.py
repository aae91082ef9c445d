"""Families: a fresh MDP for every run, the same one whatever rule faces it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ...base import validate
from ..problem import FiniteMDP


def uniforms(key: np.ndarray, run: int, count: int) -> np.ndarray:
    """`count` numbers in (0, 1) that depend on the key (2,) and the run alone: Philox 4x64, counter (i, 0, run, 0)."""
    bits = np.random.Philox(key=np.asarray(key, dtype=np.uint64), counter=[0, 0, run, 0]).random_raw(count)
    return (np.asarray(bits) >> np.uint64(12)) * 2.0**-52 + 2.0**-53


class MDPSource(Protocol):
    """What the simulator asks of an MDP or a family: all its instances have the same number of states and actions."""

    name: str

    @property
    def n_states(self) -> int:
        """S."""
        ...

    @property
    def n_actions(self) -> int:
        """K."""
        ...

    @property
    def gamma(self) -> float:
        """The discount."""
        ...

    @property
    def episode_length(self) -> int:
        """After how many steps sampled episodes are cut."""
        ...

    def instance(self, key: np.ndarray, run: int) -> FiniteMDP:
        """The MDP that run number `run` faces."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        ...


class Family:
    """Draws one MDP per run. Subclasses set n_states, n_actions, gamma and name, and say how `instance` draws."""

    n_states: int
    n_actions: int
    gamma: float
    name: str
    episode_length: int = 100

    def instance(self, key: np.ndarray, run: int) -> FiniteMDP:
        """The MDP that run number `run` faces; key (2,) uint64."""
        raise NotImplementedError

    def problem(self, seed: int, run: int) -> FiniteMDP:
        """The MDP that run number `run` of `seed` faces."""
        from ...engine.random import stream_key

        owner = f"{type(self).__name__}.problem"
        key = stream_key(validate.integer(owner, "seed", seed, 0))
        return self.instance(key, validate.integer(owner, "run", run, 0, 2**32 - 1))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        raise NotImplementedError

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments that make it again, as plain JSON values."""
        return {key: value for key, value in self.to_dict().items() if key != "problem"}

    def __repr__(self) -> str:
        return f"{self.name}({self.n_states} states, {self.n_actions} actions, gamma={self.gamma:g})"


MDPFamily = Family  # its name in logbarrier.extend
