"""The page: policy and rewards over time, rendered on the server; the browser fetches it again."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ..agent.durable.journal import Mark
from .chart import Line, chart

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
HEADERS = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache"}
MOST_LINES = 8


def _file(name: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        return Response(files(__package__).joinpath(name).read_bytes(), media_type=kind, headers=HEADERS)

    return serve


STATIC = {
    "/": _file("page.html", "text/html"),
    "/page.css": _file("page.css", "text/css"),
    "/page.js": _file("page.js", "text/javascript"),
}


def picture(now: dict[str, Any], history: Sequence[Mark]) -> str:
    """The inner part of the page. now: as `GET /policy` answers; names are escaped here."""
    ranked = sorted(zip(now["arms"], now["policy"], strict=True), key=lambda pair: -pair[1])
    shown = [arm for arm, _ in ranked[:MOST_LINES]]
    rows = "".join(
        f'<tr><td><span class="key key{i}"></span>{escape(str(arm))}</td>'
        f'<td><progress max="1" value="{p:.6f}"></progress></td><td class="number">{p:.4f}</td></tr>'
        for i, (arm, p) in enumerate(ranked[:MOST_LINES])
    )
    more = f"<p>and {len(ranked) - MOST_LINES} more arms</p>" if len(ranked) > MOST_LINES else ""
    rule = ", ".join(f"{name} = {value}" for name, value in now["rule"].items() if name != "rule")
    told = history[-1].told if history else 0
    return (
        f"<p>{escape(str(now['rule']['rule']))} ({escape(rule)}): "
        f"{now['updates']} updates, {now['pending']} pending decisions.</p>"
        f"<h2>Policy now</h2><table>{rows}</table>{more}"
        f"<h2>Policy over time</h2>{chart(_shares(shown, history), 'rewards', 'probability of each arm', (0.0, 1.0))}"
        f"<h2>Mean reward over time</h2>{chart([_means(history)], 'rewards', 'mean reward, moving')}"
        f"<p class='small'>History up to reward {told}.</p>"
    )


def _shares(arms: Sequence[Any], history: Sequence[Mark]) -> list[Line]:
    """One line for each arm, where it was among the most likely."""
    marks = [(mark.told, {_key(arm): p for arm, p in json.loads(mark.policy)}) for mark in history]
    return [Line(str(arm), [(told, top[_key(arm)]) for told, top in marks if _key(arm) in top]) for arm in arms]


def _means(history: Sequence[Mark]) -> Line:
    """The mean reward over the twentieth of the history before each point."""
    window = max(1, len(history) // 20)
    steps = [(before, after) for before, after in zip(history, history[window:], strict=False) if after.told > before.told]
    return Line("mean reward", [(b.told, (b.reward_sum - a.reward_sum) / (b.told - a.told)) for a, b in steps])


def _key(arm: Any) -> str:
    return json.dumps(arm)
