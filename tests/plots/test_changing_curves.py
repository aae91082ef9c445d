"""The figure of a problem that changes: its means, the share of the present best arm, and the dynamic regret."""

from __future__ import annotations

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.plots import changing_curves

FAMILY = lb.SwappingArms(n_arms=4, period=50)


def records(**options):
    rules = {"SGB": lb.SGB(learning_rate=0.1), "UCB1": lb.UCB1()}
    return {
        name: lb.simulate(rule, FAMILY, horizon=200, runs=3, seed=2, checkpoints=9, threads=1, **options)
        for name, rule in rules.items()
    }


def test_means_share_and_regret_are_drawn_as_they_are():
    steps, shown = np.arange(200), records()
    means = FAMILY.means_along(steps, seed=2)
    first, share, regret = changing_curves(shown, steps, means).axes
    *arms, best = first.lines
    assert {tuple(line.get_ydata()) for line in arms} == {tuple(means[:, arm]) for arm in range(4)}
    assert (best.get_ydata() == means.max(axis=1)).all()
    assert [text.get_text() for text in first.texts] == [str(arm) for arm in _reigns(means.argmax(axis=1))]
    for axes, metric in ((share, "optimal_probability"), (regret, "regret")):
        for line, record in zip(axes.lines, shown.values(), strict=True):
            assert (line.get_ydata() == record.mean(metric)).all()


def _reigns(leader):
    """Who leads, each time somebody takes over."""
    return leader[np.concatenate([[True], np.diff(leader) != 0])]


@pytest.mark.parametrize(("metrics", "panels"), [(["regret"], 2), (["entropy"], 1)])
def test_only_what_was_measured_has_a_panel(metrics, panels):
    steps = np.arange(200)
    assert len(changing_curves(records(metrics=metrics), steps, FAMILY.means_along(steps, seed=2)).axes) == panels


def test_of_many_arms_those_that_lead_are_among_the_lines():
    family, steps = lb.DriftingArms(n_arms=60, time_scale=500, block=10), np.arange(0, 2000, 10)
    means = family.means_along(steps, seed=0)
    (axes,) = changing_curves(records(metrics=["entropy"]), steps, means).axes
    drawn = {tuple(line.get_ydata()) for line in axes.lines}
    assert len(axes.lines) == 21
    assert all(tuple(means[:, arm]) in drawn for arm in np.unique(means.argmax(axis=1))[:20])
