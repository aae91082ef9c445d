"""A checkpoint that several tests of deep policies need. Imports are inside, for this file is read without the extra too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def collapsed_grid() -> Any:
    """The example that makes a collapsed checkpoint, as a module."""
    from toys import EXAMPLES, module

    return module(EXAMPLES / "collapsed_grid.py")


@pytest.fixture(scope="session")
def collapsed(collapsed_grid: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved PPO model that runs to the wrong corner, and is certain of it."""
    path = tmp_path_factory.mktemp("collapsed") / "collapsed.zip"
    collapsed_grid.collapsed_model().save(path)
    return path
