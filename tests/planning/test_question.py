"""What people know of a problem, and the problem that a plan is made for."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from command import logbarrier

import logbarrier as lb
from logbarrier.planning.contenders import contenders
from logbarrier.planning.estimate import problem_from_log
from logbarrier.planning.question import problem_like

CASES = [
    ({"means": [0.02, 0.03]}, lb.BernoulliBandit([0.02, 0.03])),
    ({"means": [0.02, 0.03], "scale": 0.5}, lb.GaussianBandit([0.02, 0.03], scale=0.5)),
    ({"means": [-1.0, 0.5]}, lb.GaussianBandit([-1.0, 0.5])),
    ({"means": [0.2, 0.5], "rewards": "counts"}, lb.PoissonBandit([0.2, 0.5])),
    ({"means": [0.5, 0.5, 0.6]}, lb.BernoulliBandit([0.5, 0.5, 0.6], allow_ties=True)),
    ({"rate": 0.02, "difference": 0.01}, lb.BernoulliBandit([0.02 + 0.01, 0.02])),
    (
        {"rate": 0.1, "difference": 0.1, "n_arms": 3, "rewards": "revenue", "amount": 40.0},
        lb.RevenueBandit([0.1 + 0.1, 0.1, 0.1], amount=40.0, allow_ties=True),
    ),
    ({"rate": 5.0, "difference": 1.0, "rewards": "counts"}, lb.PoissonBandit([6.0, 5.0])),
    ({"gap": 0.2, "n_arms": 4, "scale": 2.0}, lb.GapInstances(4, gap=0.2, scale=2.0)),
    ({"gap": 0.2, "n_arms": 4, "rewards": "bernoulli"}, lb.BernoulliGapInstances(4, gap=0.2)),
    ({"problem": lb.CostInstances(3)}, lb.CostInstances(3)),
]


@pytest.mark.parametrize(("facts", "expected"), CASES, ids=lambda value: ",".join(value) if isinstance(value, dict) else "")
def test_facts_make_the_problem_they_describe(facts, expected):
    assert problem_like(**facts).to_dict() == expected.to_dict()


@pytest.mark.parametrize(
    ("facts", "kind", "message"),
    [
        ({}, ValueError, "plan: needs one of problem, means, rate with difference, or gap with n_arms, got none of them"),
        ({"gap": 0.1, "means": [0.1, 0.2]}, ValueError, "plan: needs one of .*, got means and gap"),
        ({"rate": 0.02}, ValueError, "plan: a rate needs a difference"),
        ({"gap": 0.1}, ValueError, "plan: a gap needs n_arms"),
        ({"gap": 0.1, "n_arms": 3, "rewards": "counts"}, ValueError, "plan: counts need a rate with a difference"),
        ({"means": [0.1, 0.2], "rewards": "revenue"}, ValueError, "plan: revenue needs a rate with a difference"),
        ({"rate": 0.9, "difference": 0.2}, ValueError, "BernoulliBandit: means must be between 0 and 1, got 1.1"),
        ({"problem": "clicks"}, TypeError, "plan: problem must be a problem such as lb.ClickInstances"),
        ({"problem": lb.ClickInstances}, TypeError, "plan: problem must be a problem such as lb.ClickInstances"),
    ],
)
def test_facts_that_describe_no_problem_are_refused_in_one_sentence(facts, kind, message):
    with pytest.raises(kind, match=message):
        problem_like(**facts)


def test_a_plan_needs_a_horizon():
    with pytest.raises(ValueError, match="plan: needs horizon"):
        lb.plan(means=[0.1, 0.2])


def test_rules_for_clicks_are_raced_on_clicks_alone():
    names = [{rule.name for rule in contenders(problem)} for problem in (lb.ClickInstances(5), lb.CountInstances(5))]
    assert names[0] - names[1] == {"beta-thompson-sampling", "kl-ucb"}
    assert not names[1] - names[0]


def rows(problem, count):
    """Decisions of uniform play, as `read_log` yields them; one that got no reward."""
    generator = np.random.default_rng(4)
    arms = generator.integers(problem.n_arms, size=count)
    key, uniforms = np.array([3, 4], dtype=np.uint64), generator.random(count)
    drawn = zip(arms, uniforms, strict=True)
    rewards = [problem.reward_of(problem.noise(u), problem.parameters, arm, (key, t, 0)) for t, (arm, u) in enumerate(drawn)]
    known = [{"arm": f"arm {arm}", "reward": reward} for arm, reward in zip(arms, rewards, strict=True)]
    return [*known, {"arm": "arm 0", "reward": None}]


@pytest.mark.parametrize(
    "problem",
    [
        lb.BernoulliBandit([0.1, 0.3]),
        lb.PoissonBandit([2.0, 4.0]),
        lb.RevenueBandit([0.2, 0.3], amount=[5.0, 9.0], sigma=0.6),
        lb.GaussianBandit([-1.0, 2.0], scale=[0.5, 3.0]),
    ],
    ids=lambda problem: type(problem).__name__,
)
def test_a_log_shows_the_law_and_the_means(problem):
    """Means within 5 standard errors of 3,000 rewards each: false alarms below 1e-5 for all."""
    found = problem_from_log(sorted(rows(problem, 6000), key=lambda row: row["arm"]))
    assert type(found) is type(problem)
    deviation = [np.std([row["reward"] for row in rows(problem, 6000)[:-1] if row["arm"] == f"arm {arm}"]) for arm in (0, 1)]
    assert found.means == pytest.approx(problem.means, abs=5 * max(deviation) / math.sqrt(2900))
    if isinstance(problem, lb.GaussianBandit):
        assert found.parameters[1] == pytest.approx(problem.parameters[1], rel=0.1)
    if isinstance(problem, lb.RevenueBandit):
        assert found.parameters[1] == pytest.approx(problem.parameters[1], rel=0.2)


def test_a_log_without_two_arms_is_refused():
    with pytest.raises(ValueError, match="plan: the log must have two rewards of at least two arms, got 1 such arms"):
        problem_from_log([{"arm": "a", "reward": 1.0}, {"arm": "a", "reward": 0.0}, {"arm": "b", "reward": 0.0}])


QUICK = ["--horizon", 200, "--budget", 0.1, "--threads", 1, "--json"]


def planned(*words):
    done = logbarrier("plan", *words, *QUICK)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["problem"]


def test_the_command_takes_means_and_rates_in_percent():
    assert planned("--means", "1.4%,0.016,2%") == {"problem": "BernoulliBandit", "parameters": [[0.014, 0.016, 0.02]]}
    assert planned("--rate", "50%", "--difference", "25%", "--arms", 3)["parameters"] == [[0.75, 0.5, 0.5]]


def test_the_command_takes_problems_of_the_package_and_of_a_file(tmp_path):
    assert planned("--problem", "StudentInstances", "--arms", 3, "--df", 4)["df"] == 4.0
    file = tmp_path / "my_problems.py"
    file.write_text("import logbarrier as lb\nclass Mine(lb.BernoulliBandit):\n    pass\n")
    assert planned("--problem", f"{file}:Mine", "--means", "0.1,0.2")["problem"] == "Mine"


def test_the_command_reads_the_file_of_an_agent(tmp_path):
    path = tmp_path / "agent.db"
    with lb.DurableAgent(path, rule=lb.UCB1(), arms=["a", "b"], seed=0) as agent:
        for step in range(40):
            agent.tell(agent.ask(), reward=float(step % 3 == 0))
    found = planned("--from-log", path)
    assert found["problem"] == "BernoulliBandit"
    lines = tmp_path / "log.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in lb.read_log(path)))
    assert planned("--from-log", lines) == found


def test_the_command_reads_one_experiment_of_several(tmp_path):
    path = tmp_path / "decisions.db"
    with lb.Experiments(path) as experiments:
        for name, reward in (("clicks", 1.0), ("counts", 3.0)):
            experiment = experiments.create(name, arms=["a", "b"])
            for step in range(12):
                experiment.observe("ab"[step % 2], reward * (step % 3 == 0))
                experiment.tell(experiment.ask(), reward * (step % 3 == 0))
    assert planned("--from-log", path, "--experiment", "counts")["problem"] == "PoissonBandit"
    done = logbarrier("plan", "--from-log", path, *QUICK)
    assert (done.returncode, done.stdout) == (2, "")
    assert "plan: --experiment must be one of those in decisions.db: clicks, counts" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--means", "a,b"], "plan: means must be numbers such as 0.02 or 2%, got 'a'"),
        (["--means", "0.1,0.2", "--colour", "red"], "plan: does not know what to do with '--colour'"),
        (["--from-log", "nowhere.db", "--arms", "3"], "plan: --from-log describes the problem"),
        (["--means", "0.1,0.2", "--experiment", "e"], "plan: --experiment is of --from-log"),
        (["--arms", "3"], "plan: needs one of problem, means, rate with difference, or gap with n_arms"),
    ],
)
def test_a_mistake_is_one_sentence(words, message):
    done = logbarrier("plan", *words, *QUICK)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
