"""A small study file, and the bytes of stored cells."""

from __future__ import annotations

from pathlib import Path

SMALL = """
horizon = 200
runs = 6
runs_per_cell = 2

[[problems]]
problem = "GapInstances"
n_arms = [3, 5]

[[rules]]
rule = "log-barrier-sgb"
learning_rate = [0.05, 0.1]
eta = 100

[[rules]]
rule = "npg"
learning_rate = 0.1
"""


def cell_bytes(folder: Path) -> dict[str, bytes]:
    """Name -> bytes of every finished cell below a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("cells/*.npz"))}
