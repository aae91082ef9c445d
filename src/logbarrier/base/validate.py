"""Checks at the public boundary. One form of message: who, what must hold, what was given."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np


def number(owner: str, name: str, value: Any) -> float:
    """A finite real number as float."""
    try:
        converted = float(_no_text(value))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{owner}: {name} must be a number, got {value!r}") from None
    if not math.isfinite(converted):
        raise ValueError(f"{owner}: {name} must be finite, got {converted}")
    return converted


def positive(owner: str, name: str, value: Any) -> float:
    """A finite number above zero."""
    try:
        converted = float(_no_text(value))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{owner}: {name} must be a positive number, got {value!r}") from None
    if not (math.isfinite(converted) and converted > 0):
        raise ValueError(f"{owner}: {name} must be positive and finite, got {converted}")
    return converted


def positive_up_to(owner: str, name: str, value: Any, most: float) -> float:
    """A number above zero and at most `most`."""
    converted = positive(owner, name, value)
    if converted > most:
        raise ValueError(f"{owner}: {name} must be at most {most:g}, got {converted}")
    return converted


def between(owner: str, name: str, value: Any, least: float, most: float) -> float:
    """A number from `least` to `most`, both included."""
    converted = number(owner, name, value)
    if not least <= converted <= most:
        raise ValueError(f"{owner}: {name} must be between {least:g} and {most:g}, got {converted}")
    return converted


def between_zero_and_one(owner: str, name: str, value: Any) -> float:
    """A number from 0 to 1, both included."""
    return between(owner, name, value, 0, 1)


def _no_text(value: Any) -> Any:
    if isinstance(value, str | bytes):
        raise TypeError
    return value


def at_least_zero(owner: str, name: str, value: Any) -> float:
    """A finite number, zero or above."""
    converted = number(owner, name, value)
    if converted < 0:
        raise ValueError(f"{owner}: {name} must be zero or positive, got {converted}")
    return converted


def integer(owner: str, name: str, value: Any, least: int, most: int | None = None) -> int:
    """A whole number between least and most; a float such as 25e3 counts when it is whole."""
    try:
        converted = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        raise ValueError(f"{owner}: {name} must be a whole number, got {value!r}") from None
    if converted < least or (most is not None and converted > most):
        bounds = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{owner}: {name} must be {bounds}, got {converted}")
    return converted


def vector(owner: str, name: str, values: Any) -> np.ndarray:
    """A finite one-dimensional float64 array of at least two entries."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{owner}: {name} must be a sequence of numbers, got {values!r}") from None
    if array.ndim != 1 or len(array) < 2:
        raise ValueError(f"{owner}: {name} must be a sequence of at least 2 numbers, got shape {array.shape}")
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"{owner}: {name} must be finite, got {array[bad]} for arm {bad}")
    return array


def choice(owner: str, name: str, value: Any, allowed: Sequence[str]) -> str:
    """One of a few words."""
    if value not in allowed:
        raise ValueError(f"{owner}: {name} must be one of {', '.join(allowed)}, got {value!r}{did_you_mean(value, allowed)}")
    return str(value)


def did_you_mean(word: Any, known: Iterable[str]) -> str:
    """'; did you mean X?' for a word that is nearly one of the known ones, else nothing."""
    near = get_close_matches(word, list(known), n=1, cutoff=0.5) if isinstance(word, str) else []
    return f"; did you mean {near[0]}?" if near else ""
