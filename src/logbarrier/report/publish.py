"""All that is built from a study's cells: summary, figures, claims.json and report.html; built again when they change."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..files import whole_file
from ..paper.claims import judge
from ..paper.experiment import Results
from ..paper.reproduction import draw_figures, drawable, horizon_of, paper_study
from ..studies import CannotWriteError, Store, records, write_summary
from ..studies.products import is_current, made_from, mark_current
from . import paper_sections, study_sections
from .page import page


@dataclass(frozen=True)
class Published:
    """The page, the figures beside it, and the claims, which only the paper's study has."""

    page: Path
    figures: list[Path]
    claims: list[dict[str, Any]]


def publish(store: Store) -> Published:
    """Build what is not current in the store's folder."""
    horizon = horizon_of(store.study)
    at_horizon = {} if horizon is None else _both_horizons(store, horizon)
    origin = made_from(at_horizon.values() or [store])
    target, claims_file, folder = store.folder / "report.html", store.folder / "claims.json", store.folder / "figures"
    if not is_current(store, origin):
        try:
            folder.mkdir(exist_ok=True)
            files = write_summary(store)
            sections, drawn = _paper_body(store, at_horizon) if at_horizon else _study_body(store, folder)
            _write(target, page(f"logbarrier: {store.study.name}", sections))
            files += [target, *drawn, *([claims_file] if at_horizon else [])]
            mark_current(store, origin, files)
        except OSError as error:
            raise CannotWriteError(f"cannot write in {store.folder}: {error.strerror or error}") from None
    judged = json.loads(claims_file.read_text()) if at_horizon else []
    return Published(target, sorted(path for path in folder.iterdir() if path.suffix in (".pdf", ".svg", ".png")), judged)


def _both_horizons(store: Store, horizon: str) -> dict[str, Store]:
    """The paper's study at both horizons, this store and the one beside it, where it exists."""
    found = {}
    for name in ("paper", "long"):
        study = paper_study(name, store.study.runs, store.study.seed)
        folder = store.folder if name == horizon else store.folder.parent / study.folder_name
        if folder.is_dir():
            found[name] = Store(folder, study)
    return found


def _study_body(store: Store, folder: Path) -> tuple[list[str], list[Path]]:
    found = list(records(store))
    curves, files = study_sections.curves_by_problem(store, found, folder)
    rankings, drawn = study_sections.rankings(store, found, folder)
    lines = [
        f"logbarrier run {store.folder / 'study.toml'} --out {store.folder.parent}",
        f"logbarrier report {store.folder}",
    ]
    sections = [
        *study_sections.opening(store, found, f"Study {store.study.name}"),
        *rankings,
        *curves,
        *study_sections.endings(store, found),
        *study_sections.timings(store),
        *study_sections.rerun(store, lines),
    ]
    return sections, files + drawn


def _paper_body(store: Store, at_horizon: dict[str, Store]) -> tuple[list[str], list[Path]]:
    results = {name: Results(other) for name, other in at_horizon.items()}
    own = next(name for name, other in at_horizon.items() if other.folder == store.folder)
    judged = judge(results.get("paper"), results.get("long"))
    _write(store.folder / "claims.json", json.dumps(judged, indent=1) + "\n")
    folder, names = store.folder / "figures", drawable(results[own])
    files = draw_figures(results[own], folder, names)
    found = list(records(store))
    length = "the printed horizon" if own == "paper" else "a hundred times the printed horizon"
    title = f"How Log-Barrier Helps Exploration in Policy Optimization, reproduced at {length}"
    options = f"--runs {store.study.runs} --seed {store.study.seed} --out {store.folder.parent}" + (
        " --horizon long" if own == "long" else ""
    )
    sections = [
        *study_sections.opening(store, found, title),
        *paper_sections.figures(folder, names, "mean"),
        *paper_sections.claims(judged),
        *paper_sections.figures(folder, names, "quantiles"),
        *paper_sections.figures(folder, names, "stuck"),
        *study_sections.endings(store, found),
        *study_sections.timings(store),
        *study_sections.rerun(store, [f"logbarrier reproduce {options}"]),
    ]
    return sections, files


def _write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())
