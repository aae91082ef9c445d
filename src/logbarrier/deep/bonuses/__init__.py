"""Bonuses for exploration as PyTorch modules: `bonus(batch)`, then `update(batch)`, over steps and environments at once.

>>> import torch
>>> from logbarrier.deep.bonuses import Batch, RandomFeatures, SpectralBonus
>>> novelty = SpectralBonus(RandomFeatures((4,), size=64))
>>> batch = Batch(observations=torch.zeros(40, 32, 4), starts=torch.zeros(40, 32, dtype=torch.bool))
>>> novelty.bonus(batch).shape
torch.Size([40, 32])
>>> novelty.update(batch)
"""

from .batch import Batch as Batch
from .batch import Bonus as Bonus
from .batch import FeatureMap as FeatureMap
from .count import CountBonus as CountBonus
from .episodic import EpisodicElliptical as EpisodicElliptical
from .features import Fourier as Fourier
from .features import OneHot as OneHot
from .features import RandomFeatures as RandomFeatures
from .rnd import RND as RND
from .spectral import SpectralBonus as SpectralBonus
