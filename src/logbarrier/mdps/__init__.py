"""Finite MDPs: the spectrum of the Fisher matrix as a barrier on actions and on visits.

>>> from logbarrier import mdps
>>> mdp = mdps.RiverSwim(12)
>>> best = mdps.exact.maximise(mdp, mdps.Spectral(eta=1000.0))
>>> bool(0 <= best.bias <= best.bias_bound)
True
"""

from __future__ import annotations

from ..base.lazy_names import lazy_names

# Imported on first use: who solves an MDP exactly need not wait for the compiler.
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
