"""The theory of the spectral barrier, tried on random and searched MDPs."""

from __future__ import annotations

import numpy as np
import pytest

from logbarrier import mdps
from logbarrier.mdps import exact
from logbarrier.theory.sides import Sides
from logbarrier.verify.mdp_points import ANY_SIZE
from logbarrier.verify.mdp_statements import STATEMENTS, bias_bound
from logbarrier.verify.trials import CORRECTED, HOLDS, tightest, verify


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.name)
def test_every_statement_holds_where_it_should(statement):
    (verdict,) = verify(instances=1200, optimised=6, statements=(statement,))
    assert verdict.verdict == (HOLDS if statement.corrected is None else CORRECTED)


def test_the_action_barrier_is_not_concave_and_the_counterexample_can_be_checked():
    (statement,) = (one for one in STATEMENTS if one.corrected is not None)
    point = tightest(statement.printed, 600, 6, 0, statement.points).point
    mdp = mdps.FiniteMDP(**{name: point[name] for name in ("P", "R", "rho", "gamma")})
    here, there = (np.exp(point[name]) / np.exp(point[name]).sum(axis=1, keepdims=True) for name in ("theta", "other"))
    here, there = (mdp.occupancy(policy)[:, None] * policy for policy in (here, there))
    step = 0.01 / np.abs(there / here - 1.0).max()
    measures = [here + k * step * (there - here) for k in (-1, 0, 1)]  # three in a row, all of them occupancies
    policies = [mu / mu.sum(axis=1, keepdims=True) for mu in measures]
    assert np.diff([np.log(policy).sum() for policy in policies], 2) > 1e-6  # bends upwards
    assert np.diff([exact.log_pdet_fisher(mdp, np.log(policy)) for policy in policies], 2) < -1e-6


def test_a_bound_that_is_a_tenth_too_sharp_is_found_out():
    def sharper(x):
        return Sides(bias_bound(x).lesser, 0.9 * bias_bound(x).greater)

    assert tightest(sharper, 1200, 12, 0, ANY_SIZE).ratio > 1.05


def test_points_built_around_a_maximum_have_it_there():
    x = ANY_SIZE.decode(ANY_SIZE.draw(np.random.default_rng(3), 10, (3, 2)), (3, 2))
    for i in range(10):
        mdp = mdps.FiniteMDP(P=x.P[i], R=x.reward_of_maximum[i], rho=x.rho[i], gamma=float(x.gamma[i]))
        best = exact.maximise(mdp, mdps.Spectral(eta=float(x.eta[i])))
        assert np.allclose(best.policy, x.here.policy[i], rtol=1e-6)
