"""Parameters: dataclass fields that say once what they accept, for the constructor, for files and for the command line.

    @dataclass(frozen=True, kw_only=True)
    class Rule(Parameterised):
        eta: Positive
        tau: AtLeastZero = 0.1
        batch: Annotated[int, whole(1)] = 1

`Rule(eta=-3.0)` then says `Rule: eta must be positive and finite, got -3.0`. A field that is annotated with a plain type is
taken as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

from . import validate
from .failure import WrongTypeError

hints_of = cache(get_type_hints)  # a millisecond, and asked for whenever a rule is made; what failed is tried again
Check = Callable[[str, str, Any], Any]
Made = TypeVar("Made")


def number_as_read(owner: str, name: str, value: Any) -> Any:
    """TOML and JSON know types, so '0.1' and true are mistakes where a number belongs."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WrongTypeError(f"{owner}: {name} must be a number, got {value!r}")
    return value


def word_as_read(owner: str, name: str, value: Any) -> Any:
    """The same where a word belongs."""
    if not isinstance(value, str):
        raise WrongTypeError(f"{owner}: {name} must be a word, got {value!r}")
    return value


def truth_value(owner: str, name: str, value: Any) -> Any:
    """True or false, in Python and in files."""
    if not isinstance(value, bool):
        raise WrongTypeError(f"{owner}: {name} must be true or false, got {value!r}")
    return value


@dataclass(frozen=True)
class Parameter:
    """What a field accepts.

    check    (owner, name, value): refuses in one sentence what the owner cannot work with
    read     (owner, name, plain): the value that plain JSON or TOML stands for; refuses other types
    write    value -> plain JSON
    is_word  written as a word, not as a number
    """

    check: Check
    read: Check = number_as_read
    write: Callable[[Any], Any] = float
    is_word: bool = False


def between(least: float, most: float) -> Parameter:
    """A number from `least` to `most`, both included."""
    return Parameter(lambda owner, name, value: validate.between(owner, name, value, least, most))


def optional(parameter: Parameter) -> Parameter:
    """The same, or None, which is not written: a parameter that came later leaves what was stored before as it is."""

    def check(owner: str, name: str, value: Any) -> Any:
        return None if value is None else parameter.check(owner, name, value)

    return replace(parameter, check=check)


def whole(least: int, most: int | None = None) -> Parameter:
    """A whole number from `least` to `most`; 25e3 counts as whole."""
    return Parameter(lambda owner, name, value: validate.integer(owner, name, value, least, most))


def choice(*words: str) -> Parameter:
    """One of a few words."""
    return Parameter(lambda owner, name, value: validate.choice(owner, name, value, words), word_as_read, str, is_word=True)


Positive = Annotated[float, Parameter(validate.positive)]
AtLeastZero = Annotated[float, Parameter(validate.at_least_zero)]
Share = Annotated[float, Parameter(validate.between_zero_and_one)]
Switch = Annotated[bool, Parameter(truth_value, truth_value, bool)]

AS_IT_IS = Parameter(
    check=lambda *_: None,
    read=lambda _owner, _name, value: value,
    write=lambda value: value if isinstance(value, str | bool) else float(value),
)


class Parameterised:
    """A dataclass whose fields are checked when it is made; the class name in a message is its own."""

    def __post_init__(self) -> None:
        for name, parameter in parameters_of(type(self)).items():
            parameter.check(type(self).__name__, name, getattr(self, name))


def parameters_of(owner: type) -> dict[str, Parameter]:
    """Field name -> what it accepts, in the order they are written."""
    try:
        hints = hints_of(owner, include_extras=True)
    except NameError:  # annotations that only a type checker can resolve
        hints = {}
    return {each.name: _parameter_in(hints.get(each.name)) for each in fields(owner)}


def _parameter_in(hint: Any) -> Parameter:
    return next((part for part in get_args(hint)[1:] if isinstance(part, Parameter)), AS_IT_IS)


def written(made: Any) -> dict[str, Any]:
    """Field name -> plain JSON value, without those that are None."""
    parameters = parameters_of(type(made))
    return {name: each.write(getattr(made, name)) for name, each in parameters.items() if getattr(made, name) is not None}


def make_named(kind: str, classes: Mapping[str, type[Made]], name: str, parameters: Mapping[str, Any]) -> Made:
    """One of a `kind` (rule) by its name, with parameters by name; both are checked."""
    if name not in classes:
        known_names = ", ".join(classes)
        raise ValueError(f"{kind}: must be one of {known_names}, got {name!r}{validate.did_you_mean(name, classes)}")
    made: Any = classes[name]
    known = list(parameters_of(made))
    required = [field.name for field in fields(made) if field.default is MISSING]
    for parameter in parameters:
        if parameter not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise ValueError(f"{name}: has no parameter {parameter}; {takes}{validate.did_you_mean(parameter, known)}")
    for parameter in required:
        if parameter not in parameters:
            raise ValueError(f"{name}: needs {parameter}; it takes {', '.join(known)}")
    return classes[name](**parameters)
