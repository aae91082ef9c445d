"""AutoLogBarrier: its formulas, what a drop does to them, and that neither unit nor offset of the rewards matters."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import logbarrier as lb
from logbarrier.bandits.algorithms.auto_log_barrier import WARM_UP
from logbarrier.bandits.algorithms.drops import ALLOWANCES, FARTHEST_FALL, SETTLED, SURE
from logbarrier.bandits.problems import Bandit, uniform_noise
from logbarrier.engine.compiled import compiled


def moves(rewards, probabilities, arms=None, n_arms=4, world="changing"):
    """(lift, drain) of every step, from the compiled update; by default the arms take turns."""
    return learned(lb.AutoLogBarrier(world=world), rewards, probabilities, arms, n_arms)[0]


def learned(rule, rewards, probabilities, arms=None, n_arms=4):
    """(lift, drain) of every step, the memory after the last one, and what is remembered of each arm."""
    memory, hyper, remembered = rule.new_memory(), rule.hyper(n_arms), np.zeros(n_arms)
    fields = rule.memory_at(memory)
    found = []
    for t, (r, p) in enumerate(zip(rewards, probabilities, strict=True), start=1):
        arm = t % n_arms if arms is None else arms[t - 1]
        fields.of_arm = remembered[arm]
        found.append(rule.lift_and_drain(float(r), float(p), t, fields, hyper))
        remembered[arm] = fields.of_arm
    return found, memory, remembered


def by_the_formulas(rewards, probabilities, n_arms=4, last=None):
    """The same in 50 digits, from the docstrings, and the steps at which a drop was noticed; the arms take turns.

    last: the arm that is pulled in the last step, in place of the one whose turn it is.
    """
    with mpmath.workdps(50):
        b = level = mpmath.mpf(float(rewards[0]))
        spread = share = contest = mpmath.mpf(0)
        age, drops, sums, counts, found = 0, [], [mpmath.mpf(0)] * len(ALLOWANCES), [0] * n_arms, []
        for t, (r, p) in enumerate(zip(rewards, probabilities, strict=True), start=1):
            r, p, arm, K = mpmath.mpf(float(r)), mpmath.mpf(float(p)), t % n_arms, mpmath.mpf(n_arms)
            arm = last if last is not None and t == len(rewards) else arm
            x, lift, drain, dropped = r - b, mpmath.mpf(0), mpmath.mpf(0), False
            age += 1
            if age > WARM_UP and spread > 0:
                decided = mpmath.mpf("1.2") + mpmath.mpf("0.18") * mpmath.log(n_arms)
                z = (max(mpmath.log(1 + contest) - mpmath.log(n_arms) / 3, 0) / 8) ** 4
                pace = (
                    share * decided + mpmath.mpf("1.05") * (1 - share) * (1 + K / (2 * age + 2 * K)) + mpmath.mpf("1.8") * z
                ) / age
                tau = mpmath.mpf(t) / len(drops) if drops else None
                if tau:
                    pace = max(pace, mpmath.mpf("0.8") / mpmath.sqrt(K * tau))
                roots = [mpmath.sqrt(max(n, 1)) for n in counts]
                drain = pace * sum(roots) / max(roots)
                counts[arm] += 1
                n = counts[arm] + share * ((sum(roots) - max(roots)) / (K - 1)) ** 2
                n = min(n, max(mpmath.sqrt(tau / K) / 2, 1)) if tau and p < 0.5 else n
                gain = mpmath.mpf("1.5") * (1 + 2 * share) * (share + (1 - share) / (1 + z))
                rate = gain / mpmath.sqrt(n + 40 / (K + 10) + mpmath.mpf("0.25"))
                lift = min(max(rate * x / mpmath.sqrt(spread), -4), 4) - (4 if counts[arm] == 1 else 0)
                lift -= mpmath.mpf("0.3") * (1 - share) * (1 - p) * rate**2
                contest += p * (1 - p) ** 2
                fall = min(max((level - r) / mpmath.sqrt(spread), -FARTHEST_FALL), FARTHEST_FALL)
                watching = [age * k * k > SETTLED for k in ALLOWANCES]
                sums = [max(g + fall - k, 0) if on else g for g, k, on in zip(sums, ALLOWANCES, watching, strict=True)]
                dropped = any(2 * k * g > SURE + mpmath.log(age) for g, k in zip(sums, ALLOWANCES, strict=True))
            found.append((float(lift), float(drain)))
            recent = mpmath.mpf(2) / (age + 1)
            b, level, spread = (
                b + x / min(age, 5 + mpmath.mpf(age) / 30),
                level + recent * (r - level),
                spread + recent * (x * x - spread),
            )
            share += 2 / (age + 2 * K) * (p - share)
            if dropped:
                age, share, contest, sums, counts = (
                    0,
                    mpmath.mpf(0),
                    mpmath.mpf(0),
                    [mpmath.mpf(0)] * len(ALLOWANCES),
                    [0] * n_arms,
                )
                drops.append(t)
        return found, drops


@pytest.fixture(scope="module")
def steps():
    generator = np.random.default_rng(0)
    return generator.normal(size=300), generator.uniform(0.01, 1.0, 300)


def test_every_step_is_the_formula(steps):
    expected, drops = by_the_formulas(*steps)
    assert np.array(moves(*steps)) == pytest.approx(np.array(expected), rel=1e-10, abs=1e-13)
    assert drops == []


def test_after_a_drop_every_step_is_still_the_formula():
    """Two drops, of 2 and of 1 deviations, in 1500 steps; the rates are reset and the drain stays stronger."""
    generator = np.random.default_rng(1)
    rewards = generator.normal(size=1500) - 2.0 * (np.arange(1500) >= 400) - 1.0 * (np.arange(1500) >= 900)
    probabilities = generator.uniform(0.4, 1.0, 1500)
    expected, drops = by_the_formulas(rewards, probabilities)
    assert len(drops) == 2
    assert 400 < drops[0] < 450 < 900 < drops[1] < 980
    assert np.array(moves(rewards, probabilities)) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-12)
    steady = np.array(moves(rewards, probabilities, world="steady"))
    assert (steady[: drops[0]] == np.array(moves(rewards, probabilities))[: drops[0]]).all()
    assert steady[-400:, 1].max() < np.array(expected)[-400:, 1].min()


def test_no_reward_moves_a_preference_by_more_than_four():
    rewards = [0.0, 1e-3] * 20 + [1.0] + [1e-3] * 20 + [-1e6] + [1.0] * 5
    lifts = np.array(moves(rewards, [1.0] * len(rewards)))[:, 0]  # at p = 1 there is no variance correction
    assert lifts[40] == 4.0
    assert lifts[61] == -4.0
    assert np.abs(lifts[20:]).max() == 4.0


def open_rate(pulls, n_arms=4):
    """alpha(a) s in a contest that is wholly open and has just begun: P = z = 0."""
    return 1.5 / np.sqrt(pulls + 40 / (n_arms + 10) + 0.25)


def last_lift(arms, added=0.0):
    """What the last reward, with something added to it, does to its arm's preference where P = z = 0."""
    rewards = np.random.default_rng(3).normal(size=len(arms))
    rewards[-1] += added
    return moves(rewards, [0.0] * len(arms), arms=arms)[-1][0]


