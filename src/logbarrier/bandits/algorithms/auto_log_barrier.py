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
GAIN = 1.5  # what a reward of one deviation adds to the preference of an arm pulled for the first time, but for doubt
BOLD = 2.0  # rates grow by the factor 1 + 2 P as the policy decides
DOUBT, LEAST_DOUBT = 40.0, 0.25  # an arm's rate counts 40/(K + 10) + 1/4 rewards more than it has had
VARIANCE_CORRECTION = 0.3  # of the squared step in deviations: what a pull takes from its arm in an open contest
LARGEST_LIFT = 4.0  # what any reward may add
NEWNESS = 4.0  # what an arm loses when it is pulled for the first time, so that all arms are tried first
DECIDED, DECIDED_ARMS = 1.2, 0.18  # pace of the drain on a policy that has decided: 1.2 + .18 log K
OPEN, EARLY = 1.05, 0.5  # and on one that has not, and the share by which that is faster while there are few rewards per arm
LONG = 1.8  # what both gain per unit of z
USUAL_LENGTH, LONG_LENGTH = 1.0 / 3.0, 8.0  # of a contest: z = (L/8)^4, L what log V has beyond a third of log K
RECENCY = 2.0  # spread, level and share weigh the n-th step by about n
SHORTEST, LATEST = 5.0, 30.0  # the baseline is a mean of about 5 + n/30 rewards
WARM_UP = 8  # rewards that move no preference: the spread of fewer says nothing
KEPT_ALIVE, REMEMBERED = 0.8, 0.5  # on a problem that changes: least pace of the drain, and rewards that an arm's rate counts
EPOCH = 2.0**40  # an arm's number of rewards starts at this multiple after each change

MEMORY = (
    # memory.of_arm is n(a) before this reward, counted from EPOCH times the number of changes
    "first",  # the first reward; b and level are counted from it, so that a constant in all rewards changes nothing
    "baseline",  # b, less the first reward
    "spread",  # s^2
    "level",  # a slower mean of the rewards than b, less the first reward: drops are measured from it
    "share",  # P
    "contested",  # V - 1
    "roots",  # the sum over arms of sqrt(n(a)) - 1, 0 for an arm without rewards
    "most",  # the largest n(a)
    "age",  # steps since the last change, or since the start
    "changes",  # how often the rewards dropped
    "*falls",  # the sums of drops.py
)


@compiled
def length_of(memory, log_arms):
    """z = (L/8)^4, L = log(V/K^(1/3)): how long the contest of the arms has been."""
    length = max(log(1.0 + memory.contested) - USUAL_LENGTH * log_arms, 0.0) / LONG_LENGTH
    return length * length * length * length


@compiled
def drain_at(t, z, memory, n_arms, log_arms):
    """D_t from z and the memory before step t; 0 while the spread of the rewards is unknown."""
    if memory.age < WARM_UP or memory.spread == 0.0:
        return 0.0
    age, decided = memory.age + 1.0, DECIDED + DECIDED_ARMS * log_arms
    still_open = OPEN * (1.0 + EARLY * n_arms / (age + n_arms))
    pace = (decided * memory.share + still_open * (1.0 - memory.share) + LONG * z) / age
    if memory.changes > 0.0:
        pace = max(pace, KEPT_ALIVE / math.sqrt(n_arms * t / memory.changes))
    return pace * min((n_arms + memory.roots) / math.sqrt(max(memory.most, 1.0)), n_arms)


@compiled
def rate_of(pulls, probability, t, z, memory, n_arms):
    """alpha(a) s from z and the memory before step t, for an arm with `pulls` rewards, this one among them."""
    share = memory.share
    usual = (n_arms + memory.roots - math.sqrt(max(memory.most, 1.0))) / (n_arms - 1.0)  # sqrt(m)
    counted = pulls + share * usual * usual
    if memory.changes > 0.0 and probability < 0.5:
        counted = min(counted, max(REMEMBERED * math.sqrt(t / (n_arms * memory.changes)), 1.0))
    gain = GAIN * (1.0 + BOLD * share) * (share + (1.0 - share) / (1.0 + z))
    return gain / math.sqrt(counted + DOUBT / (n_arms + 10.0) + LEAST_DOUBT)


@compiled
def variance_correction(rate, free, share):
    """x(a), what noise alone would add to the weight of an arm with 1 - p(a) = free in an open contest; rate is alpha(a) s."""
    return VARIANCE_CORRECTION * (1.0 - share) * free * rate * rate


@compiled
def reset(memory):
    """Forget what was learnt; the rates are again those of the first steps."""
    memory.share = memory.contested = memory.roots = memory.most = memory.age = 0.0
    for i in range(len(ALLOWANCES)):
        memory.falls[i] = 0.0
    memory.changes += 1.0


