"""User-defined rules, a problem and an environment, written with `from logbarrier import extend` alone."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.studies.study_file import read_study

MY_RULES = '''
"""One of each kind that a user can define."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from logbarrier import extend


@extend.compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """SGB whose rewards below a threshold count half, with alpha_t = alpha exp(-rate log t)."""
    alpha, rate, threshold = hyper
    step = alpha * extend.exp(-rate * extend.log(t)) * extend.select_above(reward, threshold, reward, 0.5 * reward)
    return step, step


@dataclass(frozen=True, kw_only=True)
class HalvedLosses(extend.TwoScalarRule):
    name = "halved-losses"
    place = "mine"
    lift_and_drain = staticmethod(lift_and_drain)

    learning_rate: extend.Positive
    rate: extend.Share = 0.1
    threshold: Annotated[float, extend.between(-100, 100)] = -100.0

    def hyper(self, n_arms):
        return float(self.learning_rate), float(self.rate), float(self.threshold)

    def expected_update(self, t, policy, means, memory):  # exact while no reward is below the threshold
        return self.learning_rate * t**-self.rate * extend.policy_gradient(policy, means)


@extend.compiled
def remember(arm, reward, probability, t, policy, vectors, memory, hyper):
    vectors[0, arm] += reward
    vectors[1, arm] += 1.0
    return True


@extend.compiled
def weigh_by_square(t, vectors, memory, hyper, weights):
    for a in range(weights.shape[0]):
        weights[a] = 0.01 + ((vectors[0, a] + 1.0) / (vectors[1, a] + 1.0)) ** 2


@dataclass(frozen=True, kw_only=True)
class SquaredMeans(extend.VectorRule):
    name = "squared-means"
    place = "mine"
    rows = ("sums", "counts")
    never_negative = ("counts",)
    has_preferences = False
    learn = staticmethod(remember)
    weigh = staticmethod(weigh_by_square)

    def hyper(self, n_arms):
        return ()

    def expected_update(self, t, policy, means, vectors, memory):
        return policy * means


@extend.compiled
def lottery_reward(noise, parameters, arm, stream):
    return extend.select_above(0.1, noise, 10.0 * parameters[0, arm], 0.0)


class LotteryBandit(extend.Bandit):
    noise = staticmethod(extend.uniform_noise)
    reward_of = staticmethod(lottery_reward)


