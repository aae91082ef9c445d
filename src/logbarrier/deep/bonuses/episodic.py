"""E3B (Henaff et al. 2022): novelty within the episode.

At step t of an episode the bonus is z_t^T C^-1 z_t, where C = ridge I + sum of z_i z_i^T over the earlier steps of the
episode. All steps of a batch come from one Cholesky factorisation per environment. With C0 the matrix before the batch,

    L L^T = I + Z C0^-1 Z^T        gives        bonus_t = L_tt^2 - 1,

because L_tt^2 is the Schur complement of the earlier steps. Entries between different episodes are 0.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .batch import Batch, Bonus, FeatureMap, check, features_of, size_of


class EpisodicElliptical(Bonus):
    """The elliptical bonus of an episode's own features; memory of one p x p matrix per environment.

    >>> from logbarrier.deep.bonuses import OneHot
    >>> novelty = EpisodicElliptical(OneHot(2), environments=1, ridge=1.0)
    >>> starts = torch.tensor([[True], [False], [False], [True]])
    >>> novelty.bonus(Batch(observations=torch.tensor([[0], [0], [1], [0]]), starts=starts)).flatten()
    tensor([1.0000, 0.5000, 1.0000, 1.0000])
    """

    covariance: Tensor

    def __init__(self, features: Any, *, environments: int, size: int | None = None, ridge: float = 0.1) -> None:
        super().__init__()
        check("EpisodicElliptical", 0.0 < ridge < math.inf, "ridge must be positive and finite", ridge)
        check("EpisodicElliptical", environments >= 1, "environments must be at least 1", environments)
        self.features, self.ridge = features, ridge
        self.size = size_of("EpisodicElliptical", features, size)
        self.register_buffer("covariance", (ridge * torch.eye(self.size)).repeat(environments, 1, 1))

    @torch.no_grad()
    def bonus(self, batch: Batch) -> Tensor:
        """Return the bonus of every step, (steps, environments)."""
        z = self._vectors(batch)
        episode = batch.starts.T.long().cumsum(1)  # 0 where the episode began before the batch
        factor = torch.linalg.cholesky(self.covariance)
        carried = torch.linalg.solve_triangular(factor.mT, z, upper=True, left=False)
        white = torch.where((episode == 0)[:, :, None], carried, z / math.sqrt(self.ridge))
        gram = (white @ white.mT) * (episode[:, :, None] == episode[:, None, :])
        gram.diagonal(dim1=-2, dim2=-1).add_(1.0)
        diagonal = torch.linalg.cholesky(gram).diagonal(dim1=-2, dim2=-1)
        return (diagonal.square() - 1.0).clamp(min=0.0).T

    @torch.no_grad()
    def update(self, batch: Batch) -> None:
        """Carry the matrix of each environment's last episode on."""
        z = self._vectors(batch)
        if isinstance(self.features, FeatureMap):
            self.features.update(batch.flat())
        episode = batch.starts.T.long().cumsum(1)
        last = episode[:, -1:]
        z = z * (episode == last)[:, :, None]
        fresh = self.ridge * torch.eye(self.size, device=z.device)
        self.covariance.copy_(torch.where(last[:, :, None] > 0, fresh, self.covariance) + z.mT @ z)

    def _vectors(self, batch: Batch) -> Tensor:
        """Return the features with environments first, (environments, steps, size)."""
        environments = len(self.covariance)
        if batch.shape[1] != environments:
            raise ValueError(f"EpisodicElliptical: batches must have {environments} environments, got {batch.shape[1]}")
        z = features_of("EpisodicElliptical", self.features, batch, self.size)
        return z.view(*batch.shape, self.size).transpose(0, 1)
