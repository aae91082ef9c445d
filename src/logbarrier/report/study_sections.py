"""The part of a report that any study has: what was run, how it ended, how long it took, how to run it again."""

from __future__ import annotations

from html import escape
from pathlib import Path

from ..plots import learning_curves, save_figure
from ..record import Record
from ..studies import Case, Store
from ..studies.status import case_statuses, study_status
from .page import commands, heading, paragraph, picture, table

Found = list[tuple[Case, Record]]


def opening(store: Store, found: Found, title: str) -> list[str]:
    """Title and what was run."""
    study = store.study
    counts = study_status(case_statuses(store), cores=1).cells
    arms = sorted({case.n_arms for case in study.cases})
    machine = store.manifest().get("machine", {})
    states = ", ".join(f"{count} {state}" for state, count in counts.items() if count or state == "done")
    return [
        f"<h1>{escape(title)}</h1>",
        paragraph(
            f"{len(study.cases)} curves of {study.runs} runs x {study.horizon:,} steps, seed {study.seed}, "
            f"K = {', '.join(f'{K:,}' for K in arms)}. Cells: {states}. "
            f"Made by logbarrier {store.manifest().get('logbarrier', '?')} on {machine.get('cpu', 'an unknown CPU')}.",
            "lead",
        ),
    ]


def curves_by_problem(store: Store, found: Found, folder: Path) -> tuple[list[str], list[Path]]:
    """One figure a problem: mean with interval, quantiles, fraction of runs stuck; returns sections and files."""
    if "optimal_probability" not in store.study.metrics:
        return [], []
    groups: dict[str, dict[str, Record]] = {}
    for case, record in found:
        groups.setdefault(store.study.problem_label(case), {})[store.study.rule_label(case)] = record
    sections, files = [heading("Learning curves, quantiles and stuck runs")], []
    for number, (label, records) in enumerate(groups.items(), 1):
        files.append(save_figure(learning_curves(records), folder / f"curves-{number}.svg"))
        sections.append(picture(files[-1], f"{label}: p(a*), its middle half, and the fraction of runs stuck on a wrong arm"))
    return sections, files


def endings(store: Store, found: Found) -> list[str]:
    """Where every curve ended."""
    if "optimal_probability" not in store.study.metrics:
        return []
    rows = []
    for case, record in found:
        mean = record.mean("optimal_probability")[-1]
        low, high = (bound[-1] for bound in record.interval("optimal_probability"))
        quantiles = (value[-1] for value in record.quantiles("optimal_probability", (0.05, 0.25, 0.5, 0.75, 0.95)))
        stuck = f"{record.stuck_fraction():.2f}" if "wrong_probability" in record.values else ""
        interval = f"{low:.3f} to {high:.3f}" if record.runs > 1 else ""
        names = escape(store.study.rule_label(case)), escape(store.study.problem_label(case))
        rows.append([*names, str(record.runs), f"{mean:.3f}", interval, *(f"{q:.3f}" for q in quantiles), stuck])
    columns = ["rule", "problem", "runs", "mean p(a*)", "95 % interval", "5 %", "25 %", "median", "75 %", "95 %", "stuck"]
    return [heading("Where every curve ended"), table(columns, rows, numbers=range(2, 11))]


def timings(store: Store) -> list[str]:
    """Seconds of every cell, a row a case."""
    rows = []
    for case in store.study.cases:
        cells = store.study.cells_of(case)
        made = [(cell, store.provenance(cell)) for cell in cells]
        times = [(one["seconds"], cell.steps) for cell, one in made if "seconds" in one]
        if times:
            pace = min(seconds / steps for seconds, steps in times) * 1e9
            engine = escape(", ".join(sorted({str(one.get("engine", "?")) for _, one in made if one})))
            each = " ".join(f"{seconds:.2f}" for seconds, _ in times)
            names = escape(store.study.rule_label(case)), escape(store.study.problem_label(case))
            rows.append([*names, engine, f"{sum(seconds for seconds, _ in times):.2f}", f"{pace:.0f}", each])
    columns = ["rule", "problem", "engine", "seconds", "ns a step", "seconds of each cell"]
    return [
        heading("What it cost"),
        paragraph("Seconds on one thread; ns a step is of the fastest cell, as the first one may wait for the compiler."),
        table(columns, rows, numbers=(3, 4)),
    ]


def rerun(store: Store, lines: list[str]) -> list[str]:
    """How to get the same again."""
    return [
        heading("How to run it again"),
        paragraph(
            "The same seed gives the same cells, to the byte, on any x86-64 machine. Finished cells are not computed again."
        ),
        commands(lines),
        paragraph(f"Study {store.study.name}, hash {store.study.hash}.", "soft"),
    ]
