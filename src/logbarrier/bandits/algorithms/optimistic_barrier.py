"""OptimisticBarrier: the maximiser of the barrier's objective, played on optimistic values from a table of means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import Switch, between
from ...engine.codegen.lane_access import lane_sum, load, splat
from ...engine.codegen.lanes import WIDTH
from ...engine.compiled import compiled
from ...engine.elementary import log, moderate_exp, small_exp
from ..loops.vectors import largest, sum_of
from .change_monitor import MONITORS, forget, is_changed
from .reward_moments import add_reward, pool, variance_of
from .vector_rule import VectorRule

GROWTH = 1.2  # of z^2 with log(t/(10 n)): without it, arms that start unlucky are lost
USUAL_PULLS = 10.0  # the t/n near which z^2 starts to grow; with K in its place, the best of many arms is lost more often
LEAD = 0.5  # times 1/eta: how far the leader is raised; without the raise, a tried arm has nearly all the probability
REFRESH = 1 / 32  # pooled values and those of all arms are computed again when all pulls have grown by this share
LAG = 1 / 256  # the value of an arm is computed again when its pulls have grown by this share: more costs regret under drift
LAST_STEP = 1e-5  # of lambda: the error is then about 1e-15
MOST_STEPS = 100
SMALL_EXPONENT = 0.34  # up to log(2)/2, small_exp suffices


@compiled
def value_of(arm, pending, vectors, memory, hyper):
    """(U, s): U = mu + optimism w s, mu shrunk to the mean of all rewards; pending pulls count in s as if rewarded.

        s = sqrt(v/(n + n0)),   w^2 = nu (exp(z^2/nu) - 1),   z^2 = 1 + 1.2 log(1 + t/(10 (n + n0)))

    The noise of an arm with few rewards is uncertain: z deviations of a normal law are about w of Student's. It has
    nu = max(n - 1, 0) + `memory.degrees` degrees of freedom, about 1/dispersion of the variances between arms.
    """
    mean, count, prior = vectors[0][arm], vectors[1][arm], memory.prior
    centre, weight = (mean * count + prior * memory.all_mean) / (count + prior), count + pending + prior
    error = math.sqrt(variance_of(mean, count, vectors[2][arm], memory) / weight)
    square = 1.0 + GROWTH * log(1.0 + memory.pulls / (USUAL_PULLS * weight))
    degrees = max(count - 1.0, 0.0) + memory.degrees
    exponent = square / degrees
    growth = small_exp(exponent) if exponent < SMALL_EXPONENT else moderate_exp(exponent)
    return centre + hyper[0] * math.sqrt(degrees * (growth - 1.0)) * error, error


@compiled
def set_value(arm, vectors, memory, hyper):
    """Compute the optimistic value of an arm and its standard error, and when to do so again."""
    vectors[3][arm], vectors[4][arm] = value_of(arm, 0.0, vectors, memory, hyper)
    vectors[6][arm] = vectors[1][arm] * (1.0 + LAG)


@compiled
def first_largest(values):
    """The index of the first of the largest values."""
    top, best = largest(values), 0
    while values[best] < top:
        best += 1
    return best


@compiled
def eta_of(best, bounds, errors, hyper):
    """eta = (K/s)(1/c + g/s), s the error of the arm of max U, g the mean of max U - U(a) over the others.

    The price of randomising, sum_a p(a) (max U - U(a)) = (K - lambda)/eta, is at most c s.
    """
    n_arms, error = bounds.shape[0], errors[best]
    others, gaps = max(n_arms - 1.0, 1.0), max(n_arms * bounds[best] - sum_of(bounds), 0.0)
    return n_arms * (others * error / hyper[1] + gaps) / (others * error * error)


@compiled
def barrier_of(bounds, errors, vectors, hyper):
    """Raise U(leader) in `bounds` if another arm is tried; return max U, eta, and the raised leader or -1.

    The leader has more than half of the pulls. While an arm of a smaller mean has the largest U, U(leader) is raised above
    it by d with eta d = LEAD. The leader then has a probability of at most 0.56; of 0.37 if two such arms have equal U.
    """
    means, counts, n_arms = vectors[0], vectors[1], bounds.shape[0]
    best, leader = first_largest(bounds), first_largest(counts)
    if counts[best] == 0.0 or counts[leader] <= 0.5 * sum_of(counts) or means[best] >= means[leader]:
        return bounds[best], eta_of(best, bounds, errors, hyper), -1
    bounds[leader] = bounds[best]
    eta, error = eta_of(leader, bounds, errors, hyper), errors[leader]  # a raise by d adds K d/s^2 to eta
    bounds[leader] += 2.0 * LEAD / (eta + math.sqrt(eta * eta + 4.0 * LEAD * n_arms / (error * error)))
    return bounds[leader], eta_of(leader, bounds, errors, hyper), leader


@compiled
def sums_at(multiplier, top, eta, bounds):
    """sum_a w(a), sum_a w(a)^2 and sum_a w(a)^3 of w(a) = 1/(lambda + eta (max U - U(a)))."""
    n_arms = bounds.shape[0]
    whole = n_arms // WIDTH * WIDTH
    sums, squares, cubes = splat(0.0), splat(0.0), splat(0.0)
    for a in range(0, whole, WIDTH):
        weight = splat(1.0) / (splat(multiplier) + splat(eta) * (splat(top) - load(bounds, a)))
        sums = sums + weight
        squares = squares + weight * weight
        cubes = cubes + weight * weight * weight
    total, square, cube = lane_sum(sums), lane_sum(squares), lane_sum(cubes)
    for a in range(whole, n_arms):
        last = 1.0 / (multiplier + eta * (top - bounds[a]))
        total += last
        square += last * last
        cube += last * last * last
    return total, square, cube


@compiled
def multiplier_of(start, top, eta, bounds):
    """lambda with sum_a 1/(lambda + eta (max U - U(a))) = 1, by Halley's steps: near the root the error is cubed.

    Far below the root they may be too long; there they are at most two of Newton's steps on 1/sum, which is concave in lambda.
    """
    multiplier = max(start, 1.0)
    for _ in range(MOST_STEPS):
        total, square, cube = sums_at(multiplier, top, eta, bounds)
        excess = total - 1.0
        step = excess * square / max(square * square - excess * cube, 0.5 * square * square / total)
        multiplier = max(multiplier + step, 1.0)
        if abs(step) <= LAST_STEP * multiplier:
            break
    return multiplier


@compiled
def refresh(vectors, memory, hyper):
    """Compute the pooled values and the values of all arms again."""
    pool(vectors, memory)
    for arm in range(vectors.shape[1]):
        set_value(arm, vectors, memory, hyper)
    memory.refresh_at, memory.stale = memory.pulls * (1.0 + REFRESH), 0.0


@compiled
def solve(vectors, memory, hyper):
    """Compute max U, eta and lambda, by Halley's steps from the last lambda."""
    if memory.variance > 0.0:
        memory.top, memory.eta, memory.raised = barrier_of(vectors[3], vectors[4], vectors, hyper)
        memory.multiplier = multiplier_of(memory.multiplier, memory.top, memory.eta, vectors[3])


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """Update the table and the barrier; forget the table if the arm has changed.

    The reward that causes the alarm is forgotten too: it is extreme by selection, and alone it would decide the arm's mean.
    """
    changed = hyper[2] > 0.0 and is_changed(
        arm, reward, vectors, memory, variance_of(vectors[0][arm], vectors[1][arm], vectors[2][arm], memory)
    )
    if changed:
        forget(arm, vectors, memory)
    else:
        add_reward(arm, reward, vectors, memory)
    if changed or memory.stale > 0.0 or memory.pulls >= memory.refresh_at:
        refresh(vectors, memory, hyper)
    elif vectors[1][arm] < vectors[6][arm]:
        return True  # the value of the arm is not due yet
    else:
        set_value(arm, vectors, memory, hyper)
        if 0.0 <= memory.raised < vectors.shape[1]:
            set_value(int(memory.raised), vectors, memory, hyper)
    solve(vectors, memory, hyper)
    return True


