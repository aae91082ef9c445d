"""The figure that a study file asks for: a grid of panels, one parameter down and another across."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..plots import curve_grid
from ..plots.style import FORMATS, save_formats
from ..plots.words import label_of
from ..record import Record
from ..studies import Case, Store, records
from ..studies.study import Labels
from .html_page import heading, picture

SYMBOLS = {"learning_rate": r"$\alpha$", "eta": r"$\eta$", "n_arms": "K", "n_states": "S", "n_actions": "K"}


def grid(store: Store, folder: Path) -> tuple[list[str], list[Path]]:
    """The section and the files of `study.figure`, as PDF, SVG and PNG; nothing where the study asks for none."""
    wanted, study = store.study.figure, store.study
    found = list(records(store)) if wanted else []
    if not found:
        return [], []
    down, across = wanted.get("rows"), wanted.get("columns")
    labels = Labels(study.cases, study.labels)
    cells: dict[tuple[Any, Any], dict[str, Record]] = {}
    differ = _differing([(case, (case.rule["rule"], _value(case, down), _value(case, across))) for case, _ in found])
    for case, record in found:
        panel = cells.setdefault((_value(case, down), _value(case, across)), {})
        panel[labels.rule_without(case, case.rule.keys() - differ)] = record
    named = list(study.labels.values())  # curves come in the order of the labels
    cells = {place: dict(sorted(panel.items(), key=lambda one: _order(one[0], named))) for place, panel in cells.items()}
    rows, columns = (list(dict.fromkeys(place[i] for place in cells)) for i in (0, 1))
    metric = wanted.get("metric") or study.setting.plotted_metric(found[0][1].metrics)
    figure = curve_grid(
        [[cells.get((row, column), {}) for column in columns] for row in rows],
        metric,
        titles=[_shown(across, column) for column in columns] if across else [],
        row_labels=[_shown(down, row) for row in rows] if down and len(rows) > 1 else [],
    )
    files = save_formats(figure, folder / "grid")
    caption = f"{label_of(metric)}, mean and 95 % t-interval of {found[0][1].runs} runs"
    return [heading("Figure"), picture(files[FORMATS.index(".svg")], caption)], files


def _differing(placed: list[tuple[Case, Any]]) -> set[str]:
    """The parameters that tell curves of one rule in one panel apart; the others need not be in the legend."""
    seen: dict[tuple[Any, str], set[str]] = {}
    for case, place in placed:
        for key, value in case.rule.items():
            seen.setdefault((place, key), set()).add(str(value))
    return {key for (_, key), values in seen.items() if len(values) > 1}


def _order(label: str, named: list[str]) -> int:
    """The place of a label among the names; of a label with parameters, that of the longest name it begins with."""
    fitting = [name for name in named if label == name or label.startswith(f"{name} ")]
    return named.index(max(fitting, key=len)) if fitting else len(named)


def _value(case: Case, key: str | None) -> Any:
    if key is None:
        return None
    if key not in case.values:
        raise ValueError(f"report: figure must name parameters that every case has, got {key!r}")
    return case.values[key]


def _shown(key: str | None, value: Any) -> str:
    return f"{SYMBOLS.get(str(key), key)} = {value:g}" if isinstance(value, int | float) else f"{key} = {value}"
