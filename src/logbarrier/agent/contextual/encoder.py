"""Contexts as vectors of numbers: a vector as it is, or a dict of named numbers, booleans and categories.

    number     one entry; missing (None or NaN) counts as the mean
    boolean    one entry, 1 or -1; missing is 0
    category   ONE_HOT + HASHED entries: each of the first ONE_HOT values gets an entry of its own, later ones share
               the others by a hash of their text. Missing is a value of its own
    [...]      a category with these values and no others: one entry each, and one for missing

A name that was not declared, another type and an infinite number raise an error and change nothing.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...base import validate
from ...base.failure import WrongTypeError

ONE_HOT, HASHED = 12, 4
KINDS = ("number", "boolean", "category")
LARGEST_FEATURE = 1e100  # its square is still a float64
MOST_FEATURES = 10_000  # `regression.MOST_NUMBERS` is reached first where there are several arms


class VectorEncoder:
    """Contexts that are vectors (d,), taken as they are."""

    def __init__(self, owner: str, size: int) -> None:
        self._owner, self.size = owner, size
        self.is_number = np.zeros(size, dtype=bool)

    def encode(self, context: Any, learns: bool = True) -> np.ndarray:
        """The vector, checked."""
        if isinstance(context, np.ndarray) and context.dtype == np.float64:
            vector = context
        elif context is None and self.size == 0:
            return np.zeros(0)
        else:
            if isinstance(context, Mapping):
                raise WrongTypeError(f"{self._owner}: context must be a vector of {self.size} numbers, got a dict")
            vector = validate.array(self._owner, "context", context, "a vector of numbers")
        if vector.shape != (self.size,):
            raise ValueError(f"{self._owner}: context must have {self.size} numbers, got shape {vector.shape}")
        if not np.abs(vector).max(initial=0.0) <= LARGEST_FEATURE:
            raise ValueError(f"{self._owner}: context must be finite numbers of size at most {LARGEST_FEATURE:g}")
        return vector

    def plain(self) -> Any:
        """What makes it again, as plain JSON values."""
        return self.size

    def seen(self) -> dict[str, list[str]]:
        """Nothing is learnt from the contexts."""
        return {}

    def restore(self, seen: Any) -> None:
        """The inverse of `seen`."""
        if seen != {}:
            raise ValueError(f"{self._owner}: the categories must be those of the features")


class NamedEncoder:
    """Contexts that are dicts: name -> "number", "boolean", "category", or a list of the values of a category."""

    def __init__(self, owner: str, kinds: Mapping[str, Any]) -> None:
        self._owner, self._kinds = owner, {name: _kind(owner, name, kind) for name, kind in kinds.items()}
        self._values: dict[str, dict[str, int]] = {}
        self._first: dict[str, int] = {}
        size, numbers = 0, []
        for name, kind in self._kinds.items():
            self._first[name] = size
            if kind == "number":
                numbers.append(size)
            if kind == "category":
                self._values[name] = {}
                size += ONE_HOT + HASHED
            elif isinstance(kind, list):
                self._values[name] = {text: i for i, text in enumerate(kind)}
                size += len(kind) + 1
            else:
                size += 1
        self.size = size
        self.is_number = np.zeros(size, dtype=bool)
        self.is_number[numbers] = True

    def encode(self, context: Any, learns: bool = True) -> np.ndarray:
        """The vector of a context (d,); NaN where a number is missing. learns: whether new categories get entries."""
        if not isinstance(context, Mapping):
            raise WrongTypeError(f"{self._owner}: context must be a dict of {', '.join(self._kinds)}, got {context!r}")
        unknown = next((name for name in context if name not in self._kinds), None)
        if unknown is not None:
            near = validate.did_you_mean(unknown, self._kinds)
            raise ValueError(f"{self._owner}: context must name only {', '.join(self._kinds)}, got {unknown!r}{near}")
        vector, new = np.zeros(self.size), {}
        for name, kind in self._kinds.items():
            value, first = context.get(name), self._first[name]
            if kind == "number":
                vector[first] = self._number(name, value)
            elif kind == "boolean":
                vector[first] = self._boolean(name, value)
            else:
                text = self._text(name, value)
                vector[first + self._entry(name, text)] = 1.0
                if kind == "category" and text not in self._values[name] and len(self._values[name]) < ONE_HOT:
                    new[name] = text
        for name, text in new.items() if learns else ():
            self._values[name][text] = len(self._values[name])
        return vector

    def _number(self, name: str, value: Any) -> float:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return math.nan
        number = validate.number(self._owner, name, value)
        if abs(number) > LARGEST_FEATURE:
            raise ValueError(f"{self._owner}: {name} must be at most {LARGEST_FEATURE:g} in size, got {number}")
        return number

    def _boolean(self, name: str, value: Any) -> float:
        if value is None:
            return 0.0
        if not isinstance(value, bool | np.bool_):
            raise WrongTypeError(f"{self._owner}: {name} must be true or false, got {value!r}")
        return 1.0 if value else -1.0

    def _text(self, name: str, value: Any) -> str:
        """The text of a category; whole numbers count by their digits, and missing is the text of None."""
        if value is None:
            return ""
        if not isinstance(value, str | int | np.integer) or isinstance(value, bool):
            raise WrongTypeError(f"{self._owner}: {name} must be a word or a whole number, got {value!r}")
        return f"{value}"

    def _entry(self, name: str, text: str) -> int:
        """The entry of a category among those of its feature."""
        known, kind = self._values[name], self._kinds[name]
        if text in known:
            return known[text]
        if kind == "category":
            return len(known) if len(known) < ONE_HOT else ONE_HOT + zlib.crc32(text.encode()) % HASHED
        if text != "":
            raise ValueError(f"{self._owner}: {name} must be one of {', '.join(known)}, got {text!r}")
        return len(known)

    def plain(self) -> Any:
        """What makes it again, as plain JSON values."""
        return dict(self._kinds)

    def seen(self) -> dict[str, list[str]]:
        """The categories that have an entry of their own, in order."""
        return {name: list(values) for name, values in self._values.items() if self._kinds[name] == "category"}

    def restore(self, seen: Any) -> None:
        """The inverse of `seen`."""
        known = {name for name, kind in self._kinds.items() if kind == "category"}
        if not isinstance(seen, dict) or set(seen) != known:
            raise ValueError(f"{self._owner}: the categories must be those of the features")
        for name, texts in seen.items():
            if len(texts) > ONE_HOT or len(set(texts)) < len(texts) or not all(isinstance(text, str) for text in texts):
                raise ValueError(f"{self._owner}: the categories of {name} must be at most {ONE_HOT} different words")
            self._values[name] = {text: i for i, text in enumerate(texts)}


Encoder = VectorEncoder | NamedEncoder


def encoder_of(owner: str, features: Any) -> Encoder:
    """The encoder that `features` describes: how many numbers a vector has, or name -> kind."""
    if isinstance(features, Mapping):
        if not features or not all(isinstance(name, str) for name in features):
            raise ValueError(f"{owner}: features must name at least one feature, each by a word, got {dict(features)!r}")
        return NamedEncoder(owner, features)
    if isinstance(features, str | bytes) or hasattr(features, "__iter__"):
        wanted = "a whole number or a dict such as {'age': 'number', 'country': 'category'}"
        raise WrongTypeError(f"{owner}: features must be {wanted}, got {features!r}")
    return VectorEncoder(owner, validate.integer(owner, "features", features, 0, MOST_FEATURES))


def _kind(owner: str, name: str, kind: Any) -> Any:
    if isinstance(kind, list | tuple):
        texts = [f"{value}" for value in kind]
        if not texts or len(set(texts)) < len(texts) or "" in texts:
            raise ValueError(f"{owner}: the values of {name} must be different words, got {kind!r}")
        return texts
    return validate.choice(owner, f"the kind of {name}", kind, KINDS)
