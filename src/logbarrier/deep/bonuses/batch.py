"""What every bonus has in common: the batch it is given, and two methods."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ...base import validate


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Steps of several environments, in order: every tensor begins with (steps, environments).

    >>> Batch(observations=torch.zeros(5, 2, 3), starts=torch.zeros(5, 2, dtype=torch.bool)).shape
    (5, 2)
    """

    observations: Tensor | Mapping[str, Tensor]
    """States in which the actions were chosen, (steps, environments, ...); images have their channels first."""
    starts: Tensor
    """Whether an episode begins with this step, boolean (steps, environments)."""
    scores: Tensor | None = None
    """e_a - pi for the action taken, (steps, environments, logits): needed by the score form of `SpectralBonus` alone."""

    def __post_init__(self) -> None:
        if not (isinstance(self.starts, Tensor) and self.starts.dtype is torch.bool and self.starts.ndim == 2):
            raise ValueError("Batch: starts must be a boolean tensor of shape (steps, environments)")
        parts = dict(self.observations) if isinstance(self.observations, Mapping) else {"observations": self.observations}
        if self.scores is not None:
            parts["scores"] = self.scores
        for name, part in parts.items():
            if not isinstance(part, Tensor):
                raise TypeError(f"Batch: {name} must be a tensor, got {type(part).__name__}")
            if part.shape[:2] != self.starts.shape:
                raise ValueError(f"Batch: {name} must begin with the shape {self.shape} of starts, got {tuple(part.shape)}")
            if part.is_floating_point() and not bool(torch.isfinite(part).all()):
                raise ValueError(f"Batch: {name} must be finite, got {int((~torch.isfinite(part)).sum())} numbers that are not")

    @property
    def shape(self) -> tuple[int, int]:
        """Steps and environments."""
        return self.starts.shape[0], self.starts.shape[1]

    def flat(self) -> Any:
        """Return the observations with steps and environments merged, (steps * environments, ...)."""
        if isinstance(self.observations, Mapping):
            return {name: part.flatten(0, 1) for name, part in self.observations.items()}
        return self.observations.flatten(0, 1)


class Bonus(nn.Module):
    """A reward for novelty. Call `bonus(batch)`, then `update(batch)`, once per batch and in the order of the batches."""

    def bonus(self, batch: Batch) -> Tensor:
        """Return the bonus of every step, (steps, environments); change nothing."""
        raise NotImplementedError

    def update(self, batch: Batch) -> None:
        """Learn from a batch whose bonus was computed before."""
        raise NotImplementedError

    def report(self) -> dict[str, float]:
        """Return what is worth logging after an update, by name."""
        return {}


class FeatureMap(nn.Module):
    """State features z: observations (N, ...) to (N, size). They have no gradient."""

    size: int

    def update(self, observations: Any) -> None:
        """Adapt the scale of the inputs to more observations."""

    def forward(self, observations: Any) -> Tensor:
        """Return z, (N, size)."""
        raise NotImplementedError


def features_of(who: str, features: Any, batch: Batch, size: int) -> Tensor:
    """Return the features of every step, (steps * environments, size), or raise."""
    with torch.no_grad():
        z = features(batch.flat())
    expected = (batch.starts.numel(), size)
    if not isinstance(z, Tensor) or tuple(z.shape) != expected:
        found = tuple(z.shape) if isinstance(z, Tensor) else type(z).__name__
        raise ValueError(f"{who}: features must have the shape {expected} for this batch, got {found}")
    z = z.float()
    if not all(map(math.isfinite, z.aminmax())):  # one pass; the extremes of numbers with a NaN among them are NaN
        raise ValueError(f"{who}: features must be finite")
    return z


def size_of(who: str, features: Any, size: int | None) -> int:
    """Return the number of features, given or declared."""
    if not callable(features) or isinstance(features, type):
        raise TypeError(
            f"{who}: features must be a module or function from observations (N, ...) to (N, size), got {features!r}"
        )
    found = getattr(features, "size", None) if size is None else size
    if found is None:
        raise ValueError(f"{who}: pass size, the number of features, for features that have no attribute size")
    return validate.integer(who, "size", found, 1)


def upper_factor(who: str, matrix: Tensor) -> Tensor:
    """Return upper triangular R with R^T R = matrix, or raise; it takes less time than the lower factor."""
    try:
        return torch.linalg.cholesky(matrix, upper=True)
    except torch.linalg.LinAlgError:
        raise ValueError(
            f"{who}: the Gram matrix of the features is singular in float32; scale them to norm about 1, or raise ridge"
        ) from None
