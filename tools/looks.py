"""How the pictures of the documentation look: readable at half the width of a page, and without colour."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from logbarrier.plots.style import COLOURS, save_figure, styled
from pictures import IMAGES, stamp

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 6.5  # inches of every picture; with text of 11 points it can be read at 400 pixels
TEXT: Any = {"font.size": 11, "axes.titlesize": 11, "legend.fontsize": 10, "lines.linewidth": 1.8, "lines.markersize": 5}
MARKERS = "osD^vP*"
DASHES: Any = ("-", (0, (5, 1.5)), (0, (6, 1.5, 1.2, 1.5)), (0, (1, 1.2)), (0, (3, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (2, 3)))


@contextmanager
def page_style() -> Iterator[None]:
    """Matplotlib's settings for a picture of the documentation, for the length of a `with` block."""
    import matplotlib

    with styled(), matplotlib.rc_context(TEXT):
        yield


def look(number: int) -> dict[str, Any]:
    """Return colour and dashes of curve number 0, 1, ...; each alone tells the curves apart."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}


def label_edges(figure: Figure, grid: np.ndarray, x: str, y: str, *, columns: int = 3) -> None:
    """Label the left and the lower panels of a grid, and put one legend below it."""
    for axes in grid[:, 0]:
        axes.set_ylabel(y)
    for axes in grid[-1]:
        axes.set_xlabel(x)
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=columns, columnspacing=1.0)


def save(figure: Figure, name: str, things: tuple[Any, ...], folder: Path = IMAGES) -> Path:
    """Write a picture with the stamp of what it depends on."""
    with page_style():
        path = save_figure(figure, folder / name)
    stamp(path, things)
    return path


def middle_mean(values: np.ndarray) -> np.ndarray:
    """Return the interquartile mean over the last axis: that of the values between the quartiles.

    >>> float(middle_mean(np.array([0.0, 1.0, 2.0, 9.0])))
    1.5
    """
    ordered = np.sort(values, axis=-1)
    cut = values.shape[-1] // 4
    return np.asarray(ordered[..., cut : values.shape[-1] - cut].mean(axis=-1))


def middle_interval(values: np.ndarray, resamples: int = 10_000) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the interquartile mean of values (seeds,)."""
    drawn = np.random.default_rng(0).integers(len(values), size=(resamples, len(values)))
    low, high = np.quantile(middle_mean(values[drawn]), [0.025, 0.975])
    return float(low), float(high)
