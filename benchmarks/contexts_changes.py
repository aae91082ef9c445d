"""How ContextualBarrier follows changes, and how often it restarts without one, also with late rewards.

pip install scikit-learn
python benchmarks/contexts_changes.py                  # writes contexts_changes.json
python benchmarks/contexts_changes.py THRESHOLD        # adds clicks at another threshold of the evidence, on the tuning seed

The constants were chosen on other seeds of these and further problems. LinUCB is tuned on 2 runs of another seed. "known" is
ContextualBarrier, restarted at every change.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from logbarrier import contexts
from logbarrier.contexts import regression

RUNS, TUNING_SEED, TEST_SEED = 20, 11, 12
STRENGTHS, RIDGES = (0.03, 0.1, 0.2, 0.3, 0.5, 1.0), (0.5, 2.0, 8.0)


def labelled(name: str, **options: Any) -> contexts.ClassificationBandit:
    """A dataset of scikit-learn; columns in their unit where it is common to all, else standardised."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return contexts.ClassificationBandit(X / 16 if name == "digits" else (X - X.mean(axis=0)) / X.std(axis=0), y, **options)


def clicks(**options: Any) -> contexts.SegmentedClicks:
    """2 % of clicks on 12 ads, by 10 segments."""
    return contexts.SegmentedClicks(12, 10, rate=0.02, **options)


STEADY: dict[str, tuple[Callable[[], Any], int]] = {
    **{name: (partial(labelled, name, delay=500), 6000) for name in ("digits", "wine", "iris", "breast_cancer")},
    **{f"{name}, long": (partial(labelled, name, delay=500), 20_000) for name in ("digits", "wine", "iris")},
    "linear, d = 10, K = 5": (lambda: contexts.LinearContexts(5, 10, delay=500), 6000),
    "clicks 2 %": (lambda: clicks(delay=500), 40_000),
}
CHANGING: dict[str, tuple[Callable[[int], Any], int]] = {
    "digits": (lambda every: labelled("digits", change_every=every), 3000),
    "iris": (lambda every: labelled("iris", change_every=every), 3000),
    "breast_cancer": (lambda every: labelled("breast_cancer", change_every=every), 3000),
    "linear, d = 10, K = 5": (lambda every: contexts.LinearContexts(5, 10, change_every=every), 2000),
    "linear, d = 10, K = 20": (lambda every: contexts.LinearContexts(20, 10, change_every=every), 3000),
    "clicks 2 %": (lambda every: clicks(change_every=every), 20_000),
}


class Later:
    """A problem from a later step on."""

    def __init__(self, problem: Any, skipped: int) -> None:
        self._problem, self._skipped = problem, skipped

    def __getattr__(self, name: str) -> Any:
        return getattr(self._problem, name)

    def rows(self, key: np.ndarray, run: int, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        contexts_and_means: tuple[np.ndarray, np.ndarray] = self._problem.rows(key, run, first + self._skipped, count)
        return contexts_and_means


def measured(
    rule: contexts.Rule, problem: Any, steps: int, seed: int = TEST_SEED, runs: int = RUNS
) -> tuple[np.ndarray, float]:
    """Regret per step (runs,) and the mean number of restarts."""
    record = contexts.simulate(rule, problem, horizon=steps, runs=runs, seed=seed, threads=1, checkpoints=2)
    return record["regret"][:, -1] / steps, float(record["restarts"][:, -1].mean())


def rounded(**figures: Any) -> dict[str, float]:
    """Five digits after the point."""
    return {name: round(float(value), 5) for name, value in figures.items()}


def all_problems() -> dict[str, Any]:
    """The figures of all problems, on the test seed."""
    ours, steady, changes = contexts.ContextualBarrier(), {}, {}
    for name, (late, steps) in STEADY.items():
        regret, restarts = measured(ours, late(), steps)
        steady[name] = rounded(steps=steps, regret=regret.mean(), restarts=restarts)
    grid = [contexts.LinUCB(alpha=alpha, ridge=ridge) for alpha in STRENGTHS for ridge in RIDGES]
    for name, (changing, every) in CHANGING.items():
        problem = changing(every)
        regret, restarts = measured(ours, problem, 2 * every)
        halves = [measured(ours, Later(problem, skipped), every)[0] for skipped in (0, every)]
        rival = min(grid, key=lambda rule: measured(rule, problem, 2 * every, TUNING_SEED, 2)[0].mean())
        changes[name] = rounded(
            steps=2 * every,
            regret=regret.mean(),
            standard_error=regret.std(ddof=1) / np.sqrt(RUNS),
            restarts=restarts,
            known=np.mean(halves),
            lin_ucb=measured(rival, problem, 2 * every)[0].mean(),
        )
    return {"steady": steady, "changes": changes}


def clicks_at(threshold: float) -> dict[str, float]:
    """Restarts on clicks without a change, and regret with one, on the tuning seed."""
    regression.THRESHOLD = threshold  # before anything is compiled
    ours = contexts.ContextualBarrier()
    _, restarts = measured(ours, clicks(delay=500), 40_000, TUNING_SEED)
    regret, found = measured(ours, clicks(change_every=20_000), 40_000, TUNING_SEED)
    return rounded(
        false_restarts=restarts, restarts=found, regret=regret.mean(), standard_error=regret.std(ddof=1) / np.sqrt(RUNS)
    )


def main() -> None:
    """Measure, and write the figures."""
    path = Path(__file__).parent / "contexts_changes.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    if len(sys.argv) > 1:
        found.setdefault("thresholds", {})[sys.argv[1]] = clicks_at(float(sys.argv[1]))
    else:
        found |= all_problems()
    path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
