"""Deep policies: the log barrier for PyTorch, and for Stable-Baselines3 through `logbarrier.deep.sb3`.

>>> import torch
>>> from logbarrier.deep import log_barrier
>>> log_barrier(torch.tensor([[8.0, 0.0, 0.0], [0.0, 0.0, 0.0]])).round(decimals=3)
tensor([-4.2350,  0.0000])
"""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError("deep: needs torch, which pip install 'logbarrier[rl]' installs", name="torch") from None

from .coefficient import Choice as Choice
from .coefficient import advantage_deviation as advantage_deviation
from .coefficient import choose_coefficient as choose_coefficient
from .functions import effective_actions as effective_actions
from .functions import entropy as entropy
from .functions import log_barrier as log_barrier
from .functions import min_log_probability as min_log_probability
from .functions import min_probability as min_probability
from .functions import symmetric_kl as symmetric_kl
