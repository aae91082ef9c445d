"""How many decide-and-reward cycles a second the service answers, each on disk twice, next to the disk's own fsync rate.

The last two columns are processor time per cycle; they hardly depend on what else the machine does.
With --slow 8, every write and every probe of the disk takes 8 ms longer, as on a slower or busier disk.
With --experiments 20, the same load is also put on 20 experiments of one file, each connection on one of them.
With --rival other/src, another version of the package is measured between, on its one agent.

python benchmarks/service_load.py [--seconds 10] [--slow 8] [--experiments 20] [--rival other/src] [--folder .] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import selectors
import socket
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from service_client import NEW_AGENT, Connection, Served, fsyncs_per_second

CONNECTIONS = (1, 32, 256)
HYPER = {"learning_rate": 0.1, "eta": 1000.0}
WARM_UP = 1.0  # seconds, not counted


class Cycling:
    """A kept-alive connection that asks and tells without pause; raw bytes, so that the client costs the service little."""

    def __init__(self, port: int, token: str, prefix: bytes = b"") -> None:
        self._prefix = prefix
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = f" HTTP/1.1\r\nHost: agent\r\nAuthorization: Bearer {token}\r\nContent-Length: ".encode()
        self._received = b""
        self._ask()

    def _ask(self) -> None:
        self._asking, self._start = True, time.perf_counter()
        self._post(self._prefix + b"/decide", b"{}")

    def _post(self, path: bytes, body: bytes) -> None:
        self.socket.sendall(b"POST %b%b%d\r\n\r\n%b" % (path, self._head, len(body), body))

    def step(self) -> tuple[float, float] | None:
        """Read what has come; when the cycle began and ended, if that ended one."""
        self._received += self.socket.recv(4096)
        _, _, body = self._received.partition(b"\r\n\r\n")
        if not body.endswith(b"}"):  # head and body come in two pieces
            return None
        self._received = b""
        if self._asking:
            self._asking = False
            self._post(self._prefix + b"/reward", b'{"id": %d, "reward": 0.5}' % json.loads(body)["id"])
            return None
        if body != b'{"result":"told"}':
            raise SystemExit(f"the service answered {body!r}")
        cycle = self._start, time.perf_counter()
        self._ask()
        return cycle


def cycles(served: Served, count: int, seconds: float, prefixes: Sequence[bytes]) -> tuple[list[float], float, float]:
    """The seconds that each cycle of `count` connections took, and processor seconds per cycle, of service and client."""
    connections = [Cycling(served.port, served.token, prefixes[i % len(prefixes)]) for i in range(count)]
    begin = time.perf_counter() + WARM_UP
    taken: list[float] = []
    before: tuple[float, float] | None = None
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection.socket, selectors.EVENT_READ, connection)
        while (now := time.perf_counter()) < begin + seconds:
            if before is None and now >= begin:
                before = served.processor_seconds(), time.process_time()
            for key, _ in selector.select(1.0):
                cycle = key.data.step()
                if cycle is not None and cycle[0] >= begin:
                    taken.append(cycle[1] - cycle[0])
    assert before is not None
    spent = served.processor_seconds() - before[0], time.process_time() - before[1]
    for connection in connections:
        connection.socket.close()
    return taken, spent[0] / len(taken), spent[1] / len(taken)


async def batches(port: int, token: str) -> int:
    """How many batches the service has written so far."""
    connection = Connection(port, token)
    await connection.open()
    text = (await connection.send("GET", "/metrics")).decode()
    connection.close()
    return int(text.partition("\nlogbarrier_batches_total ")[2].partition("\n")[0])


async def create(port: int, token: str, count: int) -> list[bytes]:
    """Create so many experiments; the beginnings of their paths."""
    connection = Connection(port, token)
    await connection.open()
    for i in range(count):
        body = {"name": f"e{i}", "arms": NEW_AGENT[1].split(","), "rule": {"rule": "log-barrier-sgb", **HYPER}}
        await connection.post("/experiments", body)
    connection.close()
    return [b"/experiments/e%d" % i for i in range(count)]


def measured(folder: Path, seconds: float, slow: float, experiments: int, rival: Path | None) -> dict[str, Any]:
    """The table as plain values; the disk is measured before and after each load."""
    subjects = {"one agent": (Served(folder / "agent.db", *NEW_AGENT, slow=slow), [b""])}
    if rival is not None:
        subjects["rival"] = Served(folder / "rival.db", *NEW_AGENT, slow=slow, source=rival), [b""]
    if experiments:
        served = Served(folder / "many.db", slow=slow)
        subjects[f"{experiments} experiments"] = served, asyncio.run(create(served.port, served.token, experiments))
    rows, rate = [], fsyncs_per_second(folder, 3.0, slow)
    for count, (subject, (served, prefixes)) in itertools.product(CONNECTIONS, subjects.items()):
        before = asyncio.run(batches(served.port, served.token))
        taken, of_service, of_client = cycles(served, count, seconds, prefixes)
        written = (asyncio.run(batches(served.port, served.token)) - before) * seconds / (seconds + WARM_UP)
        after = fsyncs_per_second(folder, 3.0, slow)
        fsyncs, rate = (rate + after) / 2, after
        p50, p99 = np.quantile(taken, [0.5, 0.99]) * 1e3
        rows.append(
            {
                "subject": subject,
                "connections": count,
                "cycles_per_second": len(taken) / seconds,
                "p50_ms": float(p50),
                "p99_ms": float(p99),
                "fsyncs_per_second": fsyncs,
                "cycles_per_fsync": len(taken) / seconds / fsyncs,
                "cycles_per_write": len(taken) / written,
                "service_us": of_service * 1e6,
                "client_us": of_client * 1e6,
            }
        )
    for served, _ in subjects.values():
        served.stop()
    return {"seconds": seconds, "slow": slow, "rows": rows}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--slow", type=float, default=0.0, help="milliseconds")
    parser.add_argument("--experiments", type=int, default=0)
    parser.add_argument("--rival", type=Path, default=None, help="the folder src of another version")
    parser.add_argument("--folder", type=Path, default=Path(), help="on the disk to measure")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        table = measured(Path(folder), options.seconds, options.slow / 1e3, options.experiments, options.rival)
    if options.json:
        print(json.dumps(table, indent=1))
        return
    print("subject         connections  cycles/s  p50 ms  p99 ms  fsyncs/s  per fsync  per write  service us  client us")
    for row in table["rows"]:
        cycled = f"{row['cycles_per_second']:8.0f}  {row['p50_ms']:6.1f}  {row['p99_ms']:6.1f}"
        shared = f"{row['fsyncs_per_second']:8.0f}  {row['cycles_per_fsync']:9.1f}  {row['cycles_per_write']:9.1f}"
        print(
            f"{row['subject']:14s}  {row['connections']:11d}  {cycled}  {shared}  "
            f"{row['service_us']:10.0f}  {row['client_us']:9.0f}"
        )


if __name__ == "__main__":
    main()
