"""Files, options and second processes that a durable agent refuses, in one sentence."""

from __future__ import annotations

import os
import sqlite3

import numpy as np
import pytest
from durable_agents import ARMS, RULE, made

import logbarrier as lb

pytestmark = pytest.mark.usefixtures("no_fsync")


def test_a_second_process_is_refused_in_one_sentence(path, run_python):
    code = f"import logbarrier as lb\ntry:\n    lb.DurableAgent({str(path)!r})\nexcept OSError as error:\n    print(error)"
    with made(path):
        assert run_python(code).startswith(
            f"DurableAgent: {path} is in use by process {os.getpid()}; one process writes at a time"
        )
        with pytest.raises(BlockingIOError, match="is in use by process"):
            lb.DurableAgent(path)
    lb.DurableAgent(path).close()


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
