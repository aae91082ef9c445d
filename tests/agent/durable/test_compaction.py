"""Compacting drops old decisions from the file; the log has all others."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from durable_agents import Clock, abandoned, made

import logbarrier as lb
from logbarrier.agent.durable import journaled_agent, ledger

pytestmark = pytest.mark.usefixtures("no_fsync")


def test_compacting_drops_what_was_closed_long_ago_and_nothing_else(path):
    clock = Clock()
    with made(path, seed=5, clock=clock) as agent:
        pending = agent.ask()
        for t in range(journaled_agent.DROPPED_AT_ONCE + 3):
            agent.perform([lambda ledger, t=t: ledger.tell(ledger.ask(), t % 3)])
        agent.observe("a", 0.5)
        agent.add_arm("d")
        agent.remove_arm("b")
        clock.time += 100
        late = agent.ask()
        agent.tell(late, 1.0)
        state, size = agent.state_dict(), os.path.getsize(path) + os.path.getsize(f"{path}-wal")
        assert agent.compact(keep=50) == journaled_agent.DROPPED_AT_ONCE + 3 + 3
        assert agent.compact(keep=50) == 0
        assert agent.state_dict() == agent.replayed().state_dict() == state
        assert [row["id"] for row in agent.log()] == [pending.id, late.id]
        assert agent.tell(late, 1.0) == "duplicate"
        for reward in (0.0, 1.0):
            with pytest.raises(ledger.SettledError, match="decision 1 was closed so long ago that its record was dropped"):
                agent.tell(1, reward)
        with pytest.raises(ledger.SettledError, match="DurableAgent.forget: decision 1 was closed so long ago"):
            agent.forget(1)
        abandoned(agent)
    with lb.DurableAgent(path, clock=clock) as agent:
        assert agent.state_dict() == state
        assert agent.tell(pending, 1.0) == "told"
        assert agent.ask().id == late.id + 1
        assert agent.compact(keep=0) == 2
        assert agent.state_dict() == agent.replayed().state_dict()
        assert [row["id"] for row in agent.log()] == [late.id + 1]
        with pytest.raises(ValueError, match="DurableAgent.compact: keep must be zero or positive, got -1"):
            agent.compact(keep=-1)
    assert os.path.getsize(path) < size / 2


def test_compacting_makes_the_file_smaller(path):
    with lb.DurableAgent(path, rule=lb.SGB(learning_rate=0.1), arms=["a", "b"], seed=0) as agent:
        for _ in range(3000):
            agent.tell(agent.ask(), 0.5)
    before = path.stat().st_size
    with lb.DurableAgent(path) as agent:
        agent.compact(keep=0)
    assert path.stat().st_size < before / 4


def test_two_who_compact_at_once_count_every_decision_once(path):
    with lb.DurableAgent(path, rule=lb.SGB(learning_rate=0.1), arms=["a", "b"], seed=0) as agent:
        for _ in range(20):
            agent.tell(agent.ask(), 0.5)
        with ThreadPoolExecutor(2) as pool:
            counts = list(pool.map(lambda _: agent.compact(keep=0), range(2)))
        assert sum(counts) == 20


def test_a_compaction_that_cannot_be_written_drops_nothing(path):
    with made(path) as agent:
        for _ in range(20):
            agent.tell(agent.ask(), 1.0)
        agent.file._file.connection.execute(
            "CREATE TEMP TRIGGER full BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
        state = agent.state_dict()
        with pytest.raises(OSError, match=r"cannot be written \(full\); nothing was done"):
            agent.compact(keep=0)
        assert agent.state_dict() == agent.replayed().state_dict() == state
        assert [row["outcome"] for row in agent.log()] == ["told"] * 20
        assert agent.compact(keep=0) == 20


def test_the_log_has_every_decision_with_its_propensity(path):
    with made(path, floor=0.2, clock=Clock()) as agent:
        first, second = agent.ask(), agent.ask(available=["a", "c"])
        agent.tell(second, 0.5)
        agent.add_arm("d")
        agent.remove_arm("a")
        rows = list(agent.log())
        assert rows == list(lb.read_log(path))
    assert [(row["id"], row["arm"], row["probability"]) for row in rows] == [tuple(first), tuple(second)]
    assert [(row["arm_set"], row["available"]) for row in rows] == [(0, ["a", "b", "c"]), (None, ["a", "c"])]
    assert [row["reward"] for row in rows] == [None, 0.5]
    assert json.loads(json.dumps(rows)) == rows
