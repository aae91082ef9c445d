"""What logs are worth: error of inverse propensity weighting against regret, by price, and for an epsilon-greedy logger.

pip install scikit-learn
python benchmarks/contexts_logs.py     # writes contexts_logs.json

Calibration: D, how often each arm was drawn minus the sum of its propensities, has the covariance V = sum (diag p - p p').
D' V^-1 D, without the last arm, is compared with the chi-square distribution; the statistics of all runs are added up.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from sklearn import datasets

import logbarrier as lb
from logbarrier.engine.random import stream_key

RUNS = 10
LOGGERS = (("epsilon-greedy", 0.1), ("price", 0.03), ("price", 0.1), ("price", 0.3), ("price", 1.0))


def run(kind: str, strength: float, problem: Any, steps: int, seed: int) -> tuple[float, float, float, float]:
    """Regret per step; squared errors of the values of "always a", all a, and of the greedy policy of the end; D' V^-1 D."""
    rows, means = problem.rows(stream_key(seed), 0, 0, steps)
    n_arms, rng, places = problem.n_arms, np.random.default_rng([seed, 9]), np.arange(steps)
    price = strength if kind == "price" else 0.03
    agent = lb.ContextualAgent(n_arms=n_arms, features=problem.n_features, seed=seed, price=price)
    arms, propensities, rewards = np.empty(steps, dtype=int), np.empty(steps), np.empty(steps)
    drawn_more, variance = np.zeros(n_arms), np.zeros((n_arms, n_arms))
    for t in range(steps):
        if kind == "price":
            p = agent.probabilities(rows[t])
            decision = agent.ask(rows[t])
            arms[t], propensities[t] = decision.arm, decision.probability
        else:
            values = agent.predict(rows[t])[0]
            greedy = values == values.max()
            p = strength / n_arms + (1 - strength) * greedy / greedy.sum()
            arms[t] = rng.choice(n_arms, p=p)
            propensities[t] = p[arms[t]]
        drawn_more += np.eye(n_arms)[arms[t]] - p
        variance += np.diag(p) - np.outer(p, p)
        mean = means[t, arms[t]]
        rewards[t] = mean + problem.scale * rng.normal() if problem.scale else float(rng.random() < mean)
        if kind == "price":
            agent.tell(decision, rewards[t])
        else:
            agent.observe(rows[t], int(arms[t]), rewards[t])
    errors = [np.mean((arms == a) / propensities * rewards) - means[:, a].mean() for a in range(n_arms)]
    best = np.array([agent.predict(row)[0].argmax() for row in rows])
    of_greedy = np.mean((arms == best) / propensities * rewards) - means[places, best].mean()
    regret = np.mean(means.max(axis=1) - means[places, arms])
    chi_square = drawn_more[:-1] @ np.linalg.solve(variance[:-1, :-1], drawn_more[:-1])
    return float(regret), float(np.mean(np.square(errors))), float(of_greedy**2), float(chi_square)


def main() -> None:
    """One row per problem and logger."""
    digits, labels = datasets.load_digits(return_X_y=True)
    problems = {
        "linear, d = 10, K = 5": (lb.LinearContexts(5, 10), 2000),
        "clicks 6 %": (lb.SegmentedClicks(12, 10, rate=0.06), 3000),
        "digits": (lb.ClassificationBandit(digits / 16, labels), 1797),
    }
    found = []
    for name, (problem, steps) in problems.items():
        for kind, strength in LOGGERS:
            runs = np.array([run(kind, strength, problem, steps, 500 + i) for i in range(RUNS)])
            regret, always, greedy, _ = runs.mean(axis=0)
            degrees = RUNS * (problem.n_arms - 1)
            row = {"problem": name, "logger": f"{kind} {strength}", "regret": round(regret, 5)}
            row |= {"error_always": round(always**0.5, 5), "error_greedy": round(greedy**0.5, 5)}
            row |= {"chi_square": round(runs[:, 3].sum(), 2), "degrees": degrees}
            found.append(row | {"p": round(float(stats.chi2.sf(runs[:, 3].sum(), degrees)), 4)})
            print(found[-1], flush=True)
    (Path(__file__).parent / "contexts_logs.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
