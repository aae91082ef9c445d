"""A lock belongs to one process: a forked child neither keeps it nor releases it."""

from __future__ import annotations

import contextlib
import subprocess
import sys

import pytest

import logbarrier as lb
from logbarrier.base.file_lock import FileLock
from logbarrier.studies.only_writer import hold

FORK = """
import os, sys
from pathlib import Path
path = Path(sys.argv[1])
{takes}
ready, done = os.pipe()
if os.fork() == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    {child}
    os.write(done, b".")
    sys.stdin.buffer.read()  # alive until the test closes it
    os._exit(0)
os.read(ready, 1)
{parent}
print("ready", flush=True)
{waits}
"""
TAKES_LOCK = "from logbarrier.base.file_lock import FileLock\nlock = FileLock(path, 0o600)\nlock.take('first')"
TAKES_STUDY = "from logbarrier.studies.only_writer import hold\nwriter = hold(path)\nwriter.__enter__()"
TAKES_AGENT = "import logbarrier as lb\nagent = lb.DurableAgent(path, rule=lb.SGB(learning_rate=0.1), arms=['a', 'b'])"
DIES, LIVES = "os._exit(0)", "sys.stdin.buffer.read()"


@contextlib.contextmanager
def forked(path, takes, *, parent="pass", child="pass", waits=LIVES):
    """A process that took a lock, and its forked child, which lives while the block runs."""
    code = FORK.format(takes=takes, parent=parent, child=child, waits=waits)
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        if waits == DIES:
            process.wait(timeout=20)
        yield
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(timeout=20)


@pytest.mark.parametrize(("parent", "waits"), [("pass", DIES), ("lock.release()", LIVES)])
def test_a_lock_is_free_when_its_process_has_died_or_released_it_though_a_child_lives(tmp_path, parent, waits):
    with forked(tmp_path / "lock", TAKES_LOCK, parent=parent, waits=waits):
        second = FileLock(tmp_path / "lock", 0o600)
        second.take("second")
        second.release()


def test_a_child_that_releases_does_not_free_its_parents_lock(tmp_path):
    with forked(tmp_path / "lock", TAKES_LOCK, child="lock.release()"):
        second = FileLock(tmp_path / "lock", 0o600)
        with pytest.raises(BlockingIOError):
            second.take("second")
        second.release()
        assert (tmp_path / "lock").read_text() == "first"


def test_a_study_can_be_written_when_its_writer_is_dead_though_a_child_lives(tmp_path):
    with forked(tmp_path / ".lock", TAKES_STUDY, waits=DIES), hold(tmp_path / ".lock"):
        pass


@pytest.mark.parametrize(("parent", "waits"), [("pass", DIES), ("agent.close()", LIVES)])
def test_an_agent_can_be_opened_when_its_process_has_died_or_closed_it_though_a_child_lives(tmp_path, parent, waits):
    with forked(tmp_path / "agent.db", TAKES_AGENT, parent=parent, waits=waits):
        lb.DurableAgent(tmp_path / "agent.db").close()


def test_a_child_that_uses_an_agent_gets_one_sentence_though_a_thread_held_it_at_the_fork(tmp_path, run_python):
    code = f"""
import os, signal, logbarrier as lb
agent = lb.DurableAgent({str(tmp_path / "agent.db")!r}, rule=lb.SGB(learning_rate=0.1), arms=["a", "b"])
agent.file.commits.turn.acquire()
if os.fork() == 0:
    signal.alarm(10)
    for call in (agent.ask, lambda: agent.perform([])):
        try:
            call()
        except ValueError as error:
            print(error, flush=True)
    agent.close()
    os._exit(0)
os.wait()
"""
    sentence = "DurableAgent: this process is a fork of the one that opened the agent; open it after forking"
    assert run_python(code).splitlines() == [sentence] * 2
