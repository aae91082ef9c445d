"""Running the service: its token, its socket, its log."""

from __future__ import annotations

import gc
import os
import secrets
import signal
import socket
import sys
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from ..agent.durable.decision_file import DecisionFile
from .app import make_app
from .connection import Connection, connection_limits
from .log_lines import log_to_stderr

QUEUE = 512  # connections not yet accepted


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
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, else asyncio leaves Nagle's delay on
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(QUEUE)  # now, so that the address is good as soon as it is printed
    except OSError as error:
        listener.close()
        raise OSError(
            f"serve: cannot listen on {host} port {port}: {error.strerror or error}; --port 0 takes a free one"
        ) from None
    return listener


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Have the kernel queue more connections than the event loop accepts in one round, which is uvicorn's backlog."""
        await super().startup(sockets)
        for listener in sockets or []:
            listener.listen(QUEUE)


def server_of(app: ASGIApp) -> uvicorn.Server:
    """A server with this package's limits on connections."""
    _, at_once = connection_limits()
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        backlog=at_once,
        log_config=None,
        log_level="info",
        access_log=False,
        proxy_headers=False,
        timeout_graceful_shutdown=10,
        server_header=False,
    )
    return _Server(config)


def serve(file: DecisionFile, token: str, listener: socket.socket, keep: float | None = None) -> None:
    """Answer until SIGINT or SIGTERM; requests under way are finished first. The service's log is JSON lines on stderr.

    keep: seconds after which closed decisions are dropped from the journal; None: never.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # once uvicorn has finished, so that the file is closed
    log_to_stderr()
    server = server_of(make_app(file, token, keep))
    gc.collect()
    gc.freeze()  # what is loaded by now lives until the end: collections need not visit it while requests wait
    server.run(sockets=[listener])
