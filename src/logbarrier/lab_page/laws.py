"""Reward laws of the page: each makes the problem that a state's arms, gap, noise and seed describe.

Gaussian and Bernoulli rewards come on a fresh instance for every run. Uniform and beta ones come on one instance, that of run
0, since the package has no family of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..bandits.problems import Bandit, BernoulliGapInstances, BetaBandit, GapInstances, ProblemSource, UniformBandit

if TYPE_CHECKING:
    from .state import State


@dataclass(frozen=True)
class Law:
    """A reward law: its name on the page, the problem of a state, the same as Python, and whether noise is its setting."""

    label: str
    problem: Callable[[State], ProblemSource]
    python: Callable[[State], str]
    noisy: bool


def _gaussian(state: State) -> GapInstances:
    return GapInstances(n_arms=state.arms, gap=state.gap, scale=state.noise)


def _bernoulli(state: State) -> BernoulliGapInstances:
    return BernoulliGapInstances(n_arms=state.arms, gap=state.gap)


LAWS = {
    "gaussian": Law(
        "Gaussian, a fresh instance per run",
        _gaussian,
        lambda state: f"lb.GapInstances(n_arms={state.arms}, gap={state.gap!r}, scale={state.noise!r})",
        noisy=True,
    ),
    "bernoulli": Law(
        "Bernoulli, a fresh instance per run",
        _bernoulli,
        lambda state: f"lb.BernoulliGapInstances(n_arms={state.arms}, gap={state.gap!r})",
        noisy=False,
    ),
    "uniform": Law(
        "uniform on r(a) ± noise, one instance",
        lambda state: UniformBandit(_gaussian(state).problem(state.seed, 0).means, half_width=state.noise, allow_ties=True),
        lambda state: f"lb.UniformBandit({_means('GapInstances', state)}, half_width={state.noise!r}, allow_ties=True)",
        noisy=True,
    ),
    "beta": Law(
        "beta on [0, 1], one instance",
        lambda state: BetaBandit(_bernoulli(state).problem(state.seed, 0).means, allow_ties=True),
        lambda state: f"lb.BetaBandit({_means('BernoulliGapInstances', state)}, allow_ties=True)",
        noisy=False,
    ),
}


def problem_of(state: State) -> ProblemSource:
    """What the rules of a state are run on."""
    return LAWS[state.law].problem(state)


def instance_of(state: State) -> Bandit:
    """The instance that run 0 of a state faces: one problem for every run, for the views that follow single runs."""
    problem: Any = problem_of(state)
    instance: Bandit = problem if isinstance(problem, Bandit) else problem.problem(seed=state.seed, run=0)
    return instance


def _means(family: str, state: State) -> str:
    return f"lb.{family}(n_arms={state.arms}, gap={state.gap!r}).problem(seed={state.seed}, run=0).means"
