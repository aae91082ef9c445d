"""Pictures of what the barriers see: two maxima or one, maps with and without the visitation term, and what epsilon costs.

`python tools/figures_mdps.py docs/images` renders those of docs/mdps.md.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from logbarrier.mdps.environments import DeepSea, Distractor, Lock, RiverSwim, from_gymnasium
from logbarrier.mdps.exact.ascent import policy_gradient
from logbarrier.mdps.exact.calculus import value
from logbarrier.mdps.exact.maximum import maximise
from logbarrier.mdps.exact.objectives import ActionBarrier, Objective, Spectral
from logbarrier.mdps.pictures import grid, score
from logbarrier.mdps.problem import FiniteMDP

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, INK = "#0072B2", "#D55E00", "#333333"
SHARES = np.geomspace(1e-3, 1.0, 16)  # epsilon, as a share of what there is to gain over uniform play


def eta_for(mdp: FiniteMDP, share: float) -> float:
    """eta = S (K - 1)/epsilon, epsilon a share of J* - J(uniform)."""
    gain = mdp.optimal_performance - mdp.performance(mdp.uniform_policy)
    return mdp.n_states * (mdp.n_actions - 1) / (share * gain)


@dataclass(frozen=True)
class TwoMaxima:
    """The distractor chain under two objectives.

    ascents  for each objective, J/J* along gradient ascent from the same random starts, (starts, steps)
    chord    for each, the objective on the way from the poor to the good maximum of the action barrier, (points,)
    """

    objectives: dict[str, Objective]
    ascents: dict[str, np.ndarray]
    chord: dict[str, np.ndarray]


def two_maxima(mdp: FiniteMDP, *, starts: int = 12, steps: int = 400) -> TwoMaxima:
    """Gradient ascent from random starts, and the objectives along a line of occupancy measures."""
    eta = eta_for(mdp, 0.1)
    objectives: dict[str, Objective] = {"action barrier": ActionBarrier(eta=eta), "spectral barrier": Spectral(eta=eta)}
    thetas = np.random.default_rng(0).normal(size=(starts, mdp.n_states, mdp.n_actions))
    poor = maximise(mdp, objectives["action barrier"])
    good = maximise(mdp, objectives["action barrier"], start=0.9 * mdp.optimal_policy + 0.1 / mdp.n_actions)
    ends = [best.occupancy[:, None] * best.policy for best in (poor, good)]
    between = [(1.0 - t) * ends[0] + t * ends[1] for t in np.linspace(0.0, 1.0, 101)]
    ascents, chord = {}, {}
    for label, objective in objectives.items():
        ascents[label] = np.array([_performances(mdp, objective, theta, steps) for theta in thetas])
        chord[label] = np.array([value(mdp, np.log(mu), objective) for mu in between])
    return TwoMaxima(objectives, ascents, chord)


def plot_two_maxima(found: TwoMaxima) -> Figure:
    """Ascents on the left, the two objectives between the maxima of the first on the right."""
    figure, (left, right) = _panels()
    for (label, curves), colour in zip(found.ascents.items(), (ORANGE, BLUE), strict=True):
        left.plot(np.arange(1, curves.shape[1] + 1), curves.T, color=colour, linewidth=1.0, alpha=0.7)
        left.plot([], [], color=colour, label=label)
        rise = found.chord[label] - found.chord[label][0]
        right.plot(np.linspace(0.0, 1.0, len(rise)), rise, color=colour, label=label)
    left.set(xscale="log", xlabel="step of gradient ascent", ylabel="J / J*", ylim=(-0.03, 1.03))
    right.set(xlabel="between the action barrier's two maxima", ylabel="objective, above its start")
    left.legend(frameon=False, fontsize=8, loc="center left")
    right.legend(frameon=False, fontsize=8)
    return figure


def plot_accuracy(environments: dict[str, FiniteMDP]) -> Figure:
    """The score at the maximum, and how rarely it visits some state, against epsilon."""
    figure, (left, right) = _panels()
    colours = (BLUE, ORANGE, "#009E73", "#CC79A7")
    for (label, mdp), colour in zip(environments.items(), colours, strict=False):
        best = [maximise(mdp, Spectral(eta=eta_for(mdp, share))) for share in SHARES]
        left.plot(SHARES, [score(mdp, one.policy) for one in best], color=colour, label=label)
        right.plot(SHARES, [one.occupancy.min() for one in best], color=colour, label=label)
    left.plot(SHARES, 1.0 - SHARES, ":", color=INK, label="1 - epsilon")
    for axes in (left, right):
        axes.set(xscale="log", xlabel="epsilon, as a share of J* - J(uniform)")
    left.set(ylabel="score of the maximum", ylim=(-0.03, 1.03))
    right.set(ylabel="smallest occupancy", yscale="log")
    left.legend(frameon=False, fontsize=8, loc="lower left")
    return figure


def maps(mdp: FiniteMDP, share: float) -> Figure:
    """Maxima with and without the visitation term, on a grid."""
    eta = eta_for(mdp, share)
    objectives: dict[str, Objective] = {"action barrier": ActionBarrier(eta=eta), "spectral barrier": Spectral(eta=eta)}
    return grid(mdp, {label: maximise(mdp, objective).policy for label, objective in objectives.items()})


def plot_all(folder: Path) -> list[Path]:
    """The pictures of docs/mdps.md."""
    lake = from_gymnasium("FrozenLake-v1", map_name="8x8")
    chains = {"RiverSwim(12)": RiverSwim(12), "Lock(14)": Lock(14), "DeepSea(14)": DeepSea(14), "FrozenLake 8x8": lake}
    pictures = {
        "mdp-two-maxima": plot_two_maxima(two_maxima(Distractor(10, gamma=0.95))),
        "mdp-distractor": maps(Distractor(10, gamma=0.95), 0.1),
        "mdp-lake": maps(lake, 0.1),
        "mdp-accuracy": plot_accuracy(chains),
    }
    written = []
    for name, figure in pictures.items():
        written.append(folder / f"{name}.png")
        figure.savefig(written[-1], dpi=120)
    return written


def _performances(mdp: FiniteMDP, objective: Objective, theta: np.ndarray, steps: int) -> np.ndarray:
    """J/J* at each step; an ascent that is over stays where it is."""
    reached = [step.performance for step in policy_gradient(mdp, objective, theta, steps=steps)]
    return np.array(reached + [reached[-1]] * (steps - len(reached))) / mdp.optimal_performance


def _panels() -> tuple[Figure, tuple[Axes, Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#dddddd", linewidth=0.6)
    return figure, (left, right)


if __name__ == "__main__":
    for written in plot_all(Path(sys.argv[1])):
        print(written)
