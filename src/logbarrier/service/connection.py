"""An HTTP connection with limits: on the number of connections, the size of a request, and the time a client may take.

Uvicorn has no deadline for a request, and with httptools no limit on the size of its head.
"""

from __future__ import annotations

import asyncio
import json
import math
import resource
from http import HTTPStatus
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

LARGEST_HEAD = 16 * 1024  # bytes of a request line and its headers
LARGEST_REST = 512 * 1024  # bytes after the head: a body of at most 64 KiB, even in chunks of one byte
DEADLINE = 10.0  # seconds in which a request must arrive, and in which a client must read what was sent
KEEP_ALIVE = 5.0  # seconds after an answer, if no byte of the next request has come
LINGER = 1.0  # seconds that a refused client has to read the answer
MOST_CONNECTIONS = 2048
MOST_ACCEPTED = 128  # connections that the event loop accepts in one round
MOST_PIPELINED = 100  # requests sent before the answer to the first
TRUSTED = "logbarrier.trusted"  # in the scope of a request with the token

# Called for every request; super() would take twice as long.
_data_received = HttpToolsProtocol.data_received
_on_message_complete = HttpToolsProtocol.on_message_complete
_on_response_complete = HttpToolsProtocol.on_response_complete


def connection_limits() -> tuple[int, int]:
    """Return how many connections may be open, and how many may be accepted in one round of the event loop.

    Both are derived from the limit on open files: it takes about four rounds to close a connection too many.
    """
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS, MOST_ACCEPTED
    return min(MOST_CONNECTIONS, files // 2), min(MOST_ACCEPTED, files // 16)


class JoinedWrites:
    """A transport that sends the head of an answer together with the body that follows: one system call in place of two."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport, self._head = transport, b""
        self._write, self.is_closing, self.get_extra_info = transport.write, transport.is_closing, transport.get_extra_info
        self.pause_reading, self.resume_reading, self.abort = transport.pause_reading, transport.resume_reading, transport.abort

    def write(self, data: bytes) -> None:
        """Send data, except the head of an answer, which waits for the next call."""
        if self._head:
            self._write(self._head + data)
            self._head = b""
        elif data.startswith(b"HTTP/1.1 ") and not data.startswith(b"HTTP/1.1 100 "):
            self._head = data
        else:
            self._write(data)

    def flush(self) -> None:
        """Send a head that has no body."""
        if self._head:
            self.write(b"")

    def close(self) -> None:
        """Close once everything is sent."""
        self.flush()
        self._transport.close()


class Connection(HttpToolsProtocol):
    """Refuses a head above LARGEST_HEAD with 431, and a request that takes longer than DEADLINE with 408.

    One connection above the limit closes the one that has been idle longest. Idle: the client has to send or to read.
    Connections that never carried the token are closed before all others.
    """

    # __slots__, so that uvicorn's attributes stay in a compact dict.
    __slots__ = ("_finished", "_idle_since", "_in_rest", "_joined", "_left", "_refused", "_timer", "_trusted")

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._finished: RequestResponseCycle | None = None  # the last request that has arrived whole
        self._left, self._in_rest = LARGEST_HEAD, False  # bytes that may still come, and whether they are those after a head
        self._refused = self._trusted = False
        self._idle_since = math.inf  # in the loop's time; infinite while the service has to act

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._joined = JoinedWrites(transport)
        super().connection_made(cast(asyncio.Transport, self._joined))
        self._set_idle()
        self._timer = self.loop.call_later(min(DEADLINE, KEEP_ALIVE), self._check_deadline)
        most, _ = connection_limits()
        if len(self.connections) > most:
            self._close_the_longest_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if len(data) < self._left:
            self._left -= len(data)
            _data_received(self, data)
            return
        while data and not self._refused:
            part, data = data[: self._left], data[self._left :]
            self._left -= len(part)
            super().data_received(part)
            if self._left == 0:
                self._go_on_or_refuse()

    def _in_head(self) -> bool:
        return self.cycle is self._finished

    def _go_on_or_refuse(self) -> None:
        if self._in_head():
            self._refuse(431, f"the head of a request must have at most {LARGEST_HEAD} bytes")
        elif not self._in_rest:
            self._left, self._in_rest = LARGEST_REST, True
        else:
            self._refuse(413, f"what follows the head of a request must have at most {LARGEST_REST} bytes")

    def on_message_complete(self) -> None:
        _on_message_complete(self)
        self._left, self._in_rest, self._finished = LARGEST_HEAD, False, self.cycle
        if not self.cycle.response_complete and not self.flow.write_paused:
            self._idle_since = math.inf
        if len(self.pipeline) > MOST_PIPELINED:
            self._refuse(400, f"at most {MOST_PIPELINED} requests may be pipelined")

    def on_response_complete(self) -> None:
        if not self._trusted:
            self._trusted = TRUSTED in self.cycle.scope
        self._joined.flush()
        if self.pipeline:
            _on_response_complete(self)
        else:  # as uvicorn does, but without a timer per answer: `_check_deadline` closes idle connections
            self.server_state.total_requests += 1
            self.flow.resume_reading()
        self._set_idle()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._set_idle()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._set_idle()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "the request must be HTTP/1.1")

    def _set_idle(self) -> None:
        cycle = self.cycle
        answering = cycle is not None and not cycle.response_complete and not cycle.more_body
        self._idle_since = math.inf if answering and not self.flow.write_paused else self.loop.time()

    def _check_deadline(self) -> None:
        between_requests = self._left == LARGEST_HEAD and self.cycle is not None and self.cycle.response_complete
        left = self._idle_since + (KEEP_ALIVE if between_requests else DEADLINE) - self.loop.time()
        if left > 0:
            self._timer = self.loop.call_later(min(left, KEEP_ALIVE), self._check_deadline)
        elif between_requests:
            self.transport.close()
            self._timer = self.loop.call_later(LINGER, self.transport.abort)
        else:
            self._refuse(408, f"a request must arrive within {DEADLINE:g} seconds")

    def _close_the_longest_idle(self) -> None:
        others = [each for each in self.connections if isinstance(each, Connection)]
        longest = min(others, key=lambda each: (math.isinf(each._idle_since), each._trusted, each._idle_since))
        self.connections.discard(longest)
        longest.transport.abort()
        self.logger.warning("service: %d connections are open, the most allowed; an idle one was closed", len(self.connections))

    def _refuse(self, status: int, sentence: str) -> None:
        """Answer and close. The client has a moment to read the answer, since closing at once may discard it."""
        self._refused = True
        self._timer.cancel()
        self.flow.pause_reading()
        cycle = self.cycle
        if cycle is None or (cycle.response_complete and self._in_head()) or self._awaits_body():
            body = json.dumps({"error": f"service: {sentence}"})
            head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nconnection: close\r\ncontent-type: application/json\r\n"
            self.transport.write(f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())
            self._joined.flush()
        self._timer = self.loop.call_later(LINGER, self.transport.abort)

    def _awaits_body(self) -> bool:
        """Whether the one request under way has no answer yet, because its body is not complete."""
        cycle = self.cycle
        return cycle.more_body and not cycle.response_started and not cycle.response_complete and not self.pipeline
