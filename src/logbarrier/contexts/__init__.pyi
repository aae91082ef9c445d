"""The public names of `logbarrier.contexts`, each written here and nowhere else: `__init__.py` reads this file."""

from .algorithms import RULES as RULES
from .algorithms import ContextualBarrier as ContextualBarrier
from .algorithms import EpsilonGreedy as EpsilonGreedy
from .algorithms import LinThompson as LinThompson
from .algorithms import LinUCB as LinUCB
from .algorithms import Rule as Rule
from .algorithms import SquareCB as SquareCB
from .problems import ClassificationBandit as ClassificationBandit
from .problems import ContextSource as ContextSource
from .problems import LinearContexts as LinearContexts
from .problems import SegmentedClicks as SegmentedClicks
from .simulator import METRICS as METRICS
from .simulator import simulate as simulate
