"""Store: a study's folder. A cell's file is there whole or not at all, and is checked whenever it is read.

    study.toml      the resolved study             arrays/<hash>.npy           long lists of numbers in it
    manifest.json   what, when, by which version   cells/<id>.npz, <id>.json   a cell and how it was made
    .lock           who writes                     failed/<id>.json            why a cell could not be computed
                                                   damaged/                    cells that failed their check

Everything else in the folder (figures, summary.csv, report.html) can be built again from these.
"""

from __future__ import annotations

import contextlib
import json
import platform
import secrets
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..base.files import read_table, whole_file
from ..record import Record
from ..version import __version__
from . import only_writer
from .arrays import FOLDER, array_files
from .cell import Cell, machine
from .cell_file import DamagedCellError, unpack
from .study import Study
from .study_file import read_study, study_as_toml


class CannotWriteError(OSError):
    """The disk refused: full, read-only, or a limit on file sizes."""


class Store:
    """The folder of one study. Reading needs no lock; `writing` takes it."""

    def __init__(self, folder: Path, study: Study) -> None:
        self.folder, self.study = folder, study
        self._cells, self._failed, self._damaged = folder / "cells", folder / "failed", folder / "damaged"

    @classmethod
    def open(cls, folder: str | Path) -> Store:
        """The store in an existing folder."""
        study_file = Path(folder) / "study.toml"
        if not study_file.is_file():
            raise FileNotFoundError(f"no study folder at {folder} (there is no study.toml in it); 'logbarrier run' makes one")
        store = cls(Path(folder), read_study(study_file).study)
        made = store.manifest()
        if made.get("hash", store.study.hash) != store.study.hash:
            raise ValueError(
                f"{folder}: its cells were made by other code (logbarrier {made.get('logbarrier')}, "
                f"Python {made.get('python')}); a rule, a problem or the simulator was edited since; run the study again"
            )
        return store

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer, in a folder that exists, describes the study and is free of half-written files."""
        try:
            for folder in (self._cells, self._failed):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotWriteError(f"cannot make the folder {folder}: {error.strerror}") from None
        with only_writer.hold(self.folder / ".lock"):
            for leftover in [*self.folder.glob(".*.part"), *self.folder.glob("*/.*.part")]:
                _remove(leftover)
            self._write_arrays()
            self._write("study.toml", study_as_toml(self.study, refer=True).encode())
            if self.manifest().get("hash") != self.study.hash:
                self.write_manifest({})  # from the first cell on, the folder says which code made it
            yield

    def _write_arrays(self) -> None:
        """Write every array of the study whose file is missing or damaged."""
        for name, content in array_files([[case.problem, case.rule] for case in self.study.cases]).items():
            path = self.folder / FOLDER / name
            path.parent.mkdir(exist_ok=True)
            if not path.is_file() or path.read_bytes() != content:
                self._write(f"{FOLDER}/{name}", content)

    def holder(self) -> str | None:
        """Who writes in this folder now, or None."""
        return only_writer.holder(self.folder / ".lock")

    def read(self, cell: Cell) -> Record | None:
        """The record of a finished cell, None if it is missing; DamagedCellError if its bytes are not what was written."""
        try:
            content = self._path(cell).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DamagedCellError(f"cell {cell.id}: cannot be read: {error.strerror}") from None
        return unpack(cell, content)

    def read_elsewhere(self, cell: Cell) -> tuple[bytes, dict[str, Any]] | None:
        """The bytes and provenance of the cell in the folder of another study in the same folder: one name, one content."""
        for path in sorted(self.folder.parent.glob(f"*/cells/{cell.id}.npz")):
            with contextlib.suppress(DamagedCellError, OSError):  # whatever cannot be read there is computed here
                content = path.read_bytes()
                unpack(cell, content)
                return content, read_table(path.with_suffix(".json"))
        return None

    def state(self, cell: Cell) -> str:
        """done, missing, failed or damaged."""
        try:
            if self.read(cell) is not None:
                return "done"
        except DamagedCellError:
            return "damaged"
        return "failed" if self._failure_path(cell).exists() else "missing"

    def write(self, cell: Cell, content: bytes, provenance: dict[str, Any]) -> None:
        """Keep a finished cell; a Ctrl-C that comes meanwhile waits until it is on disk."""
        with _uninterrupted():
            self._write(f"cells/{cell.id}.json", _as_json(provenance))
            self._write(f"cells/{cell.id}.npz", content)
            _remove(self._failure_path(cell))

    def provenance(self, cell: Cell) -> dict[str, Any]:
        """How a finished cell was made; empty if that is not known."""
        return read_table(self._cells / f"{cell.id}.json")

    def write_failure(self, cell: Cell, failure: dict[str, Any]) -> None:
        """Note why a cell could not be computed."""
        self._write(f"failed/{cell.id}.json", _as_json({**failure, "identity": cell.identity}))

    def failure(self, cell: Cell) -> dict[str, Any]:
        """What `write_failure` noted; empty if nothing."""
        return read_table(self._failure_path(cell))

    def move_damaged(self, cell: Cell) -> Path:
        """Move a damaged cell out of the way, for whoever wants to look at it; returns where to."""
        target = self._damaged / f"{cell.id}-{secrets.token_hex(4)}.npz"
        try:
            self._damaged.mkdir(exist_ok=True)
            self._path(cell).rename(target)
        except OSError as error:
            raise CannotWriteError(f"cannot move {self._path(cell)}: {error.strerror}") from None
        return target

    def forget(self, cell: Cell) -> None:
        """Delete a cell and its failure: it is missing from now on."""
        for path in (self._path(cell), self._cells / f"{cell.id}.json", self._failure_path(cell)):
            _remove(path)

    def write_manifest(self, outcome: dict[str, Any]) -> None:
        """Leave a note of the latest run for whoever finds the folder."""
        self._write(
            "manifest.json",
            _as_json(
                {
                    "study": self.study.name,
                    "hash": self.study.hash,
                    "cells": len(self.study.cells()),
                    "logbarrier": __version__,
                    "python": platform.python_version(),
                    "machine": machine(),
                    "written": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
                    "latest_run": outcome,
                }
            ),
        )

    def manifest(self) -> dict[str, Any]:
        """What `write_manifest` left."""
        return read_table(self.folder / "manifest.json")

    def _path(self, cell: Cell) -> Path:
        return self._cells / f"{cell.id}.npz"

    def _failure_path(self, cell: Cell) -> Path:
        return self._failed / f"{cell.id}.json"

    def _write(self, name: str, content: bytes) -> None:
        try:
            with whole_file(self.folder / name) as file:
                file.write(content)
        except OSError as error:
            raise CannotWriteError(f"cannot write {self.folder / name}: {error.strerror}") from None


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise CannotWriteError(f"cannot remove {path}: {error.strerror}") from None


def _as_json(plain: dict[str, Any]) -> bytes:
    return (json.dumps(plain, indent=1, sort_keys=True) + "\n").encode()


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold back Ctrl-C until the block ends; only the main thread ever gets one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt
