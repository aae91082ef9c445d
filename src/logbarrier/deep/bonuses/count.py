"""Counts: 1 / sqrt(number of visits) of a key of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from .batch import Batch, Bonus

Key = Callable[[Any], Tensor]


class CountBonus(Bonus):
    """1 / sqrt(n), where n counts the visits of a state's key, those of the batch included.

    `key` maps observations (N, ...) to numbers (N,) or (N, k), which are hashed to 64 bits. By default it is the whole
    observation, which is useless for noisy or continuous ones: round them, or name the part that matters.

    >>> visits = CountBonus()
    >>> batch = Batch(observations=torch.tensor([[7], [7], [7], [7], [2]]), starts=torch.zeros(5, 1, dtype=torch.bool))
    >>> visits.bonus(batch).flatten()
    tensor([0.5000, 0.5000, 0.5000, 0.5000, 1.0000])
    """

    hashes: Tensor
    counts: Tensor

    def __init__(self, key: Key | None = None) -> None:
        super().__init__()
        if key is not None and not callable(key):
            raise TypeError(f"CountBonus: key must be a function of the observations, got {type(key).__name__}")
        self.key = key
        self.hashes = torch.empty(0, dtype=torch.int64)  # sorted
        self.counts = torch.empty(0, dtype=torch.int64)

    @torch.no_grad()
    def bonus(self, batch: Batch) -> Tensor:
        """Return the bonus of every step, (steps, environments)."""
        _, counts, place = self._merged(batch)
        return counts[place].rsqrt().view(batch.shape)

    @torch.no_grad()
    def update(self, batch: Batch) -> None:
        """Count the batch."""
        self.hashes, self.counts, _ = self._merged(batch)

    def report(self) -> dict[str, float]:
        """Return the number of different keys."""
        return {"keys": float(len(self.hashes))}

    def _merged(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Return all hashes with their counts, and the places of the batch's steps among them."""
        flat = batch.flat()
        keys = _whole(flat) if self.key is None else self.key(flat)
        if not isinstance(keys, Tensor) or keys.ndim == 0 or len(keys) != batch.starts.numel():
            raise ValueError(f"CountBonus: key must return one row for each of the {batch.starts.numel()} steps")
        new = _hash(keys.reshape(len(keys), -1))
        hashes, place = torch.cat([self.hashes.to(new.device), new]).unique(return_inverse=True)
        weights = torch.cat([self.counts.to(new.device), torch.ones_like(new)])
        return hashes, torch.zeros_like(hashes).index_add_(0, place, weights), place[len(self.hashes) :]

    def get_extra_state(self) -> dict[str, Tensor]:
        """Return hashes and counts, whose number grows, for `state_dict`."""
        return {"hashes": self.hashes, "counts": self.counts}

    def set_extra_state(self, state: dict[str, Tensor]) -> None:
        """Set hashes and counts."""
        self.hashes, self.counts = state["hashes"], state["counts"]


def _whole(flat: Any) -> Tensor:
    if isinstance(flat, Mapping):
        return torch.cat([flat[name].flatten(1).double() for name in sorted(flat)], 1)
    return flat.double()


def _hash(keys: Tensor) -> Tensor:
    """Return 64-bit hashes of the rows of (N, k): a sum of mixed words, each with its own odd multiplier."""
    words = (keys.double() + 0.0).view(torch.int64)  # adding 0 merges 0.0 and -0.0
    chance = torch.Generator().manual_seed(0)
    odd = torch.randint(-(2**62), 2**62, (2, keys.shape[1]), generator=chance).to(keys.device) * 2 + 1
    mixed = words * odd[0]
    mixed = (mixed ^ (mixed >> 29)) * odd[1]
    return (mixed ^ (mixed >> 32)).sum(1)
