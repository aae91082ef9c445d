"""System: an algorithm as a paper prescribes it, its hyper-parameters a function of the accuracy asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from ..bandits.algorithms.rule import Rule
from .instances import Instance


class Family(Enum):
    """What systems are drawn together; the value is the pane's title."""

    GRADIENT = "no regulariser"
    BARRIER = "log barrier"
    ENTROPY = "other regularisers"
    EXACT = "exact gradients"
    OUTSIDER = "outside the paper"


@dataclass(frozen=True, kw_only=True)
class System:
    """A rule for every accuracy epsilon, and what is claimed for it.

    name        what `--only` selects by
    family      whom it is drawn with
    reference   whose algorithm it is
    place       where the paper has it: "Tables 1 and 2", "Algorithm 2", "outside the paper", ...
    update      its update in a line; alpha, eta, tau, K as everywhere, p the policy, R the reward of arm a
    parameters  its hyper-parameters in a line
    rate        x of the pulls O(epsilon^-x) that the paper's tables state, None if they state nothing
    assumption  under which they state it
    reading     where the cited paper left us a choice, and what we chose
    rule        (epsilon, instance, horizon) -> the rule to run; where epsilon changes nothing, one simulation serves all
    """

    name: str
    family: Family
    reference: str
    place: str
    update: str
    parameters: str
    rate: float | None = None
    assumption: str = ""
    reading: str
    rule: Callable[[float, Instance, int], Rule]
