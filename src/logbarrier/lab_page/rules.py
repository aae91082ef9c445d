"""The rules the page offers, and the curves that a state asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..bandits.algorithms.adaptive_log_barrier_sgb import AdaptiveLogBarrierSGB
from ..bandits.algorithms.auto_log_barrier import AutoLogBarrier
from ..bandits.algorithms.baseline_npg import BaselineNPG
from ..bandits.algorithms.baseline_sgb import BaselineSGB
from ..bandits.algorithms.clipped_log_barrier_sgb import ClippedLogBarrierSGB
from ..bandits.algorithms.entropy_sgb import EntropySGB
from ..bandits.algorithms.log_barrier_sgb import LogBarrierSGB
from ..bandits.algorithms.npg import NPG
from ..bandits.algorithms.optimistic_barrier import OptimisticBarrier
from ..bandits.algorithms.rule import Rule
from ..bandits.algorithms.sgb import SGB
from ..bandits.algorithms.thompson_sampling import ThompsonSampling
from ..bandits.algorithms.ucb1 import UCB1
from ..plots.style import COLOURS

if TYPE_CHECKING:
    from .state import State

BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, _ = COLOURS
GREY, BROWN = "#888888", "#9C6B30"  # black would vanish on a dark page
ETA_COLOURS = (BLUE, SKY, GREY, BROWN)


@dataclass(frozen=True)
class Choice:
    """One rule of the list: how it is called, made for a state and one of its etas, and plotted."""

    label: str
    make: Callable[[State, float], Rule]
    colour: str
    dash: str = "solid"
    for_each_eta: bool = False


@dataclass(frozen=True)
class Curve:
    """One rule with its parameters, as the page plots it."""

    label: str
    rule: Rule
    colour: str
    dash: str


CHOICES = {
    "lb": Choice(
        "LB-SGB, fixed eta", lambda state, eta: LogBarrierSGB(learning_rate=state.alpha, eta=eta), BLUE, for_each_eta=True
    ),
    "adaptive": Choice(
        "LB-SGB, adaptive eta", lambda state, eta: AdaptiveLogBarrierSGB(learning_rate=state.alpha), SKY, "dashdot"
    ),
    "automatic": Choice("LB-SGB, automatic", lambda state, eta: AutoLogBarrier(), GREEN, "dotdash"),
    "optimistic": Choice("OptimisticBarrier", lambda state, eta: OptimisticBarrier(), BROWN, "solid"),
    "sgb": Choice("SGB", lambda state, eta: SGB(learning_rate=state.alpha), VERMILION, "dashed"),
    "ent": Choice(
        "ENT, tau = 1/eta", lambda state, eta: EntropySGB(learning_rate=state.alpha, tau=1.0 / eta), GREEN, "dashdot"
    ),
    "npg": Choice("NPG", lambda state, eta: NPG(learning_rate=state.alpha), PURPLE, "dotted"),
    "baseline": Choice("SGB with baseline", lambda state, eta: BaselineSGB(learning_rate=state.alpha), ORANGE, "dashed"),
    "npg-sqrt": Choice(
        "NPG with baseline, alpha/sqrt t",
        lambda state, eta: BaselineNPG(learning_rate=state.alpha, schedule="inverse_sqrt"),
        PURPLE,
        "dashed",
    ),
    "npg-mei": Choice(
        "NPG with baseline, Mei's step",
        lambda state, eta: BaselineNPG(learning_rate=state.alpha, schedule="mei"),
        ORANGE,
        "dotdash",
    ),
    "clipped": Choice("LB-SGB with clipping", lambda state, eta: ClippedLogBarrierSGB(), GREY, "dashed"),
    "thompson": Choice("Thompson sampling", lambda state, eta: ThompsonSampling(scale=state.noise), BROWN, "dotted"),
    "ucb1": Choice("UCB1", lambda state, eta: UCB1(), GREY, "dotted"),
}


def curves_of(state: State) -> list[Curve]:
    """One curve for each rule of the state, and one for each eta of LB-SGB."""
    curves = []
    for key in state.rules:
        choice = CHOICES[key]
        if choice.for_each_eta:
            curves += [
                Curve(f"LB-SGB, eta {eta:g}", choice.make(state, eta), colour, choice.dash)
                for eta, colour in zip(state.etas, ETA_COLOURS, strict=False)
            ]
        else:
            curves.append(Curve(choice.label, choice.make(state, state.etas[0]), choice.colour, choice.dash))
    return curves
