"""Pictures on the probability simplex: what they show, and that they can be saved."""

from __future__ import annotations

import numpy as np
import pytest

import figures_simplex as simplex
import logbarrier as lb
from logbarrier.lab_page.simplex import policy_motion
from logbarrier.plots import save_figure


def test_a_sample_path_begins_at_its_start_and_stays_on_the_simplex():
    start = np.array([0.2, 0.3, 0.5])
    path = simplex.sample_path(lb.NPG(learning_rate=0.1), np.array([1.0, 0.0, 0.5]), start=start, steps=20, seed=0)
    assert path[0] == pytest.approx(start)
    assert path.sum(axis=1) == pytest.approx(np.ones(21))
    assert np.abs(np.diff(path, axis=0)).max() > 0


def test_every_picture_is_saved(tmp_path):
    saved = [save_figure(simplex.simplex_paths(runs=1, steps=5), tmp_path / "paths.svg")]
    saved += [save_figure(simplex.boundary_steps(), tmp_path / "steps.png")]
    assert all(path.stat().st_size > 5000 for path in saved)


def test_the_plotted_motion_is_the_derivative_of_the_policy():
    policy, rule = np.array([0.5, 0.2, 0.3]), lb.LogBarrierSGB(learning_rate=1e-6, eta=60)
    update = rule.expected_update(1, policy, simplex.MEANS, np.zeros(2))
    moved = np.exp(np.log(policy) + update)
    assert policy_motion(rule, policy, simplex.MEANS) == pytest.approx(moved / moved.sum() - policy, rel=1e-5)
