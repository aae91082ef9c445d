"""Eight runs side by side are eight runs."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import logbarrier as lb
from logbarrier.bandits.algorithms.rule import TwoScalarRule
from logbarrier.bandits.loops import functions
from logbarrier.engine.codegen import linking
from logbarrier.engine.codegen.arguments import packed
from logbarrier.engine.compiled import compiled


def test_lockstep_runs_are_the_dense_ones(two_scalar_rule):
    family = lb.GapInstances(n_arms=12)
    ours, dense = (
        lb.simulate(two_scalar_rule, family, horizon=300, runs=11, seed=5, checkpoints=6, engine=engine)
        for engine in ("lockstep", "dense")
    )
    for metric in ("optimal_probability", "min_probability", "regret", "entropy"):
        assert ours[metric] == pytest.approx(dense[metric], rel=1e-9, abs=1e-12), metric


@pytest.mark.parametrize("runs", [8, 13, 16])
def test_a_run_has_the_same_bits_whatever_runs_are_beside_it(two_scalar_rule, runs):
    family = lb.GapInstances(n_arms=7)
    options = {"horizon": 200, "seed": 1, "engine": "lockstep", "checkpoints": 5}
    together = lb.simulate(two_scalar_rule, family, runs=runs, **options)
    for run in (0, 3, runs - 1):
        alone = lb.simulate(two_scalar_rule, family, runs=1, first_run=run, **options)
        for metric in together.metrics:
            assert (together[metric][run] == alone[metric][0]).all()


@compiled
def towards_the_mean(reward, probability, t, memory, hyper):
    memory.total += reward
    step = hyper[0] * (reward - memory.total / t) / probability
    memory.last = step
    return step, step - abs(step) * hyper[1]


@compiled
def towards_the_mean_with_a_branch(reward, probability, t, memory, hyper):
    memory.total += reward
    step = hyper[0] * (reward - memory.total / t) / probability
    memory.last = step
    return step, step - (step if step > 0.0 else -step) * hyper[1]


@dataclass(frozen=True, kw_only=True)
class Straight(TwoScalarRule):
    name, place, memory = "straight", "here", ("last", "total")
    lift_and_drain = staticmethod(towards_the_mean)

    def hyper(self, n_arms):
        return 0.01, 0.5


class Branching(Straight):
    lift_and_drain = staticmethod(towards_the_mean_with_a_branch)


@compiled
def gaussian_with_a_branch(noise, parameters, arm, stream):
    drawn = parameters[0, arm] + parameters[1, arm] * noise
    return drawn if drawn == drawn else 0.0


class BranchingInstances(lb.GapInstances):
    reward_of = staticmethod(gaussian_with_a_branch)


def test_rules_and_rewards_that_branch_have_the_bits_of_those_that_do_not():
    records = [
        lb.simulate(rule, family(n_arms=5), horizon=300, runs=10, seed=2, checkpoints=7, engine="lockstep")
        for rule in (Straight(), Branching())
        for family in (lb.GapInstances, BranchingInstances)
    ]
    for other in records[1:]:
        for metric in records[0].metrics:
            assert (other[metric] == records[0][metric]).all()


@pytest.fixture
def tries(monkeypatch, tmp_path):
    """How many compilations were tried."""
    made, original = [], linking.object_code
    monkeypatch.setenv("LOGBARRIER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(linking, "object_code", lambda *arguments: made.append(1) or original(*arguments))
    return made


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (lb.LogBarrierSGB(learning_rate=0.1, eta=10), 1),
        (lb.EntropySGB(learning_rate=0.1, tau=0.1), 1),
        (lb.BaselineSGB(learning_rate=0.1), 1),
        (lb.BaselineNPG(learning_rate=0.1), 1),
        (lb.ClippedLogBarrierSGB(), 2),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_rule_is_compiled_for_all_runs_at_once_unless_it_branches_on_them(tries, rule, expected):
    kind, _ = packed("", rule.hyper(10))
    functions._moves_of_runs.__wrapped__(rule.lift_and_drain, rule.memory_fields, kind)
    assert len(tries) == expected


@pytest.mark.parametrize(
    ("family", "expected"), [(lb.GaussianBandit, 1), (lb.BernoulliBandit, 1), (lb.UniformBandit, 1), (lb.BetaBandit, 2)]
)
def test_rewards_are_drawn_for_all_runs_at_once_unless_they_branch(tries, family, expected):
    functions._reward_of_runs.__wrapped__(family.reward_of)
    assert len(tries) == expected
    functions._noise.__wrapped__(family.noise)
    assert len(tries) == expected + 1


@compiled
def mean_of_the_arm_before(noise, parameters, arm, stream):
    return parameters[0, (arm - 1) % 5] + parameters[1, arm] * noise


class Rotated(lb.GapInstances):
    """Pays what the arm before it would, and the last one's for arm 0."""

    reward_of = staticmethod(mean_of_the_arm_before)


def test_a_remainder_below_zero_is_pythons_in_lanes_too():
    rule, options = lb.SGB(learning_rate=0.2), {"horizon": 200, "runs": 8, "seed": 2, "checkpoints": 3}
    ours, dense = (lb.simulate(rule, Rotated(n_arms=5), engine=engine, **options)["regret"] for engine in ("lockstep", "dense"))
    assert ours == pytest.approx(dense, rel=1e-9)


class HugeForSome(lb.GapInstances):
    """Single steps multiply a weight by more than e^700 in run 2, and divide it by as much in run 5."""

    def instance(self, key, run):
        means = super().instance(key, run)
        means[0] *= {2: 1000.0, 5: -1000.0}.get(run, 1.0)
        return means


def test_extreme_steps_recentre_only_their_lane():
    rule, options = lb.SGB(learning_rate=0.9), {"horizon": 200, "runs": 8, "seed": 0, "checkpoints": 20}
    ours, dense, usual = (
        lb.simulate(rule, family(n_arms=4), engine=engine, **options)
        for family, engine in ((HugeForSome, "lockstep"), (HugeForSome, "dense"), (lb.GapInstances, "lockstep"))
    )
    others = [run for run in range(8) if run not in (2, 5)]
    for metric in ("optimal_probability", "min_probability", "entropy"):
        assert ours[metric] == pytest.approx(dense[metric], rel=1e-9, abs=1e-12), metric
        assert (ours[metric][others] == usual[metric][others]).all(), metric
        assert (ours[metric][[2, 5]] != usual[metric][[2, 5]]).any(), metric


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
