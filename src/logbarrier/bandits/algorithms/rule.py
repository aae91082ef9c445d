"""What a rule is: hyper-parameters, and small compiled functions that learn from one reward at a time.

Softmax ignores a constant added to all of theta, so every update of the paper is two scalars per step:

    theta <- theta + lift e_arm - drain p

A `TwoScalarRule` returns (lift, drain) from the reward R, the pulled arm's probability, the step t = 1, 2, ... and a little
memory. That one function serves the simulator's loops and the online agent. What does not fit two scalars (batches,
momentum, another link than softmax, no gradient at all) is a `VectorRule`, in vector_rule.py. To add a rule, write a
frozen dataclass like the ones in this folder and run `extend.check_rule` on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...base.parameters import Parameterised, written
from ...engine.codegen.fields import Fields
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
    memory           the names of the numbers (float64) that the rule remembers, all 0 at the start: compiled functions read and
                     write `memory.baseline`. A last name with a star, such as "*history", has many numbers, memory.history[i];
                     `new_memory` then says how many
    has_preferences  whether it has preferences theta, which a start can set
    knows_means      whether it is given the true mean rewards, as exact-gradient methods are
    """

    name: ClassVar[str]
    place: ClassVar[str]
    memory: ClassVar[tuple[str, ...]] = ()
    has_preferences: ClassVar[bool] = True
    knows_means: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        owner, names = type(self).__name__, self.memory
        if hasattr(self, "memory_size"):
            raise TypeError(f'{owner}: memory_size must be replaced by names, such as memory = ("baseline", "pulls")')
        if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
            raise TypeError(f'{owner}: memory must be a tuple of names, such as ("baseline", "pulls"), got {names!r}')
        if len(set(self.memory_fields)) < len(self.memory_fields):
            raise ValueError(f"{owner}: the names in memory must differ, got {', '.join(self.memory_fields)}")

    @property
    def memory_fields(self) -> tuple[str, ...]:
        """The names of all numbers in the memory, those that the engine sets among them."""
        return self.memory

    def memory_at(self, numbers: np.ndarray) -> Fields:
        """A view of an array (n,) by the names of the memory, which compiled functions take; of (K, n), fields have shape (K,).

        >>> import logbarrier as lb
        >>> rule = lb.BaselineSGB(learning_rate=0.1)
        >>> memory = rule.memory_at(rule.new_memory())
        >>> rule.lift_and_drain(2.0, 0.5, 1, memory, rule.hyper(n_arms=2))
        (0.2, 0.2)
        >>> memory
        Fields(baseline=2.0, pulls=1.0)
        """
        return Fields(self.memory_fields, numbers)

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        """The hyper-parameters as the compiled functions take them."""
        raise NotImplementedError

    def new_memory(self) -> np.ndarray:
        """What the rule remembers before its first step."""
        return np.zeros(max(len(self.memory_fields), 1))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; `algorithms.rule_from_dict` reads them."""
        return {"rule": self.name, **written(self)}


@dataclass(frozen=True, kw_only=True)
class TwoScalarRule(Rule):
    """A rule whose step is theta <- theta + lift e_arm - drain p.

    lift_and_drain  compiled (reward, probability, t, memory, hyper) -> (lift, drain)
    mixing          compiled (t, hyper) -> share; after step t, p <- share/K + (1 - share) p. 0 means nothing to do.
    uses_arm_means  the engine keeps each arm's mean reward m and, before each call, sets
                    memory.policy_mean = sum_a p(a) m(a) and memory.arm_mean = m(arm), ahead of the rule's own fields
    remembers_arms  the rule remembers one number per arm, 0 at the start: memory.of_arm, ahead of the rule's own fields, is the
                    pulled arm's before the call, and what the call leaves there is kept; not together with uses_arm_means
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

        policy (K,), means (K,) true mean rewards. memory is the means (K,) for rules with arm means. For rules that remember
        arms it is (K, n), row a as it is when arm a was drawn.
        """
        raise NotImplementedError

    @property
    def mixes(self) -> bool:
        """Whether the rule ever moves the policy towards uniform."""
        return self.mixing is not no_mixing

    @property
    def memory_fields(self) -> tuple[str, ...]:
        given = (("policy_mean", "arm_mean") if self.uses_arm_means else ()) + (("of_arm",) if self.remembers_arms else ())
        return (*given, *self.memory)  # the loops write the given ones by place

    def new_arm_numbers(self, n_arms: int) -> tuple[np.ndarray, np.ndarray]:
        """Before the first step: the arms' means, and their counts or what the rule remembers of them; empty if not kept."""
        kept = self.uses_arm_means or self.remembers_arms
        return np.zeros(n_arms if self.uses_arm_means else 0), np.zeros(n_arms if kept else 0)


def policy_gradient(policy: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(diag p - p p^T) values, the gradient of sum_a p(a) values(a) in theta."""
    slope: np.ndarray = policy * (values - policy @ values)
    return slope
