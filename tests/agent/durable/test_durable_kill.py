"""A killed process loses nothing that was answered."""

from __future__ import annotations

import signal
import subprocess
import sys

import logbarrier as lb

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
