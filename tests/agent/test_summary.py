"""Which arm wins: intervals against 50-digit arithmetic, coverage under adaptive choice and repeated looks, verdicts."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

import logbarrier as lb
from logbarrier.agent.arm_statistics import ArmStatistics
from logbarrier.agent.confidence import OF_INTERVALS, OF_WINNERS, Amounts, Clicks, evidence_of
from logbarrier.agent.summary import summarise


def seen(rewards, decisions=None):
    """Statistics of lists of rewards, one per arm."""
    statistics = ArmStatistics(len(rewards))
    for arm, values in enumerate(rewards):
        statistics.decisions[arm] = len(values) if decisions is None else decisions[arm]
        for value in values:
            statistics.add_reward(arm, float(value))
    return statistics


@pytest.mark.parametrize(("n", "ones"), [(1, 0), (1, 1), (30, 7), (1000, 20), (200_000, 4000), (50, 50)])
def test_the_martingale_of_clicks_is_a_mixture_over_a_beta_law_around_the_mean_tested(n, ones):
    def ratio(p):
        a, b = OF_INTERVALS / (1 - p), OF_INTERVALS / p
        return mpmath.beta(ones + a, n - ones + b) / mpmath.beta(a, b) / (p**ones * (1 - p) ** (n - ones))

    with mpmath.workdps(50):
        expected = mpmath.log(ratio(mpmath.mpf("0.31")))
        assert Clicks(n, ones / n).log_martingale(0.31) == pytest.approx(float(expected), rel=1e-9, abs=1e-9)
        low, high = Clicks(n, ones / n).interval(math.log(100))
        for bound, inside in ((low, low > 1e-9), (high, high < 1 - 1e-9)):
            if inside:
                assert float(ratio(mpmath.mpf(bound))) == pytest.approx(100, rel=1e-6)
    assert low <= ones / n <= high


@pytest.mark.parametrize("c", [OF_INTERVALS, OF_WINNERS])
@pytest.mark.parametrize("p", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("n", [1, 7, 200])
def test_the_expected_martingale_is_one(n, p, c):
    """Exact: the sum over all numbers of clicks."""
    weights = stats.binom.pmf(np.arange(n + 1), n, p)
    values = [math.exp(Clicks(n, ones / n).log_martingale(p, c)) for ones in range(n + 1)]
    assert weights @ values == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(("n", "ones"), [(2, 1), (30, 1), (300, 6), (40_000, 4800), (1000, 999)])
def test_the_martingale_falls_to_the_mean_seen_and_grows_beyond_it(n, ones):
    """The evidence about two arms relies on this."""
    below, above = np.linspace(1e-4, ones / n, 500), np.linspace(ones / n, 1 - 1e-4, 500)
    for c in (OF_INTERVALS, OF_WINNERS):
        falling = [Clicks(n, ones / n).log_martingale(p, c) for p in below]
        growing = [Clicks(n, ones / n).log_martingale(p, c) for p in above]
        assert max(np.diff(falling)) < 1e-3
        assert min(np.diff(growing)) > -1e-3


def test_evidence_for_a_difference_is_the_least_product_over_a_common_mean():
    grid = np.linspace(0.0, 1.0, 20_001)[1:-1]
    for a, b in (
        (Clicks(400, 0.3), Clicks(900, 0.2)),
        (Clicks(5000, 0.02), Clicks(300, 0.0)),
        (Clicks(50, 0.2), Clicks(90_000, 0.02)),
    ):
        least = min(a.log_martingale(p, OF_WINNERS) + b.log_martingale(p, OF_WINNERS) for p in grid)
        assert a.against(b) == pytest.approx(least, abs=1e-3)
        assert b.against(a) == 0.0
    c, d = Amounts(400, 1.0, 4.0), Amounts(900, 0.5, 9.0)
    (w, x), (v, y) = c._curvature(), d._curvature()
    means = np.linspace(0, 2, 20_001)
    products = w * (1.0 - means) ** 2 - x + v * (0.5 - means) ** 2 - y
    assert c.against(d) == pytest.approx(products.min(), abs=1e-5)


def test_the_statistics_are_the_mean_and_the_variance_also_far_from_zero():
    values = 1e9 + np.random.default_rng(0).normal(size=500)
    statistics = seen([values, [0.0, 1.0]])
    assert statistics.means[0] == pytest.approx(values.mean(), rel=1e-14)
    assert statistics.squares[0] / 499 == pytest.approx(values.var(ddof=1), rel=1e-6)
    assert not statistics.is_binary


RUNS, LOOKS, LEVEL = 400, 20, 0.95


def adaptive(draw, truth, per_look, generator):
    """RUNS experiments whose next pulls go to the arms that lead so far: counts, sums, squares after each look (L, R, K)."""
    n_arms = len(truth)
    counts, sums, squares = (np.zeros((RUNS, n_arms)) for _ in range(3))
    history = []
    for look in range(LOOKS):
        leader = np.argmax(np.where(counts > 0, sums / np.maximum(counts, 1), np.inf), axis=1)
        pulls = np.full((RUNS, n_arms), per_look // 20)
        if look:
            pulls[np.arange(RUNS), leader] += per_look
        new_sums, new_squares = draw(pulls, generator)
        counts, sums, squares = counts + pulls, sums + new_sums, squares + new_squares
        history.append((counts.copy(), sums.copy(), squares.copy()))
    return history


def missed(history, truth, is_binary, naive):
    """The share of experiments in which some interval of some look misses its mean."""
    wrong = np.zeros(RUNS, dtype=bool)
    for counts, sums, squares in history:
        means = sums / counts
        spread = squares - counts * means**2
        for run in np.flatnonzero(~wrong):
            if naive:
                half = 1.96 * np.sqrt(spread[run] / (counts[run] - 1) / counts[run])
                inside = np.abs(means[run] - truth) <= half
            else:
                evidence = evidence_of(is_binary, counts[run].astype(int).tolist(), means[run].tolist(), spread[run].tolist())
                bounds = np.array([each.interval(math.log(len(truth) / (1 - LEVEL))) for each in evidence])
                inside = (bounds[:, 0] <= truth) & (truth <= bounds[:, 1])
            wrong[run] = not inside.all()
    return wrong.mean()


@pytest.mark.parametrize("is_binary", [True, False], ids=["clicks", "amounts"])
def test_intervals_cover_at_every_look_where_naive_ones_do_not(is_binary):
    """The bound of 0.05 is exceeded by more than 0.03 with probability 0.005 even if coverage were exactly 0.95."""
    truth = np.array([0.1, 0.1, 0.12]) if is_binary else np.array([1.0, 1.0, 1.1])

    def clicks(pulls, generator):
        ones = generator.binomial(pulls, truth)
        return ones, ones

    def amounts(pulls, generator):  # exponential: the sum is gamma; squares of the same rewards are needed, so draw them
        sums, squares = np.zeros(pulls.shape), np.zeros(pulls.shape)
        for place in np.ndindex(pulls.shape):
            values = generator.exponential(truth[place[1]], size=pulls[place])
            sums[place], squares[place] = values.sum(), (values**2).sum()
        return sums, squares

    history = adaptive(clicks if is_binary else amounts, truth, 600, np.random.default_rng(7))
    assert missed(history, truth, is_binary, naive=False) <= 0.08
    assert missed(history, truth, is_binary, naive=True) > 0.25


def test_a_winner_is_declared_and_a_tie_is_not():
    generator = np.random.default_rng(3)
    wins = summarise(["a", "b", "c"], seen([generator.random(3000) < p for p in (0.1, 0.2, 0.11)]))
    assert (wins.verdict, wins.leader) == ("winner", "b")
    assert wins.sentence == "'b' wins: its mean reward is the largest, at level 0.95."
    assert wins.arms[1].best > 0.999
    assert wins.arms[1].lift == pytest.approx(wins.arms[1].mean / wins.arms[0].mean - 1)
    assert wins.arms[1].lift_low < wins.arms[1].lift < wins.arms[1].lift_high
    tied = seen([generator.random(3000) < 0.1 for _ in range(3)])
    assert summarise(["a", "b", "c"], tied).verdict == "undecided"
    assert "no other arm is better by more than" in summarise(["a", "b", "c"], tied).sentence
    same = summarise(["a", "b", "c"], tied, difference=0.1)
    assert (same.verdict, same.sentence.startswith("No difference larger than 0.1")) == ("no difference", True)


def test_wrong_winners_are_rare_when_all_arms_are_equal():
    """Of 200 experiments without a difference, looked at 20 times, more than 20 would be improbable (below 0.001) at 5 %."""
    generator, wrong = np.random.default_rng(11), 0
    for _ in range(200):
        ones, count = np.zeros(4, dtype=int), 0
        for _ in range(20):
            ones, count = ones + generator.binomial(250, 0.05, size=4), count + 250
            arms = [Clicks(count, one / count) for one in ones]
            first = int(np.argmax(ones))
            if all(arms[first].against(arms[i]) >= math.log(3 / 0.05) for i in range(4) if i != first):
                wrong += 1
                break
    assert wrong <= 20


def test_the_probability_of_being_best_is_that_of_the_posterior():
    generator = np.random.default_rng(5)
    clicks = seen([[1] * 3 + [0] * 27, [1] * 6 + [0] * 44, [1] * 2 + [0] * 8])
    samples = generator.beta([4, 7, 3], [28, 45, 9], size=(400_000, 3))
    expected = np.bincount(samples.argmax(axis=1), minlength=3) / 400_000
    best = [arm.best for arm in summarise(["a", "b", "c"], clicks).arms]
    assert best == pytest.approx(expected, abs=0.004)  # five standard errors
    amounts = seen([generator.normal(m, 1, 60) for m in (0.0, 0.2, 0.1)])
    spread = np.sqrt(
        [each.variance / each.rewards for each in evidence_of(False, amounts.rewards, amounts.means, amounts.squares)]
    )
    normal = generator.normal(amounts.means, spread, size=(400_000, 3))
    expected = np.bincount(normal.argmax(axis=1), minlength=3) / 400_000
    assert [arm.best for arm in summarise(["a", "b", "c"], amounts).arms] == pytest.approx(expected, abs=0.004)


def test_an_agent_summarises_what_it_was_told():
    agent = lb.Agent(lb.LogBarrierSGB(learning_rate=0.1, eta=100), arms=["a", "b", "c"], seed=0)
    for t in range(100):
        agent.tell(agent.ask(), t % 2)
    agent.ask()
    agent.observe("c", 1.0)
    summary = agent.summary(baseline="b")
    assert sum(arm.decisions for arm in summary.arms) == 101
    assert sum(arm.rewards for arm in summary.arms) == 101
    assert summary.intervals == "exact"
    restored = lb.Agent.from_state_dict(agent.state_dict())
    assert restored.summary(baseline="b") == summary
    agent.remove_arm("b")
    assert [arm.arm for arm in agent.summary().arms] == ["a", "c"]
    with pytest.raises(ValueError, match="baseline must be an arm, got 'b'"):
        agent.summary(baseline="b")


def test_few_or_equal_amounts_have_no_interval():
    assert summarise(["a", "b"], seen([[2.0] * 10, [3.0] * 40])).arms[0].low is None
    nothing = summarise(["a", "b"], ArmStatistics(2))
    assert (nothing.verdict, nothing.leader, nothing.sentence) == ("undecided", None, "Undecided: there are no rewards yet.")
    assert [arm.best for arm in nothing.arms] == [0.5, 0.5]