def test_an_arm_learns_more_slowly_the_more_rewards_it_has_had_and_no_arm_for_another():
    """The same reward moves a preference by an amount that falls like 1/sqrt(n + 40/(K + 10) + 1/4)."""
    arms = [0, 0, 0, 0, 1] * 20
    after_many, after_few = (last_lift([*arms, last], added=0.25) - last_lift([*arms, last]) for last in (0, 1))
    counted = [arms[WARM_UP:].count(last) + 1 for last in (0, 1)]
    assert after_few / after_many == pytest.approx(open_rate(counted[1]) / open_rate(counted[0]), rel=1e-12)


def test_once_decided_an_arm_that_was_hardly_pulled_learns_hardly_faster_than_the_others():
    """Its few rewards and the usual number of the others count together: without that it would learn five times as fast."""
    arms = [0] * 400 + [1, 2] * 25
    rewards, certain = np.random.default_rng(4).normal(size=451), [1.0] * 451
    known, new = (moves(rewards, certain, arms=[*arms, last])[-1][0] for last in (1, 3))
    assert 1.0 < (new + 4.0) / known < 2.0


def test_the_first_pull_of_an_arm_takes_four_from_its_preference():
    """So that arms which were not tried come first: of ten, nine or ten are tried in eighteen pulls after the first eight."""
    arms = [0] * 39
    pulls = len(arms) - WARM_UP + 1
    known = last_lift([*arms, 0]) + 0.3 * open_rate(pulls) ** 2
    unknown = last_lift([*arms, 1]) + 0.3 * open_rate(1) ** 2
    assert unknown + 4.0 == pytest.approx(known * open_rate(1) / open_rate(pulls), rel=1e-12)


