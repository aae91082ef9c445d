"""Damage to an agent's files is noticed: one sentence that names the file and the row, and what is left can be read."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import sqlite3

import pytest
from command import logbarrier
from durable_agents import ARMS, RULE

import logbarrier as lb
from logbarrier.agent.durable import checksums, sqlite_file, wal
from logbarrier.agent.durable.checksums import DamagedError
from logbarrier.agent.durable.salvage import salvaged_log
from logbarrier.agent.vector_learner import VectorLearner
from logbarrier.cli.log import log as log_command

SCHEMA_BEFORE = """
CREATE TABLE events (number INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, decision INTEGER, arm TEXT,
                     reward REAL, probability REAL, detail TEXT);
CREATE INDEX by_decision ON events (decision);
CREATE TABLE snapshots (number INTEGER PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE history (number INTEGER PRIMARY KEY, time REAL NOT NULL, told INTEGER, reward_sum REAL, policy TEXT);
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(sqlite_file, "SYNCHRONOUS", "OFF")  # no process dies here


def played(path, cycles=40, **options):
    agent = lb.DurableAgent(path, rule=RULE, arms=ARMS, **options)
    for t in range(cycles):
        agent.tell(agent.ask(), 0.25 * (t % 5))
    return agent


def changed(path, statement):
    """Change a closed file behind the agent's back, leaving no write-ahead log."""
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def killed(agent, to):
    """The files as a kill leaves them, copied to a folder."""
    for end in ("", "-wal"):
        shutil.copy(f"{agent.path}{end}", to / f"agent.db{end}")
    return to / "agent.db"


@pytest.mark.parametrize(
    ("statement", "row"),
    [
        ("UPDATE events SET reward = reward + 1e-12 WHERE number = 20", "row 20 of events"),
        ("UPDATE events SET arm = '\"b\"' WHERE number = 19 AND arm <> '\"b\"' OR number = 21", "row (19|21) of events"),
        ("UPDATE events SET probability = 0.4 WHERE number = 31", "row 31 of events"),
        ("UPDATE events SET checksum = NULL WHERE number = 20", "row 20 of events"),
        ("UPDATE snapshots SET state = replace(state, '\"updates\": 40', '\"updates\": 41')", "row 80 of snapshots"),
        ("UPDATE settings SET value = replace(value, '20.0', '21.0')", "row 'made of' of settings"),
        ('UPDATE arm_sets SET arms = \'["a", "b"]\'', "row 0 of arm_sets"),
    ],
)
def test_a_changed_row_is_named_at_opening(path, statement, row):
    played(path).close()
    changed(path, statement)
    with pytest.raises(
        DamagedError, match=rf"agent.db is damaged: {row} is not what was written; .*'logbarrier log .* --salvage'"
    ):
        lb.DurableAgent(path)


def test_a_changed_row_is_named_when_it_is_read_though_the_file_was_in_use(path):
    with played(path) as agent:
        other = sqlite3.connect(path)
        other.execute("UPDATE events SET reward = 0.75 WHERE number = 20")
        other.commit()
        other.close()
        with pytest.raises(DamagedError, match="row 20 of events is not what was written"):
            list(agent.log())
        with pytest.raises(DamagedError, match="row 20 of events is not what was written"):
            agent.tell(9, 0.75)
        with pytest.raises(DamagedError, match="row 20 of events is not what was written"):
            agent.replayed()
        assert agent.ask().id == 40  # the others go on


def test_no_flipped_bit_changes_what_is_read(path):
    """60 bits, one after the other: the file is refused, or all of it is what it was."""
    played(path, 300).close()
    truth, content, generator, refused = list(lb.read_log(path)), path.read_bytes(), random.Random(0), 0
    for _ in range(60):
        spoilt = bytearray(content)
        spoilt[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
        path.write_bytes(spoilt)
        try:
            with lb.DurableAgent(path) as agent:
                assert list(agent.log()) == truth
                assert agent.replayed().state_dict() == agent.state_dict()
        except (DamagedError, OSError):
            refused += 1
        for end in ("-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)
    assert refused > 20


def test_a_bit_that_belongs_to_nothing_does_no_harm(path):
    played(path).close()
    content = bytearray(path.read_bytes())
    content[61] ^= 1  # in the seal itself
    path.write_bytes(content)
    assert checksums.is_as_sealed(path) is False
    lb.DurableAgent(path).close()
    assert checksums.is_as_sealed(path) is True


def test_a_write_ahead_log_that_lost_whole_commits_is_refused(path, tmp_path):
    (tmp_path / "copy").mkdir()
    with played(path) as agent:
        copy = killed(agent, tmp_path / "copy")
    log = bytearray(wal.wal_of(copy).read_bytes())
    for at in (len(log) // 2, 40, 20):  # in a page, in the header of a frame, in the header of the log
        spoilt = bytearray(log)
        spoilt[at] ^= 4
        wal.wal_of(copy).write_bytes(spoilt)
        with pytest.raises(DamagedError, match=r"agent.db is damaged: .* of agent.db-wal is not what was written"):
            lb.DurableAgent(copy)
        assert wal.wal_of(copy).read_bytes() == spoilt  # nothing was thrown away
    wal.wal_of(copy).write_bytes(log)
    with lb.DurableAgent(copy) as agent:
        assert agent.updates == 40


def test_a_torn_last_commit_is_what_a_crash_leaves(path, tmp_path):
    (tmp_path / "copy").mkdir()
    with played(path) as agent:
        copy = killed(agent, tmp_path / "copy")
    log = bytearray(wal.wal_of(copy).read_bytes())
    log[-100] ^= 4
    wal.wal_of(copy).write_bytes(log)
    with lb.DurableAgent(copy) as agent:
        assert (agent.updates, agent.pending) == (39, (39,))


def test_the_write_ahead_log_stays_short(path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "PAGES_IN_WAL", 40)
    with played(path, 200):
        assert wal.wal_of(path).stat().st_size < 60 * 4200


def test_a_quiet_moment_empties_the_write_ahead_log(path, tmp_path):
    (tmp_path / "copy").mkdir()
    played(path).close()  # sealed
    with lb.DurableAgent(path) as agent:
        agent.tell(agent.ask(), 0.5)
        reader = sqlite3.connect(path)
        rows = reader.execute("SELECT number FROM events")
        assert rows.fetchone() == (1,)  # a transaction that has begun
        agent.file.commits.flush()  # does not wait for it
        assert not wal.is_wal_empty(path)
        rows.close()
        reader.close()
        agent.file.commits.flush()
        assert wal.is_wal_empty(path)
        copy = killed(agent, tmp_path / "copy")
        agent.tell(agent.ask(), 0.5)
    assert checksums.is_as_sealed(copy) is None  # not False: then every row would be read
    with lb.DurableAgent(copy) as agent:
        assert agent.updates == 41
    with lb.DurableAgent(path) as agent:
        assert agent.updates == 42


def test_what_is_left_of_a_damaged_file_can_be_salvaged(path):
    played(path, 300).close()
    truth = {row["id"]: row for row in lb.read_log(path)}
    changed(path, "UPDATE events SET probability = 0.9 WHERE number = 31")  # the question of decision 15
    found = salvaged_log(path)
    assert (found.changed, found.is_whole) == (1, True)
    assert {row["id"]: row for row in found.rows} == {identity: row for identity, row in truth.items() if identity != 15}
    pages = [at for at in range(0, path.stat().st_size, 4096) if path.read_bytes()[at] == 0x0D]  # leaves of tables
    content = bytearray(path.read_bytes())
    content[pages[len(pages) // 2]] = 0x55
    path.write_bytes(content)
    with pytest.raises(DamagedError):
        list(lb.read_log(path))
    found = salvaged_log(path)
    assert not found.is_whole
    assert 100 < len(found.rows) < 300
    for row in found.rows:
        is_settled = row["outcome"] is not None
        assert row == truth[row["id"]] | ({} if is_settled else {"reward": None, "outcome": None, "closed": None})


def early(path, to):
    """The file as earlier versions made it: no checksums, no arm sets, no seal."""
    old, new = sqlite3.connect(to), sqlite3.connect(path)
    old.executescript(f"PRAGMA journal_mode = WAL; BEGIN; PRAGMA application_id = {0x6C6F6762}; {SCHEMA_BEFORE} COMMIT;")
    for table, width in (("events", 8), ("snapshots", 2), ("history", 5), ("settings", 2)):
        rows = [row[:width] for row in new.execute(f"SELECT * FROM {table}")]
        old.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * width)})", rows)
    old.commit()
    old.close()
    new.close()
    return to


def test_a_file_of_an_earlier_version_opens_and_knows_which_arms_were_available(path, tmp_path):
    with played(path) as agent:
        agent.add_arm("d")
        agent.tell(agent.ask(), 1.0)
        agent.remove_arm("a")
        agent.tell(agent.ask(available=["b", "d"]), 1.0)
        agent.ask()
        state, rows = agent.state_dict(), list(agent.log())
    old = early(path, tmp_path / "old.db")
    assert list(lb.read_log(old)) == rows
    assert [sorted(row["available"]) for row in rows[-3:]] == [["a", "b", "c", "d"], ["b", "d"], ["b", "c", "d"]]
    for _ in range(2):
        with lb.DurableAgent(old) as agent:
            assert agent.state_dict() == agent.replayed().state_dict() == state
            assert list(agent.log()) == rows
    with lb.DurableAgent(old) as agent:
        agent.tell(agent.ask(), 0.5)
    changed(old, "UPDATE events SET reward = 0.25 WHERE number = (SELECT max(number) FROM events)")
    with pytest.raises(DamagedError, match="row 89 of events is not what was written"):
        lb.DurableAgent(old)


def test_a_compacted_file_of_an_earlier_version_says_where_it_does_not_know(path, tmp_path):
    clock = iter(range(10_000)).__next__
    with played(path, 0, clock=clock) as agent:
        pending = agent.ask()
        agent.add_arm("d")
        agent.remove_arm("a")
        agent.tell(agent.ask(), 1.0)
        agent.compact(keep=0)
        agent.tell(pending, 0.5)
        agent.tell(agent.ask(), 1.0)
    rows = list(lb.read_log(early(path, tmp_path / "old.db")))
    assert [(row["id"], row["arm_set"] is None, row["available"]) for row in rows] == [
        (0, True, None),
        (2, False, ["b", "c", "d"]),
    ]
    with pytest.raises(ValueError, match="Log: row 0 does not say which arms were available"):
        lb.Log.from_rows(rows)
    assert [row["available"] for row in lb.read_log(path)] == [["a", "b", "c"], ["b", "c", "d"]]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE snapshots SET state = substr(state, 1, 40)",
        "UPDATE snapshots SET state = '[]'",
        "UPDATE settings SET value = '{' WHERE name = 'made of'",
        "DELETE FROM settings WHERE name = 'made of'",
        "DELETE FROM snapshots",
        "DELETE FROM history",
        "DELETE FROM snapshots WHERE number > 0; ",
        "DROP TABLE history",
    ],
)
def test_damage_without_checksums_is_one_sentence_too(path, tmp_path, statement):
    played(path).close()
    old = early(path, tmp_path / "old.db")
    changed(old, statement)
    if statement.endswith("; "):  # the first snapshot is left, from which all is replayed
        changed(old, "DELETE FROM events WHERE number = 7")
    with pytest.raises(DamagedError, match=r"old.db is damaged: ") as caught:
        lb.DurableAgent(old)
    assert "\n" not in str(caught.value)


def test_an_emptied_snapshot_table_is_no_new_agent(path):
    played(path).close()
    changed(path, "DELETE FROM snapshots")
    with pytest.raises(DamagedError, match="snapshots has no rows"):
        lb.DurableAgent(path, rule=RULE, arms=ARMS)


def test_the_log_command_prints_json_lines(path, capsys):
    played(path, 5).close()
    log_command(path)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == list(lb.read_log(path))
    log_command(path, after=2)
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == [3, 4]


def test_the_log_command_names_the_damage_and_salvages_the_rest(path, capsys):
    played(path, 5).close()
    changed(path, "UPDATE events SET probability = 0.9 WHERE number = 3")
    done = logbarrier("log", path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"logbarrier: DurableAgent: {path} is damaged: row 3 of events is not what was written")
    log_command(path, salvage=True)
    printed = capsys.readouterr()
    assert [json.loads(line)["id"] for line in printed.out.splitlines()] == [0, 2, 3, 4]
    assert printed.err == "logbarrier: 1 rows of events are not what was written and are left out; all pages could be read\n"


def test_a_file_whose_rule_had_other_state_is_refused_with_what_to_do(tmp_path, monkeypatch):
    state = VectorLearner.state
    monkeypatch.setattr(VectorLearner, "state", lambda learner: {**state(learner), "memory": state(learner)["memory"][:-1]})
    with contextlib.suppress(ValueError):  # it reads the file that it has written
        lb.DurableAgent(tmp_path / "earlier.db", rule=lb.OptimisticBarrier(), arms=["a", "b"])
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"memory must be .*If another version wrote .*earlier.db.*'logbarrier log .*' reads"):
        lb.DurableAgent(tmp_path / "earlier.db")


