"""Pictures of policies on grids: arrows for the policy, colour for where it goes and what it expects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .problem import FiniteMDP

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WAYS = {"left": (-1.0, 0.0), "right": (1.0, 0.0), "up": (0.0, 1.0), "down": (0.0, -1.0)}  # columns to the right, rows up
RAREST = 1e-6  # smaller occupancies have the colour of this one
INK = "#333333"
WALL = "#e8e8e8"


def on_grid(mdp: FiniteMDP, numbers: Any) -> np.ndarray:
    """Numbers (S,) of states as an array of the grid's shape; cells that are not states hold NaN.

    >>> from logbarrier import mdps
    >>> on_grid(mdps.DeepSea(2), [1.0, 2.0, 3.0]).tolist()
    [[1.0, nan], [2.0, 3.0]]
    """
    rows, columns = _shape(mdp)
    cells = np.full(rows * columns, np.nan)
    cells[mdp.states] = np.asarray(numbers, dtype=np.float64)
    return cells.reshape(rows, columns)


def mean_steps(mdp: FiniteMDP, policy: Any) -> np.ndarray:
    """(S, 2) the mean direction (right, up) in which a policy steps from each state; its length is at most 1.

    With actions named left, right, up and down it is the mean of those; else of the directions to the successors.
    """
    weights = np.asarray(policy, dtype=np.float64)
    if mdp.action_names is not None and set(mdp.action_names) <= set(WAYS):
        return np.asarray(weights @ np.array([WAYS[name] for name in mdp.action_names]))
    rows, columns = np.divmod(mdp.states, _shape(mdp)[1])
    place = np.stack([columns, -rows], axis=1).astype(np.float64)
    pair = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.offsets))
    ways = place[mdp.successors] - place[pair // mdp.n_actions]
    ways /= np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1.0)
    steps = np.zeros((mdp.n_states, 2))
    np.add.at(steps, pair // mdp.n_actions, (mdp.probabilities * weights.ravel()[pair])[:, None] * ways)
    return steps


def grid(mdp: FiniteMDP, policies: Mapping[str, Any]) -> Figure:
    """One row per policy (S, K): its occupancy with arrows for the policy, and the value of each state.

    >>> from logbarrier import mdps
    >>> figure = grid(mdps.DeepSea(6), {"uniform": mdps.DeepSea(6).uniform_policy})
    >>> len(figure.axes)                                                         # two maps and their colour bars
    4
    """
    from matplotlib.figure import Figure

    rows, columns = _shape(mdp)
    is_chain = columns > 2 * rows
    gap = " " if is_chain else "\n"
    width = 6.5 if is_chain else 3.25
    height = max((width - 0.8) * rows / columns, 0.4) + 0.45
    figure = Figure(figsize=(6.5, height * len(policies) * (2 if is_chain else 1) + 0.2), layout="constrained")
    shape = (2 * len(policies), 1) if is_chain else (len(policies), 2)  # a map of a chain takes the whole width
    panels = figure.subplots(*shape, squeeze=False).reshape(len(policies), 2)
    values = {label: on_grid(mdp, mdp.value(policy)) for label, policy in policies.items()}
    low, high = _range(list(values.values()))
    for (left, right), (label, policy) in zip(panels, policies.items(), strict=True):
        draw_occupancy(left, mdp, policy)
        left.set_title(f"{label}, score {score(mdp, policy):.2f}:{gap}share of visits", fontsize=11, loc="left")
        image = draw_cells(right, values[label], cmap="cividis", vmin=low, vmax=high)
        right.set_title("value", fontsize=11, loc="left")
        figure.colorbar(image, ax=right, shrink=0.9, pad=0.02)
    return figure


def score(mdp: FiniteMDP, policy: Any) -> float:
    """J on a scale where uniform play is 0 and the optimal policy 1."""
    lowest = mdp.performance(mdp.uniform_policy)
    return (mdp.performance(policy) - lowest) / (mdp.optimal_performance - lowest)


def draw_occupancy(axes: Axes, mdp: FiniteMDP, policy: Any) -> None:
    """Occupancy in colour, on a logarithmic scale from 1e-6 to 1, and the policy as arrows."""
    from matplotlib.colors import LogNorm

    occupancy = on_grid(mdp, np.maximum(mdp.occupancy(policy), RAREST))
    image = draw_cells(axes, occupancy, cmap="Blues", norm=LogNorm(RAREST, 1.0))
    rows, columns = np.divmod(mdp.states, occupancy.shape[1])
    steps = 0.8 * mean_steps(mdp, policy)
    axes.quiver(
        columns, rows, steps[:, 0], -steps[:, 1], angles="xy", scale_units="xy", scale=1.0, pivot="mid", color="#D55E00",
        width=0.06, units="xy", headwidth=4, headlength=4, headaxislength=3.5, minlength=0.1,
    )  # fmt: skip
    axes.figure.colorbar(image, ax=axes, shrink=0.9, pad=0.02)


def draw_cells(axes: Axes, cells: np.ndarray, **colours: Any) -> Any:
    """One coloured square per cell; cells that are not states are grey."""
    image = axes.imshow(np.ma.masked_invalid(cells), interpolation="nearest", **colours)
    axes.set_facecolor(WALL)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_color(INK)
    return image


def _shape(mdp: FiniteMDP) -> tuple[int, int]:
    if mdp.shape is None:
        raise ValueError(f"pictures: {mdp.name} must have a shape (rows, columns) to be plotted as a grid, but it has none")
    return mdp.shape


def _range(arrays: list[np.ndarray]) -> tuple[float, float]:
    together = np.concatenate([array.ravel() for array in arrays])
    return float(np.nanmin(together)), float(np.nanmax(together))
