"""The spectral barrier as a bonus: novelty of a state's features against the features seen so far.

The gradient of log det E[z z^T] in the policy is the policy gradient with the reward z^T B^-1 z (docs/features.md). Per batch

    G <- memory G + Z^T Z,        bonus(s) = z(s)^T (G + ridge I)^-1 z(s).

With `logits`, z is replaced by (e_a - pi) times z, the score of a last layer on frozen features.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ...base import validate
from .batch import Batch, Bonus, FeatureMap, features_of, size_of, upper_factor

SAMPLE = 256  # about as many steps of a batch estimate the share of new directions


class SpectralBonus(Bonus):
    """z^T (G + ridge I)^-1 z, with one Cholesky factorisation per batch; between 0 and 1 for features of norm 1 and ridge 1.

    `memory` is the share of G that a new batch leaves; 1 forgets nothing. `logits` chooses the score form: the number of
    the policy's logits, such as K for Discrete(K). G then has logits * size rows.

    >>> from logbarrier.deep.bonuses import OneHot
    >>> novelty = SpectralBonus(OneHot(3))
    >>> batch = Batch(observations=torch.tensor([[0], [0], [1]]), starts=torch.zeros(3, 1, dtype=torch.bool))
    >>> novelty.bonus(batch).flatten()
    tensor([0.3333, 0.3333, 0.5000])
    """

    gram: Tensor

    def __init__(
        self, features: Any, *, size: int | None = None, ridge: float = 1.0, memory: float = 0.95, logits: int = 0
    ) -> None:
        super().__init__()
        self.features, self.ridge = features, validate.positive("SpectralBonus", "ridge", ridge)
        self.memory = validate.between_zero_and_one("SpectralBonus", "memory", memory)
        self.logits = validate.integer("SpectralBonus", "logits", logits, 0)
        self.size = size_of("SpectralBonus", features, size)
        self.register_buffer("gram", torch.zeros(2 * (self.size * max(1, self.logits),)))
        self.new_share = math.nan

    @torch.no_grad()
    def bonus(self, batch: Batch) -> Tensor:
        """Return the leverage of every step against the batches before and this one, (steps, environments)."""
        z = self._vectors(batch)
        return self._leverage(self.memory * self.gram + z.T @ z, z).view(batch.shape)

    @torch.no_grad()
    def update(self, batch: Batch) -> None:
        """Forget, then add the batch."""
        if isinstance(self.features, FeatureMap):
            self.features.update(batch.flat())
        z = self._vectors(batch)
        # Leverage above 1/2: the data so far has less than one step's weight in this direction.
        sample = z[:: max(1, len(z) // SAMPLE)]
        self.new_share = float((self._leverage(self.gram, sample) > 0.5 * (sample * sample).sum(1) / self.ridge).float().mean())
        self.gram.mul_(self.memory).addmm_(z.T, z)

    def report(self) -> dict[str, float]:
        """Return the effective dimension tr G (G + ridge I)^-1, and the share of the last batch in new directions.

        The share is that of about 256 steps of the batch, evenly spaced.
        """
        values = torch.linalg.eigvalsh(self.gram).clamp(min=0.0)
        return {"effective_dimension": float((values / (values + self.ridge)).sum()), "new_share": self.new_share}

    def _vectors(self, batch: Batch) -> Tensor:
        z = features_of("SpectralBonus", self.features, batch, self.size)
        if not self.logits:
            return z
        if batch.scores is None or batch.scores.shape[-1] != self.logits:
            found = None if batch.scores is None else tuple(batch.scores.shape)
            raise ValueError(f"SpectralBonus: scores must have the shape {(*batch.shape, self.logits)}, got {found}")
        return (batch.scores.flatten(0, 1)[:, :, None] * z[:, None, :]).flatten(1)

    def _leverage(self, gram: Tensor, z: Tensor) -> Tensor:
        """Return z^T (gram + ridge I)^-1 z for each row of z."""
        damped = gram + self.ridge * torch.eye(len(gram), device=gram.device)
        factor = upper_factor("SpectralBonus", damped)
        return torch.linalg.solve_triangular(factor, z, upper=True, left=False).square().sum(1)
