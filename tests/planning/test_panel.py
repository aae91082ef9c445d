"""The panel of realistic problems, and what is known of a problem beforehand."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.planning.panel import ARMS, FAMILIES, HORIZONS, panel
from logbarrier.planning.typical import typical


def test_every_kind_of_reward_is_in_both_halves_and_no_family_is():
    cells = panel()
    assert len({cell.name for cell in cells}) == len(cells) == 132
    halves = {
        name: {cell.half for cell in cells if cell.name.startswith(f"{name}/")} for kind in FAMILIES.values() for name in kind
    }
    assert all(len(half) == 1 for half in halves.values())
    for kind in FAMILIES:
        assert Counter(cell.half for cell in panel(kinds=[kind])).keys() == {"tuning", "test"}
        tuning, test = (repr([cell.problem for cell in panel(kinds=[kind], half=half)]) for half in ("tuning", "test"))
        assert tuning != test


@pytest.mark.parametrize("half", ["tuning", "test"])
def test_both_halves_have_every_number_of_arms_and_every_horizon(half):
    cells = panel(half=half)
    assert {cell.problem.n_arms for cell in cells} == set(ARMS)
    assert {cell.horizon for cell in cells} == set(HORIZONS)
    assert all(cell.horizon >= 20 * cell.problem.n_arms for cell in cells)


def test_the_split_is_pinned():
    """Rules were tuned on one half: a family that moved would be evaluated on what it was tuned on."""
    tuning = {cell.name.partition("/")[0] for cell in panel(half="tuning")}
    assert tuning == {
        *("gap-0.1", "quiet-0.3", "close-0.05", "needle-0.3", "clicks-2%", "clicks-50%", "revenue-10%", "counts-5"),
        *("student-0.5", "unequal-0.3", "costs-0.5"),
    }


def test_a_bad_choice_is_one_sentence():
    with pytest.raises(ValueError, match="panel: half must be one of tuning, test, got 'both'"):
        panel(half="both")
    with pytest.raises(ValueError, match="panel: kinds must be one of gap, quiet, .* got 'click'; did you mean clicks?"):
        panel(kinds=["click"])


KNOWN = [  # problem, standard deviation of a reward, from textbook formulas
    (lb.GaussianBandit([0.0, 2.0], scale=[1.0, 3.0]), math.sqrt(5.0)),
    (lb.PoissonBandit([4.0, 5.0]), math.sqrt(4.5)),
    (lb.RevenueBandit([0.5, 0.4], amount=10.0, sigma=0.5), math.sqrt(45 * math.exp(0.25) - (25 + 16) / 2)),
    (lb.CostBandit([2.0, 2.1], sigma=0.5), math.sqrt((math.exp(0.25) - 1) * (4 + 4.41) / 2)),
    (lb.BernoulliBandit([0.2, 0.7]), math.sqrt((0.16 + 0.21) / 2)),
]


@pytest.mark.parametrize(("problem", "deviation"), KNOWN, ids=lambda value: type(value).__name__)
def test_what_is_known_beforehand_is_true(problem, deviation):
    """2,400 rewards leave the deviation 10 % of room, more than 4 standard errors: false alarms below 1e-4."""
    known = typical(problem)
    assert (known.lowest, known.highest) == (problem.means.min(), problem.means.max())
    assert known.deviation == pytest.approx(deviation, rel=0.1)
    assert known.clicks is isinstance(problem, lb.BernoulliBandit)


def test_the_informed_rule_is_given_law_noise_and_range():
    (clicks,) = panel(kinds=["clicks"], arms=[5], half="tuning")[:1]
    (counts,) = panel(kinds=["counts"], arms=[5], half="tuning")
    assert clicks.informed_rule() == lb.BetaThompsonSampling()
    rule = counts.informed_rule()
    assert rule.scale == pytest.approx(math.sqrt(5.0), rel=0.1)
    assert rule.prior_scale == pytest.approx(6.0, rel=0.1)


def test_every_kind_runs():
    for kind in FAMILIES:
        cell = panel(kinds=[kind], arms=[5])[0]
        record = lb.simulate(lb.UCB1(), cell.problem, horizon=100, runs=2, seed=1, checkpoints=2, threads=1)
        assert np.isfinite(record["regret"]).all()
