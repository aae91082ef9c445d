"""Off-policy values against closed forms: exact means by enumeration, exact variances, coverage."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from functools import partial

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.agent.durable import sqlite_file
from logbarrier.agent.off_policy import FEWEST, OffPolicyWarning

NAMES = ("a", "b", "c")
B = np.array([0.5, 0.3, 0.2])  # what drew the log
P = np.array([0.1, 0.3, 0.6])  # what is to be evaluated
MEANS = np.array([0.2, 0.6, 0.9])  # Bernoulli rewards
VALUE = P @ MEANS
ESTIMATES = (lb.inverse_propensity, lb.self_normalised, lb.doubly_robust)


def log_of(arms, rewards, propensities=None, available=None):
    n = len(arms)
    b = B[list(arms)] if propensities is None else propensities
    everything = np.ones((n, 3), dtype=bool) if available is None else available
    return lb.Log(NAMES, np.array(arms), np.array(rewards, dtype=float), b, everything)


def drawn(generator, n):
    arms = generator.choice(3, size=n, p=B)
    return log_of(arms, generator.random(n) < MEANS[arms])


@pytest.mark.filterwarnings("ignore::logbarrier.agent.off_policy.OffPolicyWarning")
@pytest.mark.parametrize("estimate", [lb.inverse_propensity, lb.doubly_robust])
def test_the_mean_over_all_logs_is_the_value(estimate):
    total, n = 0.0, 3
    for arms in itertools.product(range(3), repeat=n):
        for rewards in itertools.product((0, 1), repeat=n):
            of_arms = B[list(arms)].prod()
            of_rewards = np.prod([MEANS[a] if r else 1 - MEANS[a] for a, r in zip(arms, rewards, strict=True)])
            total += of_arms * of_rewards * estimate(log_of(arms, rewards), P).mean
    assert total == pytest.approx(VALUE, abs=1e-12)


def test_inverse_propensity_has_the_standard_error_of_the_closed_form():
    n = 20_000
    value = lb.inverse_propensity(drawn(np.random.default_rng(0), n), P)
    variance = (P**2 / B * MEANS).sum() - VALUE**2  # E[w^2 R^2] - V^2, with R^2 = R
    assert value.standard_error == pytest.approx(np.sqrt(variance / n), rel=0.03)
    assert value.mean == pytest.approx(VALUE, abs=5 * np.sqrt(variance / n))


def test_doubly_robust_has_the_standard_error_of_a_perfect_model_for_long_logs():
    n = 20_000
    value = lb.doubly_robust(drawn(np.random.default_rng(1), n), P)
    variance = (P**2 / B * MEANS * (1 - MEANS)).sum()  # only the rewards' own noise is left
    assert value.standard_error == pytest.approx(np.sqrt(variance / n), rel=0.03)


def test_self_normalised_has_the_standard_error_of_the_linearisation():
    n = 20_000
    value = lb.self_normalised(drawn(np.random.default_rng(2), n), P)
    variance = (P**2 / B * (MEANS * (1 - MEANS) + (MEANS - VALUE) ** 2)).sum()
    assert value.standard_error == pytest.approx(np.sqrt(variance / n), rel=0.03)


def test_effective_number_of_decisions_is_the_closed_form():
    value = lb.inverse_propensity(drawn(np.random.default_rng(3), 20_000), P)
    assert value.effective == pytest.approx(20_000 / (P**2 / B).sum(), rel=0.03)


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_intervals_cover_the_value_as_often_as_they_say(estimate):
    generator, hits, runs = np.random.default_rng(4), 0, 800
    for _ in range(runs):
        value = estimate(drawn(generator, 400), P, level=0.9)
        hits += value.low <= VALUE <= value.high
    assert abs(hits / runs - 0.9) < 0.05  # 4.7 deviations of 800 hits at 0.9: false alarms below 1e-5


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_the_policy_that_drew_the_log_is_worth_its_mean_reward(estimate):
    log = drawn(np.random.default_rng(5), 500)
    assert estimate(log, B).mean == pytest.approx(log.rewards.mean(), abs=1e-2)
    assert estimate(log, B).effective == pytest.approx(500)


def test_available_arms_restrict_the_policy():
    available = np.array([[True, True, False], [True, False, True]] * 50)
    log = log_of([1, 0] * 50, [1.0, 0.5] * 50, np.array([0.4, 0.7] * 50), available)
    expected = np.mean([0.3 / 0.4 / 0.4 * 1.0, 0.1 / 0.7 / 0.7 * 0.5])
    with pytest.warns(OffPolicyWarning, match="never drew 'c'"):
        assert lb.inverse_propensity(log, P).mean == pytest.approx(expected, rel=1e-12)


def test_small_propensities_are_warned_of():
    arms = np.array([0] * 500 + [1, 2] * 4)
    with pytest.warns(OffPolicyWarning, match=f"508 decisions count as .*fewer than {FEWEST} can be trusted"):
        lb.inverse_propensity(log_of(arms, np.ones(508)), [0.001, 0.0005, 0.9985])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lb.inverse_propensity(drawn(np.random.default_rng(6), 500), P)


def test_the_log_of_a_durable_agent_tells_what_another_policy_would_have_earned(tmp_path):
    generator = np.random.default_rng(7)
    rule = lb.LogBarrierSGB(learning_rate=0.05, eta=100)
    with lb.DurableAgent(tmp_path / "agent.db", rule=rule, arms=NAMES, floor=0.2) as agent:

        def play(ledger):
            decision = ledger.ask()
            ledger.tell(decision, float(generator.random() < MEANS[NAMES.index(decision.arm)]))

        agent.perform([play] * 3000)
        agent.ask()  # without a reward: not in the log
        log = lb.Log.from_rows(agent.log(), arms=NAMES)
    assert len(log) == 3000
    for estimate in ESTIMATES:
        value = estimate(log, dict(zip(NAMES, P, strict=True)), level=0.9999)
        assert value.low < VALUE < value.high  # false alarms: 1e-4 each, of a fixed seed
        assert value.high - value.low < 0.3


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ([0.5, 0.5], "policy must have one probability per arm, 3, got 2"),
        ([0.5, 0.6, 0.1], "policy must be probabilities that sum to 1"),
        ({"a": 0.5, "z": 0.5}, "the log has no arm 'z'"),
    ],
)
def test_policies_that_are_none_are_refused(policy, message):
    with pytest.raises(ValueError, match=message):
        lb.inverse_propensity(log_of([0, 1], [1, 0]), policy)


def test_logs_that_are_none_are_refused():
    with pytest.raises(ValueError, match="at least 2 decisions with a reward, got 0"):
        lb.inverse_propensity(lb.Log.from_rows([], arms=NAMES), P)
    with pytest.raises(ValueError, match="every probability must be above 0"):
        lb.Log.from_rows([{"arm": "a", "reward": 1, "probability": 0.0}])
    with pytest.raises(ValueError, match="lacks 'd'"):
        lb.Log.from_rows([{"arm": "d", "reward": 1, "probability": 0.1}], arms=NAMES)


CHANGING = {"a": 0.5, "b": 0.2, "c": 0.8, "d": 0.7}  # c is removed and d added when half of the decisions are made


def changing_log(path, seed, decisions=300):
    """The log of a durable agent whose arms change."""
    generator = np.random.default_rng(seed)

    def play(ledger):
        decision = ledger.ask()
        ledger.tell(decision, float(generator.random() < CHANGING[decision.arm]))

    rule = lb.LogBarrierSGB(learning_rate=0.01, eta=100)  # so slow that every propensity stays above 0.1
    with lb.DurableAgent(path, rule=rule, arms=["a", "b", "c"], seed=seed) as agent:
        agent.perform([play] * (decisions // 2))
        agent.remove_arm("c")
        agent.add_arm("d")
        agent.perform([play] * (decisions // 2))
        return lb.Log.from_rows(agent.log())


@pytest.mark.filterwarnings("ignore:the policy could act as given")
def test_intervals_cover_the_value_of_arms_that_were_removed_added_and_unchanged(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "SYNCHRONOUS", "OFF")
    runs, hits = 30, Counter()
    for seed in range(runs):
        log = changing_log(tmp_path / f"{seed}.db", seed)
        for arm, estimate in itertools.product("acd", ESTIMATES):
            value = estimate(log, {arm: 1.0}, level=0.95)
            hits[arm, estimate.__name__] += value.low <= CHANGING[arm] <= value.high
    assert len(hits) == 9
    assert min(hits.values()) >= 22  # with a coverage of 0.93, false alarms: 1.5e-4 for each of the nine, of fixed seeds


@pytest.mark.parametrize(("policy", "whole", "some", "none"), [({"c": 1.0}, 20, 0, 20), ({"a": 0.5, "d": 0.5}, 20, 20, 0)])
def test_a_value_says_over_how_many_decisions_it_is(tmp_path, policy, whole, some, none):
    log = changing_log(tmp_path / "agent.db", 1, decisions=40)
    sentence = f"could act as given at {whole} of 40 decisions; at {some} some of its arms .* at {none} all were missing"
    with pytest.warns(OffPolicyWarning, match=sentence):
        assert lb.inverse_propensity(log, policy).decisions == whole + some


def test_a_policy_that_could_never_act_is_refused():
    rows = [{"arm": arm, "reward": 1.0, "probability": 0.5, "available": ["a", "b"]} for arm in "abab"]
    with pytest.raises(ValueError, match="must be able to act at 2 decisions or more, got 0 of 4"):
        lb.inverse_propensity(lb.Log.from_rows(rows, arms=NAMES), {"c": 1.0})


def test_a_log_that_does_not_say_which_arms_were_available_is_refused():
    row = {"arm": "a", "reward": 1.0, "probability": 0.5}
    pending = {"arm": "a", "reward": None, "probability": 0.5, "available": None}
    assert len(lb.Log.from_rows([row, pending, row])) == 2
    with pytest.raises(ValueError, match=r"Log: row 1 does not say which arms were available; .*remove 'available'"):
        lb.Log.from_rows([row, {**row, "available": None}])
    with pytest.raises(ValueError, match="every arm must be one of those available, but 'a' is not"):
        lb.Log.from_rows([{**row, "available": ["b"]}])
    with pytest.raises(ValueError, match="row 0 lacks 'probability'"):
        lb.Log.from_rows([{"arm": "a", "reward": 1.0}])


@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("probability", [1e-300, 1e-320])
def test_a_propensity_too_small_for_a_weight_is_one_sentence(estimate, probability):
    rows = [{"arm": "a", "reward": 1.0, "probability": probability}, {"arm": "b", "reward": 0.0, "probability": 0.5}] * 20
    with pytest.raises(ValueError, match="no weight .* may be above 1e\\+50, but the log has a probability of"):
        estimate(lb.Log.from_rows(rows), {"a": 0.5, "b": 0.5})


def test_always_one_arm_is_its_name_over_the_decisions_of_an_experiment_at_which_it_was_available(tmp_path):
    generator, truth = np.random.default_rng(8), {"A": 0.2, "B": 0.5, "C": 0.3}
    with lb.Experiments(tmp_path / "decisions.db") as experiments:
        other = experiments.create("other", arms=["A", "B"])
        other.tell(other.ask(), 7.0)
        experiment = experiments.create("page", arms=["A", "B", "C"], floor=0.5)

        def play(available, ledger):
            decision = ledger.ask(available)
            ledger.tell(decision, float(generator.random() < truth[decision.arm]))

        experiment.perform([partial(play, None)] * 1500 + [partial(play, ["A", "C"])] * 500)
    log = lb.Log.from_rows(lb.read_log(tmp_path / "decisions.db", experiment="page"))
    with pytest.warns(OffPolicyWarning, match="at 500 all were missing"):
        value = lb.doubly_robust(log, "B")
    assert value.decisions == 1500
    assert value.mean == pytest.approx(truth["B"], abs=4 * value.standard_error)
    with pytest.raises(ValueError, match="the log has no arm 'Z'"):
        lb.doubly_robust(log, "Z")
