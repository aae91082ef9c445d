"""What a loop calls by address: the functions of a rule and of a reward distribution, each compiled alone.

So there is one compiled loop of each kind, whatever the rule and the rewards, and a new rule costs the compilation of a few
lines.
The functions for eight runs side by side take lanes where those for one take numbers. A function that branches on its reward or
its memory cannot; it is called run by run, with the same bits.
Hyper-parameters, tuples of numbers for the rule, are a row of numbers for the loop (engine/codegen/arguments.py). So is the
memory, which has named fields for the rule (engine/codegen/fields.py).
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba.core import types

from ...engine.codegen import arguments
from ...engine.codegen.fields import fields_of
from ...engine.codegen.integer_lanes import load_integers
from ...engine.codegen.lane_access import load, splat, store
from ...engine.codegen.lane_arrays import column_of, rows_at, tables_at
from ...engine.codegen.lanes import WIDTH
from ...engine.codegen.pointers import PointerType, array_at, caller_of, pointer_at, table_at
from ...engine.compiled import Compiled, entry, inlined
from .faults import BAD_SHARE, note

_number, _count = types.float64, types.int64
_numbers, _counts, _key = PointerType(_number), PointerType(_count), PointerType(types.uint64)
_MOVES = (_number, _number, _count, _numbers, _numbers)
_MOVES_OF_RUNS = (_numbers, _numbers, _count, _numbers, _numbers, _numbers, _numbers)
_MIXING = (_count, _numbers)
_NOISE = (_numbers, _count)
_REWARD = (_number, _numbers, _count, _count, _key, _count, _count)
_REWARD_OF_RUNS = (_numbers, _numbers, _count, _count, _counts, _key, _count, _counts, _numbers)
_VECTORS = (_numbers, _numbers, _numbers, _numbers, _count, _count)  # policy, vectors, memory, hyper; arms and vectors
_LEARN = (_count, _number, _number, _count, *_VECTORS)
_WEIGH = (_count, *_VECTORS)
_DRAW = (_number, _count, *_VECTORS, _key, _count, _count)

call_moves = caller_of(types.UniTuple(_number, 2), *_MOVES)
"""call_moves(address, (reward, probability, t, memory, hyper, fault)) -> (lift, drain)."""
call_moves_of_runs = caller_of(types.none, *_MOVES_OF_RUNS)
"""The same for eight runs: (address, (rewards, probabilities, t, memories, hyper, lifts, drains, fault))."""
call_mixing = caller_of(_number, *_MIXING)
"""call_mixing(address, (t, hyper, fault)) -> share."""
call_noise = caller_of(types.none, *_NOISE)
"""call_noise(address, (numbers, count, fault)): uniforms become the noise of as many steps.

