"""logbarrier: softmax policy gradient on bandits that never stops exploring.

>>> import logbarrier as lb
>>> rule = lb.LogBarrierSGB(learning_rate=0.1, eta=1000)
>>> record = lb.simulate(rule, lb.GapInstances(n_arms=10), horizon=1000, runs=8, seed=0)
>>> agent = lb.Agent(rule, arms=["red", "green", "blue"], seed=0)
>>> decision = agent.ask()
>>> agent.tell(decision, reward=1.0)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from .agent import Agent as Agent
    from .agent import Decision as Decision
    from .algorithms import EXP3 as EXP3
    from .algorithms import NPG as NPG
    from .algorithms import RULES as RULES
    from .algorithms import SGB as SGB
    from .algorithms import UCB1 as UCB1
    from .algorithms import AdaptiveLogBarrierSGB as AdaptiveLogBarrierSGB
    from .algorithms import BaselineNPG as BaselineNPG
    from .algorithms import BaselineSGB as BaselineSGB
    from .algorithms import ClippedLogBarrierSGB as ClippedLogBarrierSGB
    from .algorithms import DecayingEntropySGB as DecayingEntropySGB
    from .algorithms import DecayingSGB as DecayingSGB
    from .algorithms import EntropyNPG as EntropyNPG
    from .algorithms import EntropySGB as EntropySGB
    from .algorithms import EpsilonGreedy as EpsilonGreedy
    from .algorithms import ExactEntropyPG as ExactEntropyPG
    from .algorithms import ExactLogBarrierPG as ExactLogBarrierPG
    from .algorithms import ExactPG as ExactPG
    from .algorithms import InverseGapWeighting as InverseGapWeighting
    from .algorithms import LogBarrierSGB as LogBarrierSGB
    from .algorithms import MiniBatchLogBarrierSGB as MiniBatchLogBarrierSGB
    from .algorithms import MomentumLogBarrierSGB as MomentumLogBarrierSGB
    from .algorithms import Rule as Rule
    from .algorithms import StagedSGB as StagedSGB
    from .algorithms import TheorySGB as TheorySGB
    from .algorithms import ThompsonSampling as ThompsonSampling
    from .algorithms import TsallisSGB as TsallisSGB
    from .algorithms import TwoPhaseEntropySGB as TwoPhaseEntropySGB
    from .algorithms import TwoScalarRule as TwoScalarRule
    from .algorithms import VectorRule as VectorRule
    from .engine.metrics import NAMES as METRICS
    from .problems import BernoulliBandit as BernoulliBandit
    from .problems import BernoulliGapInstances as BernoulliGapInstances
    from .problems import BetaBandit as BetaBandit
    from .problems import GapInstances as GapInstances
    from .problems import GaussianBandit as GaussianBandit
    from .problems import UniformBandit as UniformBandit
    from .record import Record as Record
    from .schedules import Schedule as Schedule
    from .schedules import constant as constant
    from .schedules import exponential_decay as exponential_decay
    from .schedules import inverse_sqrt as inverse_sqrt
    from .schedules import power_law as power_law
    from .simulator import simulate as simulate
    from .starts import OptimalArmAt as OptimalArmAt

_HOME = {
    "agent": ("Agent", "Decision"),
    "algorithms": (
        "EXP3",
        "NPG",
        "RULES",
        "SGB",
        "UCB1",
        "AdaptiveLogBarrierSGB",
        "BaselineNPG",
        "BaselineSGB",
        "ClippedLogBarrierSGB",
        "EntropySGB",
        "EpsilonGreedy",
        "InverseGapWeighting",
        "LogBarrierSGB",
        "MiniBatchLogBarrierSGB",
        "TheorySGB",
        "DecayingSGB",
        "StagedSGB",
        "DecayingEntropySGB",
        "MomentumLogBarrierSGB",
        "TwoPhaseEntropySGB",
        "EntropyNPG",
        "TsallisSGB",
        "ExactPG",
        "ExactEntropyPG",
        "ExactLogBarrierPG",
        "Rule",
        "ThompsonSampling",
        "TwoScalarRule",
        "VectorRule",
    ),
    "problems": (
        "BernoulliBandit",
        "BernoulliGapInstances",
        "BetaBandit",
        "GapInstances",
        "GaussianBandit",
        "UniformBandit",
    ),
    "record": ("Record",),
    "schedules": ("Schedule", "constant", "exponential_decay", "inverse_sqrt", "power_law"),
    "simulator": ("simulate",),
    "starts": ("OptimalArmAt",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["METRICS", "__version__", *_MODULE_OF]


def __getattr__(name: str) -> Any:
    """Import on first use: `logbarrier --help` need not wait for the compiler."""
    if name == "METRICS":
        return import_module(".engine.metrics", __name__).NAMES
    if name in _MODULE_OF:
        value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
