"""plan: which rule to run on a problem like yours, found by racing the rules of this package on it.

All rules face the same instances. A round gives every rule still in the race the same number of runs and drops the worse half;
the last two meet on as many as the budget allows. So whatever was dropped did worse than the choice on the very same runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..bandits.algorithms.rule import Rule
from ..bandits.problems import ProblemSource
from ..bandits.simulator import LARGEST_HORIZON, simulate
from ..base import validate
from ..base.plain import Plain
from ..contexts.algorithms import Rule as ContextualRule
from ..contexts.problems import ContextSource, is_contextual
from ..contexts.simulator import simulate as simulate_contexts
from ..record import Record
from ..statistics import stuck_share, t_interval
from .contenders import code_of, contenders, cost, settings_of
from .contextual import contextual_contenders, contextual_cost, contextual_settings_of
from .question import problem_like

OBJECTIVES = ("regret", "final")
ROUNDS = (0.35, 0.3, 0.35)  # of the budget
FEWEST_RUNS, MOST_RUNS = 4, 400
DEAREST = 0.3  # a rule whose fewest runs would take more of the budget is left out
NEAR = 0.005  # a smaller difference of p(a*) is none: then regret decides
METRICS = ("optimal_probability", "regret", "wrong_probability")  # the last is for rules with preferences

Progress = Callable[[int, int], None]
AnyRule = Rule | ContextualRule


@dataclass(frozen=True)
class Row:
    """What a rule did by the horizon, on average over its runs.

    code           the line that makes it
    stuck          share of runs in which one wrong arm holds most of the probability; None for a rule without preferences
    ahead          regret that the choice saves against it, on their common runs, with a 95 % interval; 0 for the choice
    """

    code: str
    runs: int
    regret: float
    optimal_probability: float
    stuck: float | None
    ahead: float
    low: float
    high: float


@dataclass(frozen=True)
class Plan(Plain):
    """The answer: rows[0] is the choice, the others follow by the objective; left_out are those too slow to try.

    undecided: the 95 % interval of what the choice gains against rows[1], in what decided between them, contains 0.
    """

    problem: dict[str, Any]
    horizon: int
    objective: str
    seed: int
    rows: tuple[Row, ...]
    left_out: tuple[str, ...]
    undecided: bool

    @property
    def choice(self) -> Row:
        """What to run."""
        return self.rows[0]


def plan(
    n_arms: int | None = None,
    gap: float | None = None,
    horizon: float | None = None,
    *,
    problem: ProblemSource | ContextSource | None = None,
    means: Sequence[float] | None = None,
    rate: float | None = None,
    difference: float | None = None,
    rewards: str | None = None,
    r_max: float | None = None,
    scale: float | None = None,
    amount: float | None = None,
    objective: str = "regret",
    rule: str | None = None,
    seed: int = 0,
    budget: float = 8.0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Recommend a rule for a problem like yours, described by what you know of it, as of `problem_like`.

    One of these:

    problem                    any problem or family, such as lb.RevenueInstances(8) or lb.LinearContexts(5, 10)
    means                      the mean rewards of the arms
    rate, difference, n_arms   all arms have this rate but one, which is better by the difference
    gap, n_arms                the paper's instances: best mean r_max, second r_max - gap, the rest below

    rewards    "gaussian" of deviation `scale`, "bernoulli" for clicks, "counts", or "revenue" of mean `amount` per purchase
    horizon    how many pulls you have
    objective  "regret": what is lost on the way; "final": the probability of the best arm at the end
    rule       the name of the only rule to race, in several settings: "log-barrier-sgb" for its alpha and eta
    budget     about how many seconds of one core to spend, once the kernels are compiled
    progress   a function of (work done, work in all)

    The same arguments give the same plan, whatever the threads.

    >>> plan(means=[0.02, 0.03, 0.05], horizon=300, budget=0.1).choice.code.startswith("lb.")
    True
    """
    if horizon is None:
        raise ValueError("plan: needs horizon, how many pulls you have")
    horizon = validate.integer("plan", "horizon", horizon, 1, LARGEST_HORIZON)
    validate.choice("plan", "objective", objective, OBJECTIVES)
    budget = validate.positive("plan", "budget", budget)
    seed = validate.integer("plan", "seed", seed, 0)
    if problem is not None and is_contextual(problem):
        if objective != "regret":
            raise ValueError(f"plan: objective must be regret where the problem has contexts, got {objective}")
        rivals = contextual_contenders(problem) if rule is None else contextual_settings_of(rule, problem)
        costs: dict[AnyRule, float] = dict.fromkeys(rivals, contextual_cost(problem, horizon))
        return _planned(_Race(problem, horizon, objective, seed, budget, threads, progress, costs))
    asked = problem_like(
        cast("ProblemSource | None", problem), n_arms=n_arms, gap=gap, means=means, rate=rate, difference=difference,
        rewards=rewards, r_max=r_max, scale=scale, amount=amount,
    )  # fmt: skip
    tried = contenders(asked) if rule is None else settings_of(rule, asked, horizon)
    costs = {each: cost(each, asked.n_arms, horizon) for each in tried}
    return _planned(_Race(asked, horizon, objective, seed, budget, threads, progress, costs))


