"""What an experiment of the paper is: a few curves per panel, and how the panels are drawn from stored cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..algorithms import LogBarrierSGB, Rule
from ..plots import COLOURS, LABELS, STYLE
from ..record import Record
from ..studies import Case, Store, Study, case_of, record_of
from . import setting
from .plateau import mean_plateau

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER_STYLE: Any = {**STYLE, "font.size": 8, "axes.titlesize": 8, "lines.linewidth": 1.4, "mathtext.fontset": "dejavusans"}


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
    height: float
    row_labels: tuple[str, ...] = ()

    @property
    def panels(self) -> list[Panel]:
        """All panels in reading order."""
        return [panel for row in self.rows for panel in row]

    @property
    def cases(self) -> list[Case]:
        """All that must be simulated for it."""
        return [case_of(setting.instances(panel.n_arms), curve.rule) for panel in self.panels for curve in panel.curves]


BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, BLACK = COLOURS
DASHED, DOTTED, DASH_DOTTED = (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1.2, 1.5))


class Results:
    """Records of the paper's cases in a store, each read once."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._records: dict[str, Record | None] = {}

    def find(self, n_arms: int, rule: Rule) -> Record | None:
        """The finished runs of a rule, or None."""
        case = case_of(setting.instances(n_arms), rule)
        if case.key not in self._records:
            self._records[case.key] = record_of(self.store, case)
        return self._records[case.key]

    def __call__(self, n_arms: int, rule: Rule) -> Record:
        """All runs of a rule; LookupError if some are missing."""
        record = self.find(n_arms, rule)
        if record is None or record.runs < self.store.study.runs:
            raise LookupError(f"{rule} on {n_arms} arms is not finished")
        return record

    @property
    def horizon(self) -> int:
        """Steps per run."""
        return self.store.study.horizon


def draw(experiment: Experiment, results: Results) -> Figure:
    """The figure: mean with 95 % t-band of every curve, its exact plateau as a thin dashed line, one legend."""
    import matplotlib

    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    with plt.rc_context(PAPER_STYLE):
        rows, columns = len(experiment.rows), len(experiment.rows[0])
        figure, grid = plt.subplots(rows, columns, figsize=(7.2, experiment.height), layout="constrained", squeeze=False)
        handles: dict[str, Any] = {}
        for panels, axes_row in zip(experiment.rows, grid, strict=True):
            for panel, axes in zip(panels, axes_row, strict=True):
                for curve in panel.curves:
                    record = results.find(panel.n_arms, curve.rule)
                    if record is not None:
                        handles.setdefault(curve.label, _mean_band(axes, record, panel.metric, curve))
                    level = _plateau_level(panel, curve, results.store.study)
                    if level is not None:
                        line = axes.axhline(level, color=curve.colour, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
                        handles.setdefault("exact plateau of LB-SGB", line)
                _finish(axes, panel, results.horizon)
        for axes, label in zip(grid[:, 0], experiment.row_labels, strict=False):
            axes.set_ylabel(f"{label}\n{axes.get_ylabel()}")
        _legend_last(handles)
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles), handlelength=2.6)
    return figure


def _plateau_level(panel: Panel, curve: Curve, study: Study) -> float | None:
    """Where the curve must end, for the metrics where that is one number."""
    if not isinstance(curve.rule, LogBarrierSGB) or panel.metric == "regret":
        return None
    optimal, least, _ = mean_plateau(setting.instances(panel.n_arms), curve.rule.eta, study.seed, study.runs)
    return optimal if panel.metric == "optimal_probability" else least


def _mean_band(axes: Axes, record: Record, metric: str, curve: Curve) -> Any:
    low, high = record.interval(metric)
    (line,) = axes.plot(record.steps, record.mean(metric), color=curve.colour, linestyle=curve.style)
    if record.runs > 1:
        axes.fill_between(record.steps, low, high, color=curve.colour, alpha=0.18, linewidth=0)
    return line


def _finish(axes: Axes, panel: Panel, horizon: int) -> None:
    axes.set(title=panel.title, xlim=(0, horizon), ylabel=LABELS[panel.metric], xlabel="step")
    axes.ticklabel_format(axis="x", style="sci", scilimits=(0, 0), useMathText=True)
    if panel.metric == "optimal_probability":
        axes.set(ylim=(-0.02, 1.02), ylabel=r"$\pi(a^*)$")
    elif panel.metric == "min_probability":
        axes.set(yscale="log", ylim=(1e-8, 0.2), ylabel=r"$\min_a \pi(a)$")
    else:
        axes.set_ylim(bottom=0)


def _legend_last(handles: dict[str, Any]) -> None:
    """Move the plateau's entry to the end."""
    for label in [label for label in handles if label.startswith("exact")]:
        handles[label] = handles.pop(label)
