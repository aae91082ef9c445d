"""Finding alpha and eta for LB-SGB with a fixed number of simulated runs.

One thing is known exactly: the plateau of each eta (maximiser.py), where a run that is not stuck ends. A weaker barrier has
a higher plateau and more stuck runs, so the final p(a*) rises and then falls with eta: the search climbs that hill, and does
not try an eta whose plateau is below what was already measured. All candidates face the same instances and the same draws.
Where two eta do equally well the smaller wins: its stuck runs are fewer than a few runs can show.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from ..bandits.algorithms.log_barrier_sgb import LogBarrierSGB
from ..bandits.problems import GapInstances
from ..bandits.simulator import simulate
from ..record import Record
from ..statistics import stuck_share, t_interval
from ..theory.maximiser import maximising_policy

PLATEAUS = (0.3, 0.5, 0.7, 0.8, 0.87, 0.92, 0.95, 0.97, 0.985, 0.995, 0.999)  # of the eta that are tried
FIRST_TRY = 0.95
SCREENED = (0.87, 0.95)  # a fast rate may need a strong barrier, a slow one can do with a weak one
WORTHWHILE = 0.005  # a smaller gain of p(a*) is no reason for a weaker barrier
INSTANCES = 50  # over which plateaus and biases are averaged
FEWEST_RUNS = 24  # in all
MOST_RUNS = 200  # of one candidate; more would change no choice
FRESH_RUN = 1 << 30  # where the runs start that the search never sees
CHECKPOINTS = 41  # the last three, 5 % of the horizon, are averaged
METRICS = ("optimal_probability", "wrong_probability", "regret")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Candidate:
    """What `runs` runs with one alpha and eta did by the horizon, on average, with a 95 % interval of p(a*).

    plateau, bias   p(a*) and J* - J at the maximiser of Phi_eta: where runs that are not stuck end
    stuck_fraction  of runs in which one wrong arm holds most of the probability
    """

    learning_rate: float
    eta: float
    plateau: float
    bias: float
    runs: int
    optimal_probability: float
    low: float
    high: float
    stuck_fraction: float
    regret: float


class Search:
    """Spends at most `runs` runs of `horizon` steps on the instances of a family."""

    def __init__(
        self,
        family: GapInstances,
        horizon: int,
        runs: int,
        *,
        seed: int,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.family, self.horizon, self.runs, self.seed = family, horizon, runs, seed
        self.threads, self.progress = threads, progress
        self.means = np.array([family.problem(seed, run).means for run in range(INSTANCES)])
        self.etas = [self.eta_of(level) for level in PLATEAUS if level > 1.2 / family.n_arms]
        self.plateau = {eta: self.maximum(eta)[0] for eta in self.etas}
        self.spent = 0
        self._records: dict[tuple[float, float], list[Record]] = {}

    def maximum(self, eta: float) -> tuple[float, float]:
        """Mean plateau and mean bias of the maximisers over the instances."""
        policies = maximising_policy(self.means, np.full(len(self.means), eta))
        best = np.argmax(self.means, axis=1)[:, None]
        gaps = self.means.max(axis=1, keepdims=True) - self.means
        return float(np.take_along_axis(policies, best, axis=1).mean()), float((policies * gaps).sum(axis=1).mean())

    def eta_of(self, level: float) -> float:
        """The eta whose plateau is `level`, to two digits."""
        unit = 1.0 / self.family.r_max
        exact = brentq(lambda x: self.maximum(unit * math.exp(x))[0] - level, -12.0, 60.0, xtol=1e-3)
        return float(f"{unit * math.exp(exact):.1e}")

    def best(self, rates: tuple[float, ...]) -> tuple[Candidate, tuple[Candidate, ...]]:
        """The best alpha and eta as fresh runs show them, and every candidate at that alpha by rising eta.

        Several rates are first screened at two eta with a quarter of the runs. The two best (the smaller on a tie) climb over
        eta, the leaders race for what is left of three quarters, and a quarter is the fresh proof.
        """
        limit = 3 * self.runs // 4
        kept = list(rates)
        if len(rates) > 1:
            each = self._at_most(max(self.runs // 4 // (len(SCREENED) * len(rates)), 1))
            score = {
                rate: max(self.tried(rate, self._eta_near(x), each).optimal_probability for x in SCREENED) for rate in rates
            }
            kept = sorted(rates, key=lambda rate: (-round(score[rate], 2), rate))[:2]
        each = self._at_most(max((limit - self.spent) // 12, 2))
        for rate in kept:
            self.climb(rate, each)
        top = self.race(each, limit)
        for eta in self.etas:  # the rest of the picture, where runs are cheap
            if self.spent + each <= limit:
                self.tried(top.learning_rate, eta, each)
        searched = [self.summary(*key) for key in self._records if key[0] == top.learning_rate]
        fresh = [self._simulate(top.learning_rate, top.eta, self._at_most(max(self.runs - self.spent, 2)), FRESH_RUN)]
        return self._summary(top.learning_rate, top.eta, fresh), tuple(sorted(searched, key=lambda c: c.eta))

    def climb(self, rate: float, runs: int) -> None:
        """Try eta after eta in either direction for as long as p(a*) gets better and the next plateau promises more."""
        middle = self.etas.index(self._eta_near(FIRST_TRY))
        best = self.tried(rate, self.etas[middle], runs)
        for direction in (1, -1):
            i = middle + direction
            while 0 <= i < len(self.etas) and self.plateau[self.etas[i]] > best.optimal_probability:
                tried = self.tried(rate, self.etas[i], runs)
                if tried.optimal_probability < best.optimal_probability:
                    break
                best, i = tried, i + direction

    def race(self, runs: int, limit: int) -> Candidate:
        """Give the leader `runs` more runs, until the limit; the winner is best as if one more run of each had failed.

        An eta not tried yet comes first, if its plateau promises more than the leader has.
        """
        while self.spent + runs <= limit:
            leader = max(self._candidates(), key=lambda c: (c.optimal_probability, -c.eta))
            promising = self._untried(leader)
            if promising:
                self.tried(leader.learning_rate, promising[0], runs)
            elif leader.runs < MOST_RUNS:
                self.tried(leader.learning_rate, leader.eta, self._at_most(leader.runs + runs))
            else:
                break
        best = max(_had_one_more_failed(candidate) for candidate in self._candidates())
        near = [c for c in self._candidates() if _had_one_more_failed(c) >= best - WORTHWHILE]
        return min(near, key=lambda c: c.eta)

    def _untried(self, leader: Candidate) -> list[float]:
        """Values of eta worth a try: next to the leader's, or the next stronger barrier, with a plateau above its p(a*)."""
        had = [eta for rate, eta in self._records if rate == leader.learning_rate]
        place, strongest = self.etas.index(leader.eta), self.etas.index(min(had))
        near = [self.etas[i] for i in (place - 1, place + 1, strongest - 1) if 0 <= i < len(self.etas)]
        return [eta for eta in near if eta not in had and self.plateau[eta] > leader.optimal_probability + WORTHWHILE]

    def _eta_near(self, level: float) -> float:
        return min(self.etas, key=lambda eta: abs(self.plateau[eta] - level))

    def _candidates(self) -> list[Candidate]:
        return [self.summary(*key) for key in self._records]

    def tried(self, rate: float, eta: float, runs: int) -> Candidate:
        """The candidate after at least `runs` runs; those it has had count."""
        had = sum(record.runs for record in self._records.get((rate, eta), ()))
        if runs > had:
            self._records.setdefault((rate, eta), []).append(self._simulate(rate, eta, runs - had, had))
        return self.summary(rate, eta)

    def summary(self, rate: float, eta: float) -> Candidate:
        """The candidate as its runs so far show it."""
        return self._summary(rate, eta, self._records[rate, eta])

    def _at_most(self, runs: int) -> int:
        return max(min(runs, MOST_RUNS), 1)

    def _simulate(self, rate: float, eta: float, runs: int, first_run: int) -> Record:
        done = self.spent * self.horizon
        self.spent += runs
        total = max(self.runs, self.spent) * self.horizon
        report = self.progress
        return simulate(
            LogBarrierSGB(learning_rate=rate, eta=eta),
            self.family,
            horizon=self.horizon,
            runs=runs,
            seed=self.seed,
            first_run=first_run,
            checkpoints=CHECKPOINTS,
            metrics=METRICS,
            threads=self.threads,
            progress=False if report is None else lambda steps, _: report(done + steps, total),
        )

    def _summary(self, rate: float, eta: float, records: list[Record]) -> Candidate:
        last = np.concatenate([record["optimal_probability"][:, -3:].mean(axis=1) for record in records])
        wrong = np.concatenate([record["wrong_probability"][:, -1] for record in records])
        regrets = np.concatenate([record["regret"][:, -1] for record in records])
        plateau, bias = self.maximum(eta)
        low, high = t_interval(last, within=(0.0, 1.0))
        return Candidate(
            learning_rate=rate,
            eta=eta,
            plateau=plateau,
            bias=bias,
            runs=len(last),
            optimal_probability=float(last.mean()),
            low=float(low),
            high=float(high),
            stuck_fraction=float(stuck_share(wrong)),
            regret=float(regrets.mean()),
        )


def _had_one_more_failed(candidate: Candidate) -> float:
    """The mean p(a*) with one more run at 0: few lucky runs convince nobody."""
    return candidate.optimal_probability * candidate.runs / (candidate.runs + 1)
