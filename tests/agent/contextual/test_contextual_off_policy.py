"""Off-policy values over contexts: against the truth of a simulated problem."""

from __future__ import annotations

import numpy as np
import pytest

import logbarrier as lb

ARMS = ("a", "b", "c")
THETA = np.array([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.5]])


def logged(n, seed):
    """Decisions of an agent whose rewards are x' theta(a) plus noise."""
    rng, rows = np.random.default_rng(seed), []
    agent = lb.ContextualAgent(arms=ARMS, features=2, seed=seed, floor=0.2)
    for _ in range(n):
        x = rng.normal(size=2)
        decision = agent.ask(x)
        reward = float(THETA[ARMS.index(decision.arm)] @ x + 0.3 * rng.normal())
        agent.tell(decision, reward)
        rows.append(
            {"id": decision.id, "arm": decision.arm, "probability": decision.probability, "reward": reward, "context": x}
        )
    return rows, agent


def best_arm(x):
    return ARMS[int(np.argmax(THETA @ x))]


def test_estimates_cover_the_truth_and_the_regression_narrows_them():
    """Three policies, two estimates, 4.5 standard errors: false alarms below 1 in 10,000."""
    rows, agent = logged(4000, 0)
    log = lb.Log.from_rows(rows, arms=ARMS)
    fresh = np.random.default_rng(1).normal(size=(200_000, 2))
    policies = {
        "always b": ({"b": 1.0}, 0.0),
        "best": (best_arm, float((fresh @ THETA.T).max(axis=1).mean())),
        "mixed": (lambda x: {best_arm(x): 0.5, "c": 0.5} if best_arm(x) != "c" else "c", None),
    }
    for policy, truth in policies.values():
        plain = lb.inverse_propensity(log, policy)
        robust = lb.doubly_robust(log, policy, features=2)
        assert robust.standard_error < 0.8 * plain.standard_error
        if truth is not None:
            assert abs(plain.mean - truth) < 4.5 * plain.standard_error
            assert abs(robust.mean - truth) < 4.5 * robust.standard_error
    greedy = lb.doubly_robust(log, lambda x: ARMS[int(np.argmax(agent.predict(x)[0]))], features=2)
    assert greedy.mean == pytest.approx(policies["best"][1], abs=0.05)


def test_a_table_of_arms_gives_what_the_same_function_gives(tmp_path):
    rows, _ = logged(300, 2)
    log = lb.Log.from_rows(rows, arms=ARMS)
    file = tmp_path / "policy.csv"
    file.write_text("id,arm\n" + "".join(f"{row['id']},{best_arm(row['context'])}\n" for row in rows))
    assert lb.inverse_propensity(log, lb.PolicyTable.from_csv(file)) == lb.inverse_propensity(log, best_arm)


def test_policies_that_the_log_cannot_answer_get_one_sentence(tmp_path):
    rows, _ = logged(50, 3)
    bare = lb.Log.from_rows([{key: row[key] for key in ("arm", "probability", "reward")} for row in rows])
    for policy, message in (
        (best_arm, "needs contexts"),
        (lb.PolicyTable({0: "a"}), "needs ids"),
    ):
        with pytest.raises(ValueError, match=message):
            lb.inverse_propensity(bare, policy)
    log = lb.Log.from_rows(rows)
    with pytest.raises(ValueError, match="lacks decision 1"):
        lb.inverse_propensity(log, lb.PolicyTable({0: "a"}))
    with pytest.raises(ValueError, match="no arm 'z'"):
        lb.inverse_propensity(log, lambda x: "z")
    (tmp_path / "bad.csv").write_text("id,arm\nx,a\n")
    with pytest.raises(ValueError, match="line 2"):
        lb.PolicyTable.from_csv(tmp_path / "bad.csv")
