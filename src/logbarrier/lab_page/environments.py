"""Small environments in which exploration matters, and the rules that learn in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..mdps.algorithms import PG, ActionBarrierPG, EntropyPG, FeatureSpectralPG, Rule, SpectralPG
from ..mdps.coordinates import grid_features
from ..mdps.environments import DeepSea, Distractor, RiverSwim
from ..mdps.problem import FiniteMDP
from ..plots.style import COLOURS

BLUE, VERMILION, GREEN, PURPLE, _, ORANGE = COLOURS[:6]

# s the start, a small reward at hand (.), a large one far away (*), walls (#).
ROOMS = """\
s..#....
...#....
.......*
...#....
#.###.##
...#....
........
...#...."""
MOVES = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
SMALL, LARGE = 0.1, 1.0


def rooms(gamma: float = 0.95) -> FiniteMDP:
    """Four rooms. Staying in the corner of the start pays a little (up, against the wall), the far cell marked * pays 1.

    >>> rooms().n_states
    53
    """
    rows = ROOMS.split("\n")
    shape = (len(rows), len(rows[0]))
    cells = [(r, c) for r in range(shape[0]) for c in range(shape[1]) if rows[r][c] != "#"]
    number = {cell: s for s, cell in enumerate(cells)}
    P, R = np.zeros((len(cells), len(MOVES), len(cells))), np.zeros((len(cells), len(MOVES)))
    for (r, c), s in number.items():
        for a, (down, right) in enumerate(MOVES.values()):
            P[s, a, number.get((r + down, c + right), s)] = 1.0
        R[s] = LARGE if rows[r][c] == "*" else 0.0
    start = number[(0, 0)]
    R[start, list(MOVES).index("up")] = SMALL
    return FiniteMDP(
        P=P,
        R=R,
        rho=np.eye(len(cells))[start],
        gamma=gamma,
        name="rooms",
        shape=shape,
        states=[r * shape[1] + c for r, c in cells],
        action_names=tuple(MOVES),
    )


@dataclass(frozen=True)
class Environment:
    """An environment: its name on the page, how it is made, the same as Python, and whether its states have features."""

    label: str
    make: Callable[[], FiniteMDP]
    python: str
    has_features: bool = False  # rows and columns; along a chain, those would be the table


ENVIRONMENTS = {
    "rooms": Environment("four rooms", rooms, "rooms()", has_features=True),
    "distractor": Environment("a distractor on the way", lambda: Distractor(10, gamma=0.95), "mdps.Distractor(10, gamma=0.95)"),
    "deep-sea": Environment("deep sea", lambda: DeepSea(14), "mdps.DeepSea(14)", has_features=True),
    "river": Environment("a river to swim up", lambda: RiverSwim(12), "mdps.RiverSwim(12)"),
}


@dataclass(frozen=True)
class Learner:
    """A rule that learns in an environment, made from alpha and eta, and how it is plotted."""

    make: Callable[[float, float], Rule]
    colour: str
    dash: str


LEARNERS = {
    "no regulariser": Learner(lambda alpha, eta: PG(learning_rate=alpha), VERMILION, "dashed"),
    "entropy": Learner(lambda alpha, eta: EntropyPG(learning_rate=alpha, tau=1.0 / eta), GREEN, "dashdot"),
    "action barrier": Learner(lambda alpha, eta: ActionBarrierPG(learning_rate=alpha, eta=eta), PURPLE, "dotted"),
    "spectral barrier": Learner(lambda alpha, eta: SpectralPG(), BLUE, "solid"),  # it has no settings
}


@dataclass(frozen=True)
class FeatureMap:
    """Features of states: their name on the page, the rule with them for an MDP, and the same as Python."""

    label: str
    make: Callable[[FiniteMDP], FeatureSpectralPG]
    python: str


FEATURE_MAPS = {
    "cosines": FeatureMap(
        "36 cosines",
        lambda mdp: FeatureSpectralPG(features=grid_features(mdp)),
        "mdps.FeatureSpectralPG(features=mdps.grid_features(mdp))",
    ),
    "cells": FeatureMap("row and column", lambda mdp: FeatureSpectralPG(), "mdps.FeatureSpectralPG()"),
}
FEATURES_COLOUR, FEATURES_DASH = ORANGE, "dotdash"
