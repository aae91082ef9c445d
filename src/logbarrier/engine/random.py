"""Random numbers as a pure function of (seed, run, step, purpose): Philox4x32-10, uniforms and normals.

There is no state to carry, so any step of any run can be drawn by any thread, chunk or process and comes out the same.
Reference: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

import math

import numpy as np
from numba import uint64

from .codegen.integer_lanes import as_float, lane_numbers, load_integers, splat_whole
from .codegen.lane_access import store, store_pairs
from .codegen.lanes import WIDTH, fma, select_above
from .compiled import compiled, inlined
from .elementary import log

STEP = 0  # one block a step: the first half draws the arm, the second the reward
ARM = 1  # further draws for the arm of a step
TRIES = 4  # of them are made for each step
REWARD = 2  # further draws for the reward of a step
INSTANCE = 3  # the problem instance of a run

_MULTIPLIER_0, _MULTIPLIER_1 = 0xD2511F53, 0xCD9E8D57
_WEYL_0, _WEYL_1 = 0x9E3779B9, 0xBB67AE85
_LOW = 0xFFFFFFFF


def stream_key(seed: int) -> np.ndarray:
    """The (2,) uint64 key (32 bits each) of a seed."""
    return np.random.SeedSequence(seed).generate_state(2, np.uint32).astype(np.uint64)


@inlined
def philox_rounds(x0, x1, x2, x3, key):
    """The ten rounds on four counters below 2**32, numbers or lanes: two times 64 bits."""
    mask = uint64(_LOW)
    k0, k1 = key[0] & mask, key[1] & mask
    for _ in range(10):
        product_0, product_1 = uint64(_MULTIPLIER_0) * x0, uint64(_MULTIPLIER_1) * x2
        x0, x1, x2, x3 = (
            (product_1 >> uint64(32)) ^ x1 ^ k0,
            product_1 & mask,
            (product_0 >> uint64(32)) ^ x3 ^ k1,
            product_0 & mask,
        )
        k0, k1 = (k0 + uint64(_WEYL_0)) & mask, (k1 + uint64(_WEYL_1)) & mask
    return (x0 << uint64(32)) | x1, (x2 << uint64(32)) | x3


@inlined
def philox(t, block, run, purpose, key):
    """The 128 bits at counter (t, block, run, purpose) as two uint64."""
    mask = uint64(_LOW)
    return philox_rounds(uint64(t) & mask, uint64(block) & mask, uint64(run) & mask, uint64(purpose) & mask, key)


@inlined
def uniform(bits):
    """The top 52 bits as a number strictly inside (0, 1): (i + 1/2) / 2**52, symmetric about 1/2."""
    return (as_float(bits >> uint64(12)) + 0.5) * 2.0**-52


@compiled
def step_uniforms(t, run, key):
    """The two uniforms of step t = 0, 1, ... of a run: one draws the arm, one the reward."""
    high, low = philox(t, 0, run, STEP, key)
    return uniform(high), uniform(low)


@inlined
def _uniforms_in_lanes(t, block, run, purpose, key):
    """The two uniforms at a counter in each lane, each part of it lanes or one number for all."""
    mask = uint64(_LOW)
    counter = splat_whole(t) & mask, splat_whole(block) & mask, splat_whole(run) & mask, splat_whole(purpose)
    high, low = philox_rounds(counter[0], counter[1], counter[2], counter[3], key)
    return uniform(high), uniform(low)


@compiled
def fill_uniforms(uniforms, first, count, run, key):
    """The uniforms of steps first .. first + count - 1, two a step: uniforms[2 i] draws the arm, the next one the reward.

    There must be room for a multiple of eight steps.
    """
    for i in range(0, count, WIDTH):
        arms, rewards = _uniforms_in_lanes(splat_whole(first + i) + lane_numbers(), 0, run, STEP, key)
        store_pairs(uniforms, 2 * i, arms, rewards)


@compiled
def fill_uniforms_of_runs(arms, rewards, first, count, runs, key):
    """The same for eight runs side by side: index i * 8 + lane is step first + i of runs[lane]."""
    for i in range(count):
        arm, reward = _uniforms_in_lanes(first + i, 0, load_integers(runs, 0), STEP, key)
        store(arms, i * WIDTH, arm)
        store(rewards, i * WIDTH, reward)


@compiled
def fill_tries(tries, first, count, run, key):
    """TRIES further uniforms for the arm of each of those steps, two from each block of random bits."""
    for i in range(0, 2 * count, WIDTH):  # TRIES is 4: two blocks for each step
        number = splat_whole(i) + lane_numbers()
        one, other = _uniforms_in_lanes(splat_whole(first) + (number >> 1), number & 1, run, ARM, key)
        store_pairs(tries, 2 * i, one, other)


@inlined
def _polynomial(x, a):
    """Of degree 7, highest power first."""
    value = fma(a[0], x, a[1])
    for i in range(2, 8):
        value = fma(value, x, a[i])
    return value


# Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37 (1988).
_CENTRE_TOP = (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
               13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.3871328727963666080)  # fmt: skip
_CENTRE_BOTTOM = (5226.4952788528545610, 28729.085735721942674, 39307.895800092710610, 21213.794301586595867,
                  5394.1960214247511077, 687.18700749205790830, 42.313330701600911252, 1.0)  # fmt: skip
_SIDE_TOP = (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258,
             3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590, 1.42343711074968357734)  # fmt: skip
_SIDE_BOTTOM = (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
                1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940, 2.05319162663775882187,
                1.0)  # fmt: skip
_TAIL_TOP = (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
             2.96560571828504891230e-1, 1.78482653991729133580, 5.46378491116411436990, 6.65790464350110377720)  # fmt: skip
_TAIL_BOTTOM = (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
                7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
                5.99832206555887937690e-1, 1.0)  # fmt: skip


@inlined
def standard_normal(u):
    """The normal quantile of u in (0, 1), relative error about 1e-15: inverse-CDF sampling to 8.2 sigma."""
    q = u - 0.5
    x = 0.180625 - q * q
    r = math.sqrt(-log(select_above(q, 0.0, 1.0 - u, u)))
    # all three, without a branch: a loop over many u then runs in vector registers
    top = select_above(r, 5.0, _polynomial(r - 5.0, _TAIL_TOP), _polynomial(r - 1.6, _SIDE_TOP))
    bottom = select_above(r, 5.0, _polynomial(r - 5.0, _TAIL_BOTTOM), _polynomial(r - 1.6, _SIDE_BOTTOM))
    top = select_above(abs(q), 0.425, select_above(q, 0.0, top, -top), q * _polynomial(x, _CENTRE_TOP))
    return top / select_above(abs(q), 0.425, bottom, _polynomial(x, _CENTRE_BOTTOM))


@compiled
def reward_uniform(block, stream):
    """Two further uniforms for the reward of a step; `stream` is (key, t, run), block counts from 1."""
    key, t, run = stream
    high, low = philox(t, block, run, REWARD, key)
    return uniform(high), uniform(low)


@compiled
def fill_arm_normals(normals, stream):
    """One normal for each of K arms, from further draws for the arm of a step; `stream` is (key, t, run)."""
    key, t, run = stream
    half = normals.shape[0] // 2
    others = normals[half:]
    for a in range(half):
        high, low = philox(t, a + 1, run, ARM, key)
        normals[a] = uniform(high)
        others[a] = uniform(low)
    if others.shape[0] > half:
        others[half] = uniform(philox(t, half + 1, run, ARM, key)[0])
    for a in range(normals.shape[0]):
        normals[a] = standard_normal(normals[a])
