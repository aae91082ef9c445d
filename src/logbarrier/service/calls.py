"""JSON calls: the token first, then the size, the JSON and the fields of the body; one sentence where anything is wrong.

Plain ASGI, without a framework in between: most of what the processor does for a decision is HTTP.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from ..agent.durable.database import DEFAULT
from ..agent.durable.decision_file import UnreadableError
from ..agent.durable.ledger import SettledError, StoppedError
from ..base.failure import WrongTypeError
from . import ofrep
from .connection import TRUSTED
from .fields import RefusedError, check_fields
from .operations import OF_EXPERIMENT, Answer, Asked, Body, Headers, Operation

LARGEST_BODY = 64 * 1024
STATUS: dict[type[Exception], int] = {
    SettledError: 409,
    StoppedError: 409,
    KeyError: 404,
    UnreadableError: 503,
    ValueError: 400,
    WrongTypeError: 400,
    OSError: 503,
}
NEEDS_TOKEN = 401, "service: needs the header 'Authorization: Bearer TOKEN'", (b"www-authenticate", b"Bearer")

_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class Call(NamedTuple):
    """An operation and what answers it."""

    operation: Operation
    answer: Callable[[Asked], Awaitable[Body | Answer]]


KNOWN: tuple[type[Exception], ...] = (RefusedError, *STATUS)


def refusal(error: Exception) -> tuple[int, str, Headers]:
    """The status, the sentence and the headers that tell a caller of an error."""
    if isinstance(error, RefusedError):
        status, sentence, *headers = error.args
        return status, sentence, headers
    status = next(STATUS[kind] for kind in STATUS if isinstance(error, kind))
    return status, str(error.args[0] if error.args else error), []


class Calls:
    """Answers the calls in `table`, path -> method -> call; texts: the application that answers at every other path."""

    def __init__(self, table: Mapping[str, Mapping[str, Call]], bearer: bytes, texts: Starlette) -> None:
        self.table, self._bearer, self.texts = table, bearer, texts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI interface."""
        if scope["type"] != "http":
            await self.texts(scope, receive, send)
            return
        methods, name = self.table.get(scope["path"]), DEFAULT
        if methods is None:
            template, name = split_path(scope["path"])
            methods = self.table.get(template)
        if methods is None:
            await self.texts(scope, receive, send)
            return
        headers: Sequence[tuple[bytes, bytes]] = ()
        status, plain, call = 200, None, None
        try:
            call = methods.get("GET" if scope["method"] == "HEAD" else scope["method"])
            if call is None:
                allowed = ", ".join(methods)
                wrong = f"service: {scope['path']} takes {allowed}, got {scope['method']}"
                raise RefusedError(405, wrong, (b"allow", allowed.encode()))
            if not call.operation.is_open:
                check_bearer(scope, self._bearer)
            content = await _content(receive)
            if content is None:
                return
            plain = await call.answer(Asked(name, _body(content, call.operation), scope["headers"]))
            if isinstance(plain, Answer):
                plain, status, headers = plain
        except KNOWN as error:
            status, sentence, headers = refusal(error)
            is_free = call is not None and call.operation.is_free
            plain = ofrep.failure(name, status, sentence) if is_free else {"error": sentence}
        body = b"" if plain is None else _encode(plain).encode()
        head = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json"), *headers]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def split_path(path: str) -> tuple[str, str]:
    """The template of a path with the name of an experiment in it, and that name."""
    prefix, _ = OF_EXPERIMENT.split("{name}")
    if path.startswith(prefix):
        name, slash, rest = path.removeprefix(prefix).partition("/")
        return f"{OF_EXPERIMENT}{slash}{rest}", name
    prefix = f"{ofrep.BULK}/"
    return (ofrep.SINGLE, path.removeprefix(prefix)) if path.startswith(prefix) else (path, DEFAULT)


def check_bearer(scope: Scope, bearer: bytes) -> None:
    """Refuse a request that does not carry the token; bearer: what the header must say, but for the case of 'Bearer'."""
    given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
    if not hmac.compare_digest(given, bearer) and not hmac.compare_digest(_usual(given), bearer):
        raise RefusedError(*NEEDS_TOKEN)
    scope[TRUSTED] = True


def _usual(authorization: bytes) -> bytes:
    """The header with its scheme as 'Bearer ', if it is that scheme in another case or with more spaces."""
    scheme, space, token = authorization.partition(b" ")
    return b"Bearer " + token.lstrip(b" ") if space and scheme.lower() == b"bearer" else authorization


async def _content(receive: Receive) -> bytes | None:
    """The body; None where the caller has hung up."""
    content = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        content += message.get("body", b"")
        if len(content) > LARGEST_BODY:
            raise RefusedError(413, f"service: the body must be at most {LARGEST_BODY} bytes")
        if not message.get("more_body", False):
            return bytes(content)


def _body(content: bytes, operation: Operation) -> Body:
    try:
        plain = json.loads(content) if content else {}
    except (ValueError, RecursionError):
        raise RefusedError(400, "service: the body must be JSON") from None
    if not isinstance(plain, dict):
        raise RefusedError(400, "service: the body must be a JSON object")
    known = {name: value for name, value in plain.items() if name in operation.needed} if operation.is_free else plain
    check_fields(known, operation.needed, operation.optional, operation.one_of)
    return known
