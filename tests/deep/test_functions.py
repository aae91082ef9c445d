"""The bonuses as functions of logits, against mpmath, closed forms and each other."""

from __future__ import annotations

import math

import mpmath
import pytest
import torch

from logbarrier import deep

HALVES = [torch.float16, torch.bfloat16]
DTYPES = [*HALVES, torch.float32, torch.float64]
BONUSES = [deep.log_barrier, deep.symmetric_kl]


def random_logits(*shape: int, spread: float = 5.0, seed: int = 0) -> torch.Tensor:
    return spread * torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def truth(row: torch.Tensor) -> dict[str, float]:
    """What mpmath makes of one vector of logits, in 60 digits."""
    with mpmath.workdps(60):
        logits = [mpmath.mpf(x) for x in row.double().tolist()]
        total = mpmath.log(mpmath.fsum(mpmath.exp(x) for x in logits))
        log_pi = [x - total for x in logits]
        count = len(logits)
        entropy = -mpmath.fsum(mpmath.exp(x) * x for x in log_pi)
        barrier = mpmath.fsum(log_pi) / count + mpmath.log(count)
        return {
            "log_barrier": float(barrier),
            "symmetric_kl": float((barrier + entropy - mpmath.log(count)) / 2),
            "entropy": float(entropy),
            "min_log_probability": float(min(log_pi)),
            "min_probability": float(mpmath.exp(min(log_pi))),
            "effective_actions": float(mpmath.exp(entropy)),
        }


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("gap", [0.0, 1.0, 10.0, 100.0, 1000.0])
def test_every_function_is_exact_for_any_logit_gap_in_any_precision(dtype, gap):
    logits = torch.tensor([0.0, -0.25 * gap, -gap, -gap, 0.0], dtype=dtype)
    tolerance = 1e-12 if dtype is torch.float64 else 1e-5
    for name, value in truth(logits).items():
        ours = getattr(deep, name)(logits)
        assert ours.item() == pytest.approx(value, rel=tolerance, abs=tolerance * 1e-2 if value == 0 else tolerance), name


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("gap", [0.0, 10.0, 100.0, 1000.0])
def test_gradient_of_the_barrier_is_uniform_minus_policy_to_rounding(dtype, gap):
    logits = torch.tensor([[gap, 0.0, 0.0, 1.0], [0.0, gap, gap, 0.0]], dtype=dtype, requires_grad=True)
    deep.log_barrier(logits).sum().backward()
    expected = 0.25 - torch.softmax(logits.detach().double(), -1)
    assert (logits.grad.double() - expected).abs().max() <= torch.finfo(dtype).eps


@pytest.mark.parametrize("bonus", BONUSES)
@pytest.mark.parametrize("masked", [False, True])
def test_autograd_agrees_with_finite_differences_in_float64(bonus, masked):
    logits = random_logits(3, 6, spread=2.0).requires_grad_()
    mask = torch.rand(3, 6, generator=torch.Generator().manual_seed(1)) < 0.7 if masked else None
    assert torch.autograd.gradcheck(lambda x: bonus(x, mask), logits)


def test_gradient_of_the_symmetric_bonus_has_its_closed_form():
    logits = random_logits(50, 7).requires_grad_()
    deep.symmetric_kl(logits).sum().backward()
    log_pi = torch.log_softmax(logits.detach(), -1)
    pi = log_pi.exp()
    entropy = -(pi * log_pi).sum(-1, keepdim=True)
    assert torch.allclose(logits.grad, 0.5 * (1 / 7 - pi) - 0.5 * pi * (log_pi + entropy), atol=1e-14)


def test_the_gradient_stays_where_an_entropy_bonus_has_lost_its_own():
    logits = torch.tensor([40.0, 0.0, 0.0], requires_grad=True)
    deep.log_barrier(logits).backward()
    barrier = logits.grad[1].item()
    logits.grad = None
    deep.entropy(logits).backward()
    assert barrier == pytest.approx(1 / 3)
    assert abs(logits.grad[1].item()) < 1e-15


