"""Checks of what an agent is given: names of arms, rewards, means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..bandits.algorithms.rule import Rule
from ..bandits.loops.policy import LARGEST_REWARD
from ..bandits.problems.linear import checked_features
from ..base import validate
from ..base.failure import WrongTypeError


def checked_reward(owner: str, reward: Any) -> float:
    """A finite number of size at most 1e100."""
    if type(reward) is float and -LARGEST_REWARD <= reward <= LARGEST_REWARD:
        return reward
    checked = validate.number(owner, "reward", reward)
    if abs(checked) > LARGEST_REWARD:
        raise ValueError(f"{owner}: reward must be at most {LARGEST_REWARD:g} in size, got {checked}")
    return checked


def below_one(owner: str, name: str, value: Any) -> float:
    """A number that is at least 0 and below 1."""
    checked = validate.number(owner, name, value)
    if not 0 <= checked < 1:
        raise ValueError(f"{owner}: {name} must be at least 0 and below 1, got {checked}")
    return checked


def names_of(n_arms: Any, arms: Any) -> list[Any]:
    """The names of at least two arms, from their number or their names."""
    if (n_arms is None) == (arms is None):
        raise ValueError("Agent: give either n_arms or arms")
    names = checked_names(arms) if arms is not None else list(range(validate.integer("Agent", "n_arms", n_arms, 2)))
    if len(names) < 2:
        raise ValueError(f"Agent: needs at least 2 arms, got {len(names)}")
    return names


def checked_names(arms: Any) -> list[Any]:
    """Names that survive JSON: NumPy numbers become Python's."""
    try:
        names = [arm.item() if isinstance(arm, np.generic) else arm for arm in arms]
    except TypeError:
        raise WrongTypeError(f"Agent: arms must be a sequence of names, got {arms!r}") from None
    for name in names:
        if not isinstance(name, str | int | float) or isinstance(name, bool):
            raise WrongTypeError(f"Agent: the name of an arm must be a string or a finite number, got {name!r}")
        if isinstance(name, float) and not math.isfinite(name):
            raise ValueError(f"Agent: the name of an arm must be a string or a finite number, got {name!r}")
        if isinstance(name, str) and not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
            raise ValueError(f"Agent: the name of an arm must be text that UTF-8 can hold, got {name!r}")
    return names


def checked_means(rule: Rule, means: Any, n_arms: int) -> np.ndarray | None:
    """The true mean rewards (K,) of a rule that knows them, else None."""
    if not rule.knows_means:
        if means is not None:
            raise ValueError(f"Agent: {rule.name} learns from rewards alone, so means must be None")
        return None
    if means is None:
        raise ValueError(f"Agent: {rule.name} follows the exact gradient, so it needs means, the true mean reward of each arm")
    checked = validate.vector("Agent", "means", means)
    if len(checked) != n_arms:
        raise ValueError(f"Agent: means must have one entry per arm, {n_arms}, got {len(checked)}")
    return checked


def features_of(rule: Rule, features: Any, n_arms: int) -> np.ndarray | None:
    """The features (m, K) of the arms for a rule that uses them, from (K, m); None where none are given."""
    if features is None:
        return None
    if not getattr(rule, "uses_features", False):
        raise ValueError(f"Agent: {rule.name} does not use features, so features must be None")
    return np.ascontiguousarray(checked_features("Agent", features, n_arms).T)


def numbers(owner: str, name: str, values: Any, length: int) -> np.ndarray:
    """A finite array (length,) from plain JSON values."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{owner}: {name} must be {length} finite numbers") from None
    if array.shape != (length,) or not np.isfinite(array).all():
        raise ValueError(f"{owner}: {name} must be {length} finite numbers")
    return array
