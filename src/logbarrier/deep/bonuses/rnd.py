"""Random network distillation (Burda et al. 2018): how badly a trained network predicts a frozen random one."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ...base import validate
from .batch import Batch, Bonus
from .features import RandomFeatures, Shape


class RND(Bonus):
    """Mean squared error of a predictor against frozen random features, trained by Adam on every batch.

    `shape` is that of one observation, as in `RandomFeatures`. Each update makes one Adam step per mini-batch.
    """

    def __init__(
        self, shape: Shape, *, size: int = 256, learning_rate: float = 1e-3, mini_batch: int = 256, seed: int = 0
    ) -> None:
        super().__init__()
        learning_rate = validate.positive("RND", "learning_rate", learning_rate)
        self.target = RandomFeatures(shape, size=size, seed=seed)
        self.predictor = RandomFeatures(shape, size=size, seed=seed + 1)
        self.predictor.scales = self.target.scales
        self.mini_batch = validate.integer("RND", "mini_batch", mini_batch, 1)
        trained = nn.ModuleList([self.predictor.encoders, self.predictor.head])
        self.optimiser = torch.optim.Adam(trained.requires_grad_(True).parameters(), learning_rate)

    @torch.no_grad()
    def bonus(self, batch: Batch) -> Tensor:
        """Return the error at every step, (steps, environments)."""
        return self._error(batch.flat()).view(batch.shape)

    def update(self, batch: Batch) -> None:
        """Adapt the scale of the inputs, then train the predictor on the steps in their order."""
        flat = batch.flat()
        self.target.update(flat)
        for begin in range(0, batch.starts.numel(), self.mini_batch):
            part = slice(begin, begin + self.mini_batch)
            chosen = {name: value[part] for name, value in flat.items()} if isinstance(flat, dict) else flat[part]
            self.optimiser.zero_grad()
            self._error(chosen).mean().backward()
            self.optimiser.step()

    def _error(self, observations: Any) -> Tensor:
        return (self.predictor(observations) - self.target(observations)).square().sum(1)

    def get_extra_state(self) -> dict[str, Any]:
        """Return the state of Adam, for `state_dict`."""
        return self.optimiser.state_dict()

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Set the state of Adam."""
        self.optimiser.load_state_dict(state)
