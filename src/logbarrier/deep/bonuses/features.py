"""Feature maps for bonuses: frozen random networks, one-hot vectors, random Fourier features.

A user-defined map is any module or function from observations (N, ...) to (N, p); pass `size=p` next to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from ...base import validate
from .batch import FeatureMap

Shape = tuple[int, ...] | Mapping[str, tuple[int, ...]]
HIDDEN = 128
FARTHEST = 5.0  # standardised inputs are clipped here, so that a constant input which moves once does not dominate


class Standardise(nn.Module):
    """Running mean and variance of vectors (N, d); before the first update it changes nothing."""

    mean: Tensor
    variance: Tensor
    count: Tensor

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(dimension))
        self.register_buffer("variance", torch.ones(dimension))
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))

    def update(self, x: Tensor) -> None:
        """Merge the moments of more vectors."""
        n, before = len(x), float(self.count)
        share = n / (before + n)
        mean = x.mean(0)
        variance = (x - mean).square_().mean(0)  # a tenth of the time of x.var(0)
        moved = mean - self.mean
        self.variance.copy_((1 - share) * self.variance + share * variance + share * (1 - share) * moved**2)
        self.mean.add_(share * moved)
        self.count.add_(n)

    def forward(self, x: Tensor) -> Tensor:
        """Return (x - mean) / deviation, clipped."""
        if not self.count:
            return x
        return ((x - self.mean) / (self.variance + 1e-8).sqrt()).clamp(-FARTHEST, FARTHEST)


class RandomFeatures(FeatureMap):
    """A frozen random network with outputs of norm 1, for vectors (d,), images (channels, height, width) or dictionaries.

    Vectors are standardised by running moments. Images are expected between 0 and 1.

    >>> RandomFeatures((4,), size=8)(torch.ones(2, 4)).shape
    torch.Size([2, 8])
    """

    def __init__(self, shape: Shape, *, size: int = 256, seed: int = 0) -> None:
        super().__init__()
        self.size = validate.integer("RandomFeatures", "size", size, 1)
        self.dictionary = isinstance(shape, Mapping)
        shapes = dict(shape) if isinstance(shape, Mapping) else {"": shape}
        for each in shapes.values():
            if not isinstance(each, tuple) or not all(isinstance(n, int) and n > 0 for n in each):
                raise TypeError(
                    f"RandomFeatures: shape must be a tuple of sizes, such as (4,), or a dictionary of them, got {each!r}"
                )
        self.names = sorted(shapes)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.scales = nn.ModuleList([Standardise(_dimension(shapes[name])) for name in self.names])
            self.encoders = nn.ModuleList([_encoder(shapes[name]) for name in self.names])
            self.head = _layer(HIDDEN * len(self.names), self.size)
        self.requires_grad_(False)

    def _parts(self, observations: Any) -> list[Tensor]:
        parts = [observations[name] for name in self.names] if self.dictionary else [observations]
        return [part.float() if part.ndim == 4 else part.float().flatten(1) for part in parts]

    def update(self, observations: Any) -> None:
        """Adapt the scale of the vectors."""
        for scale, part in zip(self.scales, self._parts(observations), strict=True):
            if part.ndim == 2:
                scale.update(part)

    def forward(self, observations: Any) -> Tensor:
        """Return z with norm 1, (N, size)."""
        parts = zip(self.scales, self.encoders, self._parts(observations), strict=True)
        hidden = [encoder(scale(part) if part.ndim == 2 else part) for scale, encoder, part in parts]
        z = self.head(torch.cat(hidden, 1) if self.dictionary else hidden[0])
        length = z.norm(dim=1, keepdim=True).clamp(min=1e-12)
        return z / length if z.requires_grad else z.div_(length)  # large new tensors cost more than the division


class OneHot(FeatureMap):
    """States numbered from 0: integers (N,) or (N, 1), or vectors (N, size) that are one-hot already."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = validate.integer("OneHot", "size", size, 1)

    def forward(self, observations: Any) -> Tensor:
        """Return one-hot vectors, (N, size)."""
        flat = observations.flatten(1) if observations.ndim > 1 else observations[:, None]
        if flat.shape[1] == self.size > 1 and bool(((flat == 0) | (flat == 1)).all() & (flat.sum(1) == 1).all()):
            return flat.float()
        states = flat[:, 0].long()
        if flat.shape[1] != 1 or bool(((states != flat[:, 0]) | (states < 0) | (states >= self.size)).any()):
            raise ValueError(
                f"OneHot: observations must be integers from 0 to {self.size - 1}, or one-hot vectors of {self.size} numbers, "
                f"got shape {tuple(flat.shape)} with numbers from {flat.min():.3g} to {flat.max():.3g}"
            )
        return nn.functional.one_hot(states, self.size).float()


class Fourier(FeatureMap):
    """Random Fourier features sqrt(2/p) cos(W x + b) of standardised vectors: a Gaussian kernel of the given width."""

    weight: Tensor
    phase: Tensor

    def __init__(self, dimension: int, *, size: int = 256, width: float = 1.0, seed: int = 0) -> None:
        super().__init__()
        dimension, width = validate.integer("Fourier", "dimension", dimension, 1), validate.positive("Fourier", "width", width)
        self.size = validate.integer("Fourier", "size", size, 1)
        chance = torch.Generator().manual_seed(seed)
        self.scale = Standardise(dimension)
        self.register_buffer("weight", torch.randn(dimension, self.size, generator=chance) / width)
        self.register_buffer("phase", 2 * math.pi * torch.rand(self.size, generator=chance))

    def update(self, observations: Any) -> None:
        """Adapt the scale."""
        self.scale.update(observations.float().flatten(1))

    def forward(self, observations: Any) -> Tensor:
        """Return z, (N, size), with norm about 1."""
        return math.sqrt(2 / self.size) * torch.cos(self.scale(observations.float().flatten(1)) @ self.weight + self.phase)


def _dimension(shape: tuple[int, ...]) -> int:
    return 1 if len(shape) == 3 else math.prod(shape)


def _layer(inputs: int, outputs: int) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.normal_(layer.weight, std=math.sqrt(2 / inputs))  # keeps the scale through ReLU layers
    # One more input that is always 1. Without it, outputs of norm 1 know the direction of the inputs, but not their length.
    nn.init.normal_(layer.bias, std=math.sqrt(2 / inputs))
    return layer


def _encoder(shape: tuple[int, ...]) -> nn.Module:
    """Return a network from (N, *shape) to (N, HIDDEN); images of any size are pooled to 6 x 6 cells."""
    if len(shape) != 3:
        return nn.Sequential(_layer(math.prod(shape), HIDDEN), nn.ReLU(inplace=True))
    cells = nn.AdaptiveAvgPool2d(6)
    return nn.Sequential(
        nn.Conv2d(shape[0], 16, 3, padding=1), nn.ReLU(), cells, nn.Flatten(), _layer(16 * 36, HIDDEN), nn.ReLU()
    )