There must be room for a multiple of eight numbers.
"""
call_reward = caller_of(_number, *_REWARD)
"""call_reward(address, (noise, parameters, n_arms, arm, key, t, run, fault)) -> reward."""
call_reward_of_runs = caller_of(types.none, *_REWARD_OF_RUNS)
"""The same for eight runs: (address, (noises, tables, size of one, n_arms, arms, key, t, runs, rewards, fault))."""
call_learn = caller_of(_count, *_LEARN)
"""call_learn(address, (arm, reward, probability, t, policy, vectors, memory, hyper, n_arms, rows, fault)) -> moved."""
call_weigh = caller_of(types.none, *_WEIGH)
"""call_weigh(address, (t, weights, vectors, memory, hyper, n_arms, rows, fault))."""
call_draw = caller_of(_count, *_DRAW)
"""call_draw(address, (u, t, policy, vectors, memory, hyper, n_arms, rows, key, step, run, fault)) -> arm."""


@inlined
def share_to_mix(state, t):
    """How far the rule wants the policy moved towards uniform after step t; state has its `mixing`, `hyper` and `fault`."""
    if state.mixing == 0:
        return 0.0
    share = call_mixing(state.mixing, (t, state.hyper, state.fault))
    if 0.0 <= share <= 1.0:
        return share
    note(state.fault, BAD_SHARE, t)
    return 0.0


class RuleFunctions(NamedTuple):
    """A rule as a loop sees it: addresses, 0 for a function it has not, and hyper-parameters in a row."""

    moves: int
    mixing: int
    hyper: np.ndarray


class RewardFunctions(NamedTuple):
    """A reward distribution as a loop sees it."""

    noise: int
    reward_of: int


class VectorRuleFunctions(NamedTuple):
    """A rule that keeps vectors as its loop sees it; draw is 0 for one that draws by its policy."""

    learn: int
    weigh: int
    draw: int
    hyper: np.ndarray


@cache
def _moves(function: Compiled, fields: tuple[str, ...], kind: arguments.Kind) -> int:
    unpack, named = arguments.unpacker(kind), fields_of(fields)

    def moves(reward, probability, t, memory, hyper):
        lift, drain = function(reward, probability, t, named(memory), unpack(hyper))
        return float(lift), float(drain)

    return entry("the rule", moves, _MOVES, kind)


@cache
def _moves_of_runs(function: Compiled, fields: tuple[str, ...], kind: arguments.Kind) -> int:
    unpack, named = arguments.unpacker(kind), fields_of(fields)

    def all_at_once(rewards, probabilities, t, memories, hyper, lifts, drains):
        lift, drain = function(load(rewards, 0), load(probabilities, 0), t, named(rows_at(memories)), unpack(hyper))
        store(lifts, 0, splat(lift))
        store(drains, 0, splat(drain))

    def one_by_one(rewards, probabilities, t, memories, hyper, lifts, drains):
        numbers = unpack(hyper)
        for lane in range(WIDTH):
            memory = named(column_of(rows_at(memories), lane))
            lift, drain = function(rewards[lane], probabilities[lane], t, memory, numbers)
            lifts[lane], drains[lane] = float(lift), float(drain)

    return entry("the rule", all_at_once, _MOVES_OF_RUNS, kind, otherwise=one_by_one)


@cache
def _mixing(function: Compiled, kind: arguments.Kind) -> int:
    unpack = arguments.unpacker(kind)

    def mixing(t, hyper):
        return float(function(t, unpack(hyper)))

    return entry("the rule", mixing, _MIXING, kind)


@cache
def _noise(function: Compiled) -> int:
    def eight_at_once(numbers, count):
        for i in range(0, count, WIDTH):
            store(numbers, i, splat(function(load(numbers, i))))

    def one_by_one(numbers, count):
        for i in range(count):
            numbers[i] = function(numbers[i])

    return entry("the rewards", eight_at_once, _NOISE, otherwise=one_by_one)


@cache
def _reward(function: Compiled) -> int:
    def reward(noise, parameters, n_arms, arm, key, t, run):
        return float(function(noise, table_at(parameters, n_arms), arm, (key, t, run)))

    return entry("the rewards", reward, _REWARD)


@cache
def _reward_of_runs(function: Compiled) -> int:
    def all_at_once(noises, tables, table_size, n_arms, arms, key, t, runs, rewards):
        stream = (key, t, load_integers(runs, 0))
        reward = function(load(noises, 0), tables_at(tables, table_size, n_arms), load_integers(arms, 0), stream)
        store(rewards, 0, splat(reward))

    def one_by_one(noises, tables, table_size, n_arms, arms, key, t, runs, rewards):
        for lane in range(WIDTH):
            table = table_at(pointer_at(tables, lane * table_size), n_arms)
            rewards[lane] = function(noises[lane], table, arms[lane], (key, t, runs[lane]))

    return entry("the rewards", all_at_once, _REWARD_OF_RUNS, otherwise=one_by_one)


@cache
def _learn(function: Compiled, fields: tuple[str, ...], n_rows: int, kind: arguments.Kind) -> int:
    unpack, named = arguments.unpacker(kind), fields_of(fields)

    def learn(arm, reward, probability, t, policy, vectors, memory, hyper, n_arms, rows):
        arrays = array_at(policy, (n_arms,)), array_at(vectors, (rows, n_arms))
        moved = function(arm, reward, probability, t, arrays[0], arrays[1], named(memory), unpack(hyper))
        zero = 0.0
        for row in range(n_rows):  # of the arm: a bad step shows there, nearly always
            zero += 0.0 * vectors[row * n_arms + arm]  # NaN once a number is not finite
        return (1 if moved else 0) if zero == 0.0 else -1

    return entry("the rule", learn, _LEARN, kind)


@cache
def _weigh(function: Compiled, fields: tuple[str, ...], kind: arguments.Kind) -> int:
    unpack, named = arguments.unpacker(kind), fields_of(fields)

    def weigh(t, weights, vectors, memory, hyper, n_arms, rows):
        function(t, array_at(vectors, (rows, n_arms)), named(memory), unpack(hyper), array_at(weights, (n_arms,)))

    return entry("the rule", weigh, _WEIGH, kind)


@cache
def _draw(function: Compiled, fields: tuple[str, ...], kind: arguments.Kind) -> int:
    unpack, named = arguments.unpacker(kind), fields_of(fields)

    def draw(u, t, policy, vectors, memory, hyper, n_arms, rows, key, step, run):
        arrays = array_at(policy, (n_arms,)), array_at(vectors, (rows, n_arms))
        return int(function(u, t, arrays[0], arrays[1], named(memory), unpack(hyper), (key, step, run)))

    return entry("the rule", draw, _DRAW, kind)


def functions_of(rule: Any, n_arms: int) -> RuleFunctions:
    """A rule of two scalars for one run."""
    kind, hyper = arguments.packed(f"{rule.name}.hyper", rule.hyper(n_arms))
    moves = _moves(rule.lift_and_drain, rule.memory_fields, kind)
    return RuleFunctions(moves, _mixing(rule.mixing, kind) if rule.mixes else 0, hyper)


def functions_of_lanes(rule: Any, n_arms: int) -> RuleFunctions:
    """The same for eight runs side by side."""
    kind, hyper = arguments.packed(f"{rule.name}.hyper", rule.hyper(n_arms))
    moves = _moves_of_runs(rule.lift_and_drain, rule.memory_fields, kind)
    return RuleFunctions(moves, _mixing(rule.mixing, kind) if rule.mixes else 0, hyper)


def vector_functions_of(rule: Any, n_arms: int) -> VectorRuleFunctions:
    """A rule that keeps vectors."""
    kind, hyper = arguments.packed(f"{rule.name}.hyper", rule.hyper(n_arms))
    fields = rule.memory_fields
    draw = 0 if rule.draws_by_policy else _draw(rule.draw, fields, kind)
    return VectorRuleFunctions(_learn(rule.learn, fields, len(rule.rows), kind), _weigh(rule.weigh, fields, kind), draw, hyper)


def reward_functions_of(problem: Any) -> RewardFunctions:
    """The rewards of a problem for one run."""
    return RewardFunctions(_noise(problem.noise), _reward(problem.reward_of))


def reward_functions_of_lanes(problem: Any) -> RewardFunctions:
    """The same for eight runs side by side."""
    return RewardFunctions(_noise(problem.noise), _reward_of_runs(problem.reward_of))
