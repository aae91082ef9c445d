"""Figures: right data, same bytes twice."""

from __future__ import annotations

import pytest

import logbarrier as lb
from logbarrier.plots import learning_curves, save_figure, standings


@pytest.fixture(scope="module")
def records():
    family = lb.GapInstances(n_arms=5)
    return {
        name: lb.simulate(rule, family, horizon=200, runs=5, seed=0, checkpoints=10)
        for name, rule in {"SGB": lb.SGB(learning_rate=0.1), "NPG": lb.NPG(learning_rate=0.1)}.items()
    }


def test_curves_show_mean_median_and_stuck_fraction(records):
    figure = learning_curves(records)
    mean, spread, stuck = figure.axes
    for line, record in zip(mean.lines, records.values(), strict=True):
        assert (line.get_ydata() == record.mean("optimal_probability")).all()
    for line, record in zip(spread.lines, records.values(), strict=True):
        assert (line.get_ydata() == record.quantiles("optimal_probability", 0.5)).all()
    for line, record in zip(stuck.lines, records.values(), strict=True):
        assert (line.get_ydata() == record.stuck()).all()


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_the_same_record_gives_the_same_bytes(records, tmp_path, suffix):
    one = save_figure(learning_curves(records), tmp_path / f"one.{suffix}").read_bytes()
    two = save_figure(learning_curves(records), tmp_path / f"two.{suffix}").read_bytes()
    assert one == two


def test_an_unknown_format_is_refused(records, tmp_path):
    with pytest.raises(ValueError, match="plot: the file must end in .png, .pdf or .svg, got 'a.gif'"):
        save_figure(learning_curves(records), tmp_path / "a.gif")


def test_standings_have_a_row_a_record_and_fill_the_marks_that_are_flagged(records):
    figure = standings({label: (record, label == next(iter(records))) for label, record in records.items()})
    regret, probability, stuck = figure.axes
    assert [tick.get_text() for tick in regret.get_yticklabels()] == list(records)
    marks = [line for line in regret.lines if line.get_marker() == "o"]
    assert [mark.get_xdata()[0] for mark in marks] == [record.mean("regret")[-1] for record in records.values()]
    assert [mark.get_markerfacecolor() != "white" for mark in marks] == [i == 0 for i in range(len(records))]
    assert [bar.get_width() for bar in stuck.patches] == [record.stuck_fraction() for record in records.values()]
    assert len(probability.lines) == len(regret.lines)
