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
from ..bandits.durable.ledger import Ledger, SettledError
from ..bandits.durable.log import read_history, read_log
from . import page
from .committer import Committer
from .compaction import compact_for_ever
from .metrics import Metrics
from .openapi import description
from .requests import body_of, check_bearer

Handler = Callable[[Request], Awaitable[Response]]
STATUS: dict[type[Exception], int] = {SettledError: 409, KeyError: 404, ValueError: 400, OSError: 503}


class Service:
    """The handlers, each a few lines: read the request, call the agent, answer when it is on disk."""

    def __init__(self, agent: DurableAgent, committer: Committer) -> None:
        self._agent, self._committer = agent, committer
        self._metrics = Metrics(committer)

    async def decide(self, request: Request) -> Response:
        """Draw an arm."""
        body = await body_of(request, available=False)
        available = body.get("available")
        if available is not None and not isinstance(available, list):
            raise HTTPException(400, "service: available must be a list of arms")
        decision = await self._committer.do(partial(Ledger.ask, available=available))
        self._metrics.decisions += 1
        return JSONResponse({"id": decision.id, "arm": decision.arm, "probability": decision.probability})

    async def reward(self, request: Request) -> Response:
        """Learn from the reward of a decision."""
        body = await body_of(request, id=True, reward=True)
        result = await self._committer.do(partial(Ledger.tell, decision=body["id"], reward=body["reward"]))
        self._metrics.rewards[result] += 1
        return JSONResponse({"result": result})

    async def forget(self, request: Request) -> Response:
        """Let go of a decision."""
        body = await body_of(request, id=True)
        await self._committer.do(partial(Ledger.forget, decision=body["id"]))
        return JSONResponse({"result": "forgotten"})

    async def observe(self, request: Request) -> Response:
        """Learn from a pull of another."""
        body = await body_of(request, arm=True, reward=True, probability=False)
        await self._committer.do(partial(Ledger.observe, **body))
        return JSONResponse({"result": "observed"})

    async def arms(self, request: Request) -> Response:
        """List the arms, or add one."""
        if request.method == "POST":
            body = await body_of(request, arm=True, probability=False)
            await self._committer.do(partial(Ledger.add_arm, **body))
        return JSONResponse({"arms": await self._committer.do(lambda ledger: ledger.agent.arms)})

    async def remove_arm(self, request: Request) -> Response:
        """Remove an arm."""
        body = await body_of(request, arm=True)
        await self._committer.do(partial(Ledger.remove_arm, **body))
        return JSONResponse({"arms": await self._committer.do(lambda ledger: ledger.agent.arms)})

    async def policy(self, request: Request) -> Response:
        """The probabilities now."""
        return JSONResponse(await self._committer.do(_policy))

    async def log(self, request: Request) -> Response:
        """The decisions with their propensities, one JSON object a line."""
        after = request.query_params.get("after", "-1")
        if not after.lstrip("-").isdecimal() or len(after) > 15:
            raise HTTPException(400, f"service: after must be the id of a decision, got {after!r}")
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

    async def health(self, request: Request) -> Response:
        """Whether the agent answers; nothing else, and to anyone."""
        await self._committer.do(lambda ledger: None)
        return JSONResponse({"status": "ok"})

    async def openapi(self, request: Request) -> Response:
        """The description of this interface."""
        return JSONResponse(description())

    def routes(self, token: str) -> list[Route]:
        """What is served where; all but the page's frame, the description and the health need the token."""
        guarded: dict[tuple[str, str], Handler] = {
            ("POST", "/decide"): self.decide,
            ("POST", "/reward"): self.reward,
            ("POST", "/forget"): self.forget,
            ("POST", "/observe"): self.observe,
            ("GET", "/arms"): self.arms,
            ("POST", "/arms"): self.arms,
            ("POST", "/arms/remove"): self.remove_arm,
            ("GET", "/policy"): self.policy,
            ("GET", "/log"): self.log,
            ("GET", "/metrics"): self.metrics,
            ("GET", "/picture"): self.picture,
        }
        open_to_all: dict[tuple[str, str], Handler] = {
            ("GET", "/health"): self.health,
            ("GET", "/openapi.json"): self.openapi,
            **{("GET", path): handler for path, handler in page.STATIC.items()},
        }
        routes = [Route(path, _guarded(handler, token), methods=[method]) for (method, path), handler in guarded.items()]
        return routes + [Route(path, handler, methods=[method]) for (method, path), handler in open_to_all.items()]


def make_app(agent: DurableAgent, token: str, keep: float | None = None) -> Starlette:
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
    handlers: dict[Any, Any] = {kind: _refusal(status) for kind, status in STATUS.items()}
    handlers[HTTPException] = _http_refusal
    return Starlette(routes=Service(agent, committer).routes(token), lifespan=lifespan, exception_handlers=handlers)


def _guarded(handler: Handler, token: str) -> Handler:
    async def checked(request: Request) -> Response:
        check_bearer(request, token)
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


def _refusal(status: int) -> Callable[[Request, Exception], Response]:
    def refuse(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": str(error.args[0] if error.args else error)}, status_code=status)

    return refuse


def _http_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, status_code=error.status_code, headers=error.headers)
