"""What the page shows, as Python and as a study file."""

from __future__ import annotations

from ..bandits.problems import Bandit
from ..studies import Study, product
from ..studies.study_file import study_as_toml
from . import learning
from .laws import LAWS, problem_of
from .rules import curves_of
from .state import State

MOST_MEANS = 2000  # of a fixed instance, written out in a study file


def as_python(state: State) -> str:
    """A script that computes what a state shows, number by number; for single runs, the curves they are part of."""
    if state.view == "environment":
        return learning.as_python(state)
    options = f"horizon={state.horizon}, runs={state.runs}, seed={state.seed}"
    if state.spacing != "linear":
        options += f', spacing="{state.spacing}"'
    curves = curves_of(state)
    if state.start is not None:
        start = f"lb.OptimalArmAt({state.start!r})"
        without = [curve.label for curve in curves if not curve.rule.has_preferences]
        options += f", start=None if label in {without!r} else {start}" if without else f", start={start}"
    lines = ["import logbarrier as lb", "", f"problem = {LAWS[state.law].python(state)}", "rules = {"]
    lines += [f'    "{curve.label}": lb.{curve.rule!r},' for curve in curves]
    lines += ["}", "records = {}", "for label, rule in rules.items():"]
    lines += [
        f"    records[label] = lb.simulate(rule, problem, {options})",
        '    final = records[label].mean("optimal_probability")[-1]',
        '    print(f"{label}: p(a*) {final:.4f}, stuck {records[label].stuck_fraction():.2f}")',
    ]
    return "\n".join(lines) + "\n"


def as_toml(state: State) -> str:
    """A study file for `logbarrier run`; ValueError where no study can say it."""
    if state.view == "environment":
        raise ValueError("lab: the environment view has no study file; use 'as Python'")
    problem, curves = problem_of(state), curves_of(state)
    if isinstance(problem, Bandit) and problem.n_arms > MOST_MEANS:
        raise ValueError(f"lab: a study file with one fixed instance takes at most {MOST_MEANS} arms, got {problem.n_arms}")
    if state.start is not None:
        curves = [curve for curve in curves if curve.rule.has_preferences]
        if not curves:
            raise ValueError("lab: none of these rules can be given a bad start, so there is no study file for it")
    study = Study(
        name="lab",
        cases=product([problem], [curve.rule for curve in curves]),
        horizon=state.horizon,
        runs=state.runs,
        seed=state.seed,
        spacing=state.spacing,
        bad_start=state.start,
    )
    return study_as_toml(study)
