"""All that is built from a study's cells: summary, figures and report.html, built again when cells or package change."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ..base.files import whole_file
from ..studies import CannotWriteError, Store, write_summary
from . import study_sections
from .grid_section import grid
from .html_page import commands, heading, page, paragraph, title
from .products import is_current, made_from, mark_current
from .ranking_section import rankings

Body = Callable[[Path], tuple[list[str], list[Path]]]


def publish(store: Store, notes: Sequence[str] = ()) -> Path:
    """Build what is not current in the store's folder; returns the page. notes: paragraphs below its title."""
    return publish_page(store, [store], lambda folder: _study_body(store, folder, notes))


def publish_page(store: Store, origins: Iterable[Store], body: Body) -> Path:
    """The store's summary, and a page of what `body` makes of a folder for figures: (sections, files written).

    Built only if the cells of `origins`, or this package, are not those of the last time.
    """
    origin = made_from(origins)
    target, folder = store.folder / "report.html", figures_folder(store)
    if not is_current(store, origin):
        try:
            folder.mkdir(exist_ok=True)
            files = write_summary(store)
            sections, drawn = body(folder)
            with whole_file(target) as file:
                file.write(page(f"logbarrier: {store.study.name}", sections).encode())
            mark_current(store, origin, [*files, target, *drawn])
        except OSError as error:
            raise CannotWriteError(f"cannot write in {store.folder}: {error.strerror or error}") from None
    return target


def figures_folder(store: Store) -> Path:
    """Where a study's figures are."""
    return store.folder / "figures"


def figures(store: Store) -> list[Path]:
    """A study's figures, as drawn last."""
    return sorted(path for path in figures_folder(store).iterdir() if path.suffix in (".pdf", ".svg", ".png"))


def publish_together(stores: Sequence[Store], target: Path) -> Path:
    """One page of several studies: rules that ran on the same problem are ranked and drawn together; returns the page."""
    listed = study_sections.entries(stores)
    if len({entry.case.setting.name for entry in listed}) > 1:
        raise ValueError("report: all studies on one page must have the same setting, such as bandits")
    with tempfile.TemporaryDirectory() as scratch:
        ranked, _ = rankings(listed, Path(scratch))
        drawn, _ = study_sections.curves(listed, Path(scratch))
    names = ", ".join(store.study.name for store in stores)
    sections = [
        title(f"Studies {names}"),
        paragraph(
            "Each study also has its own page: " + ", ".join(str(store.folder / "report.html") for store in stores), "lead"
        ),
        *ranked,
        *drawn,
        *study_sections.endings(listed),
        heading("How to build it again"),
        commands([f"logbarrier report {' '.join(str(store.folder) for store in stores)} --page {target}"]),
    ]
    try:
        with whole_file(target) as file:
            file.write(page(f"logbarrier: {names}", sections).encode())
    except OSError as error:
        raise CannotWriteError(f"cannot write {target}: {error.strerror or error}") from None
    return target


def _study_body(store: Store, folder: Path, notes: Sequence[str]) -> tuple[list[str], list[Path]]:
    listed = study_sections.entries([store])
    curves, files = study_sections.curves(listed, folder)
    ranked, drawn = rankings(listed, folder)
    asked_for, grid_files = grid(store, folder)
    lines = [
        f"logbarrier run {store.folder / 'study.toml'} --out {store.folder.parent}",
        f"logbarrier report {store.folder}",
    ]
    sections = [
        *study_sections.opening(store, f"Study {store.study.name}"),
        *map(paragraph, notes),
        *asked_for,
        *ranked,
        *curves,
        *study_sections.endings(listed),
        *study_sections.timings(store),
        *study_sections.rerun(store, lines),
    ]
    return sections, files + drawn + grid_files
