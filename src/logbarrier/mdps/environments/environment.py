"""A Gymnasium environment as a problem: rules learn from the environment itself, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import validate
from ..problem import FiniteMDP
from .finite_environment import FiniteEnvironment, name_of
from .from_gymnasium import from_gymnasium


class Environment:
    """A Gymnasium environment with finite spaces, to give to `simulate` in place of an MDP.

    environment     an id, a spec or an instance; options go to `gymnasium.make`
    gamma           the discount
    episode_length  episodes are cut after this many steps: the environment's own limit by default, 200 if it has none
    model           the MDP on which policies are evaluated, such as mdps.estimate(...). By default it is read from the
                    transition table of the environment, where there is one

    With a model every metric is measured. Without one there are two: `return`, the mean return of the episodes that ended
    since the checkpoint before, and `coverage`.

    >>> from logbarrier import mdps
    >>> lake = mdps.Environment("FrozenLake-v1", gamma=0.95, is_slippery=False)
    >>> record = mdps.simulate(mdps.SpectralPG(), lake, horizon=5000, runs=2, seed=0)
    >>> bool(record.mean("score")[-1] > 0.9)
    True
    """

    def __init__(
        self,
        environment: Any,
        *,
        gamma: float = 0.99,
        episode_length: int | None = None,
        model: FiniteMDP | None = None,
        **options: Any,
    ) -> None:
        self.gamma = validate.between_zero_and_one("Environment", "gamma", gamma)
        self.environment, self.options, self.name = environment, options, name_of(environment, options)
        env = self.made()
        self.n_states, self.n_actions = env.n_states, env.n_actions
        length = env.longest or 200 if episode_length is None else episode_length
        self.episode_length = validate.integer("Environment", "episode_length", length, 1)
        self.model: FiniteMDP | None = model
        self._model_given = model is not None
        if model is None and hasattr(env.env.unwrapped, "P"):
            self.model = from_gymnasium(environment, gamma=gamma, **options)
        if self.model is not None and (self.model.n_actions != self.n_actions or self.model.states.max() >= self.n_states):
            raise ValueError(f"Environment: model must have the states and actions of {self.name}, got {self.model!r}")

    def made(self) -> FiniteEnvironment:
        """Return a fresh copy of the environment."""
        return FiniteEnvironment("Environment", self.environment, self.options)

    @property
    def normaliser(self) -> float:
        """1 - gamma, or 1 where gamma is 1."""
        return 1.0 if self.gamma == 1.0 else 1.0 - self.gamma

    def instance(self, key: np.ndarray, run: int) -> Environment:
        """The environment that run number `run` learns from: this one, whatever the run."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        described = {"environment": self.name, "gamma": self.gamma, "episode_length": self.episode_length}
        return {"problem": "Environment", **described, **self.options}

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments that make it again, as plain JSON values."""
        if not isinstance(self.environment, str):
            raise ValueError(f"Environment: must be given by its id in a study, got {self.name}; register it with Gymnasium")
        if self._model_given:
            raise ValueError(f"Environment: must have no model of its own in a study, got {self.model!r}")
        described = {"environment": self.environment, "gamma": self.gamma, "episode_length": self.episode_length}
        return {**described, **self.options}

    def __repr__(self) -> str:
        return f"Environment({self.name}, {self.n_states} states, {self.n_actions} actions, gamma={self.gamma:g})"
