"""Finite MDPs: the spectrum of the Fisher matrix as a barrier on actions and on visits.

>>> from logbarrier import mdps
>>> mdp = mdps.RiverSwim(12)
>>> best = mdps.exact.maximise(mdp, mdps.Spectral(eta=1000.0))
>>> bool(0 <= best.bias <= best.bias_bound)
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import exact as exact
    from . import testing as testing
    from .algorithms import NPG as NPG
    from .algorithms import PG as PG
    from .algorithms import RULES as RULES
    from .algorithms import ActionBarrierPG as ActionBarrierPG
    from .algorithms import CountBonus as CountBonus
    from .algorithms import EntropyPG as EntropyPG
    from .algorithms import OptimisticQ as OptimisticQ
    from .algorithms import Rule as Rule
    from .algorithms import SpectralPG as SpectralPG
    from .algorithms import StateEntropy as StateEntropy
    from .environments import DeepSea as DeepSea
    from .environments import Distractor as Distractor
    from .environments import Family as Family
    from .environments import Lock as Lock
    from .environments import MDPSource as MDPSource
    from .environments import RandomDeepSeas as RandomDeepSeas
    from .environments import RandomLocks as RandomLocks
    from .environments import RandomMDPs as RandomMDPs
    from .environments import RiverSwim as RiverSwim
    from .environments import from_gymnasium as from_gymnasium
    from .exact import ActionBarrier as ActionBarrier
    from .exact import Entropy as Entropy
    from .exact import NoRegulariser as NoRegulariser
    from .exact import Spectral as Spectral
    from .measure import METRICS as METRICS
    from .problem import FiniteMDP as FiniteMDP
    from .simulator import simulate as simulate

_HOME = {
    "algorithms": (
        "NPG", "PG", "RULES", "ActionBarrierPG", "CountBonus", "EntropyPG", "OptimisticQ", "Rule", "SpectralPG", "StateEntropy",
    ),
    "environments": (
        "DeepSea", "Distractor", "Family", "Lock", "MDPSource", "RandomDeepSeas", "RandomLocks", "RandomMDPs", "RiverSwim",
        "from_gymnasium",
    ),
    "exact": ("ActionBarrier", "Entropy", "NoRegulariser", "Spectral"),
    "measure": ("METRICS",),
    "problem": ("FiniteMDP",),
    "simulator": ("simulate",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
_MODULES = ("exact", "testing")

__all__ = [*_MODULES, *_MODULE_OF]


def __getattr__(name: str) -> Any:
    """Import on first use: who solves an MDP exactly need not wait for the compiler."""
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _MODULE_OF:
        value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
