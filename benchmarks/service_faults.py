"""Kill the service with SIGKILL again and again under load, and count what was lost or counted twice. It must print zeros.

Eight connections ask and tell without pause, on any of 20 experiments in one file, half of the time for a subject; what they
saw no answer to, they tell again after the restart. The same is done with a disk that fills up (a limit on the size of files)
and with a clock set back by an hour before every restart.

python benchmarks/service_faults.py [--kills 200] [--experiments 20] [--fault 'kill -9'] [--folder .] [--json]
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


Key = tuple[str, int]  # the name of an experiment and the id of a decision


@dataclass
class Seen:
    """What the clients were answered, and what they must tell again."""

    names: list[str]
    decisions: dict[Key, tuple[str, float]] = field(default_factory=dict)
    rewards: dict[Key, float] = field(default_factory=dict)
    unanswered: dict[Key, float] = field(default_factory=dict)
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


def child(path: Path, listener: socket.socket, fault: str, turn: int, names: list[str]) -> None:
    """The service, in a process that will be killed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    back = 3600.0 * turn if fault == "clock set back" else 0.0
    experiments = lb.Experiments(path, clock=lambda: time.time() - back)
    for name in names:
        if name not in experiments:
            kind: dict[str, Any] = {"features": FEATURES} if fault == WITH_CONTEXTS else {"rule": RULE}
            experiments.create(name, arms=ARMS, ttl=86400.0, **kind)
    if fault == "full disk":
        written = max(os.path.getsize(file) for file in (path, Path(f"{path}-wal")) if file.exists())
        limit = written + random.randrange(40_000)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    serve(experiments.file, TOKEN, listener)


async def client(port: int, seen: Seen, fault: str) -> None:
    """Ask and tell until the service is gone."""
    connection = Connection(port, TOKEN)
    try:
        await connection.open()
        while True:
            for key, reward in list(seen.unanswered.items())[:1]:
                del seen.unanswered[key]
                await tell(connection, seen, key, reward)
            name = random.choice(seen.names)
            subject = {"subject": str(random.random())} if random.random() < 0.5 else {}
            context = {"context": {"age": random.gauss(40, 10), "country": f"c{random.randrange(30)}"}}
            decision = await connection.post(
                f"/experiments/{name}/decide", subject | (context if fault == WITH_CONTEXTS else {})
            )
            if "id" not in decision:
                seen.refused += 1
                continue
            key = name, decision["id"]
            seen.ids_twice += key in seen.decisions
            seen.decisions[key] = decision["arm"], decision["probability"]
            await tell(connection, seen, key, random.random())
    except ConnectionError:
        pass
    finally:
        connection.close()


async def tell(connection: Connection, seen: Seen, key: Key, reward: float) -> None:
    """Tell a reward; without an answer it stays to be sent."""
    try:
        answer = await connection.post(f"/experiments/{key[0]}/reward", {"id": key[1], "reward": reward})
    except ConnectionError:
        seen.unanswered[key] = reward
        raise
    if "result" in answer:
        seen.rewards[key] = reward
    else:
        seen.unanswered[key] = reward
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
    with lb.Experiments(path) as experiments:
        rows = {(name, row["id"]): row for name in seen.names for row in experiments[name].log()}
        told = sum(row["outcome"] == "told" for row in rows.values())
        agents = [experiments[name] for name in seen.names]
        return Verdict(
            fault=fault,
            kills=kills,
            refused=seen.refused,
            acknowledged_decisions=len(seen.decisions),
            acknowledged_rewards=len(seen.rewards),
            lost_decisions=sum(
                key not in rows or (rows[key]["arm"], rows[key]["probability"]) != what for key, what in seen.decisions.items()
            ),
            lost_rewards=sum(rows[key]["reward"] != reward for key, reward in seen.rewards.items()),
            counted_twice=seen.ids_twice + abs(sum(agent.updates for agent in agents) - told),
            closed_early=sum(row["outcome"] == "expired" for row in rows.values()),
            replay_equal_to_the_bit=all(agent.replayed().state_dict() == agent.state_dict() for agent in agents),
        )


def suffer(folder: Path, fault: str, kills: int, experiments: int) -> Verdict:
    """One fault, so many kills."""
    names = [f"experiment-{i}" for i in range(experiments)]
    path, seen, listener = folder / f"{fault.replace(' ', '-')}.db", Seen(names), bound("127.0.0.1", 0)
    for turn in range(kills):
        pid = os.fork()
        if pid == 0:
            random.seed(turn)
            try:
                child(path, listener, fault, turn, names)
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
    parser.add_argument("--experiments", type=int, default=20)
    parser.add_argument("--fault", choices=FAULTS, action="append", help="all by default")
    parser.add_argument("--folder", type=Path, default=Path(), help="on the disk to try")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    verdicts: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for fault in options.fault or FAULTS:
            verdicts.append(asdict(suffer(Path(folder), fault, options.kills, options.experiments)))
            if not options.json:
                print(", ".join(f"{name} {value}" for name, value in verdicts[-1].items()), flush=True)
    if options.json:
        print(json.dumps(verdicts, indent=1))
    harmed = any(v[name] for v in verdicts for name in ("lost_decisions", "lost_rewards", "counted_twice", "closed_early"))
    raise SystemExit(harmed or not all(v["replay_equal_to_the_bit"] for v in verdicts))


if __name__ == "__main__":
    main()
