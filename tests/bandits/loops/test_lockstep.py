"""Eight runs side by side are eight runs."""

from __future__ import annotations

import pytest

import logbarrier as lb


def test_lockstep_runs_are_the_dense_ones(two_scalar_rule):
    family = lb.GapInstances(n_arms=12)
    ours, dense = (
        lb.simulate(two_scalar_rule, family, horizon=300, runs=11, seed=5, checkpoints=6, engine=engine)
        for engine in ("lockstep", "dense")
    )
    for metric in ("optimal_probability", "min_probability", "regret", "entropy"):
        assert ours[metric] == pytest.approx(dense[metric], rel=1e-9, abs=1e-12), metric


def test_a_run_has_the_same_bits_whatever_runs_are_beside_it():
    rule, family = lb.EntropySGB(learning_rate=0.3, tau=0.1), lb.GapInstances(n_arms=7)
    together = lb.simulate(rule, family, horizon=500, runs=16, seed=1, engine="lockstep")
    alone = lb.simulate(rule, family, horizon=500, runs=1, first_run=11, seed=1, engine="lockstep")
    for metric in together.metrics:
        assert (together[metric][11] == alone[metric][0]).all()


def test_extreme_steps_recentre_only_their_lane():
    problem = lb.GaussianBandit([0.0, 1e6, -1e6], scale=1e5)
    record = lb.simulate(lb.SGB(learning_rate=1e4), problem, horizon=200, runs=8, seed=0, engine="lockstep", checkpoints=20)
    assert (record["min_probability"] >= 0).all()
    assert record["optimal_probability"].max() <= 1.0 + 1e-12


def test_engines_are_chosen_by_rule_and_arms_alone():
    def engine_of(rule, n_arms, **options):
        return lb.simulate(rule, lb.GapInstances(n_arms=n_arms), horizon=2, **options).provenance["engine"]

    barrier, natural = lb.LogBarrierSGB(learning_rate=0.1, eta=100), lb.NPG(learning_rate=0.1)
    assert engine_of(barrier, 10) == engine_of(natural, 64, runs=9) == "lockstep"
    assert engine_of(barrier, 65) == engine_of(lb.ClippedLogBarrierSGB(), 1000) == "lazy"
    assert engine_of(natural, 65) == engine_of(lb.BaselineNPG(learning_rate=0.1), 200) == "sparse"
    assert engine_of(barrier, 10, engine="dense") == "dense"
    with pytest.raises(ValueError, match="engine 'lazy' cannot run npg; engines that can: auto, dense, lockstep, sparse"):
        engine_of(natural, 100, engine="lazy")
    with pytest.raises(ValueError, match="simulate: engine 'sparse' cannot run log-barrier-sgb"):
        engine_of(barrier, 100, engine="sparse")
