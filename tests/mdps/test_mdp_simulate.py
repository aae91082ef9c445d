"""simulate: transitions as the MDP says, metrics against exact solutions, and bits that depend on seed and run alone."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import chisquare

from logbarrier import mdps
from logbarrier.engine.compiled import compiled, from_python
from logbarrier.engine.random import stream_key
from logbarrier.mdps.episode import EPISODES, FIRST, VISITS, count_visits, new_episode, nothing_learned, renew, softmax_action
from logbarrier.mdps.measure import RANGES, Evaluator, reward_per_step
from logbarrier.mdps.transitions import searched, successor_of, transitions_of

PG = mdps.PG(learning_rate=0.1)


def random_mdp(seed, n_states=6, n_actions=3):
    rng = np.random.default_rng(seed)
    P = 0.97 * rng.dirichlet(np.ones(n_states), size=(n_states, n_actions))
    return mdps.FiniteMDP(P=P, R=rng.normal(size=(n_states, n_actions)), rho=rng.dirichlet(np.ones(n_states)), gamma=0.9)


@pytest.mark.parametrize("ways", [0, 1, 2, 3, 4, 6])
@pytest.mark.parametrize("ending", [0.0, 0.1])
def test_successors_are_drawn_with_their_probabilities(ways, ending):
    """Even steps of the uniform number instead of random ones, so the shares are exact to one step in 20 000."""
    n_draws, rng = 20_000, np.random.default_rng(ways)
    P = np.zeros((7, 2, 7))
    for row in P.reshape(14, 7)[1:]:
        row[: ways + 1] = (1.0 - ending) * rng.dirichlet(np.ones(ways + 1))
    P[0, 0, :ways] = (1.0 - ending) / max(ways, 1)  # `ways` successors, elsewhere one more
    mdp = mdps.FiniteMDP(P=P, R=np.zeros((7, 2)), rho=rng.dirichlet(np.ones(7)), gamma=0.9)
    reals, wholes, others, _, start, _ = transitions_of(mdp)
    for row in (0, 1, 13):
        found = [successor_of(reals, wholes, others, np.uint64(row), (i + 0.5) / n_draws) for i in range(n_draws)]
        shares = np.bincount(np.array(found) + 1, minlength=8) / n_draws
        assert np.abs(shares - [mdp.missing.ravel()[row], *P.reshape(14, 7)[row]]).max() < 2 / n_draws
    first = [searched(start, 0, len(start) - 1, (i + 0.5) / n_draws) for i in range(n_draws)]
    assert np.abs(np.bincount(first, minlength=7) / n_draws - mdp.rho).max() < 2 / n_draws


def test_states_are_visited_as_often_as_the_occupancy_says():
    """Chi-square on first states and their successors under a policy that does not learn; false-alarm rate 1e-6."""
    mdp = random_mdp(1)
    one = mdps.FiniteMDP(P=mdp.P, R=mdp.R, rho=mdp.rho, gamma=0.9, episode_length=1)
    from logbarrier.mdps.simulator import MDPRun

    current = MDPRun(mdps.PG(learning_rate=1e-12), Evaluator(one), stream_key(5), 0)
    current.advance(20_000)
    visits = current.learned.visits
    assert visits.sum() == 20_000
    assert chisquare(visits, 20_000 * mdp.rho).pvalue > 1e-6


def short_sighted_mdp():
    """Maximising J with gamma 0.1 takes 1 now and nothing for the rest of the episode; 0.9 at every step would be better."""
    P = np.zeros((2, 2, 2))
    P[0, 0, 1] = P[0, 1, 0] = P[1, :, 1] = 1.0
    return mdps.FiniteMDP(P=P, R=[[1.0, 0.9], [0.0, 0.0]], rho=[1.0, 0.0], gamma=0.1)


def test_an_interval_of_negative_regret_contains_its_mean():
    record = mdps.simulate(PG, short_sighted_mdp(), horizon=2000, runs=6, checkpoints=5)
    low, high = record.interval("regret")
    assert record.mean("regret")[-1] < -10
    assert (low <= record.mean("regret")).all()
    assert (record.mean("regret") <= high).all()
    spread = record["regret"].std(axis=0, ddof=1) / np.sqrt(6)
    assert high - low == pytest.approx(2 * 2.570581836 * spread, rel=1e-6)  # the t quantile of five degrees of freedom


@pytest.mark.parametrize("gamma", [0.9, 1.0])
def test_no_value_leaves_the_range_of_its_metric(gamma):
    """gamma 1 counts visits: a single state that is left with probability 1/10 is visited ten times."""
    one_state = mdps.FiniteMDP(P=np.full((1, 2, 1), 0.9), R=[[1.0, -1.0]], rho=[1.0], gamma=1.0)
    mdp = one_state if gamma == 1.0 else random_mdp(3)
    record = mdps.simulate(PG, mdp, horizon=2000, runs=4, checkpoints=5)
    for name, (least, most) in RANGES.items():
        assert record[name].min() >= least - 1e-12
        assert record[name].max() <= most + 1e-12
        low, high = record.interval(name)
        assert (low <= record.mean(name)).all()
        assert (record.mean(name) <= high).all()


def test_occupancies_agree_with_elimination():
    for mdp in (random_mdp(2), mdps.RiverSwim(30), mdps.DeepSea(6, gamma=1.0)):
        evaluator = Evaluator(mdp)
        for policy in (mdp.uniform_policy, np.asarray(mdp.optimal_policy)):
            performance, smallest = evaluator.evaluate(policy)
            assert performance == pytest.approx(mdp.performance(policy), rel=1e-10, abs=1e-13)
            assert smallest == pytest.approx(mdp.occupancy(policy).min(), rel=1e-9)


def test_scores_run_from_uniform_to_optimal():
    mdp = random_mdp(3)
    evaluator = Evaluator(mdp)
    assert evaluator.greedy_score(np.asarray(mdp.optimal_policy).argmax(axis=1)) == pytest.approx(1.0)
    worst = np.asarray(mdps.FiniteMDP(P=mdp.P, R=-mdp.R, rho=mdp.rho, gamma=0.9).optimal_policy).argmax(axis=1)
    greedy = np.eye(3)[worst]
    uniform = mdp.performance(mdp.uniform_policy)
    expected = (mdp.performance(greedy) - uniform) / (mdp.optimal_performance - uniform)
    assert evaluator.greedy_score(worst) == pytest.approx(expected, rel=1e-10)


def test_the_optimal_pace_of_a_sea_is_its_treasure_over_its_depth():
    sea = mdps.DeepSea(9)
    assert reward_per_step(sea, np.asarray(sea.optimal_policy)) == pytest.approx((1.0 - 0.01) / 9, rel=1e-12)


def test_regret_counts_the_rewards_that_were_missed():
    """One state, two actions that pay 1 and 0: the optimal pace is 1, so regret is the number of wrong actions."""
    bandit = mdps.FiniteMDP(P=np.zeros((1, 2, 1)), R=[[0.0, 1.0]], rho=[1.0], gamma=0.9, episode_length=1)
    record = mdps.simulate(mdps.OptimisticQ(learning_rate=1.0, initial=2.0), bandit, horizon=50, seed=0)
    assert record["regret"][0, -1] == 1.0
    assert record["score"][0, -1] == 1.0
    assert record["coverage"][0].tolist()[:2] == [0.0, 1.0]


def test_runs_depend_on_seed_and_number_alone():
    options = {"horizon": 2000, "seed": 9, "checkpoints": [1, 77, 1500]}
    lake = mdps.RandomLocks(5, 3)
    whole = mdps.simulate(PG, lake, runs=6, threads=1, **options)
    for other in (
        mdps.simulate(PG, lake, runs=6, threads=3, **options),
        mdps.simulate(PG, lake, runs=6, threads=1, chunk=13, **options),
    ):
        assert whole.digest() == other.digest()
    late = mdps.simulate(PG, lake, runs=2, first_run=4, **options)
    for name in mdps.METRICS:
        assert np.array_equal(late[name], whole[name][4:])
    other = mdps.simulate(PG, lake, runs=6, **{**options, "seed": 10})
    assert not np.array_equal(other["regret"], whole["regret"])


def test_more_checkpoints_change_no_value():
    few, many = (
        mdps.simulate(PG, mdps.RiverSwim(5), horizon=1000, seed=2, checkpoints=marks) for marks in ([500], [3, 250, 500, 777])
    )
    for name in mdps.METRICS:
        assert np.array_equal(few[name], many[name][:, np.isin(many.steps, few.steps)])


def test_only_the_metrics_asked_for_are_measured():
    record = mdps.simulate(PG, mdps.RiverSwim(4), horizon=100, seed=0, metrics=["regret", "score"])
    assert record.metrics == ("regret", "score")


def test_visits_of_an_episode_enter_the_tally():
    learned, episode = nothing_learned(3, 2, 0.0, ()), new_episode(4, 2)
    episode[0][:] = [0, 1, 1, 0, -1]
    count_visits(episode, 4, learned.states, learned.tally, 0.5)
    assert learned.states[:, VISITS].tolist() == [2.0, 2.0, 0.0]
    assert learned.states[:, 1].tolist() == [1.125, 0.75, 0.0]
    assert learned.tally.tolist() == [1.0, 2.0, 4.0, 0.5]


@pytest.mark.parametrize("n_actions", [1, 2, 5])
def test_the_probabilities_of_visited_states_are_renewed_and_no_others(n_actions):
    learned, episode = nothing_learned(4, n_actions, 0.0, ()), new_episode(5, n_actions)
    learned.theta[:] = np.random.default_rng(0).normal(size=(4, n_actions))
    episode[0][:] = [2, 0, 2, 2, 3, -1]
    from_python(renew)(episode, 5, learned.states)
    assert np.allclose(learned.policy[[0, 2, 3]], PG.policy(learned.theta)[[0, 2, 3]], rtol=1e-14, atol=0.0)
    assert (learned.policy[1] == 1.0 / n_actions).all()


def test_actions_follow_softmax_even_at_the_extremes():
    learned, episode, buffer = nothing_learned(1, 3, 0.0, ()), new_episode(1, 3), np.zeros((1, 3))
    learned.theta[0] = [1e6, -1e6, 0.0]
    from_python(renew)(episode, 1, learned.states)
    assert [softmax_action(learned.states, 0, u, buffer, 0) for u in (1e-12, 0.5, 1 - 1e-12)] == [0, 0, 0]
    assert buffer[0].tolist() == [1.0, 0.0, 0.0]


def test_progress_reaches_all_steps():
    seen = []
    mdps.simulate(
        PG, mdps.RiverSwim(4), horizon=100, runs=3, seed=0, chunk=30, threads=2, progress=lambda *now: seen.append(now)
    )
    assert seen[-1] == (300, 300)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"horizon": 0}, "simulate: horizon must be between 1 and 4294967295, got 0"),
        ({"horizon": 10, "metrics": ["entropy"]}, f"simulate: metric must be one of {', '.join(mdps.METRICS)}, got 'entropy'"),
        ({"horizon": 10, "metrics": []}, "simulate: metrics must name at least one"),
        ({"horizon": 10, "checkpoints": [11]}, "simulate: checkpoint must be between 0 and 10, got 11"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        mdps.simulate(PG, mdps.RiverSwim(4), **options)


def test_the_earlier_name_of_the_horizon_gives_the_same_record_and_a_warning():
    asked = {"runs": 2, "seed": 1, "checkpoints": 3}
    with pytest.warns(DeprecationWarning, match="simulate: steps is now called horizon"):
        earlier = mdps.simulate(PG, mdps.RiverSwim(4), steps=100, **asked)
    record = mdps.simulate(PG, mdps.RiverSwim(4), horizon=100, **asked)
    assert all(np.array_equal(record[name], earlier[name]) for name in record.metrics)


def test_only_one_name_of_the_horizon_may_be_given():
    with pytest.raises(ValueError, match="simulate: give horizon alone; steps is its earlier name"):
        mdps.simulate(PG, mdps.RiverSwim(4), horizon=100, steps=100)


@compiled
def breaks_down(episode, count, states, tally, memory, hyper):
    if tally[EPISODES] == 20.0:
        states[episode[0][0], FIRST] = hyper[3]


@dataclass(frozen=True, kw_only=True)
class BreaksDown(mdps.PG):
    name = "breaks-down"
    learn = staticmethod(breaks_down)
    value: float

    def hyper(self, mdp):
        return (*super().hyper(mdp)[:3], self.value)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("asked", [{"checkpoints": 11}, {"checkpoints": 2}, {"checkpoints": 2, "chunk": 1}], ids=str)
def test_a_rule_that_leaves_no_number_fails_with_its_name_and_the_step(value, asked):
    """The 21st episode is the first with 20 before it, and an episode of DeepSea(8) has 8 steps."""
    rule = BreaksDown(learning_rate=0.1, value=value)
    message = f"^simulate: breaks-down learnt a preference or value that is not finite at step {21 * 8}$"
    with pytest.raises(RuntimeError, match=message):
        mdps.simulate(rule, mdps.DeepSea(8), horizon=1000, runs=2, **asked)


DIGESTS = """
from logbarrier import mdps
for rule in (mdps.PG(learning_rate=0.5), mdps.SpectralPG()):
    for mdp in (mdps.RiverSwim(5), mdps.RandomLocks(4, 3), mdps.RandomMDPs(6, 3)):
        print(mdps.simulate(rule, mdp, horizon=300, runs=2, checkpoints=5, seed=3).digest())
"""


def test_one_digest_whatever_instructions_numpy_and_its_linear_algebra_choose(run_python, capsys):
    exec(DIGESTS, {})
    plain = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 X86_V3", "OPENBLAS_CORETYPE": "Prescott", "PYTHONWARNINGS": "ignore"}
    assert run_python(DIGESTS, **plain) == capsys.readouterr().out.strip()
