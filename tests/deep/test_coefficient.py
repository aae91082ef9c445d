"""The rule of thumb for c, against the fixed point it stands for."""

from __future__ import annotations

import pytest
import torch
from scipy.optimize import brentq

from logbarrier import deep


def resting_policy(values: torch.Tensor, c: float) -> torch.Tensor:
    """pi(a) = (c/K) / (c + V - Q(a)), V found by root search: the maximiser of pi.Q + c log_barrier."""
    best, count = values.max().item(), len(values)

    def excess(v: float) -> float:
        return sum(c / count / (c + v - q) for q in values.tolist()) - 1.0

    v = brentq(excess, best - c * (1 - 1 / count) - 1e-15, best + c * count, xtol=1e-15)
    return torch.tensor([c / count / (c + v - q) for q in values.tolist()], dtype=torch.float64)


@pytest.mark.parametrize("n_actions", [2, 4, 18])
@pytest.mark.parametrize("share", [0.001, 0.05, 0.3])
@pytest.mark.parametrize("gap", [0.01, 1.0, 25.0])
def test_the_chosen_coefficient_rests_at_the_share_asked_for(n_actions, share, gap):
    choice = deep.choose_coefficient(share, gap=gap, n_actions=n_actions)
    values = torch.zeros(n_actions, dtype=torch.float64)
    values[0] = gap
    policy = resting_policy(values, choice.coefficient)
    assert 1 - policy[0].item() == pytest.approx(share, rel=1e-6)
    assert policy.min().item() == pytest.approx(choice.min_probability, rel=1e-6)
    assert gap - (policy @ values).item() == pytest.approx(choice.cost, rel=1e-6)


def test_the_resting_point_is_where_the_gradient_of_value_plus_barrier_vanishes():
    values = torch.tensor([1.0, 0.4, -0.2, 0.9], dtype=torch.float64)
    logits = resting_policy(values, 0.2).log().requires_grad_()
    (torch.softmax(logits, -1) @ values + 0.2 * deep.log_barrier(logits)).backward()
    assert logits.grad.abs().max() < 1e-12


def test_the_deviation_of_advantages_is_that_of_the_two_valued_policy_and_its_noise():
    share, gap, noise = 0.2, 3.0, 0.5
    draws = torch.Generator().manual_seed(0)
    explores = torch.rand(1_000_000, generator=draws) < share
    returns = torch.where(explores, 0.0, gap) + noise * torch.randn(1_000_000, generator=draws)
    # The deviation of 10^6 draws is off by more than 0.5 % less than once in 10^6 times.
    assert returns.std().item() == pytest.approx(deep.advantage_deviation(share, gap=gap, noise=noise), rel=5e-3)


@pytest.mark.parametrize("share", [0.0, 0.75, 0.9, -0.1])
def test_a_share_no_policy_of_four_actions_can_have_is_refused(share):
    with pytest.raises(ValueError, match="share must lie between 0 and 0.75"):
        deep.choose_coefficient(share, gap=1.0, n_actions=4)


@pytest.mark.parametrize("wrong", [{"gap": 0.0}, {"gap": float("inf")}, {"deviation": -1.0}])
def test_a_gap_or_deviation_that_is_not_positive_is_refused(wrong):
    with pytest.raises(ValueError, match="(gap|deviation) must be positive and finite"):
        deep.choose_coefficient(0.1, **{"gap": 1.0, "n_actions": 4, **wrong})


def test_a_single_action_is_refused():
    with pytest.raises(ValueError, match="n_actions must be at least 2, got 1"):
        deep.choose_coefficient(0.1, gap=1.0, n_actions=1)
