"""logbarrier: softmax policy gradient that never stops exploring.

>>> import logbarrier as lb
>>> rule = lb.LogBarrierSGB(learning_rate=0.1, eta=1000)
>>> record = lb.simulate(rule, lb.GapInstances(n_arms=10), horizon=1000, runs=8, seed=0)
>>> agent = lb.Agent(rule, arms=["red", "green", "blue"], seed=0)
>>> decision = agent.ask()
>>> agent.tell(decision, reward=1.0)
'told'
"""

from __future__ import annotations

import os

from .base.lazy_names import lazy_names

if os.name != "posix":
    raise ImportError(f"logbarrier: the operating system must be Linux or macOS, got {os.name}")

# Names are imported on first use: `logbarrier --help` need not wait for the compiler.
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
