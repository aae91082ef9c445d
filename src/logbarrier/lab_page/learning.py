"""Rules learn in an environment by acting: how well they do over time, and what they do in the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..engine.random import stream_key
from ..mdps.algorithms import Rule
from ..mdps.measure import Evaluator
from ..mdps.problem import FiniteMDP
from ..mdps.simulator import MDPRun, simulate
from ..record import Record
from .environments import ENVIRONMENTS, FEATURE_MAPS, FEATURES_COLOUR, FEATURES_DASH, LEARNERS
from .jobs import Compiling, Plateau
from .state import State
from .worker import Check


@dataclass(frozen=True)
class LearningCurve:
    """A rule with its parameters, as the page plots it and as Python."""

    label: str
    rule: Rule
    colour: str
    dash: str
    python: str


@dataclass(frozen=True)
class Learning:
    """What each rule has learnt.

    records   by label; those of rules still to be simulated are missing
    policies  (S, K) at the end of run 0
    """

    state: State
    curves: list[LearningCurve]
    mdp: FiniteMDP
    records: dict[str, Record]
    policies: dict[str, np.ndarray]
    complete: bool
    plateaus: dict[str, Plateau] = field(default_factory=dict)


def labels_of(state: State) -> tuple[str, ...]:
    """The names of the rules on the page."""
    return (*LEARNERS, *([] if state.feature_map is None else [FEATURE_MAPS[state.feature_map].label]))


def learners_of(state: State, mdp: FiniteMDP) -> list[LearningCurve]:
    """The rules with the state's alpha and eta, and the one with features if the state has some."""
    curves = []
    for label, one in LEARNERS.items():
        rule = one.make(state.alpha, state.etas[0])
        curves.append(LearningCurve(label, rule, one.colour, one.dash, f"mdps.{rule!r}"))
    if state.feature_map is not None:
        chosen = FEATURE_MAPS[state.feature_map]
        curves.append(LearningCurve(chosen.label, chosen.make(mdp), FEATURES_COLOUR, FEATURES_DASH, chosen.python))
    return curves


def learning_job(state: State, check: Check) -> Iterator[Compiling | Learning]:
    """Simulate one rule after the other: the spectral barrier first, features, which take longest, last."""
    mdp = ENVIRONMENTS[state.environment].make()
    curves = learners_of(state, mdp)
    order = [*reversed(curves[: len(LEARNERS)]), *curves[len(LEARNERS) :]]
    records: dict[str, Record] = {}
    policies: dict[str, np.ndarray] = {}
    steps = state.runs * state.horizon
    for number, curve in enumerate(order):
        if type(curve.rule) not in _COMPILED:
            yield Compiling(curve.label)

        def progress(done: int, _: int, before: int = number * steps) -> None:
            check(before + done, len(curves) * steps)

        record = simulate(
            curve.rule,
            mdp,
            horizon=state.horizon,
            runs=state.runs,
            seed=state.seed,
            spacing=state.spacing,
            metrics=("score", "coverage"),
            progress=progress,
        )
        _COMPILED.add(type(curve.rule))
        records[curve.label], policies[curve.label] = record, learnt_policy(curve.rule, mdp, state)
        known = {one.label: records[one.label] for one in curves if one.label in records}
        yield Learning(state, curves, mdp, known, dict(policies), complete=len(known) == len(curves))


_COMPILED: set[type] = set()


def learnt_policy(rule: Rule, mdp: FiniteMDP, state: State) -> np.ndarray:
    """The policy (S, K) at the end of run 0."""
    run = MDPRun(rule, Evaluator(mdp), stream_key(state.seed), 0)
    run.advance(state.horizon)
    return rule.policy(run.learned.theta)


def as_python(state: State) -> str:
    """A script that simulates what the view of environments shows, number by number."""
    options = f"horizon={state.horizon}, runs={state.runs}, seed={state.seed}"
    if state.spacing != "linear":
        options += f', spacing="{state.spacing}"'
    environment = ENVIRONMENTS[state.environment]
    made = environment.python
    lines = ["from logbarrier import mdps"]
    lines += ["from logbarrier.lab_page.environments import rooms"] * made.startswith("rooms")
    lines += ["", f"mdp = {made}", "rules = {"]
    lines += [f'    "{curve.label}": {curve.python},' for curve in learners_of(state, environment.make())]
    lines += ["}", "records = {}", "for label, rule in rules.items():"]
    lines += [
        f"    records[label] = mdps.simulate(rule, mdp, {options})",
        "    print(f\"{label}: score {records[label].mean('score')[-1]:.3f}\")",
    ]
    return "\n".join(lines) + "\n"
