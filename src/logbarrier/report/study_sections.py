"""The part of a report that any study has: what was run, how it ended, how long it took, how to run it again."""

from __future__ import annotations

from html import escape
from pathlib import Path

from ..plots import learning_curves, save_figure, standings
from ..record import Record
from ..studies import Case, Store
from ..studies.status import case_statuses, study_status
from .page import commands, heading, paragraph, picture, table
from .ranking import Place, ranking

Found = list[tuple[Case, Record]]
FEWEST_RANKED = 3
STANDINGS_KEY = (
    "thick bars are 95 % intervals of the mean, thin ones 5 % to 95 % of the runs; hollow marks are no policy gradients"
)


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


def rankings(store: Store, found: Found, folder: Path) -> tuple[list[str], list[Path]]:
    """For every problem with several rules: who has the least regret, how sure that is, and what it means for a user."""
    groups: dict[str, Found] = {}
    for case, record in found:
        groups.setdefault(store.study.problem_label(case), []).append((case, record))
    ranked = {label: ranking(group) for label, group in groups.items() if len(group) >= FEWEST_RANKED}
    if not ranked or not {"regret", "optimal_probability", "wrong_probability"} <= set(store.study.metrics):
        return [], []
    explained = (
        "Places are by mean regret. All rules face the same instances; 'could be' is where 95 % of the rankings lie when the "
        "runs are drawn again with replacement. Rules told the mean rewards are listed and left out of the advice. "
        "A rule that pulls one arm for certain, such as UCB1, counts as stuck where its next pull is wrong."
    )
    sections, files = [heading("Ranking"), paragraph(explained)], []
    for number, (label, places) in enumerate(ranked.items(), 1):
        rows = {store.study.rule_label(place.case): (place.record, place.follows_preferences) for place in places}
        files.append(save_figure(standings(rows), folder / f"ranking-{number}.svg"))
        sections.append(picture(files[-1], f"{label}: least regret on top; {STANDINGS_KEY}"))
        sections.append(paragraph(escape(_advice(store, label, places))))
        sections.append(_ranking_table(store, places))
    return sections, files


def _advice(store: Store, label: str, places: list[Place]) -> str:
    """Which kind of rule a user should take here."""
    usable = [place for place in places if not place.informed] or places
    gradient = next((place for place in usable if place.follows_preferences), None)
    plain = next((place for place in usable if not place.follows_preferences), None)
    if gradient is None or plain is None:
        return f"{label}: {store.study.rule_label(usable[0].case)} has the least regret."
    ours, theirs = (place.record.mean("regret")[-1] for place in (gradient, plain))
    names = [store.study.rule_label(place.case) for place in (gradient, plain)]
    if gradient.best <= plain.worst and plain.best <= gradient.worst:
        return (
            f"{label}: the best policy gradient, {names[0]} with regret {ours:,.0f}, and the best plain bandit algorithm, "
            f"{names[1]} with {theirs:,.0f}, cannot be told apart by {gradient.record.runs} runs."
        )
    if theirs < ours:
        return (
            f"{label}: a plain bandit algorithm is the better choice here. {names[1]} has regret {theirs:,.0f}, the best "
            f"policy gradient, {names[0]}, {ours:,.0f}: {ours / theirs:.1f} times as much."
        )
    return (
        f"{label}: a policy gradient has the least regret here. {names[0]} has {ours:,.0f}, the best plain bandit algorithm, "
        f"{names[1]}, {theirs:,.0f}: {theirs / ours:.1f} times as much."
    )


def _ranking_table(store: Store, places: list[Place]) -> str:
    rows = []
    for place in places:
        record = place.record
        low, high = (bound[-1] for bound in record.interval("regret"))
        interval = f"{low:,.0f} to {high:,.0f}" if record.runs > 1 else ""
        span = f"{place.best}" if place.best == place.worst else f"{place.best} to {place.worst}"
        low_q, median, high_q = (value[-1] for value in record.quantiles("regret", (0.05, 0.5, 0.95)))
        rows.append(
            [
                str(place.place),
                span,
                escape(store.study.rule_label(place.case)),
                f"{record.mean('regret')[-1]:,.0f}",
                interval,
                f"{low_q:,.0f}",
                f"{median:,.0f}",
                f"{high_q:,.0f}",
                f"{record.mean('optimal_probability')[-1]:.3f}",
                f"{record.stuck_fraction():.2f}",
            ]
        )
    columns = ["place", "could be", "rule", "mean regret", "95 % interval", "5 %", "median", "95 %", "p(a*)", "stuck"]
    return table(columns, rows, numbers=(0, 1, *range(3, 10)))


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
