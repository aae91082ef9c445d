"""The simulator: determinism, checkpoints, extremes, errors."""

from __future__ import annotations

import numpy as np
import pytest

import logbarrier as lb

RULE = lb.LogBarrierSGB(learning_rate=0.1, eta=1000)
FAMILY = lb.GapInstances(n_arms=10)

DIGEST = """
import logbarrier as lb
gap, beta, entropy = lb.GapInstances(n_arms=70), lb.BetaBandit([0.2, 0.5, 0.7]), lb.EntropySGB(learning_rate=0.1, tau=0.1)
for rule, problem, engine in (
    (entropy, gap, "dense"),
    (entropy, gap, "lazy"),
    (lb.BaselineNPG(learning_rate=0.1), gap, "sparse"),
    (lb.ClippedLogBarrierSGB(), beta, "lockstep"),
):
    print(lb.simulate(rule, problem, horizon=400, runs=3, seed=5, checkpoints=7, engine=engine).digest())
"""


def test_one_digest_for_threads_and_chunks():
    digests = {
        lb.simulate(RULE, FAMILY, horizon=3000, runs=6, seed=1, **options).digest()
        for options in ({"threads": 1}, {"threads": 2}, {"threads": 5}, {"chunk": 1}, {"chunk": 777, "threads": 2})
    }
    assert len(digests) == 1


def test_one_digest_on_a_generic_cpu(run_python, capsys):
    exec(DIGEST, {})
    assert run_python(DIGEST, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="") == capsys.readouterr().out.strip()


@pytest.mark.parametrize("engine", ["dense", "lockstep"])
def test_ctrl_c_is_looked_for_the_more_often_the_more_arms(engine):
    """A run can be stopped whenever progress is reported; a hundred million updates of an arm take some tenths of a second."""
    n_arms, seen = 20_000, [0]
    family, options = lb.GapInstances(n_arms=n_arms), {"horizon": 1500, "checkpoints": 2, "engine": engine, "threads": 1}
    lb.simulate(RULE, family, runs=8, progress=lambda done, total: seen.append(done), **options)
    assert seen[-1] == 8 * 1500
    assert np.diff(seen).max() * n_arms <= 1e8


def test_runs_in_blocks_are_the_runs_together():
    whole = lb.simulate(RULE, FAMILY, horizon=500, runs=5, seed=2)
    parts = [lb.simulate(RULE, FAMILY, horizon=500, runs=n, first_run=i, seed=2) for i, n in ((0, 2), (2, 3))]
    for metric in whole.metrics:
        assert (whole[metric] == np.vstack([part[metric] for part in parts])).all()


def test_checkpoints_do_not_change_what_is_measured():
    sparse = lb.simulate(RULE, FAMILY, horizon=1000, runs=3, seed=0, checkpoints=[500])
    dense = lb.simulate(RULE, FAMILY, horizon=1000, runs=3, seed=0, checkpoints=1001)
    assert sparse.steps.tolist() == [0, 500, 1000]
    assert dense.steps.tolist() == list(range(1001))
    for metric in sparse.metrics:
        assert (sparse[metric] == dense[metric][:, [0, 500, 1000]]).all()


def test_default_checkpoints_are_about_two_hundred_with_both_ends():
    record = lb.simulate(RULE, FAMILY, horizon=25_000, runs=1, seed=0)
    assert (record.steps[0], record.steps[-1], len(record.steps)) == (0, 25_000, 200)
    log = lb.simulate(RULE, FAMILY, horizon=10_000, runs=1, seed=0, checkpoints=20, spacing="log")
    assert (log.steps[0], log.steps[1], log.steps[-1]) == (0, 1, 10_000)


def test_the_start_is_uniform():
    record = lb.simulate(RULE, FAMILY, horizon=1, runs=2, seed=0)
    assert record["optimal_probability"][:, 0] == pytest.approx(0.1)
    assert record["entropy"][:, 0] == pytest.approx(np.log(10))
    assert record["regret"][:, 0].tolist() == [0.0, 0.0]


