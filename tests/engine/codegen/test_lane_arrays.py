"""Eight runs side by side against NumPy, lane by lane, to the bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from numba.core.errors import NumbaError

from logbarrier.engine.codegen.integer_lanes import (
    as_float,
    lanes_from,
    load_integers,
    select_equal,
    store_whole,
    whole_if_above,
)
from logbarrier.engine.codegen.lane_access import lanes_within, load, store
from logbarrier.engine.codegen.lane_arrays import column_of, new_rows, rows_at, tables_at
from logbarrier.engine.codegen.pointers import pointer_to
from logbarrier.engine.random import fill_uniforms_of_runs, standard_normal, step_uniforms, stream_key

ARMS = np.array([2, 0, 1, 2, 2, 1, 0, 0])
LANES = np.arange(8)


@pytest.fixture
def rows(rng):
    return rng.normal(size=(3, 8))


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@njit
def move_rows(array, arms, out):
    rows, drawn = rows_at(pointer_to(array)), load_integers(pointer_to(arms), 0)
    store(out, 0, rows[drawn])
    rows[drawn] = 2.0 * rows[drawn]
    rows[1] += 1.0
    rows[0] = 5.0


@njit
def move_column(array, lane):
    column = column_of(rows_at(pointer_to(array)), lane)
    column[2] += column[0]
    column[1] = 7


@njit
def read_tables(tables, arms, row, out):
    size, columns = tables.shape[1] * tables.shape[2], tables.shape[2]
    store(out, 0, tables_at(pointer_to(tables), size, columns)[row, load_integers(pointer_to(arms), 0)])


def test_new_rows_lie_in_one_line_of_the_cache_each():
    for count in (0, 1, 5):
        made = new_rows(count, np.arange(count)[:, None])
        assert (made == np.arange(count)[:, None] * np.ones(8)).all()
        assert made.shape == (count, 8)
        assert made.ctypes.data % 64 == 0 or count == 0
        assert made.flags.c_contiguous


def test_rows_are_read_and_written_by_number_and_by_each_runs_own_number(rows):
    expected, drawn = rows.copy(), np.empty(8)
    move_rows(rows, ARMS, drawn)
    assert (drawn == expected[ARMS, LANES]).all()
    expected[ARMS, LANES] *= 2.0
    expected[1] += 1.0
    expected[0] = 5.0
    assert (rows == expected).all()


def test_a_column_is_one_run_and_leaves_the_others_alone(rows):
    expected = rows.copy()
    move_column(rows, 3)
    expected[2, 3] += expected[0, 3]
    expected[1, 3] = 7.0
    assert (rows == expected).all()


def test_tables_give_each_run_what_its_own_has(rng):
    tables, out = rng.normal(size=(8, 2, 3)), np.empty(8)
    for row in range(2):
        read_tables(tables, ARMS, row, out)
        assert (out == tables[LANES, row, ARMS]).all()


@njit
def whole_arithmetic(a, b, out):
    x, y = load_integers(pointer_to(a), 0), load_integers(pointer_to(b), 0)
    store_whole(pointer_to(out), 0, ((x * y + x) ^ (y >> 3)) | ((x & 12345) << 1))


@njit
def chosen(a, b, x, bound, out):
    m, n = load_integers(pointer_to(a), 0), load_integers(pointer_to(b), 0)
    store(out, 0, as_float(m + whole_if_above(load(x, 0), load(bound, 0), 0, 8)))
    store(out, 8, select_equal(m, n, load(x, 0), load(bound, 0)))
    return lanes_from(m, 2)


def test_whole_lanes_are_uint64_arithmetic(rng):
    a, b = rng.integers(0, 2**64, size=(2, 8), dtype=np.uint64)
    out = np.empty(8, dtype=np.uint64)
    whole_arithmetic(a, b, out)
    three, one, mask = np.uint64(3), np.uint64(1), np.uint64(12345)
    assert (out == (((a * b + a) ^ (b >> three)) | ((a & mask) << one))).all()


def test_lanes_are_chosen_by_size_and_by_number(rng):
    x, bound, other, out = rng.normal(size=8), rng.normal(size=8), ARMS[::-1].copy(), np.empty(16)
    x[0], bound[1] = bound[0], np.nan
    bits = chosen(ARMS, other, x, bound, out)
    assert (out[:8] == ARMS + np.where(x > bound, 0, 8)).all()
    assert np.array_equal(out[8:], np.where(other == ARMS, x, bound), equal_nan=True)
    assert bits == sum(1 << lane for lane in LANES if ARMS[lane] >= 2)


@njit
def functions_in_lanes(x, out):
    store(out, 0, -math.sqrt(abs(load(x, 0))))
    return lanes_within(load(x, 0), 1.0)


def test_functions_of_python_do_the_same_in_each_lane():
    x, out = np.array([4.0, -2.0, 0.0, -0.0, 1.0, -1.0, np.nan, np.inf]), np.empty(8)
    bits = functions_in_lanes(x, out)
    assert np.array_equal(out, -np.sqrt(np.abs(x)), equal_nan=True)
    assert bits == 0b00111100


@njit
def normals_in_lanes(u, out):
    for j in range(0, len(u), 8):
        store(out, j, standard_normal(load(u, j)))


def test_normals_in_lanes_have_the_bits_of_normals_alone(rng):
    u = np.concatenate([rng.uniform(size=240), [1e-12, 1 - 1e-12, 2.0**-53, 0.5, 0.07, 0.93, 0.075, 0.925]])
    out = np.empty(len(u))
    normals_in_lanes(u, out)
    assert (out == [standard_normal(each) for each in u]).all()


@njit
def fill_uniforms(arms, rewards, first, runs, key):
    fill_uniforms_of_runs(pointer_to(arms), pointer_to(rewards), first, arms.shape[0], pointer_to(runs), pointer_to(key))


def test_uniforms_of_eight_runs_are_those_of_each():
    key, runs, first = stream_key(7), np.array([0, 5, 2**32 - 2, 3, 3, 100, 1, 77]), 2**32 - 20
    arms, rewards = np.empty((2, 10, 8))
    fill_uniforms(arms, rewards, first, runs, key)
    for i in range(10):
        for lane in range(8):
            assert (arms[i, lane], rewards[i, lane]) == step_uniforms(first + i, int(runs[lane]), key)


def _if_it_is_zero(x):
    return 1.0 if x == 0.0 else 2.0


def _if_it_is_below(x):
    return 1.0 if x < 0.5 else 2.0


def _if_it_is_true(x):
    return 1.0 if x else 2.0


def _as_an_integer(x):
    return float(int(x))


def _larger(x):
    return max(x, 0.0)


@pytest.mark.parametrize("function", [_if_it_is_zero, _if_it_is_below, _if_it_is_true, _as_an_integer, _larger])
def test_what_differs_from_lane_to_lane_is_not_compiled_for_lanes(function):
    callee = njit(function)

    @njit
    def in_lanes(x):
        store(x, 0, callee(load(x, 0)))

    with pytest.raises(NumbaError):
        in_lanes(np.zeros(8))
