"""How every figure looks and is saved.

Figures are made without pyplot, so a session's own backend and figures stay as they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from matplotlib.figure import Figure

# Colour-blind safe (Okabe and Ito 2008) and of falling lightness, so that grey prints can be distinguished.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
FORMATS = (".pdf", ".svg", ".png")
DASHES = ("-", "--", ":", "-.")  # distinguish curves when there are more curves than colours
STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "savefig.dpi": 160,
    "svg.hashsalt": "logbarrier",
    "pdf.fonttype": 42,  # TrueType, embedded: journals refuse Matplotlib's default
    "ps.fonttype": 42,
}


SMALL: Any = {"font.size": 8, "axes.titlesize": 8, "lines.linewidth": 1.4}  # for the text width of a paper


def styled(*, small: bool = False) -> AbstractContextManager[None]:
    """Matplotlib's settings for the figures of this package, for the length of a `with` block; small: for a paper's page."""
    import matplotlib

    context: AbstractContextManager[None] = matplotlib.rc_context({**STYLE, **SMALL} if small else STYLE)
    return context


def panels(rows: int, columns: int, *, size: tuple[float, float], **options: Any) -> tuple[Figure, Any]:
    """A figure of `size` inches with a grid of axes, as pyplot's `subplots` makes it, unknown to pyplot.

    Call it inside `styled()`.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, **options)


def check_figure_name(path: str | Path) -> Path:
    """The path, if its ending is one that can be written."""
    if Path(path).suffix not in FORMATS:
        raise ValueError(f"plot: the file must end in .png, .pdf or .svg, got {Path(path).name!r}")
    return Path(path)


def save_formats(figure: Figure, path: Path) -> list[Path]:
    """Write the figure as PDF, SVG and PNG next to each other; `path` has no ending."""
    return [save_figure(figure, path.with_name(path.name + ending)) for ending in FORMATS]


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write the figure in the format its file name says (png, pdf, svg), free of dates so that reruns give the same bytes."""
    target = check_figure_name(path)
    dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with styled():
        figure.savefig(target, metadata=dates.get(target.suffix))
    return target
