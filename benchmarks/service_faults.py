"""Kill the service with SIGKILL again and again under load, and count what was lost or counted twice. It must print zeros.

Eight connections ask and tell without pause; what they saw no answer to, they tell again after the restart. The same is done
with a disk that fills up (a limit on the size of files) and with a clock set back by an hour before every restart.

python benchmarks/service_faults.py [--kills 200] [--faults "kill -9, contexts"] [--folder .] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import signal
import socket
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import logbarrier as lb
from logbarrier.service.server import bound, serve
from service_client import Connection

CLIENTS = 8
TOKEN = "benchmark"
RULE = lb.LogBarrierSGB(learning_rate=0.1, eta=1000)
ARMS = ["red", "green", "blue", "white", "black"]
WITH_CONTEXTS = "kill -9, contexts"
FAULTS = ("kill -9", WITH_CONTEXTS, "full disk", "clock set back")
FEATURES = {"age": "number", "country": "category"}


@dataclass
class Seen:
    """What the clients were answered, and what they must tell again."""

    decisions: dict[int, tuple[str, float]] = field(default_factory=dict)
    rewards: dict[int, float] = field(default_factory=dict)
    unanswered: dict[int, float] = field(default_factory=dict)
    ids_twice: int = 0
    refused: int = 0


@dataclass
class Verdict:
    """What a fault did."""

    fault: str
    kills: int
    refused: int
    acknowledged_decisions: int
    acknowledged_rewards: int
    lost_decisions: int
    lost_rewards: int
    counted_twice: int
    closed_early: int
    replay_equal_to_the_bit: bool


def child(path: Path, listener: socket.socket, fault: str, turn: int) -> None:
    """The service, in a process that will be killed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    back = 3600.0 * turn if fault == "clock set back" else 0.0
    kind: dict[str, Any] = {"features": FEATURES} if fault == WITH_CONTEXTS else {"rule": RULE}
    agent = lb.DurableAgent(path, arms=ARMS, seed=0, ttl=86400.0, clock=lambda: time.time() - back, **kind)
    if fault == "full disk":
        written = max(os.path.getsize(file) for file in (path, Path(f"{path}-wal")) if file.exists())
        limit = written + random.randrange(40_000)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    serve(agent.file, TOKEN, listener)


async def client(port: int, seen: Seen, fault: str) -> None:
    """Ask and tell until the service is gone."""
    connection = Connection(port, TOKEN)
    try:
        await connection.open()
        while True:
            for identity, reward in list(seen.unanswered.items())[:1]:
                del seen.unanswered[identity]
                await tell(connection, seen, identity, reward)
            context = {"context": {"age": random.gauss(40, 10), "country": f"c{random.randrange(30)}"}}
            decision = await connection.post("/decide", context if fault == WITH_CONTEXTS else {})
            if "id" not in decision:
                seen.refused += 1
                continue
            seen.ids_twice += decision["id"] in seen.decisions
            seen.decisions[decision["id"]] = decision["arm"], decision["probability"]
            await tell(connection, seen, decision["id"], random.random())
    except ConnectionError:
        pass
    finally:
        connection.close()


async def tell(connection: Connection, seen: Seen, identity: int, reward: float) -> None:
    """Tell a reward; without an answer it stays to be sent."""
    try:
        answer = await connection.post("/reward", {"id": identity, "reward": reward})
    except ConnectionError:
        seen.unanswered[identity] = reward
        raise
    if "result" in answer:
        seen.rewards[identity] = reward
    else:
        seen.unanswered[identity] = reward
        seen.refused += 1


async def load(port: int, seen: Seen, pid: int, seconds: float, fault: str) -> None:
    """Clients at work until the service, `seconds` after its first answer, is killed."""
    before = len(seen.decisions) + seen.refused
    clients = [asyncio.create_task(client(port, seen, fault)) for _ in range(CLIENTS)]
    while len(seen.decisions) + seen.refused == before and not all(task.done() for task in clients):
        await asyncio.sleep(0.005)
    await asyncio.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    await asyncio.gather(*clients)


def verdict(path: Path, fault: str, kills: int, seen: Seen) -> Verdict:
    """Compare what was answered with what is there."""
    with lb.DurableAgent(path) as agent:
        rows = {row["id"]: row for row in agent.log()}
        told = sum(row["outcome"] == "told" for row in rows.values())
        replayed = agent.replayed()
        return Verdict(
            fault=fault,
            kills=kills,
            refused=seen.refused,
            acknowledged_decisions=len(seen.decisions),
            acknowledged_rewards=len(seen.rewards),
            lost_decisions=sum(
                identity not in rows or (rows[identity]["arm"], rows[identity]["probability"]) != what
                for identity, what in seen.decisions.items()
            ),
            lost_rewards=sum(rows[identity]["reward"] != reward for identity, reward in seen.rewards.items()),
            counted_twice=seen.ids_twice + abs(agent.updates - told),
            closed_early=sum(row["outcome"] == "expired" for row in rows.values()),
            replay_equal_to_the_bit=replayed.state_dict() == agent.state_dict(),
        )


def suffer(folder: Path, fault: str, kills: int) -> Verdict:
    """One fault, so many kills."""
    path, seen, listener = folder / f"{fault.replace(' ', '-')}.db", Seen(), bound("127.0.0.1", 0)
    for turn in range(kills):
        pid = os.fork()
        if pid == 0:
            random.seed(turn)
            try:
                child(path, listener, fault, turn)
            finally:
                os._exit(1)
        asyncio.run(load(listener.getsockname()[1], seen, pid, random.uniform(0.0, 0.3), fault))
        os.waitpid(pid, 0)
    listener.close()
    return verdict(path, fault, kills, seen)


def main() -> None:
    """Print a verdict per fault; exit code 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--folder", type=Path, default=Path(), help="on the disk to try")
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=FAULTS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    verdicts: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for fault in options.faults:
            verdicts.append(asdict(suffer(Path(folder), fault, options.kills)))
            if not options.json:
                print(", ".join(f"{name} {value}" for name, value in verdicts[-1].items()), flush=True)
    if options.json:
        print(json.dumps(verdicts, indent=1))
    harmed = any(v[name] for v in verdicts for name in ("lost_decisions", "lost_rewards", "counted_twice", "closed_early"))
    raise SystemExit(harmed or not all(v["replay_equal_to_the_bit"] for v in verdicts))


if __name__ == "__main__":
    main()
