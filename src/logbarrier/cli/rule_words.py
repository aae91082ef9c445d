"""A rule's own parameters as words on the command line: `--eta 1000` for the field eta."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, cast

from ..base.validate import did_you_mean

if TYPE_CHECKING:
    from ..bandits.algorithms.rule import Rule


def rule_from_words(name: str, words: Sequence[str], shared: Mapping[str, Any]) -> Rule:
    """The rule of a name, with parameters from words such as ["--eta", "1000"].

    shared: options of the command that also go to a rule with a parameter of that name, such as the horizon.
    """
    from ..bandits.algorithms import RULES, make_rule
    from ..base.parameters import parameters_of
    from ..studies.tables import rule_of

    if ":" in name:  # a user-defined class, file.py:Class
        return cast("Rule", rule_of({"rule": name, **{key: number(value) for key, value in pairs(words)}}))
    known = parameters_of(RULES[name]) if name in RULES else {}
    given = {key: value for key, value in shared.items() if key in known}
    for key, value in pairs(words):
        if name in RULES and key not in known:
            takes = f"it takes {', '.join(map(option, known))}" if known else "it takes none"
            raise ValueError(f"{name}: has no option {option(key)}; {takes}{did_you_mean(option(key), map(option, known))}")
        given[key] = value if key in known and known[key].is_word else number(value)
    if name in RULES:
        _check_complete(RULES[name], given)
    return make_rule(name, given)


def option(parameter: str) -> str:
    """A parameter as it is typed: --learning-rate for learning_rate."""
    return f"--{parameter.replace('_', '-')}"


def _check_complete(rule: type[Rule], given: Mapping[str, Any]) -> None:
    missing = [field.name for field in fields(rule) if field.default is MISSING and field.name not in given]
    if missing:
        raise ValueError(f"{rule.name}: needs {' and '.join(map(option, missing))}, see 'logbarrier rules'")


def pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    """Words such as ["--eta", "1000", "--c=2"] as (parameter, value)."""
    found, left = [], list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("--"):
            raise ValueError(f"simulate: does not know what to do with {word!r}")
        option, equals, value = word.partition("=")
        if not equals:
            if not left or left[0].startswith("--"):
                raise ValueError(f"simulate: {option} needs a value")
            value = left.pop(0)
        found.append((option[2:].replace("-", "_"), value))
    return found


def number(word: str) -> float | bool | str:
    """The number or truth value that a word stands for, or the word itself."""
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    try:
        return float(word)
    except ValueError:
        return word  # the rule itself says what it wants instead
