"""Pictures of what the barriers see: two maxima or one, maps with and without the visitation term, and what epsilon costs.

`python tools/figures_mdps.py` renders those of docs/mdps.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from logbarrier.mdps.environments import DeepSea, Distractor, Lock, RiverSwim, from_gymnasium
from logbarrier.mdps.exact.ascent import policy_gradient
from logbarrier.mdps.exact.calculus import value
from logbarrier.mdps.exact.maximum import maximise
from logbarrier.mdps.exact.objectives import ActionBarrier, Objective, Spectral
from logbarrier.mdps.pictures import grid, score
from logbarrier.mdps.problem import FiniteMDP
from logbarrier.plots.style import panels
from looks import WIDTH, look, page_style, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    with page_style():
        figure, (left, right) = panels(1, 2, size=(WIDTH, 3.3))
        for number, (label, curves) in enumerate(found.ascents.items()):
            looks = look(1 - number)  # the spectral barrier is blue and solid in all pictures
            left.plot(np.arange(1, curves.shape[1] + 1), curves.T, **looks | {"linewidth": 1.0, "alpha": 0.7})
            rise = found.chord[label] - found.chord[label][0]
            right.plot(np.linspace(0.0, 1.0, len(rise)), rise, **looks, label=label)
        left.set(xscale="log", xlabel="step of gradient ascent", ylabel="J / J*", ylim=(-0.03, 1.03))
        right.set(xlabel="way between the two maxima", ylabel="rise of the objective")
        figure.legend(loc="outside lower center", ncols=2)
    return figure


def plot_accuracy(environments: dict[str, FiniteMDP]) -> Figure:
    """The score at the maximum, and how rarely it visits some state, against epsilon."""
    with page_style():
        figure, (left, right) = panels(1, 2, size=(WIDTH, 3.6))
        for number, (label, mdp) in enumerate(environments.items()):
            best = [maximise(mdp, Spectral(eta=eta_for(mdp, share))) for share in SHARES]
            left.plot(SHARES, [score(mdp, one.policy) for one in best], **look(number), label=label)
            right.plot(SHARES, [one.occupancy.min() for one in best], **look(number))
        left.plot(SHARES, 1.0 - SHARES, "x", color="black", label="1 - epsilon")
        for axes in (left, right):
            axes.set(xscale="log", xlabel="epsilon / (J* - J(uniform))")
        left.set(ylabel="score of the maximum", ylim=(-0.03, 1.03))
        right.set(ylabel="smallest occupancy", yscale="log")
        figure.legend(loc="outside lower center", ncols=3)
    return figure


def maps(mdp: FiniteMDP, share: float) -> Figure:
    """Maxima with and without the visitation term, on a grid."""
    eta = eta_for(mdp, share)
    objectives: dict[str, Objective] = {"action barrier": ActionBarrier(eta=eta), "spectral barrier": Spectral(eta=eta)}
    return grid(mdp, {label: maximise(mdp, objective).policy for label, objective in objectives.items()})


def _performances(mdp: FiniteMDP, objective: Objective, theta: np.ndarray, steps: int) -> np.ndarray:
    """J/J* at each step; an ascent that is over stays where it is."""
    reached = [step.performance for step in policy_gradient(mdp, objective, theta, steps=steps)]
    return np.array(reached + [reached[-1]] * (steps - len(reached))) / mdp.optimal_performance


def _lake() -> Figure:
    return maps(from_gymnasium("FrozenLake-v1", map_name="8x8"), 0.1)


def _distractor() -> Figure:
    return maps(Distractor(10, gamma=0.95), 0.1)


def _accuracy() -> Figure:
    lake = from_gymnasium("FrozenLake-v1", map_name="8x8")
    chains = {"RiverSwim(12)": RiverSwim(12), "Lock(14)": Lock(14), "DeepSea(14)": DeepSea(14), "FrozenLake 8x8": lake}
    return plot_accuracy(chains)


def _two_maxima() -> Figure:
    return plot_two_maxima(two_maxima(Distractor(10, gamma=0.95)))


FIGURES = {
    "mdp-two-maxima.png": _two_maxima,
    "mdp-distractor.png": _distractor,
    "mdp-lake.png": _lake,
    "mdp-accuracy.png": _accuracy,
}
PICTURES = {name: (plot,) for name, plot in FIGURES.items()}


if __name__ == "__main__":
    for name, plot in FIGURES.items():
        print(save(plot(), name, PICTURES[name]))
