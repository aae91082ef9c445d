"""Environments: MDPs with a name, and families that draw one per run."""

from .combination_lock import Lock, RandomLocks
from .deep_sea import DeepSea, RandomDeepSeas
from .distractor import Distractor
from .environment import Environment
from .estimate import EstimatedMDP, estimate
from .family import Family, MDPSource
from .from_gymnasium import from_gymnasium
from .random_mdps import RandomMDPs
from .river_swim import RiverSwim

__all__ = [
    "DeepSea", "Distractor", "Environment", "EstimatedMDP", "Family", "Lock", "MDPSource", "RandomDeepSeas", "RandomLocks",
    "RandomMDPs", "RiverSwim", "estimate", "from_gymnasium",
]  # fmt: skip
