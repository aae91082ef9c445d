"""The rules, one short file each, and the list of them."""

from __future__ import annotations

from typing import Any

from ...base.parameters import make_named
from .action_barrier_pg import ActionBarrierPG
from .count_bonus import CountBonus
from .entropy_pg import EntropyPG
from .feature_spectral_pg import FeatureSpectralPG
from .npg import NPG
from .optimistic_q import OptimisticQ
from .pg import PG
from .rule import ActorCritic, Rule
from .spectral_pg import SpectralPG
from .state_entropy import StateEntropy

RULES: dict[str, type[Rule]] = {
    rule.name: rule
    for rule in (PG, EntropyPG, ActionBarrierPG, NPG, SpectralPG, FeatureSpectralPG, CountBonus, StateEntropy, OptimisticQ)
}


def make_rule(name: str, parameters: dict[str, Any]) -> Rule:
    """The rule of a name as in `RULES`, with parameters by name; both are checked."""
    return make_named("rule", RULES, name, parameters)


def rule_from_dict(plain: dict[str, Any]) -> Rule:
    """The rule that `Rule.to_dict` described."""
    return make_rule(plain["rule"], {key: value for key, value in plain.items() if key != "rule"})


__all__ = [
    "NPG", "PG", "RULES", "ActionBarrierPG", "ActorCritic", "CountBonus", "EntropyPG", "FeatureSpectralPG", "OptimisticQ",
    "Rule", "SpectralPG", "StateEntropy", "make_rule", "rule_from_dict",
]  # fmt: skip
