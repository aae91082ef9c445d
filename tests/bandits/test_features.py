"""Bandits with features: problems, rules that use them, and the agent."""

from __future__ import annotations

import json

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.bandits.algorithms.log_det_sgb import fill_push
from logbarrier.testing import check_rule

RULES = [
    lb.LogLinearSGB(learning_rate=0.3),
    lb.LogDetSGB(learning_rate=0.3, eta=50.0),
    lb.LinUCB(c=0.7, ridge=2.0),
    lb.LinThompson(scale=0.5, ridge=2.0),
]
FEATURES = np.random.default_rng(0).normal(size=(8, 3))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_meets_every_demand(rule):
    check_rule(rule)


@pytest.mark.parametrize(
    ("rule", "table"),
    [
        (lb.LogLinearSGB(learning_rate=0.3), lb.SGB(learning_rate=0.3)),
        (lb.LogDetSGB(learning_rate=0.3, eta=50.0), lb.LogBarrierSGB(learning_rate=0.3, eta=50.0)),
    ],
)
def test_one_hot_features_give_the_path_of_the_table(rule, table):
    means = np.linspace(-0.5, 0.5, 6)
    options = {"horizon": 400, "runs": 4, "seed": 1}
    found = lb.simulate(rule, lb.LinearBandit(features=np.eye(6), weights=means), **options)
    known = lb.simulate(table, lb.GaussianBandit(means), engine="dense", **options)
    assert np.abs(found["optimal_probability"] - known["optimal_probability"]).max() < 1e-12
    assert np.array_equal(found["regret"], known["regret"])


def log_det(features, theta):
    p = np.exp(theta) / np.exp(theta).sum()
    g = features - features.T @ p
    return np.linalg.slogdet(g.T @ (p[:, None] * g))[1]


@pytest.mark.parametrize("seed", range(5))
def test_the_push_is_the_gradient_of_log_det_in_the_weights(seed):
    w, nudge = np.random.default_rng(seed).normal(size=3), 1e-5
    slope = [
        (log_det(FEATURES, FEATURES @ (w + step)) - log_det(FEATURES, FEATURES @ (w - step))) / (2 * nudge)
        for step in nudge * np.eye(3)
    ]
    policy, push = np.exp(FEATURES @ w) / np.exp(FEATURES @ w).sum(), np.empty(8)
    fill_push(policy, np.ascontiguousarray(FEATURES.T), push)
    assert np.allclose(push, FEATURES @ slope, rtol=1e-6, atol=1e-8)


def test_above_a_size_the_gradient_is_computed_at_every_mth_step():
    problem = lb.FeatureInstances(n_arms=700, n_features=20)
    vectors = (rule := lb.LogDetSGB(learning_rate=0.3, eta=50.0)).vectors_with(
        np.zeros(700), None, problem.problem(0, 0).features.T
    )
    policy = np.full(700, 1 / 700)
    for t in range(1, 22):
        before = vectors[1].copy()
        policy = policy * (1.0 + 0.01 * np.sin(np.arange(700.0) + t))
        policy /= policy.sum()
        rule.learn(0, 1.0, float(policy[0]), t, policy, vectors, rule.memory_at(rule.new_memory()), rule.hyper(700))
        assert (vectors[1] != before).any() == (t in (1, 21))


@pytest.mark.parametrize("rule", [lb.LinUCB(ridge=2.0), lb.LinThompson(ridge=2.0)], ids=lambda rule: rule.name)
def test_estimates_are_those_of_ridge_regression(rule):
    generator = np.random.default_rng(0)
    vectors, arms, rewards = (
        rule.vectors_with(np.zeros(8), None, FEATURES.T),
        generator.integers(8, size=50),
        generator.normal(size=50),
    )
    for t, (arm, reward) in enumerate(zip(arms, rewards, strict=True), start=1):
        rule.learn(
            int(arm), float(reward), 1.0, t, np.full(8, 1 / 8), vectors, rule.memory_at(rule.new_memory()), rule.hyper(8)
        )
    seen = FEATURES[arms]
    A = 2.0 * np.eye(3) + seen.T @ seen
    assert np.allclose(vectors[0], FEATURES @ np.linalg.solve(A, seen.T @ rewards), rtol=1e-10)
    if "leverages" in rule.rows:
        assert np.allclose(vectors[1], np.einsum("am,mn,an->a", FEATURES, np.linalg.inv(A), FEATURES), rtol=1e-10)


