"""The log barrier of a softmax policy, as a bonus to add to any policy-gradient loss.

Problem: an entropy bonus fades as an action dies, because its gradient in a logit is proportional to that action's
probability. The log barrier's does not: for K actions with logits x and pi = softmax(x),

    log_barrier(x) = (1/K) sum_a log pi(a) + log K = -KL(uniform || pi),    gradient 1/K - pi.

Every function takes logits of any shape (..., K), and an optional boolean mask of that shape which is true where an action
is allowed. Masked actions neither count nor receive a gradient; a state with no allowed action contributes 0. Half-precision
logits are worked on, and answered, in float32.

    loss = policy_loss + 0.5 * value_loss - c * log_barrier(logits).mean()
"""

from __future__ import annotations

import torch
from torch import Tensor


def log_barrier(logits: Tensor, mask: Tensor | None = None) -> Tensor:
    """-KL(uniform || pi), shape (...): 0 for the uniform policy, minus infinity where an action has probability 0.

    >>> dying = torch.tensor([1000.0, 0.0], requires_grad=True)
    >>> log_barrier(dying).backward()
    >>> dying.grad
    tensor([-0.5000,  0.5000])
    """
    log_pi, allowed = _log_policy(logits, mask)
    return _barrier(log_pi, allowed)


def symmetric_kl(logits: Tensor, mask: Tensor | None = None) -> Tensor:
    """Half barrier, half entropy, as a bonus: -(KL(uniform || pi) + KL(pi || uniform)) / 2, shape (...), at most 0.

    The entropy half steers a policy that is only leaning, the barrier half one that has already collapsed.

    >>> symmetric_kl(torch.tensor([1000.0, 0.0]))
    tensor(-250.)
    """
    log_pi, allowed = _log_policy(logits, mask)
    return 0.5 * (_barrier(log_pi, allowed) + _entropy(log_pi, allowed) - _count(allowed, log_pi.dtype).log())


def entropy(logits: Tensor, mask: Tensor | None = None) -> Tensor:
    """-sum_a pi(a) log pi(a) over the allowed actions, in nats, shape (...)."""
    return _entropy(*_log_policy(logits, mask))


def min_log_probability(logits: Tensor, mask: Tensor | None = None) -> Tensor:
    """Logarithm of the smallest probability among the allowed actions, shape (...); it does not underflow.

    >>> min_log_probability(torch.tensor([1000.0, 0.0]))
    tensor(-1000.)
    """
    log_pi, allowed = _log_policy(logits, mask)
    return torch.where(allowed, log_pi, 0.0).amin(-1)


def min_probability(logits: Tensor, mask: Tensor | None = None) -> Tensor:
    """Smallest probability among the allowed actions, shape (...): how near the policy is to the boundary."""
    return min_log_probability(logits, mask).exp()


def effective_actions(logits: Tensor, mask: Tensor | None = None) -> Tensor:
    """exp(entropy), shape (...): K for the uniform policy over K actions, 1 for a certain one.

    >>> effective_actions(torch.tensor([50.0, 50.0, 0.0, -9.0]))
    tensor(2.)
    """
    return entropy(logits, mask).exp()


def _log_policy(logits: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Log-probabilities and which actions are allowed, both (..., K)."""
    if not isinstance(logits, Tensor):
        raise TypeError(
            f"deep: logits must be a tensor of shape (..., K), got {type(logits).__name__}; of a distribution give its .logits"
        )
    if not isinstance(mask, Tensor | None):
        raise TypeError(f"deep: mask must be a boolean tensor of the logits' shape, got {type(mask).__name__}")
    if not logits.is_floating_point() or logits.ndim == 0:
        raise ValueError(f"logits must be real numbers of shape (..., K), got {tuple(logits.shape)} of {logits.dtype}")
    if mask is None:
        allowed = torch.ones_like(logits, dtype=torch.bool)
    elif mask.dtype is torch.bool and mask.shape == logits.shape:
        allowed = mask
    else:
        raise ValueError(
            f"mask must be boolean and of the logits' shape {tuple(logits.shape)}, got {tuple(mask.shape)} of {mask.dtype}"
        )
    wide = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
    # The lowest finite number rather than -inf: a state without any allowed action must not give 0 * inf.
    return torch.log_softmax(torch.where(allowed, wide, torch.finfo(wide.dtype).min), -1), allowed


def _count(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    return allowed.sum(-1).clamp(min=1).to(dtype)


def _barrier(log_pi: Tensor, allowed: Tensor) -> Tensor:
    count = _count(allowed, log_pi.dtype)
    return torch.where(allowed, log_pi, 0.0).sum(-1) / count + count.log()


def _entropy(log_pi: Tensor, allowed: Tensor) -> Tensor:
    return -torch.where(allowed, log_pi.exp() * log_pi, 0.0).sum(-1)
