"""The HTTP interface of a durable agent."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from ..bandits.durable.durable_agent import DurableAgent
from ..bandits.durable.ledger import Ledger
from ..bandits.durable.log import read_history, read_log
from . import page
from .calls import KNOWN, Body, Call, Calls, check_bearer, refusal
from .committer import Committer
from .compaction import compact_for_ever
from .metrics import Metrics
from .openapi import description

Handler = Callable[[Request], Awaitable[Response]]


class Service:
    """The answers, each a few lines: call the agent, return when it is on disk."""

    def __init__(self, agent: DurableAgent, committer: Committer) -> None:
        self._agent, self._committer = agent, committer
        self._metrics = Metrics(committer)

    async def decide(self, body: Body) -> Body:
        """Draw an arm."""
        available = body.get("available")
        if available is not None and not isinstance(available, list):
            raise ValueError("service: available must be a list of arms")
        decision = await self._committer.do(partial(Ledger.ask, available=available))
        self._metrics.decisions += 1
        return {"id": decision.id, "arm": decision.arm, "probability": decision.probability}

    async def reward(self, body: Body) -> Body:
        """Learn from the reward of a decision."""
        result = await self._committer.do(partial(Ledger.tell, decision=body["id"], reward=body["reward"]))
        self._metrics.rewards[result] += 1
        return {"result": result}

    async def forget(self, body: Body) -> Body:
        """Let go of a decision."""
        await self._committer.do(partial(Ledger.forget, decision=body["id"]))
        return {"result": "forgotten"}

    async def observe(self, body: Body) -> Body:
        """Learn from a pull of another."""
        await self._committer.do(partial(Ledger.observe, **body))
        return {"result": "observed"}

    async def arms(self, body: Body) -> Body:
        """List the arms."""
        return {"arms": await self._committer.do(lambda ledger: ledger.agent.arms)}

    async def add_arm(self, body: Body) -> Body:
        """Add an arm."""
        await self._committer.do(partial(Ledger.add_arm, **body))
        return await self.arms({})

    async def remove_arm(self, body: Body) -> Body:
        """Remove an arm."""
        await self._committer.do(partial(Ledger.remove_arm, **body))
        return await self.arms({})

    async def policy(self, body: Body) -> Body:
        """The probabilities now."""
        now: Body = await self._committer.do(_policy)
        return now

    async def health(self, body: Body) -> Body:
        """Whether the agent answers; nothing else, and to anyone."""
        await self._committer.do(lambda ledger: None)
        return {"status": "ok"}

    async def log(self, request: Request) -> Response:
        """The decisions with their propensities, one JSON object a line."""
        after = request.query_params.get("after", "-1")
        if not after.lstrip("-").isdecimal() or len(after) > 15:
            raise ValueError(f"service: after must be the id of a decision, got {after!r}")
        return StreamingResponse(_lines(read_log(self._agent.path, after=int(after))), media_type="application/x-ndjson")

    async def metrics(self, request: Request) -> Response:
        """Prometheus text."""
        now = await self._committer.do(_policy)
        return PlainTextResponse(self._metrics.text(now), media_type="text/plain; version=0.0.4")

    async def picture(self, request: Request) -> Response:
        """The inner part of the page, drawn on the server."""
        now = await self._committer.do(_policy)
        history = await asyncio.to_thread(read_history, self._agent.path)
        return Response(page.picture(now, history), media_type="text/html")

    async def openapi(self, request: Request) -> Response:
        """The description of this interface."""
        return JSONResponse(description())

    def calls(self) -> dict[str, dict[str, Call]]:
        """What takes and answers JSON."""
        pull = {"arm": True, "reward": True, "probability": False}
        return {
            "/decide": {"POST": Call(self.decide, {"available": False})},
            "/reward": {"POST": Call(self.reward, {"id": True, "reward": True})},
            "/forget": {"POST": Call(self.forget, {"id": True})},
            "/observe": {"POST": Call(self.observe, pull)},
            "/arms": {"GET": Call(self.arms), "POST": Call(self.add_arm, {"arm": True, "probability": False})},
            "/arms/remove": {"POST": Call(self.remove_arm, {"arm": True})},
            "/policy": {"GET": Call(self.policy)},
            "/health": {"GET": Call(self.health, is_open=True)},
        }

    def routes(self, bearer: bytes) -> list[Route]:
        """What answers texts and pages; only the page's frame and the description do not need the token."""
        guarded: dict[str, Handler] = {"/log": self.log, "/metrics": self.metrics, "/picture": self.picture}
        open_to_all: dict[str, Handler] = {"/openapi.json": self.openapi, **page.STATIC}
        routes = [Route(path, _guarded(handler, bearer)) for path, handler in guarded.items()]
        return routes + [Route(path, handler) for path, handler in open_to_all.items()]


def make_app(agent: DurableAgent, token: str, keep: float | None = None) -> Calls:
    """The ASGI application of an open agent; whoever has the token may do everything.

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

    committer = Committer(agent)
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
