"""The part of a report that only the paper's study has: its figures and what became of its claims."""

from __future__ import annotations

from collections import Counter
from html import escape
from pathlib import Path
from typing import Any

from ..report.html_page import Markup, heading, paragraph, picture, table
from .design import HORIZON, LONG, RUNS, escape_sentence
from .experiment import Experiment, Results
from .figures import VIEWS
from .reproduction import EXPERIMENTS

VERDICTS = ("reproduced", "only at the long horizon", "undecided by these runs", "not reproduced", "not run")


def differences(results: Results, names: list[str]) -> list[str]:
    """One sentence that names every setting which is not the paper's; none where all are."""
    study = results.store.study
    found = []
    if study.horizon != HORIZON:
        found.append(f"{study.horizon:,} steps instead of {HORIZON:,}")
    if min((results.runs_of(results.finished(EXPERIMENTS[name])) for name in names), default=study.runs) != RUNS:
        found.append(f"{results.runs} finished runs instead of {RUNS}")
    for name, experiment in EXPERIMENTS.items():
        shown = {panel.n_arms for panel in results.finished(experiment).panels}
        if 0 < len(results.finished(experiment).panels) < len(experiment.panels):
            found.append(f"{name} with K = {', '.join(map(str, sorted(shown)))} alone, {_panels(results, experiment)}")
        elif not shown:
            found.append(f"{name} not run")
    return [paragraph(f"Settings that differ from the paper's: {'; '.join(found)}.")] if found else []


def _panels(results: Results, experiment: Experiment) -> str:
    return f"{len(results.finished(experiment).panels)} of {len(experiment.panels)} panels"


def figures(folder: Path, names: list[str], view: str) -> list[str]:
    """One view of each experiment."""
    suffix = "" if view == "mean" else f"-{view}"
    return [
        heading("Figures" if view == "mean" else f"The same, as {VIEWS[view]}"),
        *(picture(folder / f"{name}{suffix}.svg", f"{EXPERIMENTS[name].title}: {VIEWS[view]}") for name in names),
    ]


def claims(evaluated: list[dict[str, Any]]) -> list[str]:
    """Tally, explanation and table of the claims."""
    tally = Counter(one["verdict"] for one in evaluated)
    items = "".join(
        f'<li class="{verdict.replace(" ", "-")}"><b>{tally[verdict]}</b>{verdict}</li>'
        for verdict in VERDICTS
        if tally[verdict]
    )
    rows = [
        [
            Markup(
                f"{escape(one['sentence'])}<small>{escape(one['name'])} (Section {escape(one['place'])}): "
                f"{escape(one['meaning'])}</small>"
            ),
            Markup(_evidence(one["printed"])),
            Markup(_evidence(one["long"])),
            Markup(f'<span class="{one["verdict"].replace(" ", "-")}">{one["verdict"]}</span>'),
        ]
        for one in evaluated
    ]
    return [
        heading("What became of the paper's claims"),
        f'<ul class="tally">{items}</ul>',
        paragraph(escape_sentence()),
        table(["claim and what it means in numbers", f"T = {HORIZON:,}", f"T = {LONG:,}", "verdict"], rows),
    ]


def _evidence(one: dict[str, Any] | None) -> str:
    if one is None:
        return '<span class="soft">not run</span>'
    p = "" if one["p"] is None else f", p {'< 1e-4' if one['p'] < 1e-4 else format(one['p'], '.2g')}"
    needed = f"{'&gt;' if one['above'] else '&lt;'} {one['bound']:g}"
    holds = "holds" if one["holds"] else "fails" if one["fails"] else "undecided"
    return (
        f"<span>{holds}: {_number(one['effect'])} [{_number(one['low'])}, {_number(one['high'])}]</span>"
        f"<small>needed {needed}{p}; {escape(one['where'])}</small>"
    )


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.0f}"
