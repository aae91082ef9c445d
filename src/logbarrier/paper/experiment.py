"""What an experiment of the paper is: a few curves per panel, and the records of those curves in a store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..bandits.algorithms.rule import Rule
from ..plots.style import COLOURS
from ..record import Record
from ..studies import Case, Store, case_of, record_of
from . import design


@dataclass(frozen=True)
class Curve:
    """A rule and how it looks in every figure: one colour and one line style, so that grey prints read as well."""

    label: str
    rule: Rule
    colour: str
    style: Any = "-"


@dataclass(frozen=True)
class Panel:
    """Curves on one family of instances."""

    title: str
    n_arms: int
    curves: tuple[Curve, ...]
    metric: str = "optimal_probability"


@dataclass(frozen=True)
class Experiment:
    """One figure of the paper: its panels, row by row."""

    name: str
    title: str
    rows: tuple[tuple[Panel, ...], ...]
    row_labels: tuple[str, ...] = ("",)
    legend_columns: int = 5

    @property
    def panels(self) -> list[Panel]:
        """All panels in reading order."""
        return [panel for row in self.rows for panel in row]

    @property
    def learning_rows(self) -> tuple[tuple[Panel, ...], ...]:
        """The panels of p(a*) alone; where that leaves one per row, they stand side by side under the rows' labels."""
        rows = [tuple(panel for panel in row if panel.metric == "optimal_probability") for row in self.rows]
        if all(len(row) == 1 for row in rows):
            return (tuple(replace(row[0], title=label) for row, label in zip(rows, self.row_labels, strict=True)),)
        return tuple(rows)

    @property
    def cases(self) -> list[Case]:
        """All that must be simulated for it."""
        return [case_of(design.instances(panel.n_arms), curve.rule) for panel in self.panels for curve in panel.curves]


BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, BLACK = COLOURS
DASHED, DOTTED, DASH_DOTTED = (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1.2, 1.5))


class Results:
    """Records of the paper's cases in a store, each read once.

    runs  how many runs claims are evaluated by: those that one whole experiment has; fewer than the study's where time ran out
    """

    def __init__(self, store: Store, experiments: Iterable[Experiment]) -> None:
        self.store = store
        self._records: dict[str, Record | None] = {}
        self.runs = max(self.runs_of(self.finished(each)) for each in experiments)

    def find(self, n_arms: int, rule: Rule) -> Record | None:
        """The finished runs of a rule, or None."""
        case = case_of(design.instances(n_arms), rule)
        if case.key not in self._records:
            self._records[case.key] = record_of(self.store, case)
        return self._records[case.key]

    def finished(self, experiment: Experiment) -> Experiment:
        """The panels of an experiment of which every curve has finished runs, such as those of one K; perhaps none."""
        rows = [tuple(panel for panel in row if self._runs_of_panel(panel) > 0) for row in experiment.rows]
        kept = [(row, label) for row, label in zip(rows, _padded(experiment.row_labels, len(rows)), strict=True) if row]
        widest = max((len(row) for row, _ in kept), default=0)
        kept = [(row, label) for row, label in kept if len(row) == widest]  # a figure has the same number in every row
        return replace(experiment, rows=tuple(row for row, _ in kept), row_labels=tuple(label for _, label in kept))

    def runs_of(self, experiment: Experiment) -> int:
        """How many runs all curves of an experiment have."""
        return min(map(self._runs_of_panel, experiment.panels), default=0)

    def _runs_of_panel(self, panel: Panel) -> int:
        found = [self.find(panel.n_arms, curve.rule) for curve in panel.curves]
        return min(0 if record is None else record.runs for record in found)

    def __call__(self, n_arms: int, rule: Rule) -> Record:
        """The first `runs` runs of a rule; LookupError if some of them are missing."""
        record = self.find(n_arms, rule)
        if record is None or record.runs < max(self.runs, 1):
            raise LookupError(f"{rule} on {n_arms} arms has too few finished runs")
        first = {name: values[: self.runs] for name, values in record.values.items()}
        return Record(record.steps, first, record.settings, {}, record.ranges)

    @property
    def horizon(self) -> int:
        """Steps per run."""
        return self.store.study.horizon


def _padded(labels: tuple[str, ...], count: int) -> list[str]:
    return [*labels, *[""] * (count - len(labels))]
