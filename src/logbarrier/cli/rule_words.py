"""A rule's own parameters as words on the command line: `--eta 1000` for the field eta."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from ..base.validate import did_you_mean


def rule_from_words(
    name: str, words: Sequence[str], shared: Mapping[str, Any], rules: Mapping[str, type[Any]] | None = None
) -> Any:
    """The rule of a name in `rules`, by default those of bandits, with parameters from words such as ["--eta", "1000"].

    shared: options of the command that also go to a rule with a parameter of that name, such as the horizon.
    """
    from ..bandits.algorithms import RULES
    from ..base.parameters import make_named, parameters_of
    from ..studies.tables import rule_of

    rules = RULES if rules is None else rules

    if ":" in name:  # a user-defined class, file.py:Class
        return rule_of({"rule": name, **{key: number(value) for key, value in pairs(words)}})
    known = parameters_of(rules[name]) if name in rules else {}
    given = {key: value for key, value in shared.items() if key in known}
    for key, value in pairs(words):
        if name in rules and key not in known:
            takes = f"it takes {', '.join(map(option, known))}" if known else "it takes none"
            raise ValueError(f"{name}: has no option {option(key)}; {takes}{did_you_mean(option(key), map(option, known))}")
        given[key] = value if key in known and known[key].is_word else number(value)
    if name in rules:
        _check_complete(rules[name], given)
    return make_named("rule", rules, name, given)


def option(parameter: str) -> str:
    """A parameter as it is typed: --learning-rate for learning_rate."""
    return f"--{parameter.replace('_', '-')}"


def _check_complete(rule: type[Any], given: Mapping[str, Any]) -> None:
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
