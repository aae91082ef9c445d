"""What callers without the token can do to the service: half-open requests, and heads that never end.

Half-open: with at most 1024 open files, 1100 connections send half a head and are opened again when they are closed. Meanwhile
one client per tenth of a second makes a call with the token on a new connection. Counted: calls answered, and bytes on stderr.
Heads: one connection sends headers without end. Counted: bytes sent until the service answers or hangs up.

python benchmarks/service_abuse.py [--seconds 20] [--json]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import select
import socket
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from service_client import NEW_AGENT

FILES = 1024
HALF_OPEN = 1100
PATIENCE = 5.0  # seconds that a call may take
MOST_BYTES = 300_000_000


class Victim:
    """A served agent that may have 1024 files open; its stderr is a file."""

    def __init__(self, folder: Path) -> None:
        self.errors = folder / "stderr"
        command = [sys.executable, "-m", "logbarrier", "serve", str(folder / "agent.db"), "--port", "0", *NEW_AGENT]
        limit = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (FILES, FILES))
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, preexec_fn=limit)
        assert self.process.stdout is not None
        self.port = int(json.loads(self.process.stdout.readline())["address"].rpartition(":")[2])
        self.token = (folder / "agent.db.token").read_text().strip()

    def is_answered(self) -> bool:
        """Make one call on a new connection."""
        head = f"POST /decide HTTP/1.1\r\nHost: agent\r\nAuthorization: Bearer {self.token}\r\nContent-Length: 2\r\n\r\n"
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as client:
                client.sendall(head.encode() + b"{}")
                return client.recv(4096).startswith(b"HTTP/1.1 200")
        except OSError:
            return False

    def half_open(self) -> socket.socket:
        """Send half a head."""
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", self.port))
        return client


def half_open_requests(victim: Victim, seconds: float) -> dict[str, int]:
    """Keep HALF_OPEN requests half open for some seconds; count the calls of another client that are answered."""
    poll, clients = select.poll(), dict[int, socket.socket]()
    opened = calls = answered = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        while len(clients) < HALF_OPEN:
            client = victim.half_open()
            clients[client.fileno()] = client
            poll.register(client, select.POLLIN | select.POLLOUT)
            opened += 1
        next_call = time.monotonic() + 0.1
        for number, event in poll.poll(0):
            if event & (select.POLLHUP | select.POLLERR | select.POLLIN):
                poll.unregister(number)
                clients.pop(number).close()
            else:
                poll.modify(number, select.POLLIN)
                with contextlib.suppress(OSError):
                    clients[number].send(b"POST /decide HTTP/1.1\r\nHost: ")
        calls += 1
        answered += victim.is_answered()
        time.sleep(max(0.0, next_call - time.monotonic()))
    for client in clients.values():
        client.close()
    return {"opened": opened, "calls": calls, "answered": answered, "stderr_bytes": victim.errors.stat().st_size}


def endless_head(victim: Victim) -> dict[str, int | str]:
    """Send headers until the service answers or hangs up."""
    sent, said = 0, b""
    with socket.create_connection(("127.0.0.1", victim.port), timeout=PATIENCE) as client:
        client.sendall(b"GET /health HTTP/1.1\r\n")
        with contextlib.suppress(OSError):
            while sent < MOST_BYTES and not select.select([client], [], [], 0)[0]:
                client.sendall(b"X: %b\r\n" % (b"x" * 1000))
                sent += 1005
            said = client.recv(4096)
    return {"bytes_sent": sent, "answer": said.partition(b"\r\n")[0].decode()}


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        victim = Victim(Path(folder))
        try:
            found = {
                "head": endless_head(victim),
                "half_open": half_open_requests(victim, options.seconds),
                "answered afterwards": victim.is_answered(),
            }
        finally:
            victim.process.kill()
            victim.process.wait()
    if options.json:
        print(json.dumps(found, indent=1))
        return
    for name, counts in found.items():
        print(f"{name}: {counts}")


if __name__ == "__main__":
    main()
