"""A problem's own parameters as words on the command line: `--period 5000` for the argument period, `--means 0.1,0.2`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from ..base.validate import did_you_mean
from .rule_words import number, option, pairs


def problem_from_words(name: str, given: Mapping[str, Any], words: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the problem of a name, and the words that are left for the rule.

    given: options of the command that describe a problem, such as n_arms; None for those that were not given.
    words: such as ["--period", "5000", "--eta", "1000"]; those that name an argument of the problem go to it.
    """
    from ..studies.bandit_setting import SETTING
    from ..studies.context_setting import SETTING as CONTEXTS
    from ..studies.settings import maker_named
    from ..studies.tables import problem_of

    try:
        kind = maker_named("problem", name, within=CONTEXTS if name in CONTEXTS.problems else SETTING)
    except ValueError as error:
        raise ValueError(f"simulate: {error}") from None
    takes = inspect.signature(kind).parameters
    if "n_arms" in takes and given.get("n_arms") is None:
        raise ValueError("simulate: needs --arms, the number of arms K")
    chosen = {key: value for key, value in given.items() if value is not None}
    for key in chosen:
        if key not in takes:
            known = [option(each) for each in takes if each != "n_arms"]
            typed = "--arms" if key == "n_arms" else option(key)
            raise ValueError(f"{name}: has no option {typed}; it takes {', '.join(known)}{did_you_mean(typed, known)}")
    left: list[str] = []
    for key, word in pairs(words):
        if key in takes:
            chosen[key] = [number(each) for each in word.split(",")] if "," in word else number(word)
        else:
            left += [option(key), word]
    return problem_of({"problem": name, **chosen}), left
