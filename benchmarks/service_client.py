"""What the benchmarks of the service share: a served agent in a process of its own, and a client that costs little."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

SLOW = """
import sys, time
from logbarrier.agent.durable.sqlite_file import SqliteFile
from logbarrier.cli import main
write = SqliteFile.commit
SqliteFile.commit = lambda *given, **named: (write(*given, **named), time.sleep({seconds}))[0]
main()
"""


class Served:
    """`logbarrier serve` on a free port of this machine.

    slow: seconds that every write takes longer, as on a slower disk; source: the folder src of another version to serve
    """

    def __init__(self, path: Path, *options: str, slow: float = 0.0, source: Path | None = None) -> None:
        program = ["-c", SLOW.format(seconds=slow)] if slow else ["-m", "logbarrier"]
        command = [sys.executable, *program, "serve", str(path), "--port", "0", *options]
        environment = dict(os.environ) if source is None else {**os.environ, "PYTHONPATH": str(source)}
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self.process = subprocess.Popen(command, env=environment, **pipes)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the service did not start (exit code {self.process.wait()})")
        self.port = int(json.loads(line)["address"].rpartition(":")[2])
        self.token = path.with_name(path.name + ".token").read_text().strip()

    def processor_seconds(self) -> float:
        """How much processor time the service has used so far."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    def stop(self) -> None:
        """As Ctrl-C would."""
        self.process.terminate()
        self.process.wait(30)


NEW_AGENT: Sequence[str] = (
    "--arms", "red,green,blue,white,black", "--rule", "log-barrier-sgb", "--learning-rate", "0.1", "--eta", "1000",
)  # fmt: skip


class Connection:
    """One kept-alive HTTP/1.1 connection, which sends JSON and reads JSON."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token

    async def open(self) -> None:
        """Connect."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The JSON answer to a POST; ConnectionError where the service is gone."""
        answer: dict[str, Any] = json.loads(await self.send("POST", path, json.dumps(body).encode()))
        return answer

    async def send(self, method: str, path: str, content: bytes = b"") -> bytes:
        """The body of the answer."""
        head = f"{method} {path} HTTP/1.1\r\nHost: agent\r\nAuthorization: Bearer {self._token}\r\n"
        self._writer.write(head.encode() + f"Content-Length: {len(content)}\r\n\r\n".encode() + content)
        try:
            answer = await self._reader.readuntil(b"\r\n\r\n")
            length = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
            return await self._reader.readexactly(length)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise ConnectionError("the service is gone") from error

    def close(self) -> None:
        """Hang up."""
        self._writer.close()


def fsyncs_per_second(folder: Path, seconds: float, slow: float = 0.0) -> float:
    """How often this disk can append 4 KiB and have it on the medium; slow: seconds that each takes longer."""
    path = folder / "fsync-probe"
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        count, start = 0, time.perf_counter()
        while time.perf_counter() < start + seconds:
            os.write(file, bytes(4096))
            os.fdatasync(file)
            time.sleep(slow)
            count += 1
        return count / (time.perf_counter() - start)
    finally:
        os.close(file)
        path.unlink()
