"""Rules without a policy gradient, each against a truth of its own: plain Python over the whole history, or an integral."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr
from scipy.stats import beta, chisquare

import logbarrier as lb
from logbarrier import testing
from logbarrier.bandits.loops.functions import vector_functions_of
from logbarrier.bandits.loops.vectors import set_policy_of
from logbarrier.engine.compiled import from_python

N_ARMS = 5
FALSE_ALARM = 1e-6  # of each chi-square; its draws are fixed by the seed


def shared_by(best):
    return best / best.sum()


def largest(scores):
    return np.isclose(scores, max(scores), rtol=1e-13, atol=0.0) if np.isfinite(scores).all() else np.isinf(scores)


def arm_means(history):
    rewards = [[r for a, r in history if a == arm] for arm in range(N_ARMS)]
    means = np.array([math.fsum(r) / len(r) if r else math.inf for r in rewards])
    return means, np.array([float(len(r)) for r in rewards])


def ucb1(rule, history):
    means, counts = arm_means(history)
    bounds = [m + rule.c * math.sqrt(math.log(len(history)) / n) if n else math.inf for m, n in zip(means, counts, strict=True)]
    return shared_by(largest(bounds))


def epsilon_greedy(rule, history):
    means, _ = arm_means(history)
    epsilon = max(rule.floor, min(1.0, rule.exploration * N_ARMS / (len(history) + 1)))
    return epsilon / N_ARMS + (1 - epsilon) * shared_by(largest(means))


def inverse_gap_weighting(rule, history):
    means, _ = arm_means(history)
    best = largest(means)
    gamma = rule.greediness * math.sqrt(N_ARMS * (len(history) + 1))
    policy = np.array([0.0 if b else 1 / (N_ARMS + gamma * (max(means) - m)) for b, m in zip(best, means, strict=True)])
    return policy + (1 - policy.sum()) * shared_by(best)


def exp3(rule, history):
    theta, policy = np.zeros(N_ARMS), np.full(N_ARMS, 1 / N_ARMS)
    for arm, reward in history:
        theta[arm] += rule.learning_rate * reward / policy[arm]
        weights = np.exp(theta - theta.max())
        policy = (1 - rule.mixing) * weights / weights.sum() + rule.mixing / N_ARMS
    return policy


def thompson_sampling(rule, history):
    counts = np.array([sum(a == arm for a, _ in history) for arm in range(N_ARMS)])
    sums = np.array([math.fsum(r for a, r in history if a == arm) for arm in range(N_ARMS)])
    return largest_of_normals(sums / (counts + 1), rule.scale / np.sqrt(counts + 1))


def beta_thompson_sampling(rule, history):
    """P(sample a is the largest), by adaptive quadrature over (0, 1)."""
    counts = np.array([float(sum(a == arm for a, _ in history)) for arm in range(N_ARMS)])
    sums = np.clip([math.fsum(r for a, r in history if a == arm) for arm in range(N_ARMS)], 0.0, counts)
    laws = [beta(1 + s, 1 + n - s) for s, n in zip(sums, counts, strict=True)]
    places = np.unique(np.clip([law.ppf(q) for law in laws for q in (1e-9, 0.01, 0.2, 0.5, 0.8, 0.99, 1 - 1e-9)], 0, 1))

    def integrand(x, arm):
        return laws[arm].pdf(x) * math.prod(law.cdf(x) for other, law in enumerate(laws) if other != arm)

    panels = list(pairwise([0.0, *places, 1.0]))
    return [sum(quad(integrand, *panel, args=(arm,), epsabs=1e-12)[0] for panel in panels) for arm in range(N_ARMS)]


def largest_of_normals(centres, deviations):
    """P(sample a is the largest) for every a, by adaptive quadrature between all the places where the integrand may bend."""

    def integrand(x, arm):
        z = (x - centres) / deviations
        below = log_ndtr(z)
        return np.exp(below.sum() - below[arm] - z[arm] ** 2 / 2) / (deviations[arm] * math.sqrt(2 * math.pi))

    places = np.unique(np.concatenate([centres + k * deviations for k in (-9, -6, -3, 0, 3, 6, 9)]))
    places = places[places >= (centres - 9 * deviations).max() - 1e-15]
    panels = list(pairwise(places))
    return [sum(quad(integrand, *panel, args=(arm,), epsabs=1e-13)[0] for panel in panels) for arm in range(len(centres))]


CASES = [
    (lb.UCB1(c=1.3), ucb1),
    (lb.EpsilonGreedy(exploration=0.7, floor=0.02), epsilon_greedy),
    (lb.InverseGapWeighting(greediness=0.8), inverse_gap_weighting),
    (lb.EXP3(learning_rate=0.05, mixing=0.2), exp3),
    (lb.ThompsonSampling(scale=0.7), thompson_sampling),
    (lb.BetaThompsonSampling(), beta_thompson_sampling),
]
WITH_TRUTH = pytest.mark.parametrize(("rule", "truth"), CASES, ids=lambda value: getattr(value, "name", ""))
OWN_DRAW = pytest.mark.parametrize("rule", [rule for rule, _ in CASES if rule.name != "exp3"], ids=lambda rule: rule.name)
EVERY = pytest.mark.parametrize("rule", [rule for rule, _ in CASES], ids=lambda rule: rule.name)


def pulls():
    """Arms in unequal numbers, some late; rewards that make means and counts coincide now and then."""
    generator = np.random.default_rng(3)
    return [
        (int(a), float(r)) for a, r in zip(generator.geometric(0.4, 40) % N_ARMS, generator.integers(-2, 3, 40), strict=True)
    ]


@WITH_TRUTH
def test_probabilities_are_those_of_the_whole_history(rule, truth):
    agent, history = lb.Agent(rule, n_arms=N_ARMS), []
    for step, (arm, reward) in enumerate(pulls()):
        agent.observe(arm, reward)
        history.append((arm, reward))
        if truth not in (thompson_sampling, beta_thompson_sampling) or step % 8 == 0:
            exactness = 1e-9 if truth is beta_thompson_sampling else 1e-11
            assert agent.policy == pytest.approx(truth(rule, history), abs=exactness), f"after {step + 1} pulls"


def test_ucb1_follows_its_bounds_where_they_are_level():
    """Its own pulls keep the bounds within a hair of each other, so that a wrong one shows."""
    rule, generator = lb.UCB1(c=1.3), np.random.default_rng(6)
    agent, history = lb.Agent(rule, n_arms=N_ARMS), []
    for _ in range(200):
        arm = int(np.argmax(agent.policy))
        history.append((arm, generator.normal(0.2 * arm)))
        agent.observe(*history[-1])
        assert agent.policy.tolist() == ucb1(rule, history).tolist(), f"after {len(history)} pulls"


@OWN_DRAW
def test_arms_are_drawn_with_the_probabilities_told_after_learning(rule):
    agent = lb.Agent(rule, n_arms=N_ARMS, seed=4)
    for arm, reward in [*pulls(), *((arm, reward) for arm in (1, 3) for reward in (4.0, -1.0))]:
        agent.observe(arm, reward)
    if rule.name == "ucb1":  # its policy is certain but where bounds are equal
        agent = lb.Agent(rule, n_arms=N_ARMS, seed=4)
        agent.observe(2, 0.0)
    policy, draws = agent.policy, 20_000
    counts = np.bincount([agent.ask().arm for _ in range(draws)], minlength=N_ARMS)
    assert (counts[policy == 0] == 0).all()
    assert np.count_nonzero(policy) > 1
    assert chisquare(counts[policy > 0], draws * policy[policy > 0]).pvalue > FALSE_ALARM


@EVERY
@pytest.mark.parametrize("n_arms", [2, 9, 1000])
def test_the_start_is_uniform(rule, n_arms):
    assert lb.Agent(rule, n_arms=n_arms).policy == pytest.approx(np.full(n_arms, 1 / n_arms), rel=1e-12)


@EVERY
def test_rewards_of_1e100_leave_probabilities(rule):
    agent = lb.Agent(rule, n_arms=N_ARMS)
    for step in range(60):
        agent.observe(step * step % N_ARMS, (1e100, -1e100, 1e100, 0.0, 1e-100)[step % 5])
        assert (agent.policy >= 0).all()
        assert agent.policy.sum() == pytest.approx(1.0, abs=1e-12)
        assert 0 <= agent.ask().arm < N_ARMS


def thompson_probabilities(centres, counts):
    vectors, policy = np.array([centres, counts, 1 / np.sqrt(np.add(counts, 1.0))]), np.empty(len(centres))
    rule = lb.ThompsonSampling()
    from_python(set_policy_of)((vector_functions_of(rule, len(centres)), vectors, rule.new_memory(), policy), int(sum(counts)))
    return policy


@pytest.mark.parametrize("counts", [(0, 0), (0, 1e6), (3, 4e9), (1e6, 1e6), (40, 70)])
def test_of_two_arms_thompson_knows_the_closed_form(counts):
    """P(X > Y) of two normals is that of one, for X - Y."""
    spread = math.hypot(*(1 / np.sqrt(np.add(counts, 1.0))))
    for sigmas in (-6.0, -2.0, -0.1, 0.0, 0.7, 3.0):
        policy = thompson_probabilities([5.0 + sigmas * spread, 5.0], counts)
        assert policy == pytest.approx([ndtr(sigmas), ndtr(-sigmas)], abs=1e-12)


def test_thompson_probabilities_of_very_unequal_counts_are_the_integral():
    counts = np.array([1e6, 0.0, 10.0, 3e5, 50.0, 2000.0])
    deviations = 1 / np.sqrt(counts + 1)
    for centres in (np.array([0.5, 0.0, 0.2, 0.499, 0.4, 0.45]), 0.3 - 2.0 * deviations):
        assert thompson_probabilities(centres, counts) == pytest.approx(largest_of_normals(centres, deviations), abs=1e-10)


WIDE = [
    lb.ThompsonSampling(scale=0.1, prior_scale=2.0),
    lb.ThompsonSampling(scale=3.0, prior_scale=0.5),
    lb.DiscountedThompsonSampling(scale=0.1, prior_scale=2.0, discount=1.0),
]


@pytest.mark.parametrize("rule", WIDE, ids=str)
def test_a_prior_scale_makes_the_posterior_of_that_prior(rule):
    """By Bayes: precisions 1/prior_scale^2 and n/scale^2 add up, and the rewards are weighted by theirs."""
    rewards = {0: [0.3, 0.5, 0.1], 1: [1.7], 2: []}
    agent = lb.Agent(rule, n_arms=3)
    for arm, given in rewards.items():
        for reward in given:
            agent.observe(arm, reward=reward)
    precisions = np.array([rule.prior_scale**-2 + len(given) * rule.scale**-2 for given in rewards.values()])
    centres = np.array([sum(given) * rule.scale**-2 for given in rewards.values()]) / precisions
    assert agent.policy == pytest.approx(largest_of_normals(centres, precisions**-0.5), abs=1e-9)


@pytest.mark.parametrize("rule", WIDE, ids=str)
def test_rules_with_a_prior_scale_conform(rule):
    assert testing.check_rule(rule).passed


def test_a_prior_as_wide_as_the_noise_is_the_default_and_the_default_is_not_written():
    family, options = (
        lb.GapInstances(n_arms=5, scale=0.3),
        {"horizon": 500, "runs": 3, "seed": 1, "checkpoints": 5, "threads": 1},
    )
    plain, same = lb.ThompsonSampling(scale=0.3), lb.ThompsonSampling(scale=0.3, prior_scale=0.3)
    assert plain.to_dict() == {"rule": "thompson-sampling", "scale": 0.3}
    assert same.to_dict() == {"rule": "thompson-sampling", "scale": 0.3, "prior_scale": 0.3}
    for metric in ("regret", "optimal_probability", "entropy"):
        assert (lb.simulate(plain, family, **options)[metric] == lb.simulate(same, family, **options)[metric]).all()


@pytest.mark.parametrize("rule", [lb.UCB1(), lb.ThompsonSampling()], ids=lambda rule: rule.name)
def test_regret_is_far_below_uniform_play_and_grows_like_a_logarithm(rule):
    """Over four times the steps a square root grows twofold. Four seeds gave 1.24 to 1.40, so the false-alarm rate is small."""
    problem = lb.GaussianBandit([0.5] + [0.0] * 9, allow_ties=True)
    record = lb.simulate(rule, problem, horizon=16_000, runs=20, seed=0, checkpoints=[4_000], threads=1)
    _, early, late = record["regret"].mean(axis=0)
    assert late < 0.1 * 0.45 * 16_000
    assert late < 1.6 * early


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lb.UCB1(c=0), "UCB1: c must be positive and finite, got 0.0"),
        (lambda: lb.ThompsonSampling(scale=1e-200), "ThompsonSampling: scale must be between 1e-100 and 1e\\+100, got 1e-200"),
        (
            lambda: lb.ThompsonSampling(prior_scale=0),
            "ThompsonSampling: prior_scale must be between 1e-100 and 1e\\+100, got 0.0",
        ),
        (
            lambda: lb.DiscountedThompsonSampling(scale=1e-90, prior_scale=1e90),
            "DiscountedThompsonSampling: scale/prior_scale must be between 1e-100 and 1e\\+100, got 1e-180",
        ),
        (lambda: lb.EpsilonGreedy(exploration=-1), "EpsilonGreedy: exploration must be zero or positive, got -1.0"),
        (lambda: lb.EpsilonGreedy(floor=1.5), "EpsilonGreedy: floor must be between 0 and 1, got 1.5"),
        (
            lambda: lb.InverseGapWeighting(greediness=-3),
            "InverseGapWeighting: greediness must be positive and finite, got -3.0",
        ),
        (lambda: lb.EXP3(learning_rate=0.1, mixing=2), "EXP3: mixing must be between 0 and 1, got 2.0"),
        (lambda: lb.Agent(lb.EXP3(learning_rate=0.1), n_arms=2, start=[0.5, 0.5]), "Agent: exp3 has no preferences"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()
