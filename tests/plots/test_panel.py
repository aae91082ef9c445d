"""One panel on the caller's axes, and grids of panels."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import logbarrier as lb
from logbarrier import mdps
from logbarrier.plots.style import COLOURS, save_formats

RECORDS = {
    name: lb.simulate(rule, lb.GapInstances(n_arms=4), horizon=60, runs=5, seed=0, checkpoints=5)
    for name, rule in (("SGB", lb.SGB(learning_rate=0.1)), ("NPG", lb.NPG(learning_rate=0.1)))
}


def axes():
    return Figure().subplots()


def test_a_panel_shows_the_mean_and_its_interval_on_the_callers_axes():
    ax = axes()
    assert lb.plots.learning_curves(RECORDS, metric="regret", ax=ax) is ax
    assert [line.get_label() for line in ax.get_lines()] == ["SGB", "NPG"]
    assert np.array_equal(ax.get_lines()[1].get_ydata(), RECORDS["NPG"].mean("regret"))
    low, high = RECORDS["SGB"].interval("regret")
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == low.min()
    assert band[:, 1].max() == high.max()


def test_bands_labels_and_scales_are_the_callers_choice():
    ax = lb.plots.learning_curves(
        list(RECORDS.values()), "regret", ax=axes(), labels=["a", "b"], band="quantiles", scale="log-log"
    )
    assert [line.get_label() for line in ax.get_lines()] == ["a", "b"]
    assert np.array_equal(ax.get_lines()[0].get_ydata(), RECORDS["SGB"].quantiles("regret", 0.5))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    plain = lb.plots.learning_curves(RECORDS, ax=axes(), labels={"SGB": "policy gradient"}, band="none")
    assert [line.get_label() for line in plain.get_lines()] == ["policy gradient", "NPG"]
    assert not plain.collections
    assert plain.get_ylabel() == "probability of the optimal arm"


def test_a_record_plots_itself():
    river = mdps.simulate(mdps.SpectralPG(), mdps.RiverSwim(4), horizon=200, runs=3)
    assert river.plot(ax=axes()).get_ylabel() == "score"
    assert river.plot("regret", ax=axes(), scale="log").get_yscale() == "log"
    assert len(RECORDS["SGB"].plot().axes) == 3  # mean, spread, stuck


def test_a_label_has_one_colour_in_a_grid_also_where_another_is_missing():
    figure = lb.plots.curve_grid(
        [[RECORDS, {"NPG": RECORDS["NPG"]}], [RECORDS, RECORDS]], titles=["K = 4", "K = 5"], row_labels=["a", "b"]
    )
    alone = figure.axes[1].get_lines()
    assert [to_hex(line.get_color()) for line in alone] == [COLOURS[1].lower()]
    assert [axes.get_title() for axes in figure.axes] == ["K = 4", "K = 5", "", ""]
    assert figure.axes[2].get_ylabel() == "b\np(a*)"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["SGB", "NPG"]


def test_fonts_are_embedded_as_truetype_and_three_formats_are_written(tmp_path):
    files = save_formats(lb.plots.learning_curves(RECORDS), tmp_path / "figure")
    assert [file.suffix for file in files] == [".pdf", ".svg", ".png"]
    content = files[0].read_bytes()
    assert b"/FontFile2" in content  # an embedded TrueType font
    assert b"/Type3" not in content


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: lb.plots.learning_curves(RECORDS, ax=axes(), band="both"), "learning_curves: band must be one of interval"),
        (lambda: lb.plots.learning_curves(RECORDS, ax=axes(), labels=["one"]), "labels must differ, one for each of 2 records"),
        (lambda: lb.plots.learning_curves([], ax=axes()), "learning_curves: records must be records by label"),
        (lambda: lb.plots.curve_grid([[RECORDS], []]), r"every row must have the same number of panels, got \[1, 0\]"),
    ],
)
def test_wrong_calls_are_refused_in_one_sentence(call, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        call()
