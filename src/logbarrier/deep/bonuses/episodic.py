"""E3B (Henaff et al. 2022): novelty within the episode.

At step t of an episode the bonus is z_t^T C^-1 z_t, where C = ridge I + sum of z_i z_i^T over the earlier steps of the
episode. With D = ridge C0^-1 for the matrix C0 before a batch, all steps of an episode in the batch follow from one Cholesky
factorisation of their Gram matrix:

    L L^T = ridge I + Z D Z^T        gives        bonus_t = L_tt^2 / ridge - 1,        D <- D - N^T N,  N = L^-1 Z D,

because L_tt^2 is the Schur complement of the earlier steps. While an episode has fewer steps than there are features, the
rows N are stored instead of D = I - N^T N: both cost less than a step-by-step update of C^-1.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .batch import Batch, Bonus, FeatureMap, check, features_of, size_of


class EpisodicElliptical(Bonus):
    """The elliptical bonus of an episode's own features; memory of at most one p x p matrix per environment.

    >>> from logbarrier.deep.bonuses import OneHot
    >>> novelty = EpisodicElliptical(OneHot(2), environments=1, ridge=1.0)
    >>> starts = torch.tensor([[True], [False], [False], [True]])
    >>> novelty.bonus(Batch(observations=torch.tensor([[0], [0], [1], [0]]), starts=starts)).flatten()
    tensor([1.0000, 0.5000, 1.0000, 1.0000])
    """

    def __init__(self, features: Any, *, environments: int, size: int | None = None, ridge: float = 0.1) -> None:
        super().__init__()
        check("EpisodicElliptical", 0.0 < ridge < math.inf, "ridge must be positive and finite", ridge)
        check("EpisodicElliptical", environments >= 1, "environments must be at least 1", environments)
        self.features, self.ridge = features, ridge
        self.size = size_of("EpisodicElliptical", features, size)
        # Per environment N with fewer than `size` rows, or the square D.
        self.episodes = [torch.empty(0, self.size) for _ in range(environments)]
        self._last: tuple[Batch, Tensor, Tensor, Tensor] | None = None

    @torch.no_grad()
    def bonus(self, batch: Batch) -> Tensor:
        """Return the bonus of every step, (steps, environments)."""
        *_, factor = self._factorised(batch)
        diagonal = factor.diagonal(dim1=-2, dim2=-1)
        return (diagonal.square() / self.ridge - 1.0).clamp(min=0.0).T

    @torch.no_grad()
    def update(self, batch: Batch) -> None:
        """Carry each environment's last episode on."""
        _, z, damped, factor = self._factorised(batch)
        self._last = None
        if isinstance(self.features, FeatureMap):
            self.features.update(batch.flat())
        for i, starts in enumerate(batch.starts.T.tolist()):
            begin = len(starts) - 1 - starts[::-1].index(True) if any(starts) else 0
            rows = torch.linalg.solve_triangular(factor[i, begin:, begin:], damped[i, begin:], upper=False)
            self.episodes[i] = self._extended(rows[:0] if any(starts) else self.episodes[i].to(z.device), rows)

    def _factorised(self, batch: Batch) -> tuple[Batch, Tensor, Tensor, Tensor]:
        """Return the batch, its features Z, Z D and L, environments first; those of the same batch are computed once."""
        if self._last is not None and self._last[0] is batch:
            return self._last
        z = self._vectors(batch)
        episode = batch.starts.T.long().cumsum(1)  # 0 where the episode began before the batch
        damped = z.clone()
        for i, steps in enumerate((episode == 0).sum(1).tolist()):
            if steps and len(self.episodes[i]):
                damped[i, :steps] = self._damped(self.episodes[i].to(z.device), z[i, :steps])
        gram = (damped @ z.mT) * (episode[:, :, None] == episode[:, None, :])
        gram.diagonal(dim1=-2, dim2=-1).add_(self.ridge)
        self._last = batch, z, damped, torch.linalg.cholesky(gram)
        return self._last

    def _damped(self, stored: Tensor, z: Tensor) -> Tensor:
        """Return Z D."""
        return z @ stored if len(stored) == self.size else z - (z @ stored.T) @ stored

    def _extended(self, stored: Tensor, rows: Tensor) -> Tensor:
        """Return what is stored after more rows of N."""
        if len(stored) == self.size:
            return stored - rows.T @ rows
        rows = torch.cat([stored, rows])
        return rows if len(rows) < self.size else torch.eye(self.size, device=rows.device) - rows.T @ rows

    def get_extra_state(self) -> list[Tensor]:
        """Return the episodes, whose sizes vary, for `state_dict`."""
        return self.episodes

    def set_extra_state(self, state: list[Tensor]) -> None:
        """Set the episodes."""
        self.episodes = list(state)

    def _vectors(self, batch: Batch) -> Tensor:
        """Return the features with environments first, (environments, steps, size)."""
        environments = len(self.episodes)
        if batch.shape[1] != environments:
            raise ValueError(f"EpisodicElliptical: batches must have {environments} environments, got {batch.shape[1]}")
        z = features_of("EpisodicElliptical", self.features, batch, self.size)
        return z.view(*batch.shape, self.size).transpose(0, 1).contiguous()
