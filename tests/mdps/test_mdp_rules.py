"""Rules: what they learn in the mean, by enumeration, and what they must and must not depend on."""

from __future__ import annotations

import re

import numpy as np
import pytest

from logbarrier import mdps
from logbarrier.base.conformance import Conformance
from logbarrier.mdps import testing
from logbarrier.mdps.algorithms import RULES, make_rule, rule_from_dict
from logbarrier.mdps.algorithms.annealing import boldness
from logbarrier.mdps.episode import FOUND, RARENESS, nothing_learned
from logbarrier.mdps.exact import value

EXAMPLES = [
    mdps.PG(learning_rate=0.5),
    mdps.PG(learning_rate=0.5, trace=1.0, critic_rate=0.0),
    mdps.EntropyPG(learning_rate=0.5, tau=0.3),
    mdps.ActionBarrierPG(learning_rate=0.5, eta=20.0),
    mdps.NPG(learning_rate=0.1),
    mdps.SpectralPG(),
    mdps.SpectralPG(eta=20.0),
    mdps.FeatureSpectralPG(),
    mdps.CountBonus(learning_rate=0.5, scale=2.0),
    mdps.StateEntropy(learning_rate=0.5, scale=0.7),
    mdps.OptimisticQ(learning_rate=0.3, initial=3.0),
]


@pytest.mark.parametrize("rule", EXAMPLES, ids=str)
def test_a_rule_meets_every_demand(rule):
    testing.check_rule(rule)


def test_examples_cover_every_rule():
    assert {rule.name for rule in EXAMPLES} == set(RULES)


def test_a_rule_that_claims_another_update_is_found_out():
    class Boastful(mdps.PG):
        def expected_update(self, mdp, learned):
            return 1.001 * super().expected_update(mdp, learned)

    shown = []
    with pytest.raises(AssertionError, match=r"^pg: E\[update\] differs from the claimed one by 1\.0e-03 of its size$"):
        testing.check_rule(Boastful(learning_rate=0.5), show=shown.append)
    assert [": FAILED: " in line for line in shown] == [True, False, False, False]


def test_failures_are_left_to_the_result_on_request():
    class Unclaimed(mdps.PG):
        def expected_update(self, mdp, learned):
            raise NotImplementedError

    result = testing.check_rule(Unclaimed(learning_rate=0.5), raises=False)
    assert isinstance(result, Conformance)  # what the check of bandit rules returns
    assert not result.passed
    assert result.failures == ["Unclaimed: check_expected_update needs a method that is not implemented"]


def test_a_rule_that_draws_from_another_policy_than_it_says_is_found_out():
    class Bolder(mdps.PG):
        def policy(self, preferences):
            return super().policy(1.1 * preferences)

    assert testing.draw_error(Bolder(learning_rate=0.5), testing.looping_mdp(np.random.default_rng(0)), seed=0) > 0.01


@pytest.mark.parametrize("rule", EXAMPLES, ids=str)
@pytest.mark.parametrize("gamma", [0.9, 1.0])
def test_a_single_action_leaves_nothing_to_learn(rule, gamma):
    """Three states in a row, each of which ends the episode with probability 1/2: J is a short sum."""
    P = np.zeros((3, 1, 3))
    P[0, 0, 1] = P[1, 0, 2] = 0.5
    mdp = mdps.FiniteMDP(P=P, R=[[4.0], [-2.0], [8.0]], rho=[1.0, 0.0, 0.0], gamma=gamma)
    record = mdps.simulate(rule, mdp, horizon=300, runs=2, checkpoints=3)
    exact = (4.0 - 2.0 * gamma / 2 + 8.0 * gamma**2 / 4) * (1.0 if gamma == 1.0 else 1.0 - gamma)
    assert record["return"] == pytest.approx(np.full((2, 3), exact), rel=1e-12)
    assert (record["score"] == 1.0).all()


@pytest.mark.parametrize("rule", EXAMPLES, ids=str)
def test_a_single_state_is_learned_like_a_bandit(rule):
    mdp = mdps.FiniteMDP(P=np.full((1, 3, 1), 0.5), R=[[0.0, 1.0, 0.5]], rho=[1.0], gamma=0.9)
    record = mdps.simulate(rule, mdp, horizon=3000, runs=2, checkpoints=3)
    assert all(np.isfinite(record[name]).all() for name in record.metrics)
    assert (record["return"][:, -1] > record["return"][:, 0]).all()


