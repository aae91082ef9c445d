"""The tabular environments of Gymnasium as MDPs with known transitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import validate
from ..problem import FiniteMDP

# in the order in which each environment numbers its actions
ARROWS = {"FrozenLake": ("left", "down", "right", "up"), "CliffWalking": ("up", "right", "down", "left")}


class GymnasiumMDP(FiniteMDP):
    """An environment that is read from Gymnasium, see `from_gymnasium`; options that are None are left to Gymnasium."""

    def __init__(
        self,
        environment: str,
        *,
        gamma: float = 0.99,
        map_name: str | None = None,
        is_slippery: bool | None = None,
        **further: Any,
    ) -> None:
        options = {"map_name": map_name, "is_slippery": is_slippery, **further}
        self.environment = environment
        self.options = {key: value for key, value in options.items() if value is not None}
        super().__init__(**_arrays(environment, gamma, self.options))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        return {"problem": "from_gymnasium", "environment": self.environment, "gamma": self.gamma, **self.options}


def from_gymnasium(environment: str, *, gamma: float = 0.99, **options: Any) -> GymnasiumMDP:
    """FrozenLake, CliffWalking, Taxi or any other environment with a transition table `env.unwrapped.P`, pruned.

    A transition flagged as terminal becomes missing mass, rewards are expected rewards R[s, a], and the first state has the
    law of `env.unwrapped.initial_state_distrib`. Options such as map_name="8x8" go to `gymnasium.make`. Needs the extra `mdp`.
    """
    return GymnasiumMDP(environment, gamma=gamma, **options)


def _arrays(environment: str, gamma: float, options: dict[str, Any]) -> dict[str, Any]:
    """What FiniteMDP takes."""
    try:
        import gymnasium
    except ImportError:
        raise ImportError("from_gymnasium: gymnasium must be installed: pip install 'logbarrier[mdp]'") from None
    gamma = validate.between_zero_and_one("from_gymnasium", "gamma", gamma)
    try:
        env: Any = gymnasium.make(environment, **options).unwrapped
    except gymnasium.error.Error as error:
        raise ValueError(f"from_gymnasium: {environment} cannot be made: {error}") from None
    table = getattr(env, "P", None)
    if table is None:
        raise ValueError(f"from_gymnasium: {environment} must have a transition table (env.unwrapped.P), but it has none")
    n_states, n_actions = len(table), len(table[0])
    R, moves = np.zeros((n_states, n_actions)), []
    for s, actions in table.items():
        for a, outcomes in actions.items():
            for probability, successor, reward, ends in outcomes:
                R[s, a] += probability * reward
                if not ends:
                    moves.append((s, a, int(successor), float(probability)))
    kind = environment.split("-")[0]
    whole = FiniteMDP.from_transitions(
        moves, R=R, rho=env.initial_state_distrib, gamma=gamma, shape=getattr(env, "shape", None) or _square(env),
        action_names=ARROWS.get(kind),
    ).pruned()  # fmt: skip
    rows = {"offsets": whole.offsets, "successors": whole.successors, "probabilities": whole.probabilities}
    words = "".join(f", {key}={value}" for key, value in options.items())
    return {
        "P": rows, "R": whole.R, "rho": whole.rho, "gamma": gamma, "name": f"{environment}{words}", "episode_length": 200,
        "shape": whole.shape, "states": whole.states, "action_names": whole.action_names,
    }  # fmt: skip


def _square(env: Any) -> tuple[int, int] | None:
    """Rows and columns of an environment that knows its map."""
    return (int(env.nrow), int(env.ncol)) if hasattr(env, "nrow") else None
