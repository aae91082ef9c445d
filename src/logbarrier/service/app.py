"""The HTTP interface of a durable agent."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from ..agent.durable.database import DEFAULT
from ..agent.durable.durable_agent import DurableAgent
from ..agent.durable.ledger import Ledger
from ..agent.durable.log import read_history, read_log
from . import dashboard
from .calls import KNOWN, Body, Call, Calls, check_bearer, refusal
from .committer import Committer
from .compaction import compact_for_ever
from .metrics import Metrics
from .openapi import LARGEST_ID, OPERATIONS, description

Handler = Callable[[Request], Awaitable[Response]]


class Service:
    """The answers, each a few lines: call the agent, return when it is on disk."""

    def __init__(self, agent: DurableAgent, committer: Committer) -> None:
        self._agent, self._committer = agent, committer
        self._metrics = Metrics(committer)

    async def _do(self, call: Callable[[Ledger], Any]) -> Any:
        return await self._committer.do(lambda file: call(file.ledger(DEFAULT)))

    async def decide(self, body: Body) -> Body:
        """Draw an arm."""
        decision = await self._do(partial(Ledger.ask, **body))
        self._metrics.decisions += 1
        return {"id": decision.id, "arm": decision.arm, "probability": decision.probability}

    async def reward(self, body: Body) -> Body:
        """Learn from the reward of a decision."""
        result = await self._do(partial(Ledger.tell, decision=int(body["id"]), reward=body["reward"]))
        self._metrics.rewards[result] += 1
        return {"result": result}

    async def forget(self, body: Body) -> Body:
        """Drop a decision that will have no reward."""
        return {"result": await self._do(partial(Ledger.forget, decision=int(body["id"])))}

    async def observe(self, body: Body) -> Body:
        """Learn from a pull of another."""
        await self._do(partial(Ledger.observe, **body))
        return {"result": "observed"}

    async def arms(self, body: Body) -> Body:
        """List the arms."""
        return {"arms": await self._do(lambda ledger: ledger.agent.arms)}

    async def add_arm(self, body: Body) -> Body:
        """Add an arm."""
        await self._do(partial(Ledger.add_arm, **body))
        return await self.arms({})

    async def remove_arm(self, body: Body) -> Body:
        """Remove an arm."""
        await self._do(partial(Ledger.remove_arm, **body))
        return await self.arms({})

    async def policy(self, body: Body) -> Body:
        """The probabilities now."""
        now: Body = await self._do(_policy)
        return now

    async def health(self, body: Body) -> Body:
        """Whether the agent answers; nothing else, and to anyone."""
        await self._do(lambda ledger: None)
        return {"status": "ok"}

    async def log(self, request: Request) -> Response:
        """The decisions with their propensities, one JSON object a line."""
        after = _after(request.query_params.multi_items())
        return StreamingResponse(_lines(read_log(self._agent.path, after=after)), media_type="application/x-ndjson")

    async def metrics(self, request: Request) -> Response:
        """Prometheus text."""
        now = await self._do(_policy)
        return PlainTextResponse(self._metrics.text(now), media_type="text/plain; version=0.0.4")

    async def picture(self, request: Request) -> Response:
        """The inner part of the page, rendered on the server."""
        now = await self._do(_policy)
        history = await asyncio.to_thread(read_history, self._agent.path)
        return Response(dashboard.picture(now, history), media_type="text/html")

    async def openapi(self, request: Request) -> Response:
        """The description of this interface."""
        return JSONResponse(description())

    def calls(self) -> dict[str, dict[str, Call]]:
        """What takes and answers JSON: path -> method -> call."""
        handlers = {
            ("POST", "/decide"): self.decide,
            ("POST", "/reward"): self.reward,
            ("POST", "/forget"): self.forget,
            ("POST", "/observe"): self.observe,
            ("GET", "/arms"): self.arms,
            ("POST", "/arms"): self.add_arm,
            ("POST", "/arms/remove"): self.remove_arm,
            ("GET", "/policy"): self.policy,
            ("GET", "/health"): self.health,
        }
        table: dict[str, dict[str, Call]] = {}
        for (method, path), handler in handlers.items():
            operation = OPERATIONS[method, path]
            call = Call(handler, operation.needed, operation.optional, operation.is_open)
            table.setdefault(path, {})[method] = call
        return table

    def routes(self, bearer: bytes) -> list[Route]:
        """What answers texts and pages; only the page's frame and the description do not need the token."""
        guarded: dict[str, Handler] = {"/log": self.log, "/metrics": self.metrics, "/picture": self.picture}
        open_to_all: dict[str, Handler] = {"/openapi.json": self.openapi, **dashboard.STATIC}
        routes = [Route(path, _guarded(handler, bearer)) for path, handler in guarded.items()]
        return routes + [Route(path, handler) for path, handler in open_to_all.items()]


def make_app(agent: DurableAgent, token: str, keep: float | None = None) -> Calls:
    """The ASGI application of an open agent; the token permits every call.

    keep: seconds after which closed decisions are dropped from the journal; None: never.
    """
    if not token:
        raise ValueError("service: the token must not be empty")

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(committer.run())]
        if keep is not None:
            tasks.append(asyncio.create_task(compact_for_ever(committer, keep)))
        yield
        for task in tasks:
            task.cancel()

    committer = Committer(agent._file)
    service, bearer = Service(agent, committer), f"Bearer {token}".encode()
    handlers: dict[Any, Any] = {**dict.fromkeys(KNOWN, _refuse), HTTPException: _refuse_path}
    texts = Starlette(routes=service.routes(bearer), lifespan=lifespan, exception_handlers=handlers)
    return Calls(service.calls(), bearer, texts)


def _guarded(handler: Handler, bearer: bytes) -> Handler:
    async def checked(request: Request) -> Response:
        check_bearer(request.scope, bearer)
        return await handler(request)

    return checked


def _policy(ledger: Ledger) -> dict[str, Any]:
    agent = ledger.agent
    return {
        "arms": agent.arms,
        "policy": agent.policy.tolist(),
        "updates": agent.updates,
        "pending": len(agent.pending),
        "rule": agent.rule.to_dict(),
    }


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