def test_thompson_draws_from_the_posterior():
    """4096 steps at one posterior, 256 samples each: standard errors of the shares are below 5e-4; six of them are allowed."""
    rule = lb.LinThompson(scale=1.0)
    vectors = rule.vectors_with(np.zeros(8), None, FEATURES.T)
    rule.learn(2, 1.0, 1.0, 1, np.full(8, 1 / 8), vectors, rule.memory_at(rule.new_memory()), rule.hyper(8))
    shares, weights = np.zeros(8), np.empty(8)
    for t in range(400):
        rule.weigh(t, vectors, rule.memory_at(rule.new_memory()), rule.hyper(8), weights)
        shares += weights / 256 / 400
    A = np.eye(3) + np.outer(FEATURES[2], FEATURES[2])
    mean, root = np.linalg.solve(A, FEATURES[2]), np.linalg.cholesky(np.linalg.inv(A))
    samples = mean + np.random.default_rng(1).normal(size=(400_000, 3)) @ root.T
    exact = np.bincount((samples @ FEATURES.T).argmax(axis=1), minlength=8) / 400_000
    assert np.abs(shares - exact).max() < 6 * np.sqrt(0.25 / 102_400 + 0.25 / 400_000)


def test_instances_have_the_gap_and_depend_on_seed_and_run_alone():
    family = lb.FeatureInstances(n_arms=40, n_features=3, gap=0.2, r_max=0.8)
    for run in range(20):
        problem = family.problem(seed=5, run=run)
        assert np.isclose(problem.optimal_reward, 0.8)
        assert np.isclose(problem.optimal_gap, 0.2)
        assert np.allclose(problem.features @ problem.weights, problem.means)
    assert np.array_equal(family.problem(5, 3).features, family.problem(5, 3).features)
    assert not np.array_equal(family.problem(5, 3).features, family.problem(5, 4).features)
    made = lb.LinearBandit(**json.loads(json.dumps(problem.arguments())))
    assert np.allclose(made.parameters, problem.parameters, rtol=1e-15)


def test_features_help_by_a_large_factor():
    problem, options = lb.FeatureInstances(n_arms=300, n_features=10), {"horizon": 3000, "runs": 8, "seed": 11}
    table = lb.simulate(lb.LogBarrierSGB(learning_rate=0.1, eta=5000), problem, **options).mean("regret")[-1]
    for rule in (lb.LogLinearSGB(learning_rate=0.5), lb.LogDetSGB(learning_rate=0.5, eta=1000.0), lb.LinThompson()):
        assert lb.simulate(rule, problem, **options).mean("regret")[-1] < table / 3


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_an_agent_uses_features_and_survives_its_state(rule):
    names = [f"arm {a}" for a in range(8)]
    agent = lb.Agent(rule, arms=names, features=FEATURES, seed=3)
    other = lb.Agent(rule, arms=names, seed=3)
    for t in range(60):
        for one in (agent, other):
            one.tell(one.ask(), reward=float(np.sin(t)))
    assert agent.state_dict()["vectors"][0] != other.state_dict()["vectors"][0]
    restored = lb.Agent.from_state_dict(json.loads(json.dumps(agent.state_dict())))
    assert restored.ask() == agent.ask()
    assert np.array_equal(restored.policy, agent.policy)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lb.LinearBandit(features=[1.0, 2.0], weights=[1.0]), "LinearBandit: features must have one row per arm"),
        (lambda: lb.LinearBandit(features=np.eye(3), weights=[1.0]), "LinearBandit: weights must be 3 finite numbers"),
        (
            lambda: lb.LinearBandit(features=np.full((3, 3), np.inf), weights=np.ones(3)),
            "LinearBandit: features must be finite",
        ),
        (lambda: lb.FeatureInstances(n_arms=1, n_features=2), "FeatureInstances: n_arms must be at least 2, got 1"),
        (lambda: lb.FeatureInstances(n_arms=5, n_features=0), "FeatureInstances: n_features must be at least 1, got 0"),
        (lambda: lb.FeatureInstances(n_arms=5, n_features=2, gap=2.0), "FeatureInstances: gap must be below 1, got 2.0"),
        (lambda: lb.LogDetSGB(learning_rate=0.1, eta=-1.0), "LogDetSGB: eta must be positive and finite, got -1.0"),
        (lambda: lb.LinUCB(ridge=0.0), "LinUCB: ridge must be positive and finite, got 0.0"),
        (
            lambda: lb.Agent(RULES[1], n_arms=5, features=FEATURES),
            r"Agent: features must have 5 rows, one per arm and a column per feature, got shape \(8, 3\)",
        ),
        (
            lambda: lb.Agent(lb.SGB(learning_rate=0.1), n_arms=8, features=FEATURES),
            "Agent: sgb does not use features, so features must be None",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        make()