def test_an_experiment_that_cannot_be_read_does_not_affect_the_others(tmp_path, monkeypatch):
    path = tmp_path / "shop.db"
    with lb.Experiments(path) as experiments:
        experiments.create("colours", arms=["red", "blue"], rule=RULE).ask()
        experiments.create("titles", arms=["short", "long"], rule=lb.OptimisticBarrier())
    state = VectorLearner.state
    monkeypatch.setattr(VectorLearner, "state", lambda learner: {**state(learner), "memory": state(learner)["memory"][:-1]})
    with lb.Experiments(path) as experiments:
        experiments["titles"].ask()  # writes a snapshot with the state of another version
    monkeypatch.undo()
    with lb.Experiments(path) as experiments:
        assert list(experiments) == ["colours"]
        assert "memory must be" in experiments.unreadable["titles"]
        with pytest.raises(ValueError, match="experiment 'titles' cannot be read: .*If another version wrote"):
            experiments["titles"]
        with pytest.raises(ValueError, match="experiment 'titles' exists already"):
            experiments.create("titles", arms=["a", "b"])
        assert experiments["colours"].ask().id == 1
    listed = logbarrier("experiment", "list", str(path))
    assert "colours" in listed.stdout
    assert listed.stderr.startswith("logbarrier: experiment 'titles' cannot be read: ")
    refused = logbarrier("experiment", "summary", str(path), "titles")
    assert refused.returncode != 0
    assert "experiment 'titles' cannot be read" in refused.stderr
