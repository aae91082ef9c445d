"""The HTTP interface of the experiments in a file."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from ..agent.durable.database import DEFAULT
from ..agent.durable.decision_file import DecisionFile
from ..agent.durable.log import read_history, read_log
from . import dashboard
from .calls import KNOWN, Call, Calls, check_bearer, refusal
from .committer import Committer
from .compaction import compact_for_ever
from .decisions import Decisions, policy_now, summary_of
from .management import Management, described, described_all
from .metrics import Metrics, measured
from .ofrep import Ofrep
from .openapi import document
from .operations import LARGEST_ID, operations_of

Handler = Callable[[Request], Awaitable[Response]]


class Texts:
    """What answers with texts: the log, the metrics and the parts of the page."""

    def __init__(self, file: DecisionFile, committer: Committer, metrics: Metrics) -> None:
        self._file, self._committer, self._metrics = file, committer, metrics

    async def log(self, request: Request) -> Response:
        """The decisions with their propensities, one JSON object a line."""
        after, name = _after(request.query_params.multi_items()), request.path_params.get("name", DEFAULT)
        await self._committer.do(lambda file: file.ledger(name))  # there is such an experiment
        rows = read_log(self._file.path, after=after, experiment=name)
        return StreamingResponse(_lines(rows), media_type="application/x-ndjson")

    async def metrics(self, request: Request) -> Response:
        """Prometheus text."""
        text = self._metrics.text(await self._committer.do(measured))
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def overview(self, request: Request) -> Response:
        """The part of the page that lists the experiments."""
        return Response(dashboard.overview(await self._committer.do(described_all)), media_type="text/html")

    async def picture(self, request: Request) -> Response:
        """The part of the page that shows one experiment."""
        name = request.path_params["name"]
        about, now = await self._committer.do(lambda file: (described(name, file.ledger(name)), policy_now(file.ledger(name))))
        summary = await summary_of(self._committer, name)
        history = await asyncio.to_thread(read_history, self._file.path, name)
        return Response(dashboard.picture(about, now["policy"], summary, history), media_type="text/html")

    async def openapi(self, request: Request) -> Response:
        """The description of this interface."""
        return JSONResponse(description())

    def routes(self, bearer: bytes) -> list[Route]:
        """The routes; only the page's frame and the description do not need the token."""
        guarded: dict[str, Handler] = {
            "/log": self.log,
            "/experiments/{name}/log": self.log,
            "/metrics": self.metrics,
            "/overview": self.overview,
            "/experiments/{name}/picture": self.picture,
        }
        open_to_all: dict[str, Handler] = {"/openapi.json": self.openapi, **dashboard.STATIC}
        routes = [Route(path, _guarded(handler, bearer)) for path, handler in guarded.items()]
        return routes + [Route(path, handler) for path, handler in open_to_all.items()]


def description() -> dict[str, Any]:
    """The interface as OpenAPI."""
    return document(operation for operation, _ in operations_of(Decisions, Management, Ofrep))


def make_app(file: DecisionFile, token: str, keep: float | None = None) -> Calls:
    """The ASGI application of an open file; the token permits every call.

    keep: seconds after which closed decisions are dropped from the journal; None: never.
    """
    if not token:
        raise ValueError("service: the token must not be empty")

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(committer.tick())]
        if keep is not None:
            tasks.append(asyncio.create_task(compact_for_ever(committer, keep)))
        yield
        for task in tasks:
            task.cancel()

    committer, bearer = Committer(file), f"Bearer {token}".encode()
    metrics = Metrics(committer)
    table: dict[str, dict[str, Call]] = {}
    for operation, handler in operations_of(Decisions(committer, metrics), Management(committer), Ofrep(committer)):
        table.setdefault(operation.path, {})[operation.method] = Call(operation, handler)
    handlers: dict[Any, Any] = {**dict.fromkeys(KNOWN, _refuse), HTTPException: _refuse_path}
    routes = Texts(file, committer, metrics).routes(bearer)
    return Calls(table, bearer, Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers))


def _guarded(handler: Handler, bearer: bytes) -> Handler:
    async def checked(request: Request) -> Response:
        check_bearer(request.scope, bearer)
        return await handler(request)

    return checked


def _after(query: list[tuple[str, str]]) -> int:
    """The id of a decision in an address; -1, before the first, if there is none."""
    names = [name for name, _ in query]
    if names not in ([], ["after"]):
        raise ValueError(f"service: /log takes one parameter, after, got {', '.join(names)}")
    text = query[0][1] if query else "-1"
    if re.fullmatch("-1|[0-9]{1,16}", text) is None or int(text) > LARGEST_ID:
        raise ValueError(f"service: after must be the id of a decision, got {text!r}")
    return int(text)


def _lines(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row) + "\n"


def _refuse(request: Request, error: Exception) -> Response:
    status, sentence, headers = refusal(error)
    return JSONResponse({"error": sentence}, status, headers={name.decode(): value.decode() for name, value in headers})


def _refuse_path(request: Request, error: HTTPException) -> Response:
    path = request.url.path
    wrong = f"there is nothing at {path}" if error.status_code == 404 else f"{path} does not take {request.method}"
    return JSONResponse({"error": f"service: {wrong}"}, error.status_code, headers=error.headers)
