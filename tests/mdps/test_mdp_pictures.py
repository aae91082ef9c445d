"""Pictures of grids: what is drawn is where it belongs, and the user's backend is left alone."""

from __future__ import annotations

import io

import numpy as np
import pytest

from figures_mdps import maps, plot_accuracy, plot_two_maxima, two_maxima
from logbarrier import mdps
from logbarrier.mdps import pictures


def test_numbers_of_states_land_in_their_cells():
    sea = mdps.DeepSea(3)
    cells = pictures.on_grid(sea, np.arange(6.0))
    assert np.array_equal(cells, [[0.0, np.nan, np.nan], [1.0, 2.0, np.nan], [3.0, 4.0, 5.0]], equal_nan=True)


def test_arrows_of_named_actions_point_their_way():
    mdp = mdps.RiverSwim(4)
    policy = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.25, 0.75]])
    assert pictures.mean_steps(mdp, policy).tolist() == [[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.5, 0.0]]


def test_arrows_of_unnamed_actions_point_to_the_successors():
    sea = mdps.DeepSea(3)
    steps = pictures.mean_steps(sea, sea.optimal_policy)
    assert np.allclose(steps[0], [np.sqrt(0.5), -np.sqrt(0.5)])  # right and down
    assert (steps[3:] == 0.0).all()  # the last row goes nowhere


def test_a_grid_has_a_row_per_policy_and_shows_its_occupancy():
    mdp = mdps.Distractor(5)
    figure = pictures.grid(mdp, {"uniform": mdp.uniform_policy, "best": mdp.optimal_policy})
    assert len(figure.axes) == 8
    assert "uniform, score 0.00" in figure.axes[0].get_title(loc="left")
    assert "best, score 1.00" in figure.axes[2].get_title(loc="left")
    shown = figure.axes[0].images[0].get_array()
    assert np.allclose(shown[0], mdp.occupancy(mdp.uniform_policy))
    figure.savefig(io.BytesIO(), format="png", dpi=30)


def test_pictures_of_the_theory_can_be_drawn_without_pyplot(run_python):
    code = (
        "import io, sys; from logbarrier import mdps; assert 'logbarrier.mdps.pictures' not in sys.modules; "
        "mdp = mdps.DeepSea(4); mdps.pictures.grid(mdp, {'uniform': mdp.uniform_policy}).savefig(io.BytesIO()); "
        "print('matplotlib.pyplot' in sys.modules)"
    )
    assert run_python(code) == "False"


def test_pictures_of_the_docs_show_two_maxima_and_one():
    mdp = mdps.Distractor(10, gamma=0.95)
    found = two_maxima(mdp, starts=3, steps=50)
    ends = {label: np.round(curves[:, -1], 1) for label, curves in found.ascents.items()}
    assert set(ends["action barrier"]) == {0.2, 0.9}
    assert set(ends["spectral barrier"]) == {0.9}
    assert found.chord["action barrier"].min() < found.chord["action barrier"][0] - 1e-3  # a valley between them
    assert np.diff(found.chord["spectral barrier"], 2).max() < 1e-9  # concave
    for figure in (plot_two_maxima(found), plot_accuracy({"swim": mdps.RiverSwim(4)}), maps(mdp, 0.1)):
        figure.savefig(io.BytesIO(), format="png", dpi=30)


def test_an_mdp_without_a_shape_is_refused():
    mdp = mdps.RandomMDPs(3, 2).problem(0, 0)
    with pytest.raises(ValueError, match=r"pictures: RandomMDPs\(3, 2\) must have a shape"):
        pictures.grid(mdp, {"uniform": mdp.uniform_policy})
