"""The parts of a report that any study has: what was run, its curves, how it ended, how long it took, how to run it again.

`page.table`, `paragraph`, `heading` and `picture` escape what they are given; nothing here does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..plots import changing_curves
from ..plots.changing import moments
from ..plots.curves import overview
from ..plots.style import FORMATS, save_formats
from ..plots.words import label_of, short_label_of
from ..record import Record
from ..studies import Case, Store, records
from ..studies.status import case_statuses, seconds_of, study_status
from ..studies.study import Labels
from .html_page import commands, heading, paragraph, picture, table, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure


OF_THE_MOMENT = (
    "Where a problem changes, a* is the best arm of the moment, and regret is dynamic: each pull is charged against the "
    "best arm of its own moment."
)


@dataclass(frozen=True)
class Entry:
    """One curve of a report: a case, its record, and what its rule and problem are called there."""

    case: Case
    record: Record
    rule: str
    problem: str
    seed: int


def entries(stores: Sequence[Store]) -> list[Entry]:
    """Every case with finished runs. Names hold what differs; where two studies share a rule's name, that of the study too."""
    found = [(store, case, record) for store in stores for case, record in records(store)]
    labels = Labels([case for _, case, _ in found], {key: name for store in stores for key, name in store.study.labels.items()})
    names = [(labels.rule(case), _problem(labels, store, stores, case)) for store, case, _ in found]
    listed = []
    for (store, case, record), (rule, problem) in zip(found, names, strict=True):
        twice = names.count((rule, problem)) > 1
        name = f"{rule} ({store.study.name})" if twice else rule
        listed.append(Entry(case, record, name, problem, store.study.seed))
    return listed


def by_problem(listed: Sequence[Entry]) -> dict[str, list[Entry]]:
    """The entries of each problem."""
    groups: dict[str, list[Entry]] = {}
    for entry in listed:
        groups.setdefault(entry.problem, []).append(entry)
    return groups


def opening(store: Store, name: str) -> list[str]:
    """Title and what was run."""
    study = store.study
    counts = study_status(case_statuses(store), cores=1).cells
    sizes = [
        f"{study.setting.symbols[key]} = {', '.join(f'{size:,}' for size in sorted({case.sizes[key] for case in study.cases}))}"
        for key in study.cases[0].sizes
    ]
    machine = store.manifest().get("machine", {})
    cpu = machine.get("cpu", "an unknown CPU") if isinstance(machine, dict) else "an unknown CPU"
    states = ", ".join(f"{count} {state}" for state, count in counts.items() if count or state == "done")
    return [
        title(name),
        paragraph(
            f"{len(study.cases)} curves of {study.runs} runs x {study.horizon:,} steps, seed {study.seed}, "
            f"{', '.join(sizes)}. Cells: {states}. Made by logbarrier {store.manifest().get('logbarrier', '?')} on {cpu}.",
            "lead",
        ),
    ]


def curves(listed: Sequence[Entry], folder: Path) -> tuple[list[str], list[Path]]:
    """One figure per problem, with what it shows; returns sections and files."""
    sections, files = [heading("Learning curves")], list[Path]()
    for number, (problem, group) in enumerate(by_problem(listed).items(), 1):
        figure, caption = _changing(group) if group[0].case.changes else _learning(group)
        written = save_formats(figure, folder / f"curves-{number}")
        sections.append(picture(written[FORMATS.index(".svg")], f"{problem}: {caption}"))
        files += written
    return sections, files


def _learning(group: Sequence[Entry]) -> tuple[Figure, str]:
    """Mean with interval, quantiles, fraction of runs stuck."""
    measured = measured_by_all(group)
    metric = group[0].case.setting.plotted_metric(measured)
    stuck = ", and the fraction of runs stuck on a wrong arm" if "wrong_probability" in measured else ""
    regret = ", and the regret" if "regret" in measured and metric != "regret" else ""
    figure = overview({entry.rule: entry.record for entry in group}, metric, with_regret=True)
    return figure, f"{label_of(metric)}, the middle half of the runs{stuck}{regret}"