def test_metrics_agree_with_numpy_on_the_policy_of_an_agent():
    problem = lb.GaussianBandit([0.3, -0.2, 0.9, 0.1])
    record = lb.simulate(RULE, problem, horizon=50, runs=1, seed=4, checkpoints=[50])
    from logbarrier.engine.random import step_uniforms, stream_key

    agent, key, regret = lb.Agent(RULE, n_arms=4, seed=4), stream_key(4), 0.0
    for t in range(50):
        decision = agent.ask()
        noise = problem.noise(step_uniforms(t, 0, key)[1])
        regret += 0.9 - problem.means[decision.arm]
        agent.tell(decision, problem.reward_of(noise, problem.parameters, decision.arm, (key, t, 0)))
    p, r = agent.policy, problem.means
    expected = {
        "optimal_probability": p[2],
        "min_probability": p.min(),
        "wrong_probability": p[[0, 1, 3]].max(),
        "regret": regret,
        "suboptimality": 0.9 - p @ r,
        "gradient_norm": np.linalg.norm(p * (r - p @ r)),
        "inverse_square_probability": p[2] ** -2,
        "entropy": -(p * np.log(p)).sum(),
    }
    assert set(expected) == set(lb.METRICS)
    for name, value in expected.items():
        assert record[name][0, -1] == pytest.approx(value, rel=1e-12), name


def test_a_start_is_where_the_run_starts():
    at = lb.simulate(RULE, FAMILY, horizon=1, runs=3, seed=0, start=lb.OptimalArmAt(1e-3))
    assert at["optimal_probability"][:, 0] == pytest.approx(1e-3)
    p = np.full(10, 0.05)
    p[3] = 0.55
    given = lb.simulate(RULE, lb.GaussianBandit(np.linspace(0, 1, 10)), horizon=1, runs=1, seed=0, start=p)
    assert given["wrong_probability"][0, 0] == pytest.approx(0.55)


def test_progress_counts_every_step_once():
    seen = []
    lb.simulate(RULE, FAMILY, horizon=1000, runs=4, seed=0, chunk=100, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1] == (4000, 4000)
    assert len(seen) >= 10


@pytest.mark.parametrize("learning_rate", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("n_arms", [2, 3, 100])
def test_nothing_breaks_at_extreme_rewards_and_learning_rates(learning_rate, n_arms):
    problem = lb.GaussianBandit(np.linspace(-1e6, 1e6, n_arms), scale=1e5)
    for rule in (
        lb.SGB(learning_rate=learning_rate),
        lb.BaselineSGB(learning_rate=learning_rate),
        lb.EntropySGB(learning_rate=learning_rate, tau=10.0),
        lb.LogBarrierSGB(learning_rate=learning_rate, eta=1e-3),
        lb.NPG(learning_rate=learning_rate),
        lb.BaselineNPG(learning_rate=learning_rate),
        lb.BaselineNPG(learning_rate=learning_rate, schedule="mei"),
        lb.ClippedLogBarrierSGB(c=learning_rate),
    ):
        record = lb.simulate(rule, problem, horizon=300, runs=3, seed=0, checkpoints=30)
        for metric in record.metrics:
            assert np.isfinite(record[metric]).all(), (rule, metric)
            assert (record[metric] >= -1e-9 * 1e6).all(), (rule, metric)
        for metric in ("optimal_probability", "min_probability", "wrong_probability", "entropy"):
            assert (record[metric] >= 0).all(), (rule, metric)


def test_a_hundred_thousand_arms():
    record = lb.simulate(RULE, lb.GapInstances(n_arms=100_000), horizon=20, runs=1, seed=0, checkpoints=3)
    assert all(np.isfinite(record[metric]).all() for metric in record.metrics)
    assert record["optimal_probability"][0, 0] == pytest.approx(1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"horizon": 0}, "simulate: horizon must be between 1 and 4294967295, got 0"),
        ({"horizon": 1.5}, "simulate: horizon must be a whole number, got 1.5"),
        ({"horizon": float("nan")}, "simulate: horizon must be a whole number, got nan"),
        ({"runs": 0}, "simulate: runs must be between 1 and 4294967295, got 0"),
        ({"seed": -1}, "simulate: seed must be at least 0, got -1"),
        ({"metrics": ["regrets"]}, "simulate: metric must be one of optimal_probability, .* got 'regrets'"),
        ({"spacing": "cubic"}, "simulate: spacing must be one of linear, log, got 'cubic'"),
        ({"checkpoints": [5, 200]}, "simulate: checkpoint must be between 0 and 100, got 200"),
        ({"checkpoints": 1}, "simulate: checkpoints must be at least 2, got 1"),
        ({"engine": "warp"}, "simulate: engine must be one of .*, got 'warp'"),
        ({"threads": -2}, "simulate: threads must be at least 1, got -2"),
        ({"start": [0.5, 0.5]}, "simulate: start must have one probability per arm, 10, got 2"),
        ({"start": [0.2] * 10}, "simulate: start probabilities must sum to 1, got 2.0"),
        ({"start": [0.0] * 9 + [1.0]}, "simulate: start probabilities must be positive, got 0.0"),
    ],
)
def test_bad_options_are_refused_in_one_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        lb.simulate(RULE, FAMILY, **{"horizon": 100, **options})


