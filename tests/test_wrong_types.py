"""Arguments of the wrong type raise TypeError at every public entrance, in one sentence that names who and what."""

from __future__ import annotations

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.base import validate
from logbarrier.cli.errors import one_sentence

SGB, PG = lb.SGB(learning_rate=0.1), lb.mdps.PG(learning_rate=0.1)
BANDIT, RIVER = lb.GaussianBandit([0.1, 0.5, 0.3]), lb.mdps.RiverSwim(4)
NO_NUMBERS = [None, "3", True, np.True_, [3], np.array([3.0]), {}, 1j]
NO_RULES = [None, "sgb", lb.SGB, BANDIT, 3]
NO_PROBLEMS = [None, "GapInstances", lb.GaussianBandit, SGB, [0.1, 0.5]]


@pytest.mark.parametrize("given", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize(
    "check",
    [
        lambda given: validate.number("Owner", "size", given),
        lambda given: validate.positive("Owner", "size", given),
        lambda given: validate.integer("Owner", "size", given, 0),
    ],
    ids=["number", "positive", "integer"],
)
def test_a_number_is_no_text_no_truth_value_and_no_list(check, given):
    with pytest.raises(TypeError, match="Owner: size must be a .*number, got"):
        check(given)


@pytest.mark.parametrize("given", [2.5, np.float32(2.5), float("inf"), float("nan"), -1])
def test_a_number_that_is_not_whole_has_the_wrong_value(given):
    with pytest.raises(ValueError, match="Owner: size must be"):
        validate.integer("Owner", "size", given, 0)


@pytest.mark.parametrize("given", [25e3, np.float32(25e3), np.int8(25), 25])
def test_whole_numbers_of_every_type_count(given):
    assert validate.integer("Owner", "size", given, 0) == int(given)


@pytest.mark.parametrize("given", [None, 3.0, "12", ["1", "2"], [None, 1.0], [True, False], {"a": 1.0}, [1j, 2j]], ids=repr)
def test_a_vector_is_a_sequence_of_numbers(given):
    with pytest.raises(TypeError, match="Owner: means must be a sequence of numbers, got"):
        validate.vector("Owner", "means", given)


def study(**changes):
    return lb.Study(**{"name": "one", "problems": [BANDIT], "rules": [SGB], "horizon": 10, "runs": 1, **changes})


def bandits(**changes):
    return lb.simulate(SGB, BANDIT, **{"horizon": 10, **changes})


def mdps(**changes):
    return lb.mdps.simulate(PG, RIVER, **{"horizon": 10, **changes})


def agent(**changes):
    return lb.Agent(SGB, **{"arms": ["a", "b"], **changes})


ARGUMENTS = {
    bandits: ["horizon", "runs", "seed", "first_run"],
    mdps: ["horizon", "runs", "seed", "first_run"],
    study: ["horizon", "runs", "seed", "runs_per_cell"],
    agent: ["seed", "floor"],
    lb.SGB: ["learning_rate"],
    lb.mdps.PG: ["learning_rate"],
    lambda eta: lb.LogBarrierSGB(learning_rate=0.1, eta=eta): ["eta"],
    lambda c: lb.AdaptiveLogBarrierSGB(learning_rate=0.1, c=c): ["c"],
    lambda gamma: lb.mdps.RiverSwim(4, gamma=gamma): ["gamma"],
    lambda n_arms: lb.GapInstances(n_arms): ["n_arms"],
    lambda gap: lb.GapInstances(5, gap=gap): ["gap"],
    lambda size: lb.OptimalArmAt(size): ["size"],
}


@pytest.mark.parametrize(("call", "name"), [(call, name) for call, names in ARGUMENTS.items() for name in names])
@pytest.mark.parametrize("given", [None, "3", True, [3]], ids=repr)
def test_every_entrance_refuses_what_is_no_number(call, name, given):
    with pytest.raises(TypeError, match="must be a .*number"):
        call(**{name: given})


WORDS = [(bandits, "engine"), (bandits, "spacing"), (mdps, "spacing"), (study, "spacing"), (study, "name"), (study, "engine")]


@pytest.mark.parametrize(("call", "name"), WORDS)
def test_every_entrance_refuses_what_is_no_word(call, name):
    with pytest.raises(TypeError, match=f"{name} must be"):
        call(**{name: 3})


@pytest.mark.parametrize("given", NO_RULES, ids=repr)
def test_what_is_no_rule_is_refused(given, tmp_path):
    for call in (
        lambda: lb.simulate(given, BANDIT, horizon=10),
        lambda: lb.mdps.simulate(given, RIVER, horizon=10),
        lambda: lb.Agent(given, n_arms=2),
        lambda: study(rules=[given]),
    ):
        with pytest.raises(TypeError, match="rule must be a rule such as"):
            call()
    if given is not None:  # which a durable agent takes for "as the file says"
        with pytest.raises(TypeError, match="DurableAgent: rule must be a rule such as"):
            lb.DurableAgent(tmp_path / "agent.db", rule=given, arms=["a", "b"])
        assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("given", NO_PROBLEMS, ids=repr)
def test_what_is_no_problem_is_refused(given):
    with pytest.raises(TypeError, match="simulate: problem must be a problem such as"):
        lb.simulate(SGB, given, horizon=10)
    with pytest.raises(TypeError, match="simulate: mdp must be an MDP such as"):
        lb.mdps.simulate(PG, given, horizon=10)
    with pytest.raises(TypeError, match="Study: problem must be a problem such as"):
        study(problems=[given])


def test_a_study_takes_lists_of_rules_and_problems():
    with pytest.raises(TypeError, match="Study: problems must be a list of problems, got GaussianBandit"):
        study(problems=BANDIT)
    with pytest.raises(TypeError, match="Study: rules must be a list of rules, got SGB"):
        study(rules=SGB)
    with pytest.raises(TypeError, match="run_study: study must be a Study, got 'clipping.toml'"):
        lb.run_study("clipping.toml")


@pytest.mark.parametrize("given", ["high", [["a", "b"], ["c", "d"]], None, [[True, False], [True, True]]], ids=repr)
def test_an_mdp_is_made_of_numbers(given):
    with pytest.raises(TypeError, match="FiniteMDP: R must be an array of numbers, got"):
        lb.mdps.FiniteMDP(P=np.zeros((2, 2, 2)), R=given, rho=[1.0, 0.0], gamma=0.9)


@pytest.mark.parametrize("seed", ["3", True])
def test_a_durable_agent_refuses_a_seed_that_is_no_number_new_or_not(seed, tmp_path):
    path, made_of = tmp_path / "agent.db", {"rule": SGB, "arms": ["a", "b"]}
    with pytest.raises(TypeError, match="DurableAgent: seed must be a whole number"):
        lb.DurableAgent(path, seed=seed, **made_of)
    lb.DurableAgent(path, **made_of).close()
    with pytest.raises(TypeError, match="DurableAgent: seed must be a whole number"):
        lb.DurableAgent(path, seed=seed)


@pytest.mark.parametrize("reward", [None, "1.0", True, [1.0]], ids=repr)
def test_a_reward_of_the_wrong_type_changes_nothing(reward, tmp_path):
    with lb.DurableAgent(tmp_path / "agent.db", rule=SGB, arms=["a", "b"]) as durable:
        for one in (agent(), durable):
            decision = one.ask()
            with pytest.raises(TypeError, match="reward must be a number, got"):
                one.tell(decision, reward)
            one.tell(decision, 1.0)


def test_a_command_prints_a_wrong_type_as_one_sentence(capsys):
    with pytest.raises(Exception) as ended, one_sentence("nothing was saved"):  # noqa: PT011
        lb.SGB(learning_rate="fast")
    assert ended.value.exit_code == 2
    assert capsys.readouterr().err == "logbarrier: SGB: learning_rate must be a positive number, got 'fast'\n"


def test_a_command_does_not_hide_a_defect():
    with pytest.raises(TypeError, match="has no len"), one_sentence("nothing was saved"):
        len(None)
