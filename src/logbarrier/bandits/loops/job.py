"""What a loop works on, as one record: all that stays where it is from call to call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .functions import RewardFunctions


class Job(NamedTuple):
    """One run, or eight side by side, whose numbers are in brackets; a loop changes arrays, progress and out.

    arrays      of the engine, as its `open_state` takes them
    law         the addresses of the reward distribution
    parameters  (P, K) of the problem, row 0 the mean rewards [(8, P, K)]
    best        (1,) the best arm [(8,)]
    key         (2,) of the random numbers
    run         the number of the run [(8,)]
    stops       (C,) steps to stop at
    rows        (C,) where in `out` to measure at each stop, negative for nowhere
    progress    (3,) steps done, regret, fault [(10,) steps done, the regrets, fault]
    out         (checkpoints, metrics) [(8, checkpoints, metrics)]
    """

    arrays: tuple[Any, ...]
    law: RewardFunctions
    parameters: np.ndarray
    best: np.ndarray
    key: np.ndarray
    run: Any
    stops: np.ndarray
    rows: np.ndarray
    progress: np.ndarray
    out: np.ndarray
