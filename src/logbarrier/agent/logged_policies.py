"""Policies whose value a log is asked for: fixed, by context, or decision by decision."""

from __future__ import annotations

import csv
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..base import validate


class PolicyTable:
    """A policy named decision by decision: id -> arm, or id -> dict of probabilities by arm.

    >>> PolicyTable({0: "a", 1: {"a": 0.5, "b": 0.5}})
    PolicyTable(2 decisions)
    """

    def __init__(self, choices: Mapping[Any, Any]) -> None:
        self.choices = dict(choices)

    @classmethod
    def from_csv(cls, path: str | Path) -> PolicyTable:
        """Read a file with the columns id, arm and perhaps probability (1 unless given); several rows may share an id."""
        choices: dict[int, dict[str, float]] = {}
        with open(path, newline="", encoding="utf-8") as file:
            for number, row in enumerate(csv.DictReader(file), start=2):
                try:
                    share = float(row.get("probability") or 1.0)
                    chosen = choices.setdefault(int(row["id"]), {})
                    chosen[row["arm"]] = chosen.get(row["arm"], 0.0) + share
                except (KeyError, TypeError, ValueError):
                    raise ValueError(
                        f"PolicyTable: line {number} of {path} must have id, arm and perhaps probability"
                    ) from None
        return cls(choices)

    def __repr__(self) -> str:
        return f"PolicyTable({len(self.choices)} decisions)"


def probabilities_of(
    names: tuple[Hashable, ...], contexts: tuple[Any, ...], ids: tuple[Any, ...], count: int, policy: Any
) -> np.ndarray:
    """The policy (count, K) at every decision of a log."""
    if isinstance(policy, PolicyTable):
        return _table(names, [_chosen(policy, identity) for identity in _present("ids", ids, count)])
    if callable(policy):
        given: Callable[[Any], Any] = policy
        return _table(names, [given(context) for context in _present("contexts", contexts, count)])
    return np.tile(_row(names, policy), (count, 1))


def _present(what: str, values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    if len(values) != count:
        raise ValueError(f"off_policy: this policy needs {what}, which the log lacks")
    return values


def _chosen(policy: PolicyTable, identity: Any) -> Any:
    if identity not in policy.choices:
        raise ValueError(f"off_policy: the policy must name an arm for every decision, but lacks decision {identity!r}")
    return policy.choices[identity]


def _table(names: tuple[Hashable, ...], choices: list[Any]) -> np.ndarray:
    """Rows (n, K) from arms or probabilities."""
    place, table = {name: i for i, name in enumerate(names)}, np.zeros((len(choices), len(names)))
    for i, choice in enumerate(choices):
        if isinstance(choice, Mapping) or np.ndim(choice) == 1:
            table[i] = _row(names, choice)
        elif isinstance(choice, Hashable) and choice in place:
            table[i, place[choice]] = 1.0
        else:
            raise ValueError(f"off_policy: the log has no arm {choice!r}")
    return table


def _row(names: tuple[Hashable, ...], policy: Any) -> np.ndarray:
    """Probabilities (K,) from a vector, a dict by name, or the name of an arm, for always that one."""
    if isinstance(policy, str | int | float):
        policy = {policy: 1.0}
    if isinstance(policy, Mapping):
        unknown = next((name for name in policy if name not in names), None)
        if unknown is not None:
            raise ValueError(f"off_policy: the log has no arm {unknown!r}")
        policy = [policy.get(name, 0.0) for name in names]
    p = validate.vector("off_policy", "policy", policy)
    if len(p) != len(names):
        raise ValueError(f"off_policy: policy must have one probability per arm, {len(names)}, got {len(p)}")
    if (p < 0).any() or abs(p.sum() - 1) > 1e-9:
        raise ValueError(f"off_policy: policy must be probabilities that sum to 1, got a sum of {p.sum()}")
    return p
