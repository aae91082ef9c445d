"""Log-barrier SGB without a learning rate and without eta: both follow from the rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import choice
from ...engine.compiled import compiled
from ...engine.elementary import log
from .drops import ALLOWANCES, drop_noticed
from .rule import TwoScalarRule

# Set on tuning seeds (docs/auto.md) and left alone since.
GAIN = 1.5  # what a reward of one deviation adds to the preference of an arm pulled for the first time
BOLD = 1.2  # rates grow by the factor 1 + 1.2 P as the policy decides
DOUBT = 40.0  # an arm's rate counts 40/(K + 10) rewards more than it has had
LARGEST_LIFT = 4.0  # what any reward may add
NEWNESS = 4.0  # what an arm loses when it is pulled for the first time, so that all arms are tried first
DECIDED, DECIDED_ARMS = 1.2, 0.13  # pace of the drain on a policy that has decided: 1.2 + .13 log K
OPEN, OPEN_LONG = 1.2, 0.006  # and on one that has not: 1.2 + .006 L^3
USUAL_LENGTH = 0.25  # of a contest: log V is about this share of log K anyway, and L what it has beyond
EARLY = 0.5  # share by which the latter is faster while there are few rewards per arm
RECENCY = 2.0  # spread, level and share weigh the n-th step by about n
SHORTEST, LATEST = 5.0, 30.0  # the baseline is a mean of about 5 + n/30 rewards
WATCHED = 8  # rewards that are only looked at: the spread of fewer says nothing
KEPT_ALIVE, REMEMBERED = 0.8, 0.5  # in a world that changes: least pace of the drain, and rewards that an arm's rate counts
EPOCH = 2.0**40  # an arm's number of rewards starts at this multiple after each change

# Places in the memory: the pulled arm's number of rewards; the first reward; b, s^2 and a slower b; P; V - 1; the sum over
# arms of sqrt(n(a)) - 1; the largest n(a); steps since a change; changes; and, last, what drops.py keeps.
PULLS, FIRST, BASELINE, SPREAD, LEVEL, SHARE, CONTESTED, ROOTS, MOST, AGE, CHANGES, FALLS = range(12)


@compiled
def drain_at(t, memory, n_arms, log_arms):
    """D_t from the memory before step t; 0 while the spread of the rewards is unknown."""
    if memory[AGE] < WATCHED or memory[SPREAD] == 0.0:
        return 0.0
    age, length = memory[AGE] + 1.0, max(log(1.0 + memory[CONTESTED]) - USUAL_LENGTH * log_arms, 0.0)
    decided = DECIDED + DECIDED_ARMS * log_arms
    still_open = (OPEN + OPEN_LONG * length * length * length) * (1.0 + EARLY * n_arms / (age + n_arms))
    pace = (decided * memory[SHARE] + still_open * (1.0 - memory[SHARE])) / age
    if memory[CHANGES] > 0.0:
        pace = max(pace, KEPT_ALIVE / math.sqrt(n_arms * t / memory[CHANGES]))
    return pace * min((n_arms + memory[ROOTS]) / math.sqrt(max(memory[MOST], 1.0)), n_arms)


@compiled
def rate_of(pulls, probability, t, memory, n_arms):
    """alpha(a) from the memory before step t, for an arm with `pulls` rewards, this one among them."""
    if memory[CHANGES] > 0.0 and probability < 0.5:
        pulls = min(pulls, max(REMEMBERED * math.sqrt(t / (n_arms * memory[CHANGES])), 1.0))
    return GAIN * (1.0 + BOLD * memory[SHARE]) / math.sqrt(memory[SPREAD] * (pulls + DOUBT / (n_arms + 10.0)))


@compiled
def begin_anew(memory):
    """Forget what was learnt; the rates are again those of the first steps."""
    memory[SHARE] = memory[CONTESTED] = memory[ROOTS] = memory[MOST] = memory[AGE] = 0.0
    for i in range(len(ALLOWANCES)):
        memory[FALLS + i] = 0.0
    memory[CHANGES] += 1.0


@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """theta += alpha(a) (R - b) e_a - D_t p; memory[BASELINE] is b minus the first reward."""
    n_arms, log_arms, may_change = hyper
    if t == 1:
        memory[FIRST] = reward
    paid = reward - memory[FIRST]  # free of any constant that all rewards carry
    deviation = paid - memory[BASELINE]  # R - b
    drain, lift, fallen = drain_at(t, memory, n_arms, log_arms), 0.0, False
    memory[AGE] += 1.0
    if drain > 0.0:
        pulls = max(memory[PULLS] - EPOCH * memory[CHANGES], 0.0) + 1.0
        lift = min(max(rate_of(pulls, probability, t, memory, n_arms) * deviation, -LARGEST_LIFT), LARGEST_LIFT)
        lift -= NEWNESS if pulls == 1.0 else 0.0
        fallen = may_change and drop_noticed((memory[LEVEL] - paid) / math.sqrt(memory[SPREAD]), memory[AGE], memory, FALLS)
        free = max(1.0 - probability, 0.0)  # p may round to just above 1
        memory[PULLS] = EPOCH * memory[CHANGES] + pulls
        memory[ROOTS] += math.sqrt(pulls) - math.sqrt(max(pulls - 1.0, 1.0))
        memory[MOST] = max(memory[MOST], pulls)
        memory[CONTESTED] += probability * free * free
    recent = RECENCY / (memory[AGE] + RECENCY - 1.0)
    memory[LEVEL] += recent * (paid - memory[LEVEL])
    memory[SPREAD] += recent * (deviation * deviation - memory[SPREAD])
    memory[SHARE] += RECENCY / (memory[AGE] + RECENCY * n_arms) * (min(probability, 1.0) - memory[SHARE])
    memory[BASELINE] += deviation / min(memory[AGE], SHORTEST + memory[AGE] / LATEST)
    if fallen:
        begin_anew(memory)
    return lift, drain


@dataclass(frozen=True, kw_only=True)
class AutoLogBarrier(TwoScalarRule):
    """LB-SGB that needs no settings: no learning rate, eta, gap, noise, unit of reward or horizon (docs/adaptive.md).

        theta <- theta + alpha(a) (R - b) e_a + (D_t/K)(1 - K p)

        b         the mean of the last 5 + t/30 rewards or so
        alpha(a)  1.5 (1 + 1.2 P)/(s sqrt(n(a) + 40/(K + 10))), n(a) the arm's rewards with this one, s^2 a recent mean of
                  (R - b)^2
        D_t       (K_t/t) [P (1.2 + .13 log K) + (1 - P)(1.2 + .006 L^3)(1 + K/(2 t + 2 K))]: an eta that grows like t
        K_t       the sum over arms of sqrt(n(a)), each at least 1, over the largest of them: from K at first down to 1
        P         a recent mean of p(a): near 1 once the contest of the arms is decided
        L         log(V/K^(1/4)), at least 0; V is 1 + the sum over steps of p(a)(1 - p(a))^2: how long a contest it was

    No reward moves a preference by more than 4, an arm's first pull takes 4 from its preference, and the first eight rewards
    are only looked at. When the rewards drop, which drops.py watches for, the world has changed: all of this begins anew, and
    from then on D_t is at least .8 K_t/sqrt(K tau), tau the mean number of steps between changes, and n(a) counts for at most
    sqrt(tau/K)/2 in alpha where p(a) < 1/2. `world="steady"` never does so.
    Rewards times a positive constant, or plus any, give the same decisions.

    >>> import logbarrier as lb
    >>> record = lb.simulate(lb.AutoLogBarrier(), lb.SwappingArms(n_arms=10), horizon=1000, runs=2, seed=0)
    """

    name = "auto-log-barrier"
    place = "Conclusion (adaptive eta)"
    lift_and_drain = staticmethod(lift_and_drain)
    memory_size = FALLS + len(ALLOWANCES)
    remembers_arms = True
    conserves_sum = False

    world: Annotated[str, choice("changing", "steady")] = "changing"

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return float(n_arms), math.log(n_arms), self.world == "changing"

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """p(a) [alpha(a) (r(a) - b) - 4 if n(a) = 1] + (D_t/K)(1 - K p(a)), as long as no lift is cut at 4."""
        n_arms, known = len(policy), memory[0]
        drain = drain_at(t, known, *self.hyper(n_arms)[:2])
        if drain == 0.0:
            return np.zeros(n_arms)
        pulls = np.maximum(memory[:, PULLS] - EPOCH * known[CHANGES], 0.0) + 1.0
        rates = np.array([rate_of(n, p, t, known, float(n_arms)) for n, p in zip(pulls, policy, strict=True)])
        lifts = rates * (means - known[FIRST] - known[BASELINE]) - NEWNESS * (pulls == 1.0)
        return np.asarray(policy * lifts + drain / n_arms * (1 - n_arms * policy))
