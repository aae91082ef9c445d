"""Gymnasium environments: ids, specs and instances, counted models, and rules that learn from the environment itself."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from logbarrier import mdps
from logbarrier.studies import Study, read_study
from logbarrier.studies.run_study import run_study

gymnasium = pytest.importorskip("gymnasium", reason="the extra `mdp` is not installed")
GAMMA = 0.95


class RandomEnvironment(gymnasium.Env):
    """The transitions of a random MDP behind the interface of Gymnasium, without a table; two parts make up a state."""

    def __init__(self, run: int = 0):
        self.mdp = mdps.RandomMDPs(6, 3, ending=0.1, gamma=GAMMA).problem(seed=5, run=run)
        self.observation_space = gymnasium.spaces.MultiDiscrete([2, 3])
        self.action_space = gymnasium.spaces.Discrete(3, start=1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = int(self.np_random.choice(6, p=self.mdp.rho))
        return np.array(divmod(self.state, 3)), {}

    def step(self, action):
        law = np.append(self.mdp.P[self.state, action - 1], self.mdp.missing[self.state, action - 1])
        reward, successor = self.mdp.R[self.state, action - 1], int(self.np_random.choice(7, p=law / law.sum()))
        self.state = successor if successor < 6 else 0
        return np.array(divmod(self.state, 3)), reward, successor == 6, False, {}


def test_an_id_a_spec_and_an_instance_are_the_same_mdp():
    by_id = mdps.from_gymnasium("FrozenLake-v1", gamma=GAMMA, map_name="8x8")
    by_spec = mdps.from_gymnasium(gymnasium.spec("FrozenLake-v1"), gamma=GAMMA, map_name="8x8")
    by_instance = mdps.from_gymnasium(gymnasium.make("FrozenLake-v1", map_name="8x8"), gamma=GAMMA)
    for other in (by_spec, by_instance):
        assert (other.probabilities == by_id.probabilities).all()
        assert (other.R == by_id.R).all()
        assert (other.states == by_id.states).all()


def test_the_counted_model_of_a_lake_agrees_with_its_table():
    """The 99.9 % interval of resampled counts holds the exact optimum, and the policy of the counts is nearly optimal."""
    exact = mdps.from_gymnasium("FrozenLake-v1", gamma=GAMMA)
    counted = mdps.estimate("FrozenLake-v1", gamma=GAMMA, episodes=6000, seed=1)
    assert counted.states.tolist() == exact.states.tolist()
    assert counted.visits.min() >= 20
    assert np.ptp(counted.visits, axis=1).max() <= 1  # the actions of a state are tried equally often
    optima = [counted.resampled(seed).optimal_performance for seed in range(60)]
    middle, spread = counted.optimal_performance, np.std(optima, ddof=1)
    assert abs(exact.optimal_performance - middle) < 3.3 * spread + abs(np.mean(optima) - middle)
    assert exact.performance(counted.optimal_policy) > 0.9 * exact.optimal_performance


def test_a_random_environment_is_counted_with_its_probabilities():
    """Every probability within 5 standard errors: false-alarm rate 1e-4 for 126 of them."""
    env = RandomEnvironment()
    counted = mdps.estimate(env, gamma=GAMMA, episodes=1500)
    n = counted.visits[:, :, None]
    assert counted.n_states == 6
    assert (np.abs(counted.P - env.mdp.P) <= 5 * np.sqrt(env.mdp.P * (1 - env.mdp.P) / n) + 1e-12).all()
    assert np.allclose(counted.R, env.mdp.R, rtol=1e-12)
    assert np.abs(counted.missing - 0.1).max() < 5 * 0.3 / np.sqrt(n.min())


def test_states_that_were_hardly_seen_give_a_warning():
    with pytest.warns(UserWarning, match=r"estimate: \d+ of \d+ states were visited less than 10 times and \d+ actions never"):
        counted = mdps.estimate("FrozenLake-v1", map_name="8x8", episodes=5)
    untried = np.argwhere(counted.visits == 0)
    assert all(counted.P[s, a, s] == 1.0 for s, a in untried)


def test_learning_from_the_environment_reaches_what_learning_in_its_mdp_reaches():
    """Mean returns of the last policies differ by less than 5 standard errors: false-alarm rate 1e-6."""
    env = RandomEnvironment()
    asked = {"horizon": 3000, "runs": 12, "checkpoints": 4, "metrics": ["return", "score"]}
    rule = mdps.PG(learning_rate=0.2)
    live = mdps.simulate(rule, mdps.Environment(env, gamma=GAMMA, episode_length=100, model=env.mdp), seed=1, **asked)
    exact = mdps.simulate(rule, env.mdp, seed=2, **asked)
    error = np.hypot(live["return"][:, -1].std(), exact["return"][:, -1].std()) / np.sqrt(12)
    assert abs(live.mean("return")[-1] - exact.mean("return")[-1]) < 5 * error
    assert live.mean("return")[-1] > live.mean("return")[0] + 5 * error
    assert live.settings["problem"]["environment"] == "RandomEnvironment"


def test_without_a_model_returns_are_those_of_the_episodes():
    """A policy that hardly learns: sampled and exact return agree within 5 standard errors (false-alarm rate 1e-6)."""
    env = RandomEnvironment()
    problem = mdps.Environment(env, gamma=GAMMA, episode_length=200)
    record = mdps.simulate(mdps.PG(learning_rate=1e-9), problem, horizon=4000, runs=8, checkpoints=2)
    assert record.metrics == ("return", "coverage")
    values = record["return"][:, -1]
    exact = env.mdp.performance(env.mdp.uniform_policy)
    assert abs(values.mean() - exact) < 5 * values.std(ddof=1) / np.sqrt(8)
    assert (record["coverage"][:, -1] == 1.0).all()
    with pytest.raises(ValueError, match="simulate: metric must be one of return, coverage, got 'score'"):
        mdps.simulate(mdps.PG(learning_rate=0.1), problem, horizon=10, metrics=["score"])


def test_processes_change_no_bit(monkeypatch):
    from logbarrier.mdps import live

    lake, asked = mdps.Environment("FrozenLake-v1", gamma=GAMMA), {"horizon": 600, "runs": 3, "seed": 4, "checkpoints": 4}
    rule, seen = mdps.OptimisticQ(learning_rate=0.1, initial=1.0), []
    one = mdps.simulate(rule, lake, threads=1, **asked)
    monkeypatch.setattr(live, "SMALL", 0)
    many = mdps.simulate(rule, lake, threads=2, progress=lambda *now: seen.append(now), **asked)
    assert one.digest() == many.digest()
    assert seen[-1] == (1800, 1800)
    late = mdps.simulate(rule, lake, threads=1, **{**asked, "runs": 1, "first_run": 2})
    assert np.array_equal(late["return"][0], one["return"][2])


def test_a_study_of_an_environment_measures_what_can_be_measured(tmp_path):
    file = tmp_path / "cards.toml"
    file.write_text(
        'horizon = 300\nruns = 2\ncheckpoints = 3\n[[problems]]\nproblem = "Environment"\nenvironment = "Blackjack-v1"\n'
        'gamma = 1.0\nsab = true\n[[rules]]\nrule = "pg"\nlearning_rate = 0.1\n'
    )
    study = read_study(file).study
    assert study.metrics == ("return", "coverage")
    (_, record), *_ = run_study(study, out=tmp_path / "runs", threads=1).records()
    assert record["return"].shape == (2, 3)
    with pytest.raises(ValueError, match="Environment: must be given by its id in a study, got RandomEnvironment"):
        Study(
            name="x",
            problems=[mdps.Environment(RandomEnvironment())],
            rules=[mdps.PG(learning_rate=0.1)],
            horizon=10,
        )


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ("CartPole-v1", "Environment: the observation space of CartPole-v1 must be finite"),
        ("Nowhere-v0", "Environment: Nowhere-v0 cannot be made"),
        (3, "Environment: environment must be an id, a spec or an environment of Gymnasium, got 3"),
    ],
)
def test_what_is_not_finite_is_refused_in_one_sentence(environment, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence) as refused:
        mdps.Environment(environment)
    assert "\n" not in str(refused.value)


def test_a_script_without_a_guard_gets_one_sentence(tmp_path):
    """Each process starts by running the script again, which would start processes for ever."""
    script = tmp_path / "script.py"
    script.write_text(
        "from logbarrier import mdps\n"
        "lake = mdps.Environment('FrozenLake-v1', gamma=0.99)\n"
        "mdps.simulate(mdps.PG(learning_rate=0.5), lake, horizon=60_000, runs=2, threads=2)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "RuntimeError: simulate: a process of the environment ended; a script must call simulate below" in done.stderr
    assert "BrokenProcessPool" not in done.stderr