def _changing(group: Sequence[Entry]) -> tuple[Figure, str]:
    """The mean rewards of run 0, and what the rules made of such changes."""
    case, seed = group[0].case, group[0].seed
    steps = moments(group[0].record.horizon)
    means = case.setting.means_along(case.made_problem, steps, seed)
    figure = changing_curves({entry.rule: entry.record for entry in group}, steps, means)
    return figure, f"how the mean rewards change, and what follows them. {OF_THE_MOMENT}"


def endings(listed: Sequence[Entry]) -> list[str]:
    """Where every curve ended."""
    rows = []
    metric = listed[0].case.setting.plotted_metric(measured_by_all(listed))
    for entry in listed:
        record = entry.record
        low, high = (bound[-1] for bound in record.interval(metric))
        quantiles = (number(value[-1]) for value in record.quantiles(metric, (0.05, 0.25, 0.5, 0.75, 0.95)))
        stuck = f"{record.stuck_fraction():.2f}" if "wrong_probability" in record.values else ""
        interval = f"{number(low)} to {number(high)}" if record.runs > 1 else ""
        mean = number(record.mean(metric)[-1])
        rows.append([entry.rule, entry.problem, str(record.runs), mean, interval, *quantiles, stuck])
    name = short_label_of(metric, changes=all(entry.case.changes for entry in listed))
    columns = ["rule", "problem", "runs", f"mean {name}", "95 % interval", "5 %", "25 %", "median", "75 %", "95 %", "stuck"]
    note = [paragraph(OF_THE_MOMENT)] if any(entry.case.changes for entry in listed) else []
    return [heading("Where every curve ended"), *note, table(columns, rows, numbers=range(2, 11))]


def timings(store: Store) -> list[str]:
    """Seconds of every cell, one row per case."""
    rows = []
    for case in store.study.cases:
        made = [(cell, store.provenance(cell)) for cell in store.study.cells_of(case)]
        times = [(seconds, cell.steps) for cell, one in made if (seconds := seconds_of(one)) is not None]
        if times:
            pace = min(seconds / steps for seconds, steps in times) * 1e9
            engine = ", ".join(sorted({str(one.get("engine", "?")) for _, one in made if one}))
            each = " ".join(f"{seconds:.2f}" for seconds, _ in times)
            names = store.study.rule_label(case), store.study.problem_label(case)
            rows.append([*names, engine, f"{sum(seconds for seconds, _ in times):.2f}", f"{pace:.0f}", each])
    columns = ["rule", "problem", "engine", "seconds", "ns per step", "seconds of each cell"]
    return [
        heading("What it cost"),
        paragraph(
            "Seconds on one thread, without compilation where that is known; ns per step is that of the fastest cell, "
            "since the first one may have waited for the compiler."
        ),
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


def measured_by_all(listed: Sequence[Entry]) -> list[str]:
    """The metrics that every record has."""
    first, *others = (entry.record.metrics for entry in listed)
    return [metric for metric in first if all(metric in other for other in others)]


def number(value: float) -> str:
    """A number in a table: 0.123, 12.3, 1,235."""
    size = abs(value)
    return f"{value:.3f}" if size < 10 else f"{value:.1f}" if size < 100 else f"{value:,.0f}"


def _problem(labels: Labels, store: Store, stores: Sequence[Store], case: Case) -> str:
    """A problem's name, with what makes runs on it incomparable where the studies differ in that."""
    of_study = [
        f"{key}={getattr(store.study, key)}"
        for key in ("horizon", "seed", "bad_start")
        if len({getattr(other.study, key) for other in stores}) > 1 and getattr(store.study, key) is not None
    ]
    return " ".join([labels.problem(case), *of_study])
