"""A user's function that does not compile: one line with file, line and reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
from numba.core.errors import NumbaError

import logbarrier as lb
from logbarrier.engine.compiled import compiled


@compiled
def misspelt(reward, probability, t, memory, hyper):
    step = hyper[0] * reward
    return step, step + rewrd  # noqa: F821


@compiled
def without_attribute(x):
    return x.no_such_thing


@compiled
def calls_it(reward, probability, t, memory, hyper):
    return without_attribute(reward), 0.0


@compiled
def one_number(reward, probability, t, memory, hyper):
    return reward


@compiled
def unsupported(reward, probability, t, memory, hyper):
    with open("file") as file:
        return file, 0.0


CASES = [
    (misspelt, misspelt, 3, "name 'rewrd' is not defined"),
    (calls_it, without_attribute, 2, "Unknown attribute 'no_such_thing' of type float64"),
    (one_number, one_number, 0, "failed to unpack float64"),
    (unsupported, unsupported, 0, "The 'with (context manager) as (variable):' construct is not supported."),
]


def rule_of(function):
    @dataclass(frozen=True, kw_only=True)
    class UserDefined(lb.TwoScalarRule):
        name: ClassVar[str] = "own"
        place: ClassVar[str] = "here"
        lift_and_drain = staticmethod(function)

        def hyper(self, n_arms):
            return (0.1,)

    return UserDefined()


@pytest.mark.parametrize("engine", ["lockstep", "dense"])
@pytest.mark.parametrize(("function", "wrong", "line", "reason"), CASES)
def test_the_sentence_names_file_line_and_reason(function, wrong, line, reason, engine):
    with pytest.raises(RuntimeError) as caught:
        lb.simulate(rule_of(function), lb.GapInstances(n_arms=5), horizon=10, engine=engine)
    number = wrong.py_func.__code__.co_firstlineno + line
    assert str(caught.value).endswith(f"test_explain.py:{number}: {reason}")
    assert "\n" not in str(caught.value)
    assert caught.value.__suppress_context__
    assert caught.value.__context__ is not None


def test_it_is_still_an_exception_of_numba():
    with pytest.raises(NumbaError, match="name 'rewrd' is not defined"):
        lb.Agent(rule_of(misspelt), n_arms=3)
