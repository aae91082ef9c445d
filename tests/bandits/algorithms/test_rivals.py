"""KL-UCB, Tsallis-INF, LB-INF and Thompson sampling with unknown noise, each against the whole history by other means."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import chisquare, norm

import logbarrier as lb
from logbarrier.bandits.algorithms.kl_ucb import fill_bounds, upper_bound

FALSE_ALARM = 1e-6  # of each chi-square; its draws are fixed by the seed
N_ARMS = 4


def pulls(count=48):
    """Every arm twice, then some more often than others; rewards of -1 to 2."""
    generator = np.random.default_rng(8)
    arms = [*(2 * list(range(N_ARMS))), *(generator.geometric(0.4, count - 2 * N_ARMS) % N_ARMS)]
    return [(int(arm), float(reward)) for arm, reward in zip(arms, generator.integers(-1, 3, count), strict=True)]


def exact_bound(mean, level):
    """The largest q with KL(mean || q) <= level, by bisection in 50 digits."""
    with mpmath.workdps(50):
        p, low, high = mpmath.mpf(mean), mpmath.mpf(mean), mpmath.mpf(1)
        for _ in range(150):
            q = (low + high) / 2
            first = p * mpmath.log(p / q) if p > 0 else 0
            second = (1 - p) * mpmath.log((1 - p) / (1 - q)) if p < 1 else 0
            low, high = (q, high) if first + second <= level else (low, q)
        return float(low)


@pytest.mark.parametrize("mean", [0.0, 1e-9, 0.002, 0.3, 0.97, 1.0])
@pytest.mark.parametrize("level", [0.0, 1e-7, 0.01, 1.0, 40.0])
def test_the_bound_of_kl_ucb_is_the_root_in_50_digits(mean, level):
    bound = upper_bound(mean, level)
    assert bound == pytest.approx(exact_bound(mean, level), rel=1e-9, abs=1e-15)
    assert mean <= bound <= 1.0


def arm_table(history):
    rewards = [np.array([reward for arm, reward in history if arm == each]) for each in range(N_ARMS)]
    return rewards, np.array([len(values) for values in rewards])


def kl_ucb(rule, history):
    rewards, counts = arm_table(history)
    if not counts.all():
        return (counts == 0) / (counts == 0).sum()
    level = math.log(len(history))
    bounds = [exact_bound(min(max(values.mean(), 0.0), 1.0), level / len(values)) for values in rewards]
    best = np.isclose(bounds, max(bounds), rtol=1e-12)
    return best / best.sum()


def tsallis_inf(rule, history):
    losses = np.zeros(N_ARMS)

    def policy(t):
        rate = 4.0 / math.sqrt(t)
        low, high = losses.min() - 2.0 * math.sqrt(N_ARMS) / rate - 1e-9, losses.min() - 2.0 / rate + 1e-9
        x = brentq(lambda x: (4.0 / (rate * (losses - x)) ** 2).sum() - 1.0, low, high, xtol=1e-14)
        return 4.0 / (rate * (losses - x)) ** 2

    for t, (arm, reward) in enumerate(history, start=1):
        p = policy(t)
        loss = (rule.highest - reward) / (rule.highest - rule.lowest)
        baseline = np.where(p >= 16.0 / t, 0.5, 0.0)
        losses += baseline
        losses[arm] += (loss - baseline[arm]) / p[arm]
    return policy(len(history) + 1)


def lb_inf(rule, history):
    losses, squares = np.zeros(N_ARMS), np.zeros(N_ARMS)
    seen = [[0.5] for _ in range(N_ARMS)]

    gamma = math.log(rule.horizon)

    def probability(slope):  # phi'(p) = slope
        return brentq(lambda p: 1.0 - 1.0 / p - gamma * math.log1p(-p) - slope, 1e-9, 1.0 - 1e-14, xtol=1e-16, rtol=1e-15)

    def policy():
        centre, beta = losses + [np.mean(values) for values in seen], np.sqrt(1.44 + squares)

        def probabilities(x):
            return np.array([probability((x - c) / b) for c, b in zip(centre, beta, strict=True)])

        low, high = centre.min() - 20.0 * beta.max(), centre.min() + 20.0 * beta.max()
        return probabilities(brentq(lambda x: probabilities(x).sum() - 1.0, low, high, xtol=1e-13))

    for arm, reward in history:
        p, prediction = policy(), np.array([np.mean(values) for values in seen])
        loss = (rule.highest - reward) / (rule.highest - rule.lowest)
        losses += prediction
        losses[arm] += (loss - prediction[arm]) / p[arm]
        squares[arm] += (loss - prediction[arm]) ** 2 * min(1.0, 2.0 * (1 - p[arm]) / p[arm] ** 2 / gamma) / gamma
        seen[arm].append(loss)
    return policy()


def empirical_thompson_sampling(rule, history):
    rewards, counts = arm_table(history)
    if counts.min() < 2:
        return (counts == counts.min()) / (counts == counts.min()).sum()
    squares, q = np.array([values.var() * len(values) for values in rewards]), rule.pseudo_pulls
    pooled = squares.sum() / (len(history) - N_ARMS)
    freedom = counts + q - 1  # of the Student-t posterior, whose variance is scale^2 freedom/(freedom - 2)
    scales = np.sqrt((squares + q * pooled) / freedom / counts)
    laws = [norm(values.mean(), s * math.sqrt(f / (f - 2))) for values, s, f in zip(rewards, scales, freedom, strict=True)]
    places = np.unique([law.ppf(share) for law in laws for share in (1e-12, 1e-3, 0.2, 0.5, 0.8, 0.999, 1 - 1e-12)])

    def integrand(x, arm):
        return laws[arm].pdf(x) * math.prod(law.cdf(x) for other, law in enumerate(laws) if other != arm)

    return [sum(quad(integrand, *panel, args=(arm,))[0] for panel in pairwise(places)) for arm in range(N_ARMS)]


CASES = [
    (lb.KLUCB(), kl_ucb, 1e-12),
    (lb.TsallisINF(lowest=-1.0, highest=2.0), tsallis_inf, 1e-9),
    (lb.LBINF(horizon=1000, lowest=-1.0, highest=2.0), lb_inf, 1e-9),
    (lb.EmpiricalThompsonSampling(pseudo_pulls=2.5), empirical_thompson_sampling, 1e-7),
]
EVERY = pytest.mark.parametrize("rule", [rule for rule, *_ in CASES], ids=lambda rule: rule.name)


@pytest.mark.parametrize(("rule", "truth", "exactness"), CASES, ids=lambda value: getattr(value, "name", ""))
def test_probabilities_are_those_of_the_whole_history(rule, truth, exactness):
    """Arms are drawn from the policy: estimates divided by the probability of an arm that is never drawn would overflow."""
    agent, history, generator = lb.Agent(rule, n_arms=N_ARMS), [], np.random.default_rng(5)
    for step in range(1, 202):
        arm = int(generator.choice(N_ARMS, p=agent.policy))
        history.append((arm, float(generator.integers(-1, 2) + (arm == 2))))
        agent.observe(*history[-1])
        if step in (1, 3, 7, 11, 20, 40, 90, 201):
            assert agent.policy == pytest.approx(truth(rule, history), abs=exactness), f"after {step} pulls"
    if rule.name != "kl-ucb":
        assert 0.5 < agent.policy[2] < 1


def test_the_bounds_of_kl_ucb_are_exact_or_below_the_largest():
    generator = np.random.default_rng(3)
    for t in (20, 700, 10**6):
        counts = generator.integers(1, t // 10 + 2, 8).astype(float)
        means, bounds = generator.integers(0, counts + 1) / counts, np.empty(8)
        top = fill_bounds(t, np.array([means, counts]), (0.0,), bounds)
        exact = [exact_bound(mean, math.log(t) / count) for mean, count in zip(means, counts, strict=True)]
        assert top == pytest.approx(max(exact), rel=1e-9)
        assert all(bound == pytest.approx(true, rel=1e-9) or true < top for bound, true in zip(bounds, exact, strict=True))


@pytest.mark.parametrize("rule", [lb.KLUCB(), lb.EmpiricalThompsonSampling()], ids=lambda rule: rule.name)
def test_arms_are_drawn_with_the_stated_probabilities(rule):
    agent = lb.Agent(rule, n_arms=N_ARMS, seed=4)
    for arm, reward in [(0, 1.0)] if rule.name == "kl-ucb" else pulls():  # else KL-UCB is certain
        agent.observe(arm, reward)
    policy, draws = agent.policy, 20_000
    counts = np.bincount([agent.ask().arm for _ in range(draws)], minlength=N_ARMS)
    assert np.count_nonzero(policy) > 1
    assert (counts[policy == 0] == 0).all()
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


def test_equal_rewards_leave_thompson_sampling_even():
    agent = lb.Agent(lb.EmpiricalThompsonSampling(), n_arms=3)
    for step in range(12):
        agent.observe(step % 3, 0.25)
    assert agent.policy.tolist() == [1 / 3] * 3


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_unknown_noise_makes_decisions_independent_of_the_unit_and_the_origin(scale):
    rule, options = lb.EmpiricalThompsonSampling(), {"horizon": 400, "runs": 3, "seed": 2, "checkpoints": 3}
    plain = lb.simulate(rule, lb.GaussianBandit([0.0, 0.5, 1.0]), **options)
    scaled = lb.simulate(rule, lb.GaussianBandit(np.array([-4.0, -3.5, -3.0]) * scale, scale=scale), **options)
    assert scaled["optimal_probability"] == pytest.approx(plain["optimal_probability"], abs=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lb.TsallisINF(lowest=1.0), "TsallisINF: lowest must be below highest, got 1.0 and 1.0"),
        (lambda: lb.LBINF(horizon=1), "LBINF: horizon must be between 2 and 1e\\+15, got 1.0"),
        (lambda: lb.EmpiricalThompsonSampling(pseudo_pulls=1), "EmpiricalThompsonSampling: pseudo_pulls must be between 1.5"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()
