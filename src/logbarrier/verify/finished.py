"""Finished rows of `logbarrier verify` on disk: stopped at any time, the same command goes on from there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..base.files import whole_file

PACKAGE = Path(__file__).resolve().parents[1]

Row = dict[str, Any]


class FinishedRows:
    """Rows by name, in a file of `folder` that is named by the settings and by this package's sources.

    Another setting, or an edit of any source, is another file; a damaged one is begun anew.
    """

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
        for source in sorted(PACKAGE.rglob("*.py")):
            digest.update(source.relative_to(PACKAGE).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
        self.path = folder / f"verify-{digest.hexdigest()[:12]}.json"
        self._rows: dict[str, Row] = {}
        try:
            found = json.loads(self.path.read_text())
            self._rows = {str(name): dict(row) for name, row in found.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            pass

    def __len__(self) -> int:
        return len(self._rows)

    def once(self, name: str, compute: Callable[[], Row]) -> Row:
        """The row of this name: kept, or computed now and on disk before it is returned."""
        if name not in self._rows:
            self._rows[name] = json.loads(json.dumps(compute()))
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(self.path) as file:
                file.write(json.dumps(self._rows).encode())
        return self._rows[name]

    def forget(self) -> None:
        """Begin anew."""
        self._rows = {}
