"""A line chart as SVG text, coloured by the page's style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 760, 260, 70, 44, 12, 16


class Line(NamedTuple):
    """A named line through points (x, y)."""

    name: str
    points: Sequence[tuple[float, float]]


def chart(lines: Sequence[Line], x_label: str, y_label: str, y_range: tuple[float, float] | None = None) -> str:
    """The lines in one frame; y_range: None fits it to the points."""
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points]
    if not xs:
        return '<p class="small">Nothing to show yet.</p>'
    low, high = y_range or _widened(min(ys), max(ys))
    first, last = _widened(min(xs), max(xs)) if min(xs) == max(xs) else (min(xs), max(xs))

    def place(x: float, y: float) -> str:
        across = LEFT + (x - first) / (last - first) * (WIDTH - LEFT - RIGHT)
        up = HEIGHT - BOTTOM - (y - low) / (high - low) * (HEIGHT - BOTTOM - TOP)
        return f"{across:.1f},{up:.1f}"

    drawn = "".join(
        f'<polyline class="line line{i}" points="{" ".join(place(x, y) for x, y in line.points)}">'
        f"<title>{escape(line.name)}</title></polyline>"
        for i, line in enumerate(lines)
        if line.points
    )
    floor, middle = HEIGHT - BOTTOM, (HEIGHT - BOTTOM + TOP) / 2
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(y_label)} against {escape(x_label)}">'
        f'<path class="axis" d="M{LEFT},{TOP}V{floor}H{WIDTH - RIGHT}"/>{drawn}'
        f'<text x="{LEFT - 8}" y="{TOP + 10}" class="end">{high:.4g}</text>'
        f'<text x="{LEFT - 8}" y="{floor}" class="end">{low:.4g}</text>'
        f'<text x="{LEFT}" y="{floor + 18}">{first:.6g}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{floor + 18}" class="end">{last:.6g}</text>'
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" class="middle">{escape(x_label)}</text>'
        f'<text x="16" y="{middle}" class="middle" transform="rotate(-90 16 {middle})">{escape(y_label)}</text></svg>'
    )


def _widened(low: float, high: float) -> tuple[float, float]:
    """A range that is not empty, a little wider than what is in it."""
    margin = 0.05 * (high - low) or max(abs(high), 1.0) * 0.05
    return low - margin, high + margin
