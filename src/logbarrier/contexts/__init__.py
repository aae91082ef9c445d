"""Contextual bandits: the log-barrier policy on an optimistic ridge regression, its rivals, problems and a simulator.

>>> from logbarrier import contexts
>>> problem = contexts.SegmentedClicks(n_arms=4, n_segments=3, rate=0.2)
>>> record = contexts.simulate(contexts.ContextualBarrier(), problem, horizon=200, runs=2, seed=0)
>>> record["regret"].shape == (2, len(record.steps))
True
"""

from __future__ import annotations

from ..base.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