@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """theta += [alpha(a) (R - b) - x(a)] e_a - D_t p."""
    n_arms, log_arms, may_change = hyper
    if t == 1:
        memory.first = reward
    paid = reward - memory.first  # free of any constant that all rewards carry
    deviation = paid - memory.baseline  # R - b
    z = length_of(memory, log_arms)
    drain, lift, fallen = drain_at(t, z, memory, n_arms, log_arms), 0.0, False
    memory.age += 1.0
    if drain > 0.0:
        pulls = max(memory.of_arm - EPOCH * memory.changes, 0.0) + 1.0
        free = max(1.0 - probability, 0.0)  # p may round to just above 1
        rate, spread = rate_of(pulls, probability, t, z, memory, n_arms), math.sqrt(memory.spread)
        lift = min(max(rate * (deviation / spread), -LARGEST_LIFT), LARGEST_LIFT)
        lift -= variance_correction(rate, free, memory.share) + (NEWNESS if pulls == 1.0 else 0.0)
        fallen = may_change and drop_noticed((memory.level - paid) / spread, memory.age, memory.falls)
        memory.of_arm = EPOCH * memory.changes + pulls
        memory.roots += math.sqrt(pulls) - math.sqrt(max(pulls - 1.0, 1.0))
        memory.most = max(memory.most, pulls)
        memory.contested += probability * free * free
    recent = RECENCY / (memory.age + RECENCY - 1.0)
    memory.level += recent * (paid - memory.level)
    memory.spread += recent * (deviation * deviation - memory.spread)
    memory.share += RECENCY / (memory.age + RECENCY * n_arms) * (min(probability, 1.0) - memory.share)
    memory.baseline += deviation / min(memory.age, SHORTEST + memory.age / LATEST)
    if fallen:
        reset(memory)
    return lift, drain


@dataclass(frozen=True, kw_only=True)
class AutoLogBarrier(TwoScalarRule):
    """LB-SGB that needs no settings: no learning rate, eta, gap, noise, unit of reward or horizon (docs/adaptive.md).

        theta <- theta + [alpha(a) (R - b) - x(a)] e_a + (D_t/K)(1 - K p)

        b         the mean of the last 5 + t/30 rewards or so; s^2 is a recent mean of (R - b)^2
        P         a recent mean of p(a): near 1 once the contest of the arms is decided
        z         (L/8)^4, L = log(V/K^(1/3)) but at least 0; V is 1 + the sum over steps of p(a)(1 - p(a))^2: how long a
                  contest it was
        alpha(a)  1.5 (1 + 2 P)[P + (1 - P)/(1 + z)]/(s sqrt(n(a) + P m + 40/(K + 10) + 1/4)), n(a) the arm's rewards with
                  this one, m the squared mean of sqrt(n) over all arms but the one with most
        x(a)      .3 (1 - P)(1 - p(a)) (alpha(a) s)^2: what noise alone would add to the arm's weight in an open contest
        D_t       (K_t/t) [P (1.2 + .18 log K) + 1.05 (1 - P)(1 + K/(2 t + 2 K)) + 1.8 z]: an eta that grows like t
        K_t       the sum over arms of sqrt(n(a)), each at least 1, over the largest of them: from K at first down to 1

    No reward moves a preference by more than 4, an arm's first pull takes 4 from its preference, and the first eight rewards
    move no preference. When drops.py detects a drop of the rewards, the problem has changed and all of this is reset. Let
    period be the mean number of steps between changes. From then on D_t is at least .8 K_t/sqrt(K period), and n(a) + P m
    counts for at most sqrt(period/K)/2 in alpha where p(a) < 1/2. `world="steady"` never resets.
    Rewards times a positive constant, or plus any, give the same decisions.

    >>> import logbarrier as lb
    >>> record = lb.simulate(lb.AutoLogBarrier(), lb.SwappingArms(n_arms=10), horizon=1000, runs=2, seed=0)
    """

    name = "auto-log-barrier"
    place = "Conclusion (adaptive eta)"
    lift_and_drain = staticmethod(lift_and_drain)
    memory = MEMORY
    remembers_arms = True
    conserves_sum = False

    world: Annotated[str, choice("changing", "steady")] = "changing"

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return float(n_arms), math.log(n_arms), self.world == "changing"

    def new_memory(self) -> np.ndarray:
        return np.zeros(len(self.memory_fields) - 1 + len(ALLOWANCES))

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """p(a) [alpha(a) (r(a) - b) - x(a) - 4 if n(a) = 1] + (D_t/K)(1 - K p(a)), as long as no lift is cut at 4."""
        of_arms = self.memory_at(memory)
        known = of_arms[0]  # the arms' memories differ in `of_arm` alone
        n_arms, log_arms, _ = self.hyper(len(policy))
        z = length_of(known, log_arms)
        drain = drain_at(t, z, known, n_arms, log_arms)
        if drain == 0.0:
            return np.zeros(len(policy))
        pulls = np.maximum(of_arms.of_arm - EPOCH * known.changes, 0.0) + 1.0
        rates = np.array([rate_of(n, p, t, z, known, n_arms) for n, p in zip(pulls, policy, strict=True)])
        lifts = rates * (means - known.first - known.baseline) / math.sqrt(known.spread) - NEWNESS * (pulls == 1.0)
        lifts -= variance_correction(rates, 1 - policy, known.share)
        return np.asarray(policy * lifts + drain / n_arms * (1 - n_arms * policy))