@compiled
def weigh(t, vectors, memory, hyper, weights):
    """weights (K,) <- p(a) = 1/(lambda + eta (max U - U(a))); even while no variance is known."""
    n_arms, bounds, top, eta = weights.shape[0], vectors[3], memory.top, memory.eta
    if not memory.variance > 0.0:
        for a in range(n_arms):
            weights[a] = 1.0
        return
    if memory.pending + memory.stale > 0.0:  # in an agent
        bounds, errors = np.empty(n_arms), np.empty(n_arms)
        for a in range(n_arms):
            bounds[a], errors[a] = value_of(a, vectors[5][a], vectors, memory, hyper)
        top, eta, _ = barrier_of(bounds, errors, vectors, hyper)
    multiplier = multiplier_of(memory.multiplier, top, eta, bounds)
    for a in range(n_arms):
        weights[a] = 1.0 / (multiplier + eta * (top - bounds[a]))


@compiled
def draw(u, t, policy, vectors, memory, hyper, stream):
    """Draw an arm by p without computing all of it: eight arms at a time, then arm by arm."""
    bounds = vectors[3]
    n_arms = bounds.shape[0]
    if not memory.variance > 0.0:
        return min(int(u * n_arms), n_arms - 1)
    top, eta, multiplier, below, first = memory.top, memory.eta, memory.multiplier, 0.0, 0
    while first + WIDTH < n_arms:
        block = lane_sum(splat(1.0) / (splat(multiplier) + splat(eta) * (splat(top) - load(bounds, first))))
        if below + block > u:
            break
        below += block
        first += WIDTH
    for arm in range(first, n_arms):
        below += 1.0 / (multiplier + eta * (top - bounds[arm]))
        if below > u:
            return arm
    return n_arms - 1


