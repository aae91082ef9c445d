"""The durable agent: exactly once, whatever is full, late or closed."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest
from durable_agents import ARMS, RULE, Clock, abandoned, made

import logbarrier as lb
from logbarrier.agent import pending
from logbarrier.agent.durable import journaled_agent, ledger

pytestmark = pytest.mark.usefixtures("no_fsync")


def test_an_agent_reopened_is_the_agent_that_was_closed(path):
    with made(path, seed=3) as agent:
        twin = lb.Agent(RULE, arms=ARMS, seed=3)
        asked = agent.ask(), twin.ask()
        for t in range(30):
            agent.tell(agent.ask(), np.sin(t))
            twin.tell(twin.ask(), np.sin(t))
    with lb.DurableAgent(path) as agent:
        assert agent.state_dict() == twin.state_dict()
        assert (agent.tell(asked[0], 1.0), agent.tell(asked[0].id, 1.0)) == ("told", "duplicate")
        assert (agent.replayed().policy == agent.policy).all()


@pytest.mark.parametrize(
    ("rule", "options", "other"),
    [
        (RULE, {"start": np.array([0.2, 0.3, 0.5])}, {"start": [0.3, 0.2, 0.5]}),
        (lb.ExactPG(), {"means": (1, 2, 3)}, {"means": [1, 2, 4]}),
    ],
)
def test_an_agent_begins_where_it_is_told_and_stays_that_agent(path, rule, options, other):
    twin = lb.Agent(rule, arms=ARMS, **options)
    with lb.DurableAgent(path, rule=rule, arms=ARMS, **options) as agent:
        for _ in range(5):
            assert agent.ask() == twin.ask()
            agent.tell(agent.pending[0], 1.0)
            twin.tell(twin.pending[0], 1.0)
        abandoned(agent)
    with lb.DurableAgent(path, rule=rule, arms=(name for name in ARMS), **options) as agent:
        assert agent.state_dict() == agent.replayed().state_dict() == twin.state_dict()
    with pytest.raises(ValueError, match=f"was made with {next(iter(other))} "):
        lb.DurableAgent(path, **other)


def test_a_reward_counts_once_and_another_one_is_refused(path):
    with made(path) as agent:
        decision = agent.ask()
        assert agent.tell(decision, 1) == "told"
        policy = agent.policy
        assert agent.tell(decision, 1.0) == "duplicate"
        with pytest.raises(ValueError, match="decision 0 was told 1.0 already, got 0.5"):
            agent.tell(decision, 0.5)
        with pytest.raises(KeyError, match="decision 1 was never asked"):
            agent.tell(1, 0.5)
        for wrong in (True, 0.0, "0", None):
            with pytest.raises(KeyError, match="was never asked"):
                agent.tell(wrong, 0.5)
        agent.forget(agent.ask())
        with pytest.raises(ValueError, match="decision 1 was forgotten"):
            agent.tell(1, 0.5)
        assert (agent.policy == policy).all()
        assert agent.updates == 1


def test_a_duplicate_in_the_same_batch_is_one(path):
    with made(path) as agent:
        agent.ask()
        calls = [lambda ledger: ledger.tell(0, 1.0)] * 3 + [lambda ledger: ledger.tell(0, 2.0), lambda ledger: ledger.ask()]
        told, *again, other, asked = agent.perform(calls)
        assert (told, again) == ("told", ["duplicate", "duplicate"])
        assert isinstance(other, ledger.SettledError)
        assert asked.id == 1


def test_threads_share_an_agent_and_its_writes(path):
    with made(path) as agent:
        commits = []
        journal = agent.file.ledgers["default"]._journal
        write = journal.write
        journal.write = lambda events, **rest: (commits.append(len(events)), write(events, **rest))[1]
        barrier = threading.Barrier(8)

        def work():
            barrier.wait()
            for _ in range(20):
                assert agent.tell(agent.ask(), 1.0) == "told"

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert agent.updates == 160
        assert agent.pending == ()
        assert sum(commits) == 320
        assert (agent.replayed().policy == agent.policy).all()


@pytest.mark.parametrize("default_reward", [None, 0.25])
def test_decisions_past_their_time_are_closed(path, default_reward):
    clock = Clock()
    with made(path, ttl=10, default_reward=default_reward, clock=clock) as agent:
        first = agent.ask()
        clock.time += 6
        second = agent.ask()
        clock.time += 5
        assert agent.pending == (second.id,)
        assert agent.updates == (default_reward is not None)
        with pytest.raises(ValueError, match="decision 0 was closed, since no reward came in time"):
            agent.tell(first, 1.0)
        assert [row["outcome"] for row in agent.log()] == ["expired", None]
        assert next(agent.log())["reward"] == default_reward
        abandoned(agent)
    with lb.DurableAgent(path, clock=clock) as agent:
        assert agent.pending == (second.id,)
        clock.time += 6  # ttl is remembered
        assert agent.pending == ()


def test_a_clock_set_back_neither_closes_early_nor_never(path):
    clock = Clock()
    with made(path, ttl=10, clock=clock) as agent:
        agent.ask()
        clock.time -= 500
        agent.ask()
        assert agent.pending == (0, 1)
    clock.time -= 500
    with lb.DurableAgent(path, clock=clock) as agent:
        clock.time += 9
        assert agent.pending == (0, 1)
        clock.time += 2
        assert agent.pending == ()
        times = [row["time"] for row in agent.log()]
        assert times == sorted(times)


def test_what_was_not_written_did_not_happen(path):
    agent = made(path, seed=1)
    agent.tell(agent.ask(), 1.0)
    before = agent.state_dict()
    agent.file.ledgers["default"].ask()  # in memory only
    abandoned(agent)
    with lb.DurableAgent(path) as agent:
        assert agent.state_dict() == before


def test_a_write_that_fails_is_an_error_for_all_and_changes_nothing(path):
    with made(path) as agent:
        decision = agent.ask()
        before = agent.state_dict()
        agent.file._file.connection.execute("PRAGMA max_page_count = 1")  # as if the disk were full
        calls = [lambda ledger: ledger.ask(), lambda ledger: ledger.forget(ledger.agent.pending[-1])]
        with pytest.raises(OSError, match=r"cannot be written \(database or disk is full\); nothing was done"):
            agent.perform(calls * 300)
        assert agent.state_dict() == before  # the file was opened again, without the limit
        assert agent.tell(decision, 1.0) == "told"
        assert (agent.replayed().policy == agent.policy).all()


def test_snapshots_shorten_the_replay_and_change_no_bit(path, monkeypatch):
    monkeypatch.setattr(journaled_agent, "EVENTS_PER_SNAPSHOT", 10)
    monkeypatch.setattr(journaled_agent, "BYTES_PER_EVENT", 1000)
    agent = made(path)
    for t in range(57):
        agent.tell(agent.ask(), t % 3)
    policy = agent.policy
    abandoned(agent)
    replayed = []
    real = journaled_agent.replay
    monkeypatch.setattr(journaled_agent, "replay", lambda *arguments: (replayed.append(1), real(*arguments))[1])
    with lb.DurableAgent(path) as agent:
        assert 0 < len(replayed) < 20
        assert (agent.policy == policy).all()
        assert (agent.replayed().policy == policy).all()


@pytest.mark.parametrize("default_reward", [None, -0.0, 0.25])
def test_a_replay_has_what_its_own_batch_has_not_written_yet(path, default_reward):
    clock = Clock()
    with made(path, ttl=10, default_reward=default_reward, clock=clock) as agent:
        agent.ask()
        clock.time += 11
        replayed = agent.replayed()  # the call itself closes the decision
        assert json.dumps(replayed.state_dict()) == json.dumps(agent.state_dict())
        assert replayed.pending == ()

        def several(ledger):
            ledger.tell(ledger.ask(), 1.0)
            ledger.add_arm("d")
            ledger.ask(["a", "d"])
            ledger.drop(clock.time)
            return ledger.replayed().state_dict(), ledger.agent.state_dict()

        ((replayed, now),) = agent.perform([several])
        assert json.dumps(replayed) == json.dumps(now)


def test_a_restart_evicts_the_same_policies(path, monkeypatch):
    monkeypatch.setattr(pending, "MOST_KEPT", 6)
    with made(path) as agent:
        agent.ask()
        for names in (["a", "b"], ["b", "c"]):  # kept at once, before the policy of the first decision is
            agent.ask(available=names)
        agent.tell(agent.ask(), 1.0)
        twin = lb.Agent.from_state_dict(agent.state_dict())
        for each in (agent, twin):
            each.tell(each.ask(available=["a", "c"]), 1.0)
            for identity in (1, 2, 0):
                each.tell(identity, -1.0)
        assert agent.state_dict() == twin.state_dict() == agent.replayed().state_dict()


def test_arms_that_are_numpy_numbers_are_in_the_log(path):
    with lb.DurableAgent(path, rule=RULE, arms=[1, 2, 3]) as agent:
        agent.ask(available=np.array([1, 3]))
        assert [row["available"] for row in agent.log()] == [[1, 3]]
        with pytest.raises(TypeError, match="available must be a sequence of arms, got '13'"):
            agent.ask(available="13")