@pytest.mark.parametrize("function", [*BONUSES, deep.entropy, deep.min_log_probability, deep.effective_actions])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_masked_actions_are_as_if_they_did_not_exist(function, dtype):
    logits = random_logits(4, 6).to(dtype).requires_grad_()
    mask = torch.tensor([True, False, True, True, False, False]).expand(4, 6)
    alone = logits.detach()[:, mask[0]].clone().requires_grad_()
    masked, reduced = function(logits, mask), function(alone)
    assert torch.allclose(masked, reduced, rtol=1e-6, atol=1e-6)
    masked.sum().backward()
    reduced.sum().backward()
    assert torch.allclose(logits.grad[:, mask[0]], alone.grad, atol=2 * torch.finfo(dtype).eps)
    assert (logits.grad[:, ~mask[0]] == 0).all()


@pytest.mark.parametrize("bonus", BONUSES)
def test_a_state_without_any_allowed_action_gives_zero_and_no_gradient(bonus):
    logits = random_logits(2, 3).float().requires_grad_()
    mask = torch.tensor([[False, False, False], [True, True, False]])
    value = bonus(logits, mask)
    value.sum().backward()
    assert value[0] == 0
    assert (logits.grad[0] == 0).all()
    assert logits.grad[1, :2].abs().min() > 0


@pytest.mark.parametrize("bonus", BONUSES)
def test_nothing_masked_reaches_the_result_even_if_it_is_not_a_number(bonus):
    logits = torch.tensor([1.0, math.nan, -math.inf, 0.0], requires_grad=True)
    value = bonus(logits, torch.tensor([True, False, False, True]))
    value.backward()
    assert value.item() == pytest.approx(bonus(torch.tensor([1.0, 0.0])).item())
    assert torch.isfinite(logits.grad).all()


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (2, 0, 4), (1, 1, 1, 4)])
@pytest.mark.parametrize("bonus", BONUSES)
def test_any_batch_shape_gives_one_number_per_state(bonus, shape):
    logits = random_logits(*shape)
    together = bonus(logits)
    assert together.shape == shape[:-1]
    for one, row in zip(together.flatten(), logits.reshape(-1, 4), strict=True):
        assert one == bonus(row)


@pytest.mark.parametrize("bonus", BONUSES)
def test_uniform_is_the_maximum_and_its_value_zero(bonus):
    assert bonus(torch.zeros(9, dtype=torch.float64)).abs() < 1e-15
    assert (bonus(random_logits(1000, 9, spread=0.1)) < 0).all()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_a_thousand_dying_actions_do_not_overflow_half_precision(dtype):
    logits = torch.full((1000,), -1000.0, dtype=dtype)
    logits[0] = 0.0
    assert deep.log_barrier(logits).item() == pytest.approx(-999 + math.log(1000), rel=1e-6)


def test_a_mask_of_numbers_or_of_another_shape_is_refused():
    with pytest.raises(
        ValueError, match=r"mask must be boolean and of the logits' shape \(2, 3\), got \(2, 3\) of torch.float32"
    ):
        deep.log_barrier(torch.zeros(2, 3), torch.ones(2, 3))
    with pytest.raises(ValueError, match=r"got \(3,\) of torch.bool"):
        deep.log_barrier(torch.zeros(2, 3), torch.ones(3, dtype=torch.bool))


@pytest.mark.parametrize("function", [*BONUSES, deep.entropy, deep.min_probability, deep.effective_actions])
def test_a_distribution_is_refused_and_its_logits_are_not(function):
    policy = torch.distributions.Categorical(logits=random_logits(2, 3))
    with pytest.raises(
        TypeError, match=r"^deep: logits must be a tensor .* got Categorical; of a distribution give its \.logits$"
    ):
        function(policy)
    assert function(policy.logits).shape == (2,)
    with pytest.raises(TypeError, match=r"^deep: mask must be a boolean tensor of the logits' shape, got list$"):
        function(policy.logits, [True, True, False])


def test_whole_numbers_are_refused_as_logits():
    with pytest.raises(ValueError, match="logits must be real numbers"):
        deep.entropy(torch.zeros(3, dtype=torch.int64))