def test_state_entropy_climbs_the_entropy_of_visits():
    """Against central differences of J + scale H(d), which share nothing with the rule but the MDP."""
    rule, mdp = mdps.StateEntropy(learning_rate=1.0, scale=0.7), testing.layered_mdp(np.random.default_rng(3), 3)
    learned = nothing_learned(mdp.n_states, mdp.n_actions, 0.0, ())
    learned.theta[:] = np.random.default_rng(4).normal(size=mdp.R.shape)

    def objective(theta):
        d = mdp.occupancy(rule.policy(theta))
        return value(mdp, theta, mdps.NoRegulariser()) - 0.7 * (d * np.log(d)).sum()

    claimed, step = rule.expected_update(mdp, learned) * mdp.normaliser, 1e-5
    for index in np.ndindex(mdp.R.shape):
        move = np.zeros(mdp.R.shape)
        move[index] = step
        slope = (objective(learned.theta + move) - objective(learned.theta - move)) / (2 * step)
        assert claimed[index] == pytest.approx(slope, abs=1e-8)


def test_the_spectral_rule_does_not_see_the_scale_of_rewards():
    """A power of two changes no bit of a ratio, so the runs must be the same to the last bit."""
    river = mdps.RiverSwim(5)
    scaled = mdps.FiniteMDP(P=river.P, R=1024.0 * river.R, rho=river.rho, gamma=river.gamma)
    ours, theirs = (
        mdps.simulate(mdps.SpectralPG(), mdp, horizon=5000, runs=2, seed=3, checkpoints=6) for mdp in (river, scaled)
    )
    assert np.array_equal(ours["coverage"], theirs["coverage"])
    assert np.array_equal(ours["min_occupancy"], theirs["min_occupancy"])


def test_a_new_state_brings_exploration_back():
    tally = np.zeros(4)
    assert boldness(tally) == 10.0
    tally[FOUND], tally[RARENESS] = 10.0, 10.0 / 1000**2
    settled = boldness(tally)
    tally[FOUND], tally[RARENESS] = 11.0, tally[RARENESS] + 1.0
    assert settled < 0.2 < 5.0 < boldness(tally)


def test_the_spectral_rule_swims_where_policy_gradient_stays():
    """In the study it reaches the far end in 50 of 50 runs, and policy gradient in none."""
    asked = {"horizon": 100_000, "runs": 3, "seed": 5, "checkpoints": 2, "metrics": ["score"]}
    spectral, plain = (
        mdps.simulate(rule, mdps.RiverSwim(12), **asked)["score"][:, -1]
        for rule in (mdps.SpectralPG(), mdps.PG(learning_rate=0.1))
    )
    assert (spectral > 0.9).all()
    assert (plain < 0.1).all()


@pytest.mark.parametrize("rule", EXAMPLES, ids=str)
def test_rules_survive_being_plain_tables(rule):
    assert rule_from_dict(rule.to_dict()) == rule


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: mdps.PG(learning_rate=-1.0), "PG: learning_rate must be positive and finite, got -1.0"),
        (lambda: mdps.PG(learning_rate=1.0, trace=2.0), "PG: trace must be between 0 and 1, got 2.0"),
        (lambda: mdps.EntropyPG(learning_rate=1.0, tau=0.0), "EntropyPG: tau must be positive and finite, got 0.0"),
        (lambda: mdps.SpectralPG(eta=-3.0), "SpectralPG: eta must be positive and finite, got -3.0"),
        (lambda: mdps.CountBonus(learning_rate=1.0, scale=0.0), "CountBonus: scale must be positive and finite, got 0.0"),
        (lambda: mdps.OptimisticQ(learning_rate=2.0, initial=1.0), "OptimisticQ: learning_rate must be at most 1, got 2.0"),
        (lambda: make_rule("pg", {}), "pg: needs learning_rate; it takes learning_rate, trace, critic_rate"),
        (lambda: make_rule("pgg", {}), f"rule: must be one of {', '.join(RULES)}, got 'pgg'; did you mean pg?"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(make, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        make()
