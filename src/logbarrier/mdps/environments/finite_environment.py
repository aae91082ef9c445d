"""A Gymnasium environment with finite spaces: made from an id, a spec or an instance, its states and actions numbered."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ...base.failure import WrongTypeError


def made(owner: str, environment: Any, options: dict[str, Any]) -> Any:
    """Return the Gymnasium environment of an id, a spec or an instance; options go to `gymnasium.make`."""
    try:
        import gymnasium
    except ImportError:
        raise ImportError(f"{owner}: gymnasium must be installed: pip install 'logbarrier[mdp]'") from None
    if isinstance(environment, gymnasium.Env):
        if options:
            raise ValueError(f"{owner}: options must be given to the environment itself, got {', '.join(options)}")
        return environment
    if not isinstance(environment, str | gymnasium.envs.registration.EnvSpec):
        raise WrongTypeError(f"{owner}: environment must be an id, a spec or an environment of Gymnasium, got {environment!r}")
    try:
        return gymnasium.make(environment, **options)
    except (gymnasium.error.Error, ModuleNotFoundError, TypeError) as error:
        raise ValueError(f"{owner}: {_named(environment)} cannot be made: {error}") from None


def name_of(environment: Any, options: dict[str, Any]) -> str:
    """What an environment is called in records, with its options."""
    return _named(environment) + "".join(f", {key}={value}" for key, value in options.items())


def _named(environment: Any) -> str:
    spec = getattr(environment, "spec", environment)
    return environment if isinstance(environment, str) else getattr(spec, "id", type(environment).__name__)


class FiniteEnvironment:
    """The environment with whole numbers for states and actions, counted from 0; a fresh copy of an instance."""

    def __init__(self, owner: str, environment: Any, options: dict[str, Any]) -> None:
        self.env = copy.deepcopy(made(owner, environment, options))
        name = name_of(environment, options)
        self._states = _Numbering(owner, f"the observation space of {name}", self.env.observation_space)
        self._actions = _Numbering(owner, f"the action space of {name}", self.env.action_space)
        self.n_states, self.n_actions = self._states.count, self._actions.count
        self.longest = getattr(self.env.spec, "max_episode_steps", None)  # steps, None where Gymnasium sets no limit

    def reset(self, seed: int | None = None) -> int:
        """Start an episode; returns its first state. A seed starts the environment's random numbers."""
        return self._states.number(self.env.reset(seed=seed)[0])

    def step(self, action: int) -> tuple[int, float, bool, bool]:
        """Return the next state, the reward, and whether the episode ended or was cut."""
        observation, reward, ended, cut, _ = self.env.step(self._actions.value(action))
        return self._states.number(observation), float(reward), bool(ended), bool(cut)


class _Numbering:
    """Numbers the elements of a finite space; the last part of an element varies fastest."""

    def __init__(self, owner: str, what: str, space: Any) -> None:
        from gymnasium import spaces

        self._whole = isinstance(space, spaces.Discrete)
        parts = space.spaces if isinstance(space, spaces.Tuple) else [space]
        sizes, starts = list[int](), list[int]()
        for part in parts:
            if isinstance(part, spaces.Discrete):
                sizes, starts = [*sizes, int(part.n)], [*starts, int(part.start)]
            elif isinstance(part, spaces.MultiDiscrete):
                sizes, starts = [*sizes, *part.nvec.ravel().tolist()], [*starts, *np.ravel(part.start).tolist()]
            elif isinstance(part, spaces.MultiBinary):
                sizes, starts = [*sizes, *[2] * int(np.prod(part.shape))], [*starts, *[0] * int(np.prod(part.shape))]
            else:
                raise ValueError(f"{owner}: {what} must be finite (Discrete, MultiDiscrete, MultiBinary, Tuple), got {part}")
        self._sizes, self._starts, self._space = tuple(sizes), tuple(starts), space
        self.count = int(np.prod(np.array(sizes, dtype=object)))

    def number(self, element: Any) -> int:
        """The number of an element."""
        if self._whole:
            return int(element) - self._starts[0]
        parts = np.concatenate([np.ravel(part) for part in element]) if isinstance(element, tuple) else np.ravel(element)
        total: int = 0
        for part, start, size in zip(parts.tolist(), self._starts, self._sizes, strict=True):
            total = total * size + int(part) - start
        return total

    def value(self, number: int) -> Any:
        """The element of a number."""
        if self._whole:
            return number + self._starts[0]
        parts = np.array(np.unravel_index(number, self._sizes)) + self._starts
        return parts.reshape(self._space.shape) if self._space.shape else tuple(parts.tolist())
