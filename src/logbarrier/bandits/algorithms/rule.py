"""What a rule is: hyper-parameters, and small compiled functions that learn from one reward at a time.

Softmax ignores a constant added to all of theta, so every update of the paper is two scalars per step:

    theta <- theta + lift e_arm - drain p

A `TwoScalarRule` returns (lift, drain) from the reward R, the pulled arm's probability, the step t = 1, 2, ... and a little
memory. That one function serves the simulator's loops and the online agent. What does not fit two scalars (batches,
momentum, another link than softmax, no gradient at all) is a `VectorRule`, in vector_rule.py. To add a rule, write a
frozen dataclass like the ones beside this file and run `logbarrier.testing.check_rule` on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...base.parameters import Parameterised, written
from ...engine.compiled import compiled


@compiled
def no_mixing(t, hyper):
    """The mixing of rules that only move theta: none."""
    return 0.0


@dataclass(frozen=True, kw_only=True)
class Rule(Parameterised):
    """The base of every rule.

    name             its name on the command line and in files
    place            where the paper states or cites it
    memory_size      how many float64 numbers the rule remembers, all 0 at the start
    has_preferences  whether it has preferences theta, which a start can set
    knows_means      whether it is told the true mean rewards, as exact-gradient methods are
    """

    name: ClassVar[str]
    place: ClassVar[str]
    memory_size: ClassVar[int] = 0
    has_preferences: ClassVar[bool] = True
    knows_means: ClassVar[bool] = False

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        """The hyper-parameters as the compiled functions take them."""
        raise NotImplementedError

    def new_memory(self) -> np.ndarray:
        """What the rule remembers before its first step."""
        return np.zeros(max(self.memory_size, 1))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; `algorithms.rule_from_dict` reads them."""
        return {"rule": self.name, **written(self)}


@dataclass(frozen=True, kw_only=True)
class TwoScalarRule(Rule):
    """A rule whose step is theta <- theta + lift e_arm - drain p.

    lift_and_drain  compiled (reward, probability, t, memory, hyper) -> (lift, drain)
    mixing          compiled (t, hyper) -> share; after step t, p <- share/K + (1 - share) p. 0 means nothing to do.
    uses_arm_means  the engine keeps each arm's mean reward m and, before each call, sets
                    memory[0] = sum_a p(a) m(a) and memory[1] = m(arm)
    remembers_arms  the rule remembers one number per arm, 0 at the start: memory[0] is the pulled arm's before the call, and
                    what the call leaves there is kept; not together with uses_arm_means
    conserves_sum   lift - drain is the same whatever arm and reward came: with a constant added to all
                    arms, the sum of theta never moves
    drains          drain is not always 0
    """

    lift_and_drain: ClassVar[Any]
    mixing: ClassVar[Any] = staticmethod(no_mixing)
    uses_arm_means: ClassVar[bool] = False
    remembers_arms: ClassVar[bool] = False
    conserves_sum: ClassVar[bool] = True
    drains: ClassVar[bool] = True

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """E[update of theta] at step t that the rule claims, up to a constant added to all arms.

        policy (K,), means (K,) true mean rewards; memory: for rules with arm means, those means (K,); for rules that remember
        arms (K, n), row a as it is when arm a was drawn.
        """
        raise NotImplementedError

    @property
    def mixes(self) -> bool:
        """Whether the rule ever moves the policy towards uniform."""
        return self.mixing is not no_mixing

    def new_memory(self) -> np.ndarray:
        """What the rule remembers before its first step; rules with arm means are told two numbers in it."""
        return np.zeros(max(self.memory_size, 2 if self.uses_arm_means else 1))

    def new_arm_numbers(self, n_arms: int) -> tuple[np.ndarray, np.ndarray]:
        """Before the first step: the arms' means, and their counts or what the rule remembers of them; empty if not kept."""
        kept = self.uses_arm_means or self.remembers_arms
        return np.zeros(n_arms if self.uses_arm_means else 0), np.zeros(n_arms if kept else 0)


def policy_gradient(policy: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(diag p - p p^T) values, the gradient of sum_a p(a) values(a) in theta."""
    slope: np.ndarray = policy * (values - policy @ values)
    return slope