def test_a_pull_in_an_open_contest_costs_what_noise_would_add():
    """A reward of exactly b moves the preference by -.3 (1 - P)(1 - p)(alpha s)^2; at p = 1 by nothing."""
    rule = lb.AutoLogBarrier()
    for p in (0.01, 0.5, 1.0):
        numbers, hyper, generator = rule.new_memory(), rule.hyper(4), np.random.default_rng(6)
        memory = rule.memory_at(numbers)
        for t in range(1, 60):
            memory.of_arm = 10.0
            rule.lift_and_drain(float(generator.normal()), p, t, memory, hyper)
        b, lifts = memory.first + memory.baseline, []
        for reward in (b, b + np.sqrt(memory.spread)):
            known = rule.memory_at(numbers.copy())
            known.of_arm = 10.0
            lifts.append(rule.lift_and_drain(float(reward), p, 60, known, hyper)[0])
        rate = lifts[1] - lifts[0]
        assert -lifts[0] == pytest.approx(0.3 * (1 - memory.share) * (1 - p) * rate**2, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("unit", [2.0**-20, -(2.0**3), 2.0**30])
def test_the_unit_of_reward_changes_no_bit_of_a_step(steps, unit):
    scaled = np.array(moves(unit * steps[0], steps[1]))
    expected = np.array(moves(np.sign(unit) * steps[0], steps[1]))
    assert (scaled == expected).all()
    assert expected.any()


def test_a_constant_added_to_all_rewards_changes_no_bit_of_a_step(steps):
    rounded = np.round(steps[0] * 2**20) / 2**20  # so that adding the constant is exact
    assert moves(rounded + 1024.0, steps[1]) == moves(rounded, steps[1])


def test_equal_rewards_move_nothing():
    assert np.array(moves([0.7] * 50, [0.3] * 50)).any() == np.False_


@compiled
def stretched_reward(noise, parameters, arm, stream):
    """A Bernoulli reward, times row 1, plus row 2."""
    return (1.0 if noise < parameters[0, arm] else 0.0) * parameters[1, arm] + parameters[2, arm]


class StretchedBandit(Bandit):
    """Clicks in another currency with an entrance fee; row 0 still orders the arms."""

    noise = staticmethod(uniform_noise)
    reward_of = staticmethod(stretched_reward)

    def __init__(self, unit, offset):
        means = np.array([0.2, 0.5, 0.3, 0.1])
        super().__init__(means, np.full(4, unit), np.full(4, offset))


def test_a_whole_run_is_the_same_in_another_unit_and_with_an_offset():
    """To the bit, on the engine that agents run: the policies are equal at every checkpoint."""
    options = {"horizon": 3000, "runs": 2, "seed": 4, "checkpoints": 20, "engine": "dense", "threads": 1}
    plain, stretched = (
        lb.simulate(lb.AutoLogBarrier(), StretchedBandit(*changes), **options) for changes in ((1.0, 0.0), (0.25, 64.0))
    )
    assert (plain["optimal_probability"] == stretched["optimal_probability"]).all()
    assert plain["optimal_probability"][:, -1].min() > 0.5


def test_expected_update_is_the_mean_of_the_formula_over_arms_and_rewards(steps):
    """The 61st step with every arm and two rewards each, in 50 digits; theta may move by any constant besides."""
    rewards, probabilities = (values[:60] for values in steps)
    policy, means = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.3, -0.2, 0.1, 0.5])
    update = np.zeros(4)
    for arm, reward in [(arm, means[arm] + noise) for arm in range(4) for noise in (-0.7, 0.7)]:
        found, _ = by_the_formulas([*rewards, reward], [*probabilities, policy[arm]], last=arm)
        lift, drain = found[-1]
        update += 0.5 * policy[arm] * (lift * np.eye(4)[arm] - drain * policy)
    rule = lb.AutoLogBarrier()
    _, memory, remembered = learned(rule, rewards, probabilities)
    claimed = rule.expected_update(61, policy, means, np.array([[of_arm, *memory[1:]] for of_arm in remembered]))
    assert claimed - claimed.mean() == pytest.approx(update - update.mean(), rel=1e-9)


@pytest.mark.parametrize("n_arms", [10, 100])
def test_it_learns_without_being_told_anything(n_arms):
    """Uniform play would lose 10 000 or more; the seed is fixed."""
    record = lb.simulate(lb.AutoLogBarrier(), lb.GapInstances(n_arms=n_arms, gap=0.5), horizon=10_000, runs=16, seed=3)
    assert record.mean("regret")[-1] < 3000
    assert record.mean("optimal_probability")[-1] > 0.8


@pytest.mark.parametrize(("unit", "offset"), [(2.0**7, 0.0), (1.0, 256.0)])
def test_neither_unit_nor_offset_changes_what_counts_as_a_drop(unit, offset):
    generator = np.random.default_rng(2)
    rewards = np.round((generator.normal(size=800) - 2.0 * (np.arange(800) >= 400)) * 2**20) / 2**20
    probabilities = generator.uniform(0.6, 1.0, 800)
    assert (
        np.array(moves(unit * rewards + offset, probabilities))[:, 1] == np.array(moves(rewards, probabilities))[:, 1]
    ).all()


def test_it_follows_arms_that_swap_where_a_steady_problem_is_assumed():
    """Eight swaps. Without the restart the regret is a multiple; the seed is fixed."""
    options = {"horizon": 40_000, "runs": 8, "seed": 3, "checkpoints": 2, "metrics": ["regret"]}
    problem = lb.SwappingArms(n_arms=10, gap=0.5, period=5000)
    follows, stays = (
        lb.simulate(lb.AutoLogBarrier(world=world), problem, **options).mean("regret")[-1] for world in ("changing", "steady")
    )
    assert follows < stays / 4
