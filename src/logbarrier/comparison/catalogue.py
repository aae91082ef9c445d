"""Every system, in the order of the tables and pictures: systems.toml with the rules of prescriptions.py."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..base.validate import did_you_mean
from .prescriptions import PRESCRIPTIONS
from .system import Family, System


def _system(name: str, claims: dict[str, Any]) -> System:
    return System(name=name, rule=PRESCRIPTIONS[name], **{**claims, "family": Family[claims["family"]]})


_TABLES = tomllib.loads((Path(__file__).parent / "systems.toml").read_text(encoding="utf-8"))
SYSTEMS: tuple[System, ...] = tuple(_system(name, claims) for name, claims in _TABLES.items())


def systems_named(names: Sequence[str]) -> list[System]:
    """The systems of these names in the catalogue's order; all for no names."""
    known = [system.name for system in SYSTEMS]
    for name in names:
        if name not in known:
            raise ValueError(f"complexity: only must be one of {', '.join(known)}, got {name!r}{did_you_mean(name, known)}")
    return [system for system in SYSTEMS if not names or system.name in names]
