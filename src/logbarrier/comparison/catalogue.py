"""Every system, in the order of the tables and pictures.

To add one, append a `System` to the file of its family; table, picture, `--only` and `--markdown` follow.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import barriers, entropies, exact, gradients, outsiders
from .system import System

SYSTEMS: tuple[System, ...] = (
    *gradients.SYSTEMS,
    *barriers.SYSTEMS,
    *entropies.SYSTEMS,
    *exact.SYSTEMS,
    *outsiders.SYSTEMS,
)


def systems_named(names: Sequence[str]) -> list[System]:
    """The systems of these names in the catalogue's order; all for no names."""
    known = [system.name for system in SYSTEMS]
    for name in names:
        if name not in known:
            raise ValueError(f"complexity: only must be one of {', '.join(known)}, got {name!r}")
    return [system for system in SYSTEMS if not names or system.name in names]
