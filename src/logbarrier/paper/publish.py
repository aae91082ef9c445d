"""The report of the paper's study: its figures and what became of its claims, at both horizons if both were run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..base.files import whole_file
from ..report import study_sections
from ..report.publish import publish_page
from ..studies import Store
from . import design, sections
from .claims import evaluate
from .reproduction import experiments_with_runs, horizon_of, paper_study, plot_figures, results_of


def publish_paper(store: Store) -> Path:
    """Build what is not current in the folder of the paper's study; returns the page."""
    at_horizon = _both_horizons(store)
    return publish_page(store, at_horizon.values(), lambda folder: _body(store, at_horizon, folder))


def claims_of(store: Store) -> list[dict[str, Any]]:
    """The claims as evaluated when the page was last built."""
    evaluated: list[dict[str, Any]] = json.loads(_claims_file(store).read_text())
    return evaluated


def _claims_file(store: Store) -> Path:
    return store.folder / "claims.json"


def _both_horizons(store: Store) -> dict[str, Store]:
    """The paper's study at both horizons, this store and the one next to it, where it exists."""
    found = {}
    for name in design.HORIZONS:
        study = paper_study(name, store.study.runs, store.study.seed)
        folder = store.folder if name == horizon_of(store.study) else store.folder.parent / study.folder_name
        if folder.is_dir():
            found[name] = Store(folder, study)
    return found


def _body(store: Store, at_horizon: dict[str, Store], folder: Path) -> tuple[list[str], list[Path]]:
    results = {name: results_of(other) for name, other in at_horizon.items()}
    present = next(name for name, other in at_horizon.items() if other.folder == store.folder)
    evaluated = evaluate(results.get("printed"), results.get("long"))
    with whole_file(_claims_file(store)) as file:
        file.write((json.dumps(evaluated, indent=1) + "\n").encode())
    names = experiments_with_runs(results[present])
    files = plot_figures(results[present], folder, names)
    length = "the printed horizon" if present == "printed" else "a hundred times the printed horizon"
    title = f"How Log-Barrier Helps Exploration in Policy Optimization, reproduced at {length}"
    options = f"--horizon {present} --runs {store.study.runs} --seed {store.study.seed} --out {store.folder.parent}"
    return [
        *study_sections.opening(store, title),
        *sections.differences(results[present], names),
        *sections.figures(folder, names, "mean"),
        *sections.claims(evaluated),
        *sections.figures(folder, names, "quantiles"),
        *sections.figures(folder, names, "stuck"),
        *study_sections.endings(study_sections.entries([store])),
        *study_sections.timings(store),
        *study_sections.rerun(store, [f"logbarrier reproduce {options}"]),
    ], [*files, _claims_file(store)]
