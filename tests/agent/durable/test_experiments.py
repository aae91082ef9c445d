"""Many experiments in one file: isolation, subjects, states, files of earlier versions."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np
import pytest
from durable_agents import RULE, Clock

import logbarrier as lb
from logbarrier import extend
from logbarrier.agent.durable.ledger import SettledError, StoppedError
from logbarrier.base.failure import RuleError

pytestmark = pytest.mark.usefixtures("no_fsync")


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def experiments(tmp_path, clock):
    with lb.Experiments(tmp_path / "decisions.db", clock=clock) as opened:
        yield opened


def abandoned(experiments):
    """What a kill leaves: the lock is dropped, nothing is closed."""
    experiments.file._lock.release()
    experiments.file._closed = True


def test_each_experiment_is_the_agent_of_its_own_and_survives_a_kill(experiments, clock):
    twins = {}
    for i, name in enumerate(("first", "second", "default", "third")):
        experiments.create(name, arms=["a", "b", "c"][: 2 + i % 2], rule=RULE, seed=i)
        twins[name] = lb.Agent(RULE, arms=["a", "b", "c"][: 2 + i % 2], seed=i)
    generator = np.random.default_rng(0)
    for t in range(200):
        name = generator.choice(list(twins))
        decision, twin = experiments[name].ask(), twins[name].ask()
        assert decision == twin
        assert experiments[name].tell(decision, t % 3) == twins[name].tell(twin, t % 3) == "told"
    abandoned(experiments)
    with lb.Experiments(experiments.path, clock=clock) as opened:
        assert list(opened) == ["default", "first", "second", "third"]
        for name, twin in twins.items():
            assert opened[name].state_dict() == opened[name].replayed().state_dict() == twin.state_dict()
            assert len(list(opened[name].log())) == twin.asked == len(list(lb.read_log(opened.path, experiment=name)))


def test_one_write_serves_the_calls_of_many_experiments(experiments):
    names = [f"e{i}" for i in range(5)]
    for name in names:
        experiments.create(name, arms=["a", "b"])
    commits, commit = [], experiments.file._file.commit
    experiments.file._file.commit = lambda: (commits.append(1), commit())[1]
    outcomes = experiments.file.commits.perform([lambda file, name=name: file.ledger(name).ask() for name in names])
    assert [outcome.id for outcome in outcomes] == [0] * 5
    assert commits == [1]


def test_experiments_draw_independently_of_each_other(experiments):
    one, other = (experiments.create(name, arms=["a", "b"], rule=RULE) for name in ("one", "other"))
    pairs = [(one.ask().arm, other.ask().arm) for _ in range(400)]
    assert 140 < sum(a == b for a, b in pairs) < 260  # binomial(400, 1/2) is outside with probability 1e-9


def test_a_file_of_one_agent_opens_as_the_experiment_default(tmp_path):
    with lb.DurableAgent(tmp_path / "agent.db", rule=RULE, arms=["a", "b"], ttl=5.0) as agent:
        agent.tell(agent.ask(), 1.0)
        state = agent.state_dict()
    with lb.Experiments(tmp_path / "agent.db") as experiments:
        experiments.create("new", arms=["x", "y"])
        assert list(experiments) == ["default", "new"]
        assert experiments["default"].state_dict() == state
    with lb.DurableAgent(tmp_path / "agent.db") as agent:
        assert agent.state_dict() == agent.replayed().state_dict() == state


def without_statistics(path):
    """Make of a file what an earlier version wrote: no tables of experiments and subjects, no statistics."""
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE experiments")
        connection.execute("DROP TABLE subjects")
        for number, state in connection.execute("SELECT number, state FROM snapshots").fetchall():
            import json

            from logbarrier.agent.durable.checksums import row_checksum

            plain = json.loads(state)
            del plain["agent"]["statistics"]
            text = json.dumps(plain)
            row = text, row_checksum((number, text)), number
            connection.execute("UPDATE snapshots SET state = ?, checksum = ? WHERE number = ?", row)
        connection.execute("PRAGMA user_version = 0")
    connection.close()


def test_a_file_of_an_earlier_version_opens_unchanged_and_its_statistics_are_counted_again(tmp_path):
    path = tmp_path / "agent.db"
    with lb.DurableAgent(path, rule=RULE, arms=["a", "b", "c"], ttl=1e9) as agent:
        for t in range(40):
            agent.tell(agent.ask(), t % 2)
        agent.remove_arm("c")
        agent.add_arm("c")
        agent.observe("c", 0.5)
        agent.ask()
        state = agent.state_dict()
    without_statistics(path)
    with lb.DurableAgent(path) as agent:
        assert agent.state_dict() == state
        assert agent.replayed().state_dict() == state
        assert sum(state["statistics"]["rewards"]) < 41  # those of the arm that was removed are not counted


def test_a_subject_keeps_its_decision_until_its_window_closes(experiments, clock):
    experiment = experiments.create("e", arms=["a", "b", "c"], rule=RULE, ttl=10.0, default_reward=0.0)
    first = experiment.ask(subject="u")
    assert experiment.ask(subject="u") == first
    assert experiment.tell_subject("u", 1.0) == "told"
    assert experiment.tell_subject("u", 1.0) == "duplicate"
    with pytest.raises(SettledError, match="was told 1.0 already"):
        experiment.tell_subject("u", 0.0)
    clock.time += 9
    assert experiment.ask(subject="u") == first
    clock.time += 2
    second = experiment.ask(subject="u")
    assert second.id == 1
    clock.time += 11
    with pytest.raises(SettledError, match="was closed"):
        experiment.tell_subject("u", 1.0)
    assert experiment.updates == 2
    assert experiment.ask(subject="u").id == 2
    with pytest.raises(KeyError, match="subject 'v' has no decision"):
        experiment.tell_subject("v", 1.0)
    assert [row["subject"] for row in experiment.log()] == ["u"] * 3


def test_a_subject_is_decided_anew_when_its_arm_is_gone_or_its_decision_forgotten(experiments):
    experiment = experiments.create("e", arms=["a", "b", "c"], rule=RULE)
    first = experiment.ask(subject="u")
    others = [arm for arm in "abc" if arm != first.arm]
    second = experiment.ask(available=others, subject="u")
    assert (second.id, second.arm in others) == (1, True)
    assert experiment.ask(available=[second.arm, first.arm], subject="u") == second
    experiment.remove_arm(second.arm)
    experiment.add_arm(second.arm)
    third = experiment.ask(subject="u")
    assert third.id == 2
    experiment.forget(third)
    assert experiment.ask(subject="u").id == 3
    assert experiment.tell(second, 1.0) == "told"


def test_subjects_survive_a_kill_and_are_dropped_with_their_decisions(experiments, clock):
    experiment = experiments.create("e", arms=["a", "b", "c"], rule=RULE)
    asked = {f"u{i}": experiment.ask(subject=f"u{i}") for i in range(20)}
    removed = asked["u0"].arm
    experiment.remove_arm(removed)
    experiment.tell_subject("u1", 1.0)
    abandoned(experiments)
    with lb.Experiments(experiments.path, clock=clock) as opened:
        experiment = opened["e"]
        for subject, decision in asked.items():
            again = experiment.ask(subject=subject)
            assert (again == decision) == (decision.arm != removed)
        clock.time += 100
        experiment.compact(keep=50)
        if asked["u1"].arm != removed:
            assert experiment.ask(subject="u1").id > 19
        rows = opened.file._file.connection.execute("SELECT count(*) FROM subjects_1").fetchone()[0]
        assert rows == 20


@pytest.mark.parametrize("subject", ["", "x" * 1001, 7, "\ud800"])
def test_a_wrong_subject_is_refused(experiments, subject):
    experiment = experiments.create("e", arms=["a", "b"])
    with pytest.raises((ValueError, TypeError), match="subject must"):
        experiment.ask(subject=subject)
    assert experiment.asked == 0


def test_a_paused_or_ended_experiment_makes_no_decisions_but_takes_rewards(experiments, clock):
    experiment = experiments.create("e", arms=["a", "b"], rule=RULE)
    decision = experiment.ask(subject="u")
    experiment.change(state="paused")
    with pytest.raises(StoppedError, match="the experiment is paused"):
        experiment.ask(subject="u")
    experiment.change(state="on")
    assert experiment.ask(subject="u") == decision
    with pytest.raises(ValueError, match="winner must be an arm"):
        experiment.change(state="ended", winner="z")
    with pytest.raises(ValueError, match="winner must be an arm of an experiment that is ended"):
        experiment.change(winner="a")
    with pytest.raises(ValueError, match="state must be on, paused or ended, got 'off'"):
        experiment.change(state="off")
    experiment.change(state="ended", winner="b")
    assert experiment.tell(decision, 1.0) == "told"
    abandoned(experiments)
    with lb.Experiments(experiments.path, clock=clock) as opened:
        assert (opened["e"].state, opened["e"].updates) == ("ended", 1)
        with pytest.raises(ValueError, match="the experiment has ended"):
            opened["e"].change(state="on")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("", {}, "name must be 1 to 100 letters"),
        ("a/b", {}, "name must be 1 to 100 letters"),
        (".hidden", {}, "name must be 1 to 100 letters"),
        (7, {}, "name must be a string"),
        ("e", {"arms": ["a"]}, "at least 2 arms"),
        ("e", {"floor": 1.0}, "floor must be"),
        ("e", {"ttl": 0}, "ttl must be positive"),
        ("e", {"baseline": "z"}, "baseline must be an arm"),
        ("e", {"difference": -1}, "difference must be positive"),
        ("taken", {}, "'taken' exists already"),
    ],
)
def test_a_wrong_experiment_is_refused_and_leaves_nothing(experiments, name, options, message):
    experiments.create("taken", arms=["a", "b"])
    with pytest.raises((ValueError, TypeError), match=message):
        experiments.create(name, **{"arms": ["a", "b"], **options})
    assert list(experiments) == ["taken"]
    assert experiments.file._file.suffixes() == {"default": "", "taken": "_1"}


def test_a_full_disk_takes_a_new_experiment_back(experiments):
    experiments.create("kept", arms=["a", "b"])
    experiments.file._file.connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(OSError, match="nothing was done"):
        experiments.create("lost", arms=["long name " * 500 + str(i) for i in range(9)])
    assert experiments["kept"].ask().id == 0
    assert list(experiments) == ["kept"]


@extend.compiled
def not_finite_below_zero(reward, probability, t, memory, hyper):
    memory.steps += 1.0
    return extend.select_above(reward, -0.5, reward, np.inf), 0.1 * reward


@dataclass(frozen=True, kw_only=True)
class RefusesLosses(extend.TwoScalarRule):
    name = "refuses-losses"
    place = "tests"
    memory = ("steps",)
    lift_and_drain = staticmethod(not_finite_below_zero)

    def hyper(self, n_arms):
        return ()


def test_a_rule_that_fails_in_one_call_concerns_no_other_call(tmp_path):
    with lb.DurableAgent(tmp_path / "agent.db", rule=RefusesLosses(), arms=["a", "b"]) as agent:
        first, second, third = (agent.ask() for _ in range(3))
        told, refused, also_told = agent.perform(
            [lambda ledger, d=d, r=r: ledger.tell(d, r) for d, r in ((first, 1.0), (second, -1.0), (third, 0.5))]
        )
        assert (told, also_told) == ("told", "told")
        assert isinstance(refused, RuleError)
        with pytest.raises(RuleError, match="refuses-losses returned a lift or drain that is not finite"):
            agent.tell(second, -1.0)
        assert agent.pending == (second.id,)
        assert agent.updates == 2
        assert np.array_equal(agent.replayed().policy, agent.policy)
    with lb.DurableAgent(tmp_path / "agent.db", rule=RefusesLosses()) as agent:
        assert agent.updates == 2
        assert agent.tell(second, 0.25) == "told"