@dataclass(frozen=True, kw_only=True)
class OptimisticBarrier(VectorRule):
    """The paper's maximiser on optimistic values: nothing to set, whatever the unit and offset of the rewards.

        p(a) = 1/(lambda + eta (U(best) - U(a))),   lambda such that the probabilities sum to 1

    is the maximum of sum_a p(a) U(a) + (1/eta) sum_a log p(a). It needs a table with the mean, the number and the variance of
    each arm's rewards:

        U(a) = mu(a) + optimism w(a) s(a),      s(a) the standard error of mu(a), w(a) grows with log(t/n(a))
        eta  = (K/s)(1/c + g/s),      s = s(best), g the mean of U(best) - U(a) over the other arms

    The leader is the arm with more than half of the pulls. While U is largest for an arm of a smaller mean, U(leader) is
    raised above it. The leader then has a probability of about 0.56.

    optimism  how far values are raised; regret of clearly worse arms grows with its square; at most 100
    c         the price of randomising: sum_a p(a) (U(best) - U(a)) = (K - lambda)/eta is at most c s(best) at every step. More
              makes logged decisions more useful for off-policy estimates; at most 100
    changing  whether it monitors the rewards of every arm for changes, and forgets the table after one

    Multiplying all rewards by a positive number or adding a constant changes no decision. docs/decisions.md has the derivation.

    >>> import logbarrier as lb
    >>> agent = lb.Agent(lb.OptimisticBarrier(), arms=["red", "green", "blue"])
    >>> for clicked in (0.0, 1.0, 1.0, 0.0):
    ...     _ = agent.tell(agent.ask(), reward=clicked)
    """

    name = "optimistic-barrier"
    place = "outside the paper; its maximiser, played on a table of means"
    rows = ("means", "counts", "squares", "bounds", "errors", "pending", "due", *MONITORS)
    never_negative = ("counts", "squares", "errors", "pending", "due", *MONITORS)
    memory = (
        "pulls",
        "all_mean",
        "all_squares",
        "freedom",
        "second",
        "third",
        "fourth",
        "variance",
        "prior",
        "shrinkage",
        "degrees",
        "refresh_at",
        "top",
        "eta",
        "multiplier",
        "pending",
        "stale",
        "raised",
        "changes",
    )
    has_preferences = False
    is_table = True
    counts_pending = True
    learn = staticmethod(learn)
    weigh = staticmethod(weigh)
    draw = staticmethod(draw)

    optimism: Annotated[float, between(0.0, 100.0)] = 1.0
    c: Annotated[float, between(1e-6, 100.0)] = 0.1
    changing: Switch = True

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return float(self.optimism), float(self.c), float(self.changing)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """p(a) (r(a) - m(a)) / (n(a) + 1), of the mean."""
        return np.asarray(policy * (means - vectors[0]) / (vectors[1] + 1))
