"""Forty MDPs in 40-digit arithmetic."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from logbarrier import mdps
from logbarrier.mdps import exact

CASES = json.loads((Path(__file__).parents[1] / "data" / "mdps.json").read_text())["cases"]
WITHIN = 1e-10


@pytest.fixture(params=range(len(CASES)))
def case(request):
    return CASES[request.param]


def mdp_of(case):
    return mdps.FiniteMDP(P=case["P"], R=case["R"], rho=case["rho"], gamma=case["gamma"])


def off(found, true):
    """The largest error, relative to the largest entry."""
    return np.abs(np.asarray(found) - true).max() / np.abs(true).max()


def test_occupancy_performance_and_determinant_are_the_golden_ones(case):
    mdp = mdp_of(case)
    assert np.abs(mdp.occupancy(case["policy"]) / case["occupancy"] - 1.0).max() < WITHIN  # each entry
    assert off(mdp.performance(case["policy"]), case["J"]) < WITHIN
    assert off(exact.log_pdet_fisher(mdp, case["theta"]), case["log_pdet_fisher"]) < WITHIN


def test_both_gradients_are_the_golden_ones(case):
    mdp = mdp_of(case)
    of_performance = exact.gradient(mdp, case["theta"], mdps.NoRegulariser())
    of_both = exact.gradient(mdp, case["theta"], mdps.Spectral(eta=case["eta"]))
    assert off(of_performance, np.array(case["gradient_J"])) < WITHIN
    assert off(case["eta"] * (of_both - of_performance), np.array(case["gradient_log_pdet"])) < WITHIN
