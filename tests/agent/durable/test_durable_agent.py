"""The durable agent: exactly once, whatever is killed, full or late."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.agent import pending
from logbarrier.agent.durable import journaled_agent, ledger, sqlite_file

RULE = lb.LogBarrierSGB(learning_rate=0.5, eta=20.0)
ARMS = ["a", "b", "c"]


class Clock:
    """A clock that a test sets."""

    def __init__(self):
        self.time = 1000.0

    def __call__(self):
        return self.time


@pytest.fixture
def path(tmp_path):
    return tmp_path / "agent.db"


@pytest.fixture(autouse=True)
def _quick(request, monkeypatch):
    """No fsync where no process dies."""
    if "kill" not in request.node.name:
        monkeypatch.setattr(sqlite_file, "SYNCHRONOUS", "OFF")


def made(path, **options):
    return lb.DurableAgent(path, rule=RULE, arms=ARMS, **options)


def abandoned(agent):
    """What a kill leaves: the lock is dropped, nothing is closed."""
    agent.file._lock.release()
    agent.file._closed = True


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


def test_a_second_process_is_refused_in_one_sentence(path, run_python):
    code = f"import logbarrier as lb\ntry:\n    lb.DurableAgent({str(path)!r})\nexcept OSError as error:\n    print(error)"
    with made(path):
        assert run_python(code).startswith(
            f"DurableAgent: {path} is in use by process {os.getpid()}; one process writes at a time"
        )
        with pytest.raises(BlockingIOError, match="is in use by process"):
            lb.DurableAgent(path)
    lb.DurableAgent(path).close()


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": lb.SGB(learning_rate=0.1)}, "was made with rule {'rule': 'log-barrier-sgb'"),
        ({"arms": ["a", "b"]}, "was made with arms"),
        ({"seed": 7}, "was made with seed 0, got 7"),
        ({"floor": 0.5}, "was made with floor 0.0, got 0.5"),
        ({"start": np.array([0.2, 0.3, 0.5])}, r"was made with start None, got \[0.2, 0.3, 0.5\]"),
        ({"means": (1, 2, 3)}, r"was made with means None, got \[1, 2, 3\]"),
        ({"ttl": -1}, "DurableAgent: ttl must be positive and finite, got -1.0"),
        ({"default_reward": 1e200}, "DurableAgent: reward must be at most 1e\\+100 in size"),
    ],
)
def test_options_that_contradict_the_file_are_refused(path, options, message):
    made(path).close()
    with pytest.raises(ValueError, match=message):
        lb.DurableAgent(path, **options)
    lb.DurableAgent(path, rule=RULE, arms=ARMS, seed=0, floor=0).close()


def test_files_that_are_no_agents_are_refused_in_one_sentence(tmp_path):
    text, other, folder, link = (tmp_path / name for name in ("text", "other.db", "folder", "link.lock"))
    text.write_text("not a database at all, but long enough to be looked at " * 20)
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    folder.mkdir()
    link.symlink_to(text)
    before = text.read_text()
    for file in (text, folder):
        with pytest.raises(OSError, match="DurableAgent: .* cannot be opened"):
            lb.DurableAgent(file)
    with pytest.raises(OSError, match="other.db is not an agent's file"):
        lb.DurableAgent(other)
    with pytest.raises(OSError, match="cannot be used as a lock: it is a symbolic link"):
        lb.DurableAgent(tmp_path / "link", rule=RULE, arms=ARMS)
    with pytest.raises(OSError, match="DurableAgent: there is no folder"):
        lb.DurableAgent(tmp_path / "nowhere" / "agent.db")
    with pytest.raises(OSError, match="DurableAgent: there is no file"):
        next(lb.read_log(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="is new, so it needs arms, and a rule or features"):
        lb.DurableAgent(tmp_path / "new.db")
    assert text.read_text() == before


WORKER = """
import sys
import logbarrier as lb
agent = lb.DurableAgent(sys.argv[1], rule=lb.LogBarrierSGB(learning_rate=0.5, eta=20.0), arms=["a", "b", "c"])
while True:
    decision = agent.ask()
    print("asked", *decision, flush=True)
    if decision.id % 3:
        print(agent.tell(decision, 0.1 * (decision.id % 7)), decision.id, flush=True)
"""


def test_kill_9_loses_nothing_that_was_answered(path):
    asked, told = [], set()
    for lines in (5, 8, 3):
        worker = subprocess.Popen([sys.executable, "-c", WORKER, str(path)], stdout=subprocess.PIPE, text=True)
        for _ in range(lines):
            word, *rest = worker.stdout.readline().split()
            asked += [(int(rest[0]), rest[1])] if word == "asked" else []
            told |= {int(rest[0])} if word == "told" else set()
        worker.send_signal(signal.SIGKILL)
        for line in worker.stdout.read().splitlines():
            word, *rest = line.split()
            asked += [(int(rest[0]), rest[1])] if word == "asked" and len(rest) == 3 else []
            told |= {int(rest[0])} if word == "told" and rest else set()
        worker.stdout.close()
        worker.wait()
    with lb.DurableAgent(path) as agent:
        rows = {row["id"]: row for row in agent.log()}
        assert len({identity for identity, _ in asked}) == len(asked)  # no id twice
        assert all(rows[identity]["arm"] == arm for identity, arm in asked)
        assert all(rows[identity]["outcome"] == "told" for identity in told)
        assert (agent.replayed().policy == agent.policy).all()
