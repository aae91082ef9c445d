"""The systems of the paper's tables against plain NumPy from their equations, and against what they must converge to."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import logbarrier as lb
from logbarrier.bandits.softmax import softmax
from logbarrier.theory import maximiser

K = 11  # one vector register and a rest
GENERATOR = np.random.default_rng(0)
PULLS = [(int(GENERATOR.integers(K)), float(GENERATOR.normal())) for _ in range(240)]


def indicator(arm):
    return np.eye(K)[arm]


def decaying(theta, t, arm, reward, state, alpha0=1 / 18, horizon=300):
    return theta + alpha0 * (1 / horizon) ** (t / horizon) * reward * (indicator(arm) - softmax(theta))


def decaying_entropy(theta, t, arm, reward, state, horizon=300, tau=0.1):
    p = softmax(theta)
    alpha = (1 / horizon) ** (t / horizon) / (2.5 + 5 * tau * (1 + math.log(K)))
    return theta + alpha * (reward - tau * math.log(p[arm])) * (indicator(arm) - p)


def staged(theta, t, arm, reward, state, first=7):
    start, length = 0, first
    while t > start + length:
        start, length = start + length, 2 * length
    return theta + 0.2 * (1 / length) ** ((t - start) / length) * reward * (indicator(arm) - softmax(theta))


def theory(theta, t, arm, reward, state):
    return theta + 1.5**2 / (40 * K**1.5 * 2.0**3) * reward * (indicator(arm) - softmax(theta))


def mini_batch(theta, t, arm, reward, state, batch=6, weight=0.3, alpha=0.4):
    state.setdefault("batch", []).append((arm, reward))
    if len(state["batch"]) < batch:
        return theta
    p = softmax(theta)
    gradient = np.mean([r * (indicator(a) - p) for a, r in state.pop("batch")], axis=0)
    return theta + alpha * (gradient + weight / K * (1 - K * p))


def momentum(theta, t, arm, reward, state, weight=0.3, k=0.5, m=8.0, c=4.0):
    def sampled(p, importance):
        return importance * reward * (indicator(arm) - p) + weight / K * (1 - K * p)

    p = softmax(theta)
    u = sampled(p, 1.0)
    if t > 1:
        last = state["policy"]
        beta = min(1.0, c * (k / (m + t - 1) ** (1 / 3)) ** 2)
        u = u + (1 - beta) * (state["u"] - sampled(last, last[arm] / p[arm]))
    state.update(policy=p, u=u)
    return theta + k / (m + t) ** (1 / 3) * u


def two_phase(theta, t, arm, reward, state, tau=0.2):
    batch, number = state.setdefault("batch", []), state.setdefault("updates", 0)
    batch.append((arm, reward))
    if len(batch) < (10 if number < 4 else 3):
        return theta
    p = softmax(theta)
    mean = np.mean([(r - tau * math.log(p[a])) * (indicator(a) - p) for a, r in batch], axis=0)
    state.update(batch=[], updates=number + 1)
    return theta + 5.0 / (20.0 + number + 1) * mean


def entropy_npg(theta, t, arm, reward, state):
    p = softmax(theta)
    return (1 - 0.02 * 0.5) * theta + 0.02 * reward / p[arm] * indicator(arm)


@pytest.mark.parametrize(
    ("rule", "update"),
    [
        (lb.TheorySGB(minimum_gap=1.5, r_max=2.0), theory),
        (lb.DecayingSGB(horizon=300), decaying),
        (lb.DecayingEntropySGB(horizon=300), decaying_entropy),
        (lb.StagedSGB(alpha0=0.2, first_stage=7), staged),
        (lb.MiniBatchLogBarrierSGB(learning_rate=0.4, weight=0.3, batch=6), mini_batch),
        (lb.MomentumLogBarrierSGB(weight=0.3), momentum),
        (lb.TwoPhaseEntropySGB(tau=0.2, step=5, offset=20, first_batch=10, first_updates=4, batch=3), two_phase),
        (lb.EntropyNPG(learning_rate=0.02, tau=0.5), entropy_npg),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_it_steps_as_its_equations_say(rule, update):
    agent, theta, state = lb.Agent(rule, n_arms=K), np.zeros(K), {}
    for t, (arm, reward) in enumerate(PULLS, 1):
        theta = update(theta, t, arm, reward, state)
        agent.observe(arm, reward)
        assert agent.policy == pytest.approx(softmax(theta), rel=1e-9), t


def tsallis_policy(theta, order):
    """The link in 34-digit arithmetic, mu by bisection."""
    with mpmath.workdps(34):
        exponent = mpmath.mpf(order) - 1

        def shares(mu):
            return [(1 + exponent * (x - mu)) ** (1 / exponent) / len(theta) for x in map(mpmath.mpf, map(float, theta))]

        top = mpmath.mpf(float(max(theta)))
        low, high = top + (mpmath.mpf(len(theta)) ** exponent - 1) / -exponent, top
        for _ in range(110):
            middle = (low + high) / 2
            low, high = (middle, high) if sum(shares(middle)) > 1 else (low, middle)
        return np.array([float(p) for p in shares(low)])


@pytest.mark.parametrize("order", [0.1, 0.5, 0.9])
def test_the_tsallis_link_is_the_exact_one_and_its_step_follows_the_policys_derivative(order):
    weight, alpha = 0.3, 0.2
    rule = lb.TsallisSGB(learning_rate=alpha, weight=weight, order=order)
    agent, theta = lb.Agent(rule, n_arms=K), np.zeros(K)
    for t, (arm, reward) in enumerate(PULLS[:2], 1):
        p = tsallis_policy(theta, order)
        width = 1e-6
        score = [
            (np.log(tsallis_policy(theta + width * e, order)[arm]) - np.log(tsallis_policy(theta - width * e, order)[arm]))
            / (2 * width)
            for e in np.eye(K)
        ]
        divergence_slope = ((K * p[arm]) ** (order - 1) - 1) / (order - 1)
        theta = theta + alpha * (reward - weight * divergence_slope) * np.array(score)
        agent.observe(arm, reward)
        assert agent.policy == pytest.approx(tsallis_policy(theta, order), rel=1e-7), t


def test_the_tsallis_policy_maximises_what_it_says():
    order, theta = 0.5, np.linspace(-2.0, 1.1, K)

    def objective(p):
        x = K * p
        divergence = np.mean((x**order - order * x + order - 1) / (order * (order - 1)))
        return p @ theta - divergence

    best = tsallis_policy(theta, order)
    rng = np.random.default_rng(1)
    others = np.abs(best + 0.05 * rng.normal(size=(200, K)))
    assert all(objective(p / p.sum()) < objective(best) for p in others)


def run_exact(rule, means, steps):
    agent = lb.Agent(rule, n_arms=len(means), means=means)
    for _ in range(steps):
        agent.observe(0, 0.0)
    return agent.policy


def test_the_exact_gradient_keeps_the_stated_rate():
    """Suboptimality at most 5/(c^2 t) for alpha = 2/5 and rewards in [0, 1]."""
    means = np.array([0.1, 0.6, 0.9, 0.3])
    record = lb.simulate(lb.ExactPG(), lb.GaussianBandit(means), horizon=3000, runs=1, checkpoints=60, spacing="log")
    c = record["optimal_probability"].min()
    steps, suboptimality = record.steps[1:], record["suboptimality"][0, 1:]
    assert (suboptimality <= 5 / (c**2 * steps)).all()
    assert suboptimality[-1] * steps[-1] > 0.1  # and 1/t it is, no faster


def test_the_exact_entropy_gradient_ends_at_softmax_of_the_means():
    means, tau = np.array([0.1, 0.6, 0.9, 0.3]), 0.5
    assert run_exact(lb.ExactEntropyPG(learning_rate=0.4, tau=tau), means, 2000) == pytest.approx(
        softmax(means / tau), rel=1e-9
    )


def test_the_exact_barrier_gradient_ends_at_the_maximiser_of_its_objective():
    means, weight = np.array([0.1, 0.6, 0.9, 0.3]), 0.2
    ended = run_exact(lb.ExactLogBarrierPG(weight=weight), means, 8000)
    assert ended == pytest.approx(maximiser(means, len(means) / weight).policy, rel=1e-8)


def test_exact_rules_need_the_means_and_others_refuse_them():
    with pytest.raises(ValueError, match="exact-pg follows the exact gradient, so it needs means"):
        lb.Agent(lb.ExactPG(), n_arms=3)
    with pytest.raises(ValueError, match="means must have one entry per arm, 3, got 2"):
        lb.Agent(lb.ExactPG(), n_arms=3, means=[1.0, 2.0])
    with pytest.raises(ValueError, match="sgb learns from rewards alone, so means must be None"):
        lb.Agent(lb.SGB(learning_rate=0.1), n_arms=2, means=[1.0, 2.0])


def test_a_start_is_refused_by_rules_without_preferences():
    message = "ucb1 has no preferences that a start could set, so start must be None"
    with pytest.raises(ValueError, match=f"simulate: {message}"):
        lb.simulate(lb.UCB1(), lb.GapInstances(n_arms=3), horizon=5, start=lb.OptimalArmAt(0.1))
    with pytest.raises(ValueError, match=f"Agent: {message}"):
        lb.Agent(lb.UCB1(), n_arms=2, start=[0.5, 0.5])
    with pytest.raises(AttributeError, match="ucb1 has no preferences"):
        _ = lb.Agent(lb.UCB1(), n_arms=2).theta


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lb.TheorySGB(minimum_gap=3.0), "TheorySGB: minimum_gap must be at most 2 r_max = 2, got 3"),
        (lambda: lb.DecayingSGB(horizon=1), "DecayingSGB: horizon must be at least 2, got 1"),
        (lambda: lb.StagedSGB(first_stage=2.5), "StagedSGB: first_stage must be a whole number, got 2.5"),
        (
            lambda: lb.MiniBatchLogBarrierSGB(learning_rate=1, weight=1, batch=0),
            "batch must be between 1 and 9007199254740992, got 0",
        ),
        (lambda: lb.MomentumLogBarrierSGB(weight=0), "MomentumLogBarrierSGB: weight must be positive and finite, got 0.0"),
        (lambda: lb.TwoPhaseEntropySGB(tau=-1), "TwoPhaseEntropySGB: tau must be zero or positive, got -1.0"),
        (lambda: lb.EntropyNPG(learning_rate=3, tau=0.5), "EntropyNPG: learning_rate must be at most 1/tau = 2, got 3.0"),
        (lambda: lb.TsallisSGB(learning_rate=1, weight=0, order=1), "TsallisSGB: order must be between 0.01 and 0.99, got 1"),
        (lambda: lb.UCB1(c=-1), "UCB1: c must be positive and finite, got -1.0"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "rule", [lb.MiniBatchLogBarrierSGB(learning_rate=1.0, weight=0.1, batch=2), lb.TwoPhaseEntropySGB(tau=0.0, batch=2)]
)
def test_a_late_reward_of_a_batch_counts_at_the_policy_that_drew_it(rule):
    """Half a batch of rewards comes late, from the uniform start, the other half later: each R (e_a - p) has its own p."""
    batch = 2 if rule.name.startswith("mini") else 64
    agent = lb.Agent(rule, n_arms=2, seed=0)
    late = agent.ask()
    for _ in range(batch):
        agent.observe(1 - late.arm, 1.0)  # a whole batch moves the policy
    moved, theta = agent.policy, agent.theta
    agent.tell(late, 1.0)
    for _ in range(batch - 1):
        agent.observe(late.arm, 0.0)
    step = 1.0 if batch == 2 else 50.0 / 52.0
    gradient = (np.eye(2)[late.arm] - 0.5) / batch
    barrier = 0.1 * (0.5 - moved) if batch == 2 else 0.0
    assert agent.theta - theta == pytest.approx(step * (gradient + barrier), abs=1e-12)


@pytest.mark.parametrize(
    ("rule", "row", "message"),
    [
        (lb.UCB1(), 1, "Agent.from_state_dict: counts must be zero or positive"),
        (lb.EpsilonGreedy(), 1, "Agent.from_state_dict: counts must be zero or positive"),
        (lb.ThompsonSampling(), 2, "Agent.from_state_dict: deviations must be zero or positive"),
        (lb.MomentumLogBarrierSGB(weight=0.1), 2, "Agent.from_state_dict: previous policy must be zero or positive"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_damaged_state_is_refused(rule, row, message):
    state = lb.Agent(rule, n_arms=3).state_dict()
    state["vectors"][row][0] = -1.0
    with pytest.raises(ValueError, match=message):
        lb.Agent.from_state_dict(state)
    state["vectors"][row][0] = "x"
    with pytest.raises(ValueError, match=r"Agent\.from_state_dict: .* must be 3 finite numbers"):
        lb.Agent.from_state_dict(state)
