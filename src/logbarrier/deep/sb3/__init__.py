"""The log barrier in Stable-Baselines3 and sb3-contrib.

    from logbarrier.deep.sb3 import LogBarrierPolicy
    model = PPO(LogBarrierPolicy, env, ent_coef=0.3)
    model.learn(100_000)

`ent_coef` is now the weight of the barrier.
"""

from .callback import BarrierCallback as BarrierCallback
from .diagnosis import Diagnosis as Diagnosis
from .diagnosis import diagnose as diagnose
from .plot import plot_diagnoses as plot_diagnoses
from .policies import LogBarrierCnnPolicy as LogBarrierCnnPolicy
from .policies import LogBarrierMaskableCnnPolicy as LogBarrierMaskableCnnPolicy
from .policies import LogBarrierMaskableMultiInputPolicy as LogBarrierMaskableMultiInputPolicy
from .policies import LogBarrierMaskablePolicy as LogBarrierMaskablePolicy
from .policies import LogBarrierMixin as LogBarrierMixin
from .policies import LogBarrierMultiInputPolicy as LogBarrierMultiInputPolicy
from .policies import LogBarrierPolicy as LogBarrierPolicy
from .policies import LogBarrierRecurrentCnnPolicy as LogBarrierRecurrentCnnPolicy
from .policies import LogBarrierRecurrentMultiInputPolicy as LogBarrierRecurrentMultiInputPolicy
from .policies import LogBarrierRecurrentPolicy as LogBarrierRecurrentPolicy
from .rescue import Rescue as Rescue
from .rescue import load as load
from .rescue import rescue as rescue
from .rescue import with_barrier as with_barrier
from .schedules import Floor as Floor
from .schedules import Linear as Linear
from .schedules import Moment as Moment
from .schedules import Steps as Steps
from .spectral import BonusMixin as BonusMixin
from .spectral import SpectralA2C as SpectralA2C
from .spectral import SpectralPPO as SpectralPPO
from .spectral import SpectralRecurrentPPO as SpectralRecurrentPPO

draw = plot_diagnoses  # its name before 0.3
