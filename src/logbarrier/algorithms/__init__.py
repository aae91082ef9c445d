"""The rules, one short file each, and the list of them."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from .. import schedules
from .adaptive_log_barrier_sgb import AdaptiveLogBarrierSGB
from .baseline_npg import BaselineNPG
from .baseline_sgb import BaselineSGB
from .clipped_log_barrier_sgb import ClippedLogBarrierSGB
from .decaying_entropy_sgb import DecayingEntropySGB
from .decaying_sgb import DecayingSGB
from .entropy_npg import EntropyNPG
from .entropy_sgb import EntropySGB
from .epsilon_greedy import EpsilonGreedy
from .exact_entropy_pg import ExactEntropyPG
from .exact_log_barrier_pg import ExactLogBarrierPG
from .exact_pg import ExactPG
from .exp3 import EXP3
from .inverse_gap_weighting import InverseGapWeighting
from .log_barrier_sgb import LogBarrierSGB
from .mini_batch_log_barrier_sgb import MiniBatchLogBarrierSGB
from .momentum_log_barrier_sgb import MomentumLogBarrierSGB
from .npg import NPG
from .rule import Rule, TwoScalarRule
from .sgb import SGB
from .staged_sgb import StagedSGB
from .theory_sgb import TheorySGB
from .thompson_sampling import ThompsonSampling
from .tsallis_sgb import TsallisSGB
from .two_phase_entropy_sgb import TwoPhaseEntropySGB
from .ucb1 import UCB1
from .vector_rule import VectorRule

RULES: dict[str, type[Rule]] = {
    rule.name: rule
    for rule in (
        SGB,
        BaselineSGB,
        EntropySGB,
        LogBarrierSGB,
        NPG,
        BaselineNPG,
        ClippedLogBarrierSGB,
        AdaptiveLogBarrierSGB,
        TheorySGB,
        DecayingSGB,
        StagedSGB,
        DecayingEntropySGB,
        MiniBatchLogBarrierSGB,
        MomentumLogBarrierSGB,
        TwoPhaseEntropySGB,
        EntropyNPG,
        TsallisSGB,
        ExactPG,
        ExactEntropyPG,
        ExactLogBarrierPG,
        UCB1,
        ThompsonSampling,
        EpsilonGreedy,
        InverseGapWeighting,
        EXP3,
    )
}


def make_rule(name: str, parameters: dict[str, Any]) -> Rule:
    """The rule of a name as in `RULES`, with parameters by name; both are checked."""
    if name not in RULES:
        raise ValueError(f"rule: must be one of {', '.join(RULES)}, got {name!r}")
    known = [field.name for field in fields(RULES[name])]
    required = [field.name for field in fields(RULES[name]) if field.default is MISSING]
    for parameter in parameters:
        if parameter not in known:
            raise ValueError(f"{name}: has no parameter {parameter}; it takes {', '.join(known)}")
    for parameter in required:
        if parameter not in parameters:
            raise ValueError(f"{name}: needs {parameter}; it takes {', '.join(known)}")
    return RULES[name](**parameters)


def rule_from_dict(plain: dict[str, Any]) -> Rule:
    """The rule that `Rule.to_dict` described."""
    parameters = {key: value for key, value in plain.items() if key != "rule"}
    if "learning_rate" in parameters:
        parameters["learning_rate"] = schedules.from_plain(parameters["learning_rate"])
    return make_rule(plain["rule"], parameters)


__all__ = [
    "EXP3",
    "NPG",
    "RULES",
    "SGB",
    "UCB1",
    "AdaptiveLogBarrierSGB",
    "BaselineNPG",
    "BaselineSGB",
    "ClippedLogBarrierSGB",
    "DecayingEntropySGB",
    "DecayingSGB",
    "EntropyNPG",
    "EntropySGB",
    "EpsilonGreedy",
    "ExactEntropyPG",
    "ExactLogBarrierPG",
    "ExactPG",
    "InverseGapWeighting",
    "LogBarrierSGB",
    "MiniBatchLogBarrierSGB",
    "MomentumLogBarrierSGB",
    "Rule",
    "StagedSGB",
    "TheorySGB",
    "ThompsonSampling",
    "TsallisSGB",
    "TwoPhaseEntropySGB",
    "TwoScalarRule",
    "VectorRule",
    "make_rule",
    "rule_from_dict",
]
