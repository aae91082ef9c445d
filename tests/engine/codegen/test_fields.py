"""Numbers by name against the same numbers by place: one run, eight side by side, one of the eight, and from Python."""

from __future__ import annotations

import copy
import pickle
from typing import NamedTuple

import numpy as np
import pytest

from logbarrier.engine.codegen.fields import Fields, fields_of
from logbarrier.engine.codegen.lane_arrays import column_of, new_rows, rows_at
from logbarrier.engine.codegen.pointers import pointer_to
from logbarrier.engine.compiled import compiled, from_python

NAMES = ("baseline", "mean", "*history")
named = fields_of(NAMES)


@compiled
def step(memory, x):
    memory.baseline += x * memory.mean
    memory.mean = 3
    memory.history[1] = memory.baseline - memory.history[0]


@compiled
def of_one_run(numbers, x):
    step(named(pointer_to(numbers)), x)


@compiled
def of_all_runs(numbers, x):
    step(named(rows_at(pointer_to(numbers))), x)


@compiled
def of_run(numbers, lane, x):
    step(named(column_of(rows_at(pointer_to(numbers)), lane)), x)


def stepped(numbers, x):
    """The same by place; numbers (4,) or (4, 8)."""
    baseline, mean, first, _ = numbers
    moved = baseline + x * mean
    return np.array([moved, np.full_like(mean, 3.0), first, moved - first])


@pytest.fixture
def numbers():
    return np.random.default_rng(1).normal(size=(4, 8))


def test_the_fields_of_one_run_are_its_numbers(numbers):
    row = numbers[:, 0].copy()
    from_python(of_one_run)(row, 0.3)
    assert (row == stepped(numbers[:, 0], 0.3)).all()


def test_the_fields_of_eight_runs_are_their_numbers(numbers):
    rows = new_rows(4, numbers)
    from_python(of_all_runs)(rows, 0.3)
    assert (rows == stepped(numbers, 0.3)).all()


@pytest.mark.parametrize("lane", [0, 5, 7])
def test_the_fields_of_one_of_eight_runs_leave_the_others_alone(numbers, lane):
    rows, expected = new_rows(4, numbers), numbers.copy()
    expected[:, lane] = stepped(numbers[:, lane], 0.3)
    from_python(of_run)(rows, lane, 0.3)
    assert (rows == expected).all()


@pytest.mark.parametrize("call", [step, from_python(step)], ids=["function", "kernel"])
def test_compiled_code_takes_fields_from_python(numbers, call):
    row = numbers[:, 2].copy()
    call(Fields(NAMES, row), 0.3)
    assert (row == stepped(numbers[:, 2], 0.3)).all()


def test_python_reads_and_writes_the_fields_of_many_rows(numbers):
    table = numbers.T.copy()
    fields = Fields(NAMES, table)
    assert (fields.mean == numbers[1]).all()
    assert (fields.history == numbers[2:].T).all()
    assert (fields[3].history == numbers[2:, 3]).all()
    fields.baseline = 7.0
    assert (table[:, 0] == 7.0).all()
    assert (table[:, 1:] == numbers.T[:, 1:]).all()


def test_python_reads_a_number_of_one_row():
    fields = Fields(NAMES, np.zeros(4))
    before = fields.mean
    fields.mean = 2.0
    assert (before, fields.mean) == (0.0, 2.0)
    fields.history[1] = 5.0
    assert fields.history.tolist() == [0.0, 5.0]


def test_a_copy_has_numbers_of_its_own():
    fields = Fields(NAMES, np.zeros(4))
    for other in (copy.copy(fields), copy.deepcopy(fields), pickle.loads(pickle.dumps(fields))):
        other.mean = 1.0
        assert (fields.mean, other.mean) == (0.0, 1.0)


def test_a_field_that_is_not_there_is_refused():
    fields = Fields(("baseline", "mean"), np.zeros(2))
    with pytest.raises(AttributeError, match="memory has no field men; it has baseline, mean"):
        print(fields.men)
    with pytest.raises(AttributeError, match="memory has no field men; it has baseline, mean"):
        fields.men = 1.0


def test_numbers_that_do_not_lie_side_by_side_are_refused():
    with pytest.raises(ValueError, match="memory: must be a contiguous row of float64"):
        step(Fields(NAMES, np.zeros((4, 8))[:, 2]), 0.3)


class Pair(NamedTuple):
    """Two arguments of a kernel by name."""

    first: float
    rest: np.ndarray


def test_a_kernel_takes_named_tuples():
    @compiled
    def total(pair, weight):
        return weight * pair.first + pair.rest[1]

    assert from_python(total)(Pair(2.0, np.array([1.0, 5.0])), 10) == 25.0
