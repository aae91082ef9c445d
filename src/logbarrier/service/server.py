"""Running the service: its token, its socket, its log."""

from __future__ import annotations

import ipaddress
import json
import logging
import os
import secrets
import signal
import socket
import sys
import time
from pathlib import Path

import uvicorn

from ..bandits.durable.durable_agent import DurableAgent
from .app import make_app

LARGEST_HEAD = 16 * 1024
BACKLOG = 2048  # connections that wait to be accepted


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {"time": time.time(), "level": record.levelname.lower(), "message": record.getMessage()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def token_beside(path: Path) -> tuple[str, Path]:
    """The token in path.token, made if there is none and readable only by its owner; and that file."""
    file = path.with_name(path.name + ".token")
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        token = file.read_text().strip()
        if not token:
            raise ValueError(f"serve: {file} is empty; remove it, and a new token will be made") from None
        return token, file
    with os.fdopen(handle, "w") as out:
        out.write(secrets.token_urlsafe(32) + "\n")
    return file.read_text().strip(), file


def bound(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, else asyncio leaves Nagle's delay on
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)  # now, so that the address is good as soon as it is printed
    except OSError as error:
        raise OSError(f"serve: cannot listen on {host} port {port}: {error.strerror or error}") from None
    return listener


def is_local(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(agent: DurableAgent, token: str, listener: socket.socket, keep: float | None = None) -> None:
    """Answer until SIGINT or SIGTERM; requests under way are finished first. The service's log is JSON lines on stderr.

    keep: seconds after which closed decisions are dropped from the journal; None: never.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # once uvicorn has finished, so that the agent is closed
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    logger = logging.getLogger("uvicorn")
    logger.handlers, logger.propagate = [handler], False
    config = uvicorn.Config(
        make_app(agent, token, keep),
        log_config=None,
        log_level="info",
        access_log=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        timeout_graceful_shutdown=10,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listener])
