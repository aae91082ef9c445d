"""What is collected: the deep package only where its extra is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
MISSING = [name for name in ("torch", "stable_baselines3", "sb3_contrib", "gymnasium") if find_spec(name) is None]
LEFT_OUT = [ROOT / "src/logbarrier/deep", ROOT / "tests/deep"] if MISSING else []
if find_spec("gymnasium") is None:
    LEFT_OUT += [ROOT / f"src/logbarrier/mdps/environments/{name}.py" for name in ("environment", "estimate")]
if find_spec("jax") is None:
    LEFT_OUT += [ROOT / "src/logbarrier/deep/jax.py", ROOT / "tests/deep/test_jax.py"]


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what cannot be imported."""
    return True if any(left in (collection_path, *collection_path.parents) for left in LEFT_OUT) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say so in one line."""
    if LEFT_OUT:
        names = ", ".join(str(path.relative_to(ROOT)) for path in LEFT_OUT)
        absent = ", ".join([*MISSING, *(["jax"] if find_spec("jax") is None else [])])
        terminalreporter.write_line(f"not tested for want of {absent}: {names}")
