"""Checks at the public boundary. One form of message: who, what must hold, what was given.

A wrong type raises `WrongTypeError`, which is a TypeError; a wrong value raises ValueError.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from .failure import WrongTypeError

_NO_NUMBER = (bool, str, bytes, np.bool_)


def number(owner: str, name: str, value: Any) -> float:
    """A finite real number as float."""
    converted = _real(owner, name, value, "a number")
    if not math.isfinite(converted):
        raise ValueError(f"{owner}: {name} must be finite, got {converted}")
    return converted


def positive(owner: str, name: str, value: Any) -> float:
    """A finite number above zero."""
    converted = _real(owner, name, value, "a positive number")
    if not (math.isfinite(converted) and converted > 0):
        raise ValueError(f"{owner}: {name} must be positive and finite, got {converted}")
    return converted


def _real(owner: str, name: str, value: Any, wanted: str) -> float:
    """A real number as float, infinite or not a number included; text, truth values and sequences are none."""
    if isinstance(value, _NO_NUMBER) or getattr(value, "ndim", 0) > 0:
        raise WrongTypeError(f"{owner}: {name} must be {wanted}, got {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise WrongTypeError(f"{owner}: {name} must be {wanted}, got {value!r}") from None
    except OverflowError:
        raise ValueError(
            f"{owner}: {name} must be {wanted} that float64 can hold, got one of {len(str(value))} digits"
        ) from None


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


def at_least_zero(owner: str, name: str, value: Any) -> float:
    """A finite number, zero or above."""
    converted = number(owner, name, value)
    if converted < 0:
        raise ValueError(f"{owner}: {name} must be zero or positive, got {converted}")
    return converted


def integer(owner: str, name: str, value: Any, least: int, most: int | None = None) -> int:
    """A whole number between least and most; a float such as 25e3 counts when it is whole."""
    if isinstance(value, float | np.floating) and not float(value).is_integer():
        raise ValueError(f"{owner}: {name} must be a whole number, got {value!r}")
    try:
        converted = int(value) if isinstance(value, float | np.floating) else operator.index(_no_truth_value(value))
    except TypeError:
        raise WrongTypeError(f"{owner}: {name} must be a whole number, got {value!r}") from None
    if converted < least or (most is not None and converted > most):
        bounds = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{owner}: {name} must be {bounds}, got {converted}")
    return converted


def _no_truth_value(value: Any) -> Any:
    if isinstance(value, bool):
        raise TypeError
    return value


def array(owner: str, name: str, values: Any, wanted: str) -> np.ndarray:
    """A new float64 array of any shape, from numbers alone."""
    try:
        given = np.array(values)
    except (ValueError, OverflowError):
        raise ValueError(f"{owner}: {name} must be {wanted}, all rows of one length") from None
    if given.dtype.kind not in "iuf":  # no numbers, unless they are fractions or beyond 64 bits
        numbers = [_real(owner, name, value, wanted) for value in given.ravel().tolist()]
        given = np.array(numbers, dtype=np.float64).reshape(given.shape)
    return given.astype(np.float64, copy=False)


def vector(owner: str, name: str, values: Any) -> np.ndarray:
    """A finite one-dimensional float64 array of at least two entries."""
    found = array(owner, name, values, "a sequence of numbers")
    if found.ndim == 0:
        raise WrongTypeError(f"{owner}: {name} must be a sequence of numbers, got {values!r}")
    if found.ndim != 1 or len(found) < 2:
        raise ValueError(f"{owner}: {name} must be a sequence of at least 2 numbers, got shape {found.shape}")
    if not np.isfinite(found).all():
        bad = int(np.flatnonzero(~np.isfinite(found))[0])
        raise ValueError(f"{owner}: {name} must be finite, got {found[bad]} for arm {bad}")
    return found


def choice(owner: str, name: str, value: Any, allowed: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str):
        raise WrongTypeError(f"{owner}: {name} must be one of {', '.join(allowed)}, got {value!r}")
    if value not in allowed:
        raise ValueError(f"{owner}: {name} must be one of {', '.join(allowed)}, got {value!r}{did_you_mean(value, allowed)}")
    return value


def instance(owner: str, name: str, value: Any, kind: type[Any] | tuple[type[Any], ...], wanted: str) -> None:
    """An object of a class, or of one of several."""
    if not isinstance(value, kind):
        raise WrongTypeError(f"{owner}: {name} must be {wanted}, got {value!r}")


def did_you_mean(word: Any, known: Iterable[str]) -> str:
    """'; did you mean X?' for a word that is nearly one of the known ones, else nothing."""
    near = get_close_matches(word, list(known), n=1, cutoff=0.5) if isinstance(word, str) else []
    return f"; did you mean {near[0]}?" if near else ""