def _planned(race: _Race) -> Plan:
    rows, left_out = race.run(), tuple(map(code_of, race.left_out))
    return Plan(race.family.to_dict(), race.horizon, race.objective, race.seed, rows, left_out, race.undecided)


class _Race:
    """The rules still in it, and what each has done so far: results (runs, metrics) in the order of METRICS."""

    def __init__(
        self,
        family: ProblemSource | ContextSource,
        horizon: int,
        objective: str,
        seed: int,
        budget: float,
        threads: int | None,
        progress: Progress | None,
        costs: dict[AnyRule, float],
    ) -> None:
        self.family, self.horizon, self.objective, self.seed, self.budget = family, horizon, objective, seed, budget
        self.threads, self.progress, self.spent, self.undecided = threads, progress, 0.0, False
        self.costs = costs
        self.simulate: Callable[..., Record] = simulate_contexts if is_contextual(family) else simulate
        self.metrics = METRICS[:2] if is_contextual(family) else METRICS
        self.left_out = [rule for rule in costs if FEWEST_RUNS * self.costs[rule] > DEAREST * budget]
        self.results = {rule: np.empty((0, len(self.metrics))) for rule in costs if rule not in self.left_out}
        if not self.results:
            needed = FEWEST_RUNS * min(self.costs.values()) / DEAREST
            raise ValueError(f"plan: budget must be at least {needed:.2g} s for this horizon, got {budget:g}")

    def run(self) -> tuple[Row, ...]:
        """Every rule that was tried, the choice first."""
        racing = list(self.results)
        dropped: list[AnyRule] = []
        for number, share in enumerate(ROUNDS):
            more = self._runs(racing, share)
            for rule in racing:
                self._more(rule, more)
            racing.sort(key=self._order(racing))
            keep = max((len(racing) + 1) // 2, 2) if number == 0 else 2
            if number < len(ROUNDS) - 1:
                dropped = racing[keep:] + dropped
                racing = racing[:keep]
        if self.progress is not None:
            self.progress(100, 100)
        self.undecided = len(racing) > 1 and self._undecided(racing[0], racing[1])
        return tuple(self._row(rule, racing[0]) for rule in racing + dropped)

    def _runs(self, racing: list[AnyRule], share: float) -> int:
        """How many more runs each gets in a round: a pure function of what was asked, so that a plan can be repeated."""
        affordable = int(share * self.budget / sum(self.costs[rule] for rule in racing))
        least = max(FEWEST_RUNS - len(self.results[racing[0]]), 1)
        return min(max(affordable, least), MOST_RUNS)

    def _more(self, rule: AnyRule, runs: int) -> None:
        done = self.results[rule]
        record = self.simulate(
            rule,
            self.family,
            horizon=self.horizon,
            runs=runs,
            seed=self.seed,
            first_run=len(done),
            checkpoints=2,
            metrics=self.metrics,
            threads=self.threads,
        )
        self.results[rule] = np.vstack([done, np.stack([record[name][:, -1] for name in self.metrics], axis=1)])
        self.spent += runs * self.costs[rule]
        if self.progress is not None:
            self.progress(min(round(100 * self.spent / self.budget), 99), 100)

    def _order(self, racing: list[AnyRule]) -> Callable[[AnyRule], tuple[float, float]]:
        """What to sort by, best first. Nothing before a rule in that order is worse than it in both figures."""
        means = {rule: self.results[rule].mean(axis=0) for rule in racing}
        if self.objective == "regret":
            return lambda rule: (means[rule][1], -means[rule][0])
        best = max(mean[0] for mean in means.values())
        return lambda rule: (0.0, means[rule][1]) if means[rule][0] >= best - NEAR else (1.0, -means[rule][0])

    def _undecided(self, choice: AnyRule, second: AnyRule) -> bool:
        """Whether their common runs leave open which is better, in the figure that decided between them."""
        gained = self.results[choice][:, 0] - self.results[second][:, 0]  # p(a*)
        if self.objective == "regret" or gained.mean() <= NEAR:
            gained = self.results[second][:, 1] - self.results[choice][:, 1]
        return bool(t_interval(gained)[0] <= 0.0)

    def _row(self, rule: AnyRule, choice: AnyRule) -> Row:
        done = self.results[rule]
        saved = done[:, 1] - self.results[choice][: len(done), 1]
        low, high = t_interval(saved)
        optimal, regret = done[:, :2].mean(axis=0)
        return Row(
            code=code_of(rule),
            runs=len(done),
            regret=float(regret),
            optimal_probability=float(optimal),
            stuck=float(stuck_share(done[:, 2])) if isinstance(rule, Rule) and rule.has_preferences else None,
            ahead=float(saved.mean()),
            low=float(low),
            high=float(high),
        )
