"""ContextualBarrier against Vowpal Wabbit and tuned linear rivals, on families that had no part in its tuning.

pip install scikit-learn river vowpalwabbit; pip download --no-deps obp==0.4.1    # the data in the wheel of obp are read
python benchmarks/contexts.py OBP_WHEEL FAMILY...     # appends one line per family to contexts.jsonl; all families by default

Rivals are tuned on 2 shuffles of another seed. The best Vowpal Wabbit configuration is chosen in hindsight: every one runs on
5 of the test shuffles, the best three on all 20.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from river import datasets as river_data
from river.datasets import synth
from sklearn import datasets as sklearn_data
from sklearn.linear_model import LogisticRegression
from vowpalwabbit import Workspace

from logbarrier import contexts
from logbarrier.engine.random import step_uniforms, stream_key

RUNS, SCREENED, TUNING_SEED, TEST_SEED = 20, 5, 11, 12
EXPLORATIONS = (
    "", "--epsilon 0.02", "--epsilon 0.1", "--squarecb", "--squarecb --gamma_scale 100", "--squarecb --gamma_scale 1000",
    "--bag 5", "--cover 5", "--regcb",
)  # fmt: skip
LEARNING_RATES = (0.5, 0.1, 2.0)
SQUARE_CB_DEFAULT = "--squarecb -l 0.5"


class LogisticInteractions:
    """Rewards 1 with probability sigmoid(x' theta(a) + x' W(a) x), x ~ N(0, I_8), 6 arms; drawn for each run."""

    n_arms, n_features, delay, scale = 6, 8, 0, 0.0
    reward_of = staticmethod(contexts.SegmentedClicks.reward_of)

    def rows(self, key: np.ndarray, run: int, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng([int(key[0]), run])
        theta, crossed = rng.normal(size=(6, 8)) / 2, rng.normal(size=(6, 8, 8)) / 8
        x = np.random.default_rng([int(key[0]), run, 1]).normal(size=(first + count, 8))[first:]
        return x, 1 / (1 + np.exp(1.0 - x @ theta.T - np.einsum("ni,aij,nj->na", x, crossed, x)))

    def to_dict(self) -> dict[str, Any]:
        return {"problem": "LogisticInteractions"}


class OpenBandit:
    """Users of the Open Bandit Dataset, a campaign, who click on one of its items; the items shown most are the arms.

    A context is one-hot: four features of a user. The probability of a click is that of a logistic regression on the features
    of user and item, fitted to both logs of the package, times `factor`: 0.5 % of clicks is too few for 3,000 steps.
    """

    n_features, delay, scale = 0, 0, 0.0
    reward_of = staticmethod(contexts.SegmentedClicks.reward_of)

    def __init__(self, campaign: str, n_arms: int = 10, factor: float = 10.0) -> None:
        self.campaign, self.n_arms = campaign, n_arms
        with zipfile.ZipFile(sys.argv[1]) as wheel:
            texts = [wheel.read(f"obp/dataset/obd/{log}/{campaign}/{campaign}.csv").decode() for log in ("random", "bts")]
        rows = [row for text in texts for row in csv.DictReader(io.StringIO(text))]
        columns = [np.array([row[f"user_feature_{i}"] for row in rows]) for i in range(4)]
        users = np.hstack([(column[:, None] == np.unique(column)).astype(float) for column in columns])
        items, clicks = np.array([int(row["item_id"]) for row in rows]), np.array([int(row["click"]) for row in rows])
        shown = np.argsort(-np.bincount(items), kind="stable")[:n_arms]
        item = np.eye(items.max() + 1)

        def crossed(user: np.ndarray, number: Any) -> np.ndarray:
            products = (user[:, :, None] * item[number][:, None, :]).reshape(len(user), -1)
            return np.hstack([user, item[number], products])

        model = LogisticRegression(C=1.0, max_iter=500).fit(crossed(users, items), clicks)
        self.users, self.n_features = users, users.shape[1]
        chances = [model.predict_proba(crossed(users, np.full(len(users), number)))[:, 1] for number in shown]
        self.means = np.minimum(factor * np.array(chances).T, 0.5)

    def rows(self, key: np.ndarray, run: int, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        order = np.random.default_rng([int(key[0]), run]).permutation(len(self.users))[first : first + count]
        return self.users[order], self.means[order]

    def to_dict(self) -> dict[str, Any]:
        return {"problem": "OpenBandit", "campaign": self.campaign}


def labelled(X: Any, y: Any) -> contexts.ClassificationBandit:
    """Standardised columns; the labels as numbers."""
    X = np.asarray(X, dtype=float)
    spread = X.std(axis=0)
    return contexts.ClassificationBandit(
        (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1), np.unique(y, return_inverse=True)[1]
    )


def from_river(stream: Any, rows: int) -> contexts.ClassificationBandit:
    """The first rows of a river dataset."""
    pairs = [(list(x.values()), y) for x, y in stream.take(rows)]
    return labelled([x for x, _ in pairs], [str(y) for _, y in pairs])


def diabetes() -> contexts.ClassificationBandit:
    """Progression of diabetes, in thirds."""
    X, y = sklearn_data.load_diabetes(return_X_y=True)
    return labelled(X, np.searchsorted(np.quantile(y, [1 / 3, 2 / 3]), y))


FAMILIES: dict[str, tuple[Callable[[], Any], int]] = {
    "diabetes, 3 classes": (diabetes, 884),
    "phishing": (lambda: from_river(river_data.Phishing(), 1250), 1250),
    "image segments": (lambda: from_river(river_data.ImageSegments(), 2310), 2310),
    "bananas": (lambda: from_river(river_data.Bananas(), 5300), 2500),
    "LED": (lambda: from_river(synth.LED(seed=1, noise_percentage=0.1), 3000), 3000),
    "waveform": (lambda: from_river(synth.Waveform(seed=1), 3000), 3000),
    "make_classification": (
        lambda: labelled(
            *sklearn_data.make_classification(3000, 20, n_informative=10, n_classes=5, n_clusters_per_class=2, random_state=1)
        ),
        3000,
    ),
    "logistic, interactions": (LogisticInteractions, 3000),
    "Open Bandit, men": (lambda: OpenBandit("men"), 3000),
    "Open Bandit, women": (lambda: OpenBandit("women"), 3000),
}


def regret(rule: contexts.Rule, problem: Any, horizon: int, seed: int, runs: int) -> np.ndarray:
    """Regret per step (runs,)."""
    return np.asarray(contexts.simulate(rule, problem, horizon=horizon, runs=runs, seed=seed)["regret"][:, -1] / horizon)


def vw_regret(options: str, problem: Any, horizon: int, seed: int, run: int) -> float:
    """Regret per step of a Vowpal Wabbit configuration on the very contexts and reward draws of the simulator."""
    key = stream_key(seed)
    rows, means = problem.rows(key, run, 0, horizon)
    learner = Workspace(f"--cb_explore_adf -q sa --quiet --random_seed {run + 1} {options}")
    actions = [f"|a arm{a}" for a in range(problem.n_arms)]
    total = 0.0
    rng = np.random.default_rng([seed, run])
    for t in range(horizon):
        shared = "shared |s " + " ".join(f"{j}:{value:.5g}" for j, value in enumerate(rows[t]))
        p = np.array(learner.predict("\n".join([shared, *actions])))
        p = np.maximum(p, 0) / np.maximum(p, 0).sum()
        arm = int(rng.choice(len(p), p=p))
        _, u = step_uniforms(t, run, key)
        reward = 1.0 if u < means[t, arm] else 0.0
        total += means[t].max() - means[t, arm]
        rewarded = [f"0:{-reward}:{p[a]:.6f} {text}" if a == arm else text for a, text in enumerate(actions)]
        learner.learn("\n".join([shared, *rewarded]))
    learner.finish()
    return total / horizon


def evaluate(name: str) -> dict[str, Any]:
    """Every figure of one family."""
    make, horizon = FAMILIES[name]
    problem = make()

    def tuned(grid: list[contexts.Rule]) -> np.ndarray:
        best = min(grid, key=lambda rule: regret(rule, problem, horizon, TUNING_SEED, 2).mean())
        return regret(best, problem, horizon, TEST_SEED, RUNS)

    strengths, ridges = (0.03, 0.1, 0.2, 0.3, 0.5, 1.0), (0.5, 2.0, 8.0)
    ours = regret(contexts.ContextualBarrier(), problem, horizon, TEST_SEED, RUNS)
    restarts = contexts.simulate(contexts.ContextualBarrier(), problem, horizon=horizon, runs=RUNS, seed=TEST_SEED)["restarts"]
    lin_ucb = tuned([contexts.LinUCB(alpha=alpha, ridge=ridge) for alpha in strengths for ridge in ridges])
    thompson = tuned([contexts.LinThompson(scale=scale, ridge=ridge) for scale in strengths for ridge in ridges])
    configurations = [f"{explore} -l {rate}".strip() for explore in EXPLORATIONS for rate in LEARNING_RATES]
    screened = {each: [vw_regret(each, problem, horizon, TEST_SEED, run) for run in range(SCREENED)] for each in configurations}
    finalists = sorted(screened, key=lambda each: np.mean(screened[each]))[:3]
    for each in {*finalists, SQUARE_CB_DEFAULT}:
        screened[each] += [vw_regret(each, problem, horizon, TEST_SEED, run) for run in range(SCREENED, RUNS)]
    best = min(finalists, key=lambda each: np.mean(screened[each]))
    difference = ours - np.array(screened[best])
    return {
        "family": name,
        "horizon": horizon,
        "ours": ours.mean(),
        "restarts": restarts[:, -1].mean(),
        "lin_ucb": lin_ucb.mean(),
        "lin_thompson": thompson.mean(),
        "best_vw": np.mean(screened[best]),
        "best_vw_options": best,
        "vw_squarecb_default": np.mean(screened[SQUARE_CB_DEFAULT]),
        "vw_default": np.mean(screened["-l 0.5"]),
        "ours_minus_best_vw": difference.mean(),
        "standard_error": difference.std(ddof=1) / np.sqrt(RUNS),
    }


if __name__ == "__main__":
    for family in sys.argv[2:] or FAMILIES:
        line = json.dumps(evaluate(family), default=float)
        print(line, flush=True)
        with (Path(__file__).parent / "contexts.jsonl").open("a") as results:
            results.write(line + "\n")
