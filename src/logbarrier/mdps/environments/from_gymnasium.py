"""The tabular environments of Gymnasium as MDPs with known transitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import validate
from ..problem import FiniteMDP
from .finite_environment import made, name_of

# in the order in which each environment numbers its actions
ARROWS = {"FrozenLake": ("left", "down", "right", "up"), "CliffWalking": ("up", "right", "down", "left")}


class GymnasiumMDP(FiniteMDP):
    """An environment that is read from Gymnasium by its id, see `from_gymnasium`; options that are None are left out."""

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


def from_gymnasium(environment: Any, *, gamma: float = 0.99, **options: Any) -> FiniteMDP:
    """FrozenLake, CliffWalking, Taxi or any other environment with a transition table `env.unwrapped.P`, pruned.

    environment  an id, a spec (`gymnasium.spec(...)`) or an instance
    options      go to `gymnasium.make`, such as map_name="8x8"

    A transition flagged as terminal becomes missing mass, rewards are expected rewards R[s, a], and the first state has the
    law of `env.unwrapped.initial_state_distrib`. Without a table, `mdps.estimate` counts one, and `mdps.Environment` learns
    from the environment itself. Needs the extra `mdp`.
    """
    if isinstance(environment, str):
        return GymnasiumMDP(environment, gamma=gamma, **options)
    if hasattr(environment, "unwrapped"):
        return FiniteMDP(**_arrays(environment, gamma, options))
    spec_options = getattr(environment, "kwargs", {})
    return GymnasiumMDP(getattr(environment, "id", environment), gamma=gamma, **{**spec_options, **options})


def _arrays(environment: Any, gamma: float, options: dict[str, Any]) -> dict[str, Any]:
    """What FiniteMDP takes."""
    gamma = validate.between_zero_and_one("from_gymnasium", "gamma", gamma)
    unwrapped: Any = made("from_gymnasium", environment, options).unwrapped
    name = name_of(environment, options)
    table = getattr(unwrapped, "P", None)
    if table is None:
        raise ValueError(
            f"from_gymnasium: {name} must have a transition table (env.unwrapped.P), but it has none; "
            "use mdps.estimate or mdps.Environment"
        )
    n_states, n_actions = len(table), len(table[0])
    R, moves = np.zeros((n_states, n_actions)), []
    for s, actions in table.items():
        for a, outcomes in actions.items():
            for probability, successor, reward, ends in outcomes:
                R[s, a] += probability * reward
                if not ends:
                    moves.append((s, a, int(successor), float(probability)))
    whole = FiniteMDP.from_transitions(
        moves, R=R, rho=unwrapped.initial_state_distrib, gamma=gamma,
        shape=getattr(unwrapped, "shape", None) or _square(unwrapped),
        action_names=ARROWS.get(name.split("-")[0]),
    ).pruned()  # fmt: skip
    rows = {"offsets": whole.offsets, "successors": whole.successors, "probabilities": whole.probabilities}
    return {
        "P": rows, "R": whole.R, "rho": whole.rho, "gamma": gamma, "name": name, "episode_length": 200,
        "shape": whole.shape, "states": whole.states, "action_names": whole.action_names,
    }  # fmt: skip


def _square(unwrapped: Any) -> tuple[int, int] | None:
    """Rows and columns of an environment that knows its map."""
    return (int(unwrapped.nrow), int(unwrapped.ncol)) if hasattr(unwrapped, "nrow") else None
