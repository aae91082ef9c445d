"""The page: the experiments, and one experiment with its arms, rendered on the server; the browser fetches it again."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ..agent.durable.journal import Mark
from ..agent.durable.ledger import ENDED, ON, PAUSED
from .chart import Line, Span, chart, spans

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "frame-ancestors 'none'"
)
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


def overview(listed: dict[str, Any]) -> str:
    """The list of the experiments, as `GET /experiments` answers."""
    experiments: Sequence[dict[str, Any]] = listed["experiments"]
    if not experiments:
        return "<p>No experiments yet. Create one with <code>POST /experiments</code>.</p>"
    rows = "".join(
        f'<tr><td><a href="#{escape(each["name"])}">{escape(each["name"])}</a></td><td>{_state(each)}</td>'
        f'<td class="number">{len(each["arms"])}</td><td class="number">{each["decisions"]:,}</td>'
        f'<td class="number">{each["rewards"]:,}</td></tr>'
        for each in experiments
    )
    heads = "".join(
        f'<th class="{"number" if i > 1 else ""}">{name}</th>'
        for i, name in enumerate(("experiment", "state", "arms", "decisions", "rewards"))
    )
    unreadable = "".join(
        f"<p>{escape(name)} cannot be read: {escape(reason)}</p>" for name, reason in listed["unreadable"].items()
    )
    return f'<h2>Experiments</h2><div class="wide"><table><tr>{heads}</tr>{rows}</table></div>{unreadable}'


def picture(about: dict[str, Any], policy: Sequence[float], summary: dict[str, Any], history: Sequence[Mark]) -> str:
    """One experiment. about: as `GET /experiments/{name}` answers; summary: as `/summary`; names are escaped here."""
    rule = ", ".join(f"{name} = {value}" for name, value in about["rule"].items() if name != "rule")
    ranked = sorted(zip(policy, summary["arms"], strict=True), key=lambda pair: -pair[0])
    shown = ranked[:MOST_LINES]
    names = [each["arm"] for _, each in shown]
    rows = "".join(_row(i, share, each) for i, (share, each) in enumerate(shown))
    heads = "".join(
        f'<th class="{"number" if i else ""}">{name}</th>'
        for i, name in enumerate(("arm", "share", "decisions", "rewards", "mean", "lift", "P(best)"))
    )
    more = f"<p>and {len(ranked) - MOST_LINES} more arms</p>" if len(ranked) > MOST_LINES else ""
    kind = "exact" if summary["intervals"] == "exact" else "asymptotic"
    return (
        f'<p><a href="#">all experiments</a></p><h2>{escape(about["name"])}</h2>'
        f'<p>{_state(about)}{_buttons(about, summary)}</p><p class="verdict">{escape(summary["sentence"])}</p>'
        f'<div class="wide"><table><tr>{heads}</tr>{rows}</table></div>{more}'
        f"<h3>Mean reward</h3>{spans([_span(each) for _, each in shown], 'mean reward')}"
        f'<p class="small">Intervals at level {summary["level"]:g}, {kind}: all hold at once and at all times.</p>'
        f"<h3>Share over time</h3>{chart(_shares(names, history), 'rewards', 'share of decisions', (0.0, 1.0))}"
        f"<h3>Reward over time</h3>{chart([_means(history)], 'rewards', 'moving mean reward')}"
        f'<p class="small">{escape(str(about["rule"]["rule"]))} ({escape(rule)}): {about["rewards"]} updates, '
        f"{about['pending']} pending decisions.</p>"
    )


def _state(about: dict[str, Any]) -> str:
    winner = "" if about["winner"] is None else f": {escape(str(about['winner']))}"
    return f'<span class="state {about["state"]}">{about["state"]}{winner}</span>'


def _buttons(about: dict[str, Any], summary: dict[str, Any]) -> str:
    """Pause or start, and end with the leading arm."""
    if about["state"] == ENDED:
        return ""
    other, word = (PAUSED, "Pause") if about["state"] == ON else (ON, "Start")
    change = escape(json.dumps({"state": other}), quote=True)
    leader = {} if summary["leader"] is None else {"winner": summary["leader"]}
    end = escape(json.dumps({"state": ENDED, **leader}), quote=True)
    with_winner = "" if summary["leader"] is None else f" with {escape(str(summary['leader']))}"
    return (
        f' <button data-change="{change}">{word}</button> <button data-change="{end}" data-sure="1">End{with_winner}</button>'
    )


def _row(i: int, share: float, arm: dict[str, Any]) -> str:
    numbers = [
        f"{share:.3f}",
        f"{arm['decisions']:,}",
        f"{arm['rewards']:,}",
        "-" if arm["mean"] is None else f"{arm['mean']:.4g}",
        "-" if arm["lift"] is None else f"{arm['lift']:+.1%}",
        f"{arm['best']:.3f}",
    ]
    cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
    return f'<tr><td><span class="key key{i}"></span>{escape(str(arm["arm"]))}</td>{cells}</tr>'


def _span(arm: dict[str, Any]) -> Span:
    return Span(str(arm["arm"]), arm["low"], arm["mean"], arm["high"])


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
