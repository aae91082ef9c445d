"""Charts as SVG text, coloured by the page's style sheet: lines, and intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 760, 260, 70, 44, 12, 28
ROW = 28  # height of an interval
TICKS = 5  # of an axis, about


class Line(NamedTuple):
    """A named line through points (x, y)."""

    name: str
    points: Sequence[tuple[float, float]]


class Span(NamedTuple):
    """A named interval around a mean; None where it is unknown."""

    name: str
    low: float | None
    mean: float | None
    high: float | None


def chart(lines: Sequence[Line], x_label: str, y_label: str, y_range: tuple[float, float] | None = None) -> str:
    """The lines in one frame; y_range: None fits it to the points."""
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points]
    if not xs:
        return '<p class="small">Nothing to show yet.</p>'
    low, high = y_range or _widened(min(ys), max(ys))
    first, last = _widened(min(xs), max(xs)) if min(xs) == max(xs) else (min(xs), max(xs))
    floor, middle = HEIGHT - BOTTOM, (HEIGHT - BOTTOM + TOP) / 2

    def across(x: float) -> float:
        return LEFT + (x - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def up(y: float) -> float:
        return floor - (y - low) / (high - low) * (floor - TOP)

    plotted = "".join(
        f'<polyline class="line line{i}" points="{" ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in line.points)}">'
        f"<title>{escape(line.name)}</title></polyline>"
        for i, line in enumerate(lines)
        if line.points
    )
    y_ticks = "".join(
        f'<path class="grid" d="M{LEFT},{up(y):.1f}H{WIDTH - RIGHT}"/>'
        f'<text x="{LEFT - 8}" y="{up(y) + 4:.1f}" class="end">{y:.4g}</text>'
        for y in ticks(low, high)
    )
    x_ticks = "".join(f'<text x="{across(x):.1f}" y="{floor + 18}" class="middle">{x:,.6g}</text>' for x in ticks(first, last))
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(y_label)} against {escape(x_label)}">'
        f'{y_ticks}<path class="axis" d="M{LEFT},{TOP}V{floor}H{WIDTH - RIGHT}"/>{plotted}{x_ticks}'
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" class="middle">{escape(x_label)}</text>'
        f'<text x="16" y="{middle}" class="middle aside" transform="rotate(-90 16 {middle})">{escape(y_label)}</text></svg>'
    )


def spans(intervals: Sequence[Span], label: str) -> str:
    """Intervals below each other on one axis."""
    known = [value for each in intervals for value in (each.low, each.mean, each.high) if value is not None]
    if not known:
        return '<p class="small">Nothing to show yet.</p>'
    low, high = _widened(min(known), max(known))
    left, floor = 150, TOP + ROW * len(intervals)

    def across(x: float | None, otherwise: float) -> float:
        return left + ((otherwise if x is None else x) - low) / (high - low) * (WIDTH - left - RIGHT)

    rows = []
    for i, each in enumerate(intervals):
        y = TOP + ROW * (i + 0.5)
        dot = "" if each.mean is None else f'<circle class="dot dot{i}" cx="{across(each.mean, low):.1f}" cy="{y}" r="5"/>'
        rows.append(
            f'<text x="{left - 10}" y="{y + 4}" class="end">{escape(_short(each.name))}</text>'
            f'<path class="line line{i}" d="M{across(each.low, low):.1f},{y}H{across(each.high, high):.1f}"/>{dot}'
        )
    axis = "".join(
        f'<path class="grid" d="M{across(x, low):.1f},{TOP}V{floor}"/>'
        f'<text x="{across(x, low):.1f}" y="{floor + 18}" class="middle">{x:.4g}</text>'
        for x in ticks(low, high)
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {floor + 26}" role="img" aria-label="{escape(label)} of each arm with its interval">'
        f"{axis}{''.join(rows)}</svg>"
    )


def ticks(low: float, high: float) -> list[float]:
    """About TICKS round numbers from low to high: multiples of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12 - math.floor(math.log10(step))) + 0.0 for i in range(first, last + 1)]


def _short(name: str) -> str:
    return name if len(name) <= 20 else name[:19] + "…"


def _widened(low: float, high: float) -> tuple[float, float]:
    """A range that is not empty, a little wider than what is in it."""
    margin = 0.05 * (high - low) or max(abs(high), 1.0) * 0.05
    return low - margin, high + margin