class Rotating(extend.ChangingBandits):
    def __init__(self, n_arms, block=100, scale=1.0):
        super().__init__(n_arms, scale)
        self.block = block

    def means_at(self, key, run, step):
        return np.roll(np.linspace(-1.0, 1.0, self.n_arms), step // self.block)


@extend.compiled
def learn(episode, count, states, tally, memory, hyper):
    """Policy gradient, and theta(s_t) += (alpha/eta) gamma^t (1 - K pi(s_t))."""
    gamma, alpha, eta = hyper[2], hyper[3], hyper[4]
    extend.episode.follow(episode[2], extend.episode.REWARD, 0, alpha, hyper, episode, count, states)
    step = alpha / eta
    for t in range(count):
        extend.episode.level(states, episode[0][t], episode[3][t], step)
        step *= gamma


@dataclass(frozen=True, kw_only=True)
class LevelPG(extend.MDPActorCritic):
    name = "level-pg"
    learn = staticmethod(learn)

    eta: extend.Positive = 100.0

    def hyper(self, mdp):
        return *super().hyper(mdp), float(self.eta)

    def expected_update(self, mdp, learned):
        pi = self.policy(learned.theta)
        slope = pi * mdp.advantage(pi) + (1 - mdp.n_actions * pi) / self.eta
        return self.learning_rate / mdp.normaliser * mdp.occupancy(pi)[:, None] * slope


class Corridor(extend.FiniteMDP):
    """n states in a row; right moves on and pays 1 at the end, left goes back."""

    def __init__(self, n, gamma=0.9):
        self.n = n
        P = np.zeros((n, 2, n))
        for s in range(n):
            P[s, 0, max(s - 1, 0)] = P[s, 1, min(s + 1, n - 1)] = 1.0
        R = np.zeros((n, 2))
        R[n - 1, 1] = 1.0
        super().__init__(P=P, R=R, rho=np.eye(n)[0], gamma=gamma, name="Corridor", episode_length=30)

    def to_dict(self):
        return {"problem": "Corridor", "n": self.n, "gamma": self.gamma}


class Corridors(extend.MDPFamily):
    """A corridor whose reward at the end is uniform on (0, 1), afresh for every run."""

    name, n_actions, gamma = "Corridors", 2, 0.9

    def __init__(self, n):
        self.n_states = n

    def instance(self, key, run):
        plain = Corridor(self.n_states)
        R = plain.R * extend.uniforms(key, run, 1)[0]
        return extend.FiniteMDP(P=plain.P, R=R, rho=plain.rho, gamma=self.gamma)

    def to_dict(self):
        return {"problem": "Corridors", "n": self.n_states}
'''

STUDY = """
name = "{name}"
horizon = 200
runs = 4

[[problems]]
problem = "my_rules.py:{problem}"
{sizes}

[[rules]]
rule = "my_rules.py:{rule}"
learning_rate = [0.1, 0.2]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mine")
    (folder / "my_rules.py").write_text(MY_RULES)
    return folder


@pytest.fixture(scope="module")
def mine(folder):
    spec = importlib.util.spec_from_file_location("my_rules", folder / "my_rules.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["my_rules"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["my_rules"]


def test_user_defined_rules_and_problems_simulate(mine):
    for problem in (mine.LotteryBandit([0.1, 0.2, 0.4]), mine.Rotating(n_arms=4)):
        for rule in (mine.HalvedLosses(learning_rate=0.1), mine.SquaredMeans()):
            assert lb.simulate(rule, problem, horizon=300, runs=10)["regret"].shape[0] == 10


def test_the_mean_reward_of_a_user_defined_distribution_is_its_mean(mine):
    problem = mine.LotteryBandit([0.1, 0.2, 0.4])
    rewards = [problem.reward_of(u, problem.parameters, 2, None) for u in (np.arange(1000) + 0.5) / 1000]
    assert np.mean(rewards) == pytest.approx(0.4)


def test_a_user_defined_mdp_rule_learns_in_a_user_defined_environment(mine):
    rule = mine.LevelPG(learning_rate=0.5)
    record = lb.mdps.simulate(rule, mine.Corridor(4), horizon=5000, runs=4)
    assert record.mean("score")[-1] > 0.9
    assert lb.mdps.simulate(rule, mine.Corridors(3), horizon=200, runs=2)["return"].shape[0] == 2


@pytest.mark.parametrize(
    ("rule", "problem", "sizes"),
    [("HalvedLosses", "LotteryBandit", "means = [0.1, 0.2, 0.4]"), ("LevelPG", "Corridor", "n = 4")],
)
def test_a_study_file_names_both_by_their_file(folder, tmp_path, rule, problem, sizes):
    path = folder / f"{rule}.toml"
    path.write_text(STUDY.format(name=rule.lower(), rule=rule, problem=problem, sizes=sizes))
    done = lb.run_study(read_study(path).study, out=tmp_path, threads=1)
    assert [(case.rule["learning_rate"], record.runs) for case, record in done.records()] == [(0.1, 4), (0.2, 4)]


def test_check_rule_passes_user_defined_rules_of_both_kinds(mine):
    for rule in (mine.HalvedLosses(learning_rate=0.1), mine.SquaredMeans(), mine.LevelPG(learning_rate=0.1)):
        result = lb.extend.check_rule(rule)
        assert isinstance(result, lb.extend.Conformance)
        assert result.passed


def wrong_rules(mine):
    """A rule of each kind whose update is twice the one it claims."""

    class TooFast(mine.HalvedLosses):
        def hyper(self, n_arms):
            return 2.0 * self.learning_rate, self.rate, self.threshold

    class TooFastPG(mine.LevelPG):
        def hyper(self, mdp):
            return *super().hyper(mdp)[:3], 2.0 * self.learning_rate, self.eta

    return TooFast(learning_rate=0.1), TooFastPG(learning_rate=0.1)


def test_check_rule_fails_alike_for_rules_of_both_kinds(mine):
    for rule in wrong_rules(mine):
        seen = []
        with pytest.raises(AssertionError, match=f"{rule.name}: E\\[update\\] differs from the claimed one"):
            lb.extend.check_rule(rule, show=seen.append)
        result = lb.extend.check_rule(rule, raises=False)
        assert [check.name for check in result.checks if check.failure] == ["check_expected_update"]
        assert len(seen) == len(result.checks)


def test_an_exception_in_a_rule_is_a_failed_check(mine):
    class Broken(mine.HalvedLosses):
        def expected_update(self, t, policy, means, memory):
            return None + policy

    result = lb.extend.check_rule(Broken(learning_rate=0.1), raises=False)
    assert result.failures[0].startswith("Broken: check_expected_update ended with TypeError: unsupported operand")


@pytest.mark.parametrize("given", [None, "sgb", lb.SGB, lb.GaussianBandit([0.1, 0.2])])
def test_check_rule_refuses_what_is_no_rule(given):
    with pytest.raises(TypeError, match="check_rule: rule must be a rule such as"):
        lb.extend.check_rule(given)


def test_a_parameter_refuses_what_its_annotation_does(mine):
    with pytest.raises(ValueError, match="HalvedLosses: threshold must be between -100 and 100, got 200.0"):
        mine.HalvedLosses(learning_rate=0.1, threshold=200)


@pytest.mark.parametrize("name", lb.extend.__all__)
def test_every_name_can_be_had(name):
    assert getattr(lb.extend, name) is not None


def test_the_bases_of_bandit_rules_load_neither_the_conformance_suite_nor_mdps(run_python):
    used = "extend.compiled, extend.exp, extend.TwoScalarRule, extend.Bandit"
    loaded = "[name for name in ('logbarrier.testing', 'logbarrier.mdps.problem', 'scipy.stats') if name in sys.modules]"
    assert run_python(f"import sys; from logbarrier import extend; {used}; print({loaded})") == "[]"
