"""Small environments for the view of environments, and the four objectives it sets side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..mdps.environments import DeepSea, Distractor
from ..mdps.exact import ActionBarrier, Entropy, Maximum, NoRegulariser, Objective, Spectral, maximise
from ..mdps.problem import FiniteMDP

if TYPE_CHECKING:
    from .state import State
    from .worker import Check

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
    """An environment: its name on the page, how it is made, and the same as Python."""

    label: str
    make: Callable[[], FiniteMDP]
    python: str


ENVIRONMENTS = {
    "rooms": Environment("four rooms", rooms, "rooms()"),
    "distractor": Environment("a distractor on the way", lambda: Distractor(10, gamma=0.95), "mdps.Distractor(10, gamma=0.95)"),
    "deep-sea": Environment("deep sea", lambda: DeepSea(10), "mdps.DeepSea(10)"),
}


def objectives(eta: float) -> dict[str, Objective]:
    """No regulariser, entropy with tau = 1/eta, the barrier on actions alone, and the spectral one, which also sees states."""
    return {
        "none": NoRegulariser(),
        "entropy": Entropy(tau=1.0 / eta),
        "action barrier": ActionBarrier(eta=eta),
        "spectral barrier": Spectral(eta=eta),
    }


@dataclass(frozen=True)
class Maxima:
    """Where each objective is largest; for the action barrier, the maximum that ascent from uniform play reaches."""

    state: State
    mdp: FiniteMDP
    found: dict[str, Maximum]
    complete: bool


def maxima_job(state: State, check: Check) -> Iterator[Maxima]:
    """The four maxima, one after the other."""
    mdp = ENVIRONMENTS[state.environment].make()
    wanted = objectives(state.etas[0])
    found: dict[str, Maximum] = {}
    for number, (label, objective) in enumerate(wanted.items()):
        found = {**found, label: maximise(mdp, objective)}
        check(number + 1, len(wanted))
        yield Maxima(state, mdp, found, complete=len(found) == len(wanted))


def as_python(state: State) -> str:
    """A script that computes what the view of environments shows."""
    eta = state.etas[0]
    lines = [
        "from logbarrier import mdps",
        "from logbarrier.lab.environments import rooms",
        "",
        f"mdp = {ENVIRONMENTS[state.environment].python}",
    ]
    lines += [
        "objectives = {",
        '    "none": mdps.NoRegulariser(),',
        f'    "entropy": mdps.Entropy(tau={1.0 / eta!r}),',
        f'    "action barrier": mdps.ActionBarrier(eta={eta!r}),',
        f'    "spectral barrier": mdps.Spectral(eta={eta!r}),',
        "}",
        "maxima = {label: mdps.exact.maximise(mdp, objective) for label, objective in objectives.items()}",
        "for label, best in maxima.items():",
        '    print(f"{label}: J {best.performance:.4f}, least visited state {best.occupancy.min():.2g}")',
    ]
    return "\n".join(lines) + "\n"