@pytest.mark.parametrize(("engine", "n_arms"), [("dense", 5), ("lockstep", 5), ("lazy", 70), ("sparse", 70)])
def test_a_reward_that_is_not_a_number_is_refused_on_every_engine(engine, n_arms):
    from logbarrier.bandits.problems import Bandit, uniform_noise
    from logbarrier.engine.compiled import compiled

    @compiled
    def sometimes_nan(noise, parameters, arm, stream):
        return np.nan if noise < 0.1 else parameters[0, arm]

    class Broken(Bandit):
        noise = staticmethod(uniform_noise)
        reward_of = staticmethod(sometimes_nan)

    rule = lb.NPG(learning_rate=0.01) if engine == "sparse" else lb.BaselineSGB(learning_rate=0.1)
    with pytest.raises(ValueError, match="got a reward that is not a finite number of size at most 1e\\+100"):
        lb.simulate(rule, Broken(np.linspace(0, 1, n_arms)), horizon=200, runs=2, engine=engine)


def test_the_order_in_memory_of_an_instance_does_not_matter():
    class Sideways(lb.GapInstances):
        def instance(self, key, run):
            return np.asfortranarray(super().instance(key, run))

    for engine in ("dense", "lockstep", "lazy"):
        straight, sideways = (
            lb.simulate(RULE, family(n_arms=10), horizon=100, runs=2, engine=engine) for family in (lb.GapInstances, Sideways)
        )
        assert (straight["regret"] == sideways["regret"]).all()


def test_a_start_of_ones_own_is_checked():
    class Short:
        def theta(self, means):
            return np.zeros(len(means) - 1)

    class Whole:
        def theta(self, means):
            return np.arange(len(means))

    with pytest.raises(ValueError, match="Short: theta must have one entry per arm, 10, got 9"):
        lb.simulate(RULE, FAMILY, horizon=2, start=Short())
    record = lb.simulate(RULE, FAMILY, horizon=50, start=Whole(), checkpoints=51)
    assert len(set(record["min_probability"][0])) > 40, "whole-number preferences must be able to move a little"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": []}, "simulate: metrics must name at least one"),
        ({"threads": 0}, "simulate: threads must be at least 1, got 0"),
        ({"chunk": 0}, "simulate: chunk must be at least 1, got 0"),
    ],
)
def test_empty_and_zero_are_not_taken_for_the_default(options, message):
    with pytest.raises(ValueError, match=message):
        lb.simulate(RULE, **{"problem": FAMILY, "horizon": 10, **options})
