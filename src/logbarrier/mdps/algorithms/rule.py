"""What a rule is: hyper-parameters, and small compiled functions that act and learn.

The loop calls `act` at every step and `learn` at the end of every episode (see `episode` for what they are
given). To add a rule, write a frozen dataclass like the ones in this folder and run `mdps.testing.check_rule` on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...base.parameters import Parameterised, Positive, Share, written
from ...engine.compiled import from_python
from ..episode import Learned, nothing_at_once, renew, softmax_action, softmax_rows
from ..problem import FiniteMDP


@dataclass(frozen=True, kw_only=True)
class Rule(Parameterised):
    """The base of every rule.

    name              its name in files and on the command line
    act               compiled (states, state, u, policies, t) -> action, by one uniform number u
    at_once           compiled (states, state, action, reward, successor, hyper), after every step
    learn             compiled (episode, count, states, tally, memory, hyper), after every episode; changes visited states only
    renew             compiled (episode, count, states), after that: the probabilities of the visited states
    memory            the names of the numbers (float64) that the rule remembers besides, all 0 at the start: `learn` reads and
                      writes memory.steps. A last name with a star, such as "*square", has many numbers, memory.square[i];
                      `new_memory` then says how many, and what they are at the start
    first_preference  what the preferences are at the start
    """

    name: ClassVar[str]
    act: ClassVar[Any] = staticmethod(softmax_action)
    at_once: ClassVar[Any] = staticmethod(nothing_at_once)
    learn: ClassVar[Any]
    renew: ClassVar[Any] = staticmethod(renew)
    memory: ClassVar[tuple[str, ...]] = ()

    @property
    def first_preference(self) -> float:
        """Preferences of all actions before the first step."""
        return 0.0

    def new_memory(self, mdp: FiniteMDP) -> np.ndarray:
        """What the rule remembers before its first step."""
        return np.zeros(len(self.memory))

    def hyper(self, mdp: FiniteMDP) -> tuple[Any, ...]:
        """The hyper-parameters as the compiled functions take them; gamma and K are all that a rule knows of the MDP."""
        raise NotImplementedError

    def policy(self, preferences: np.ndarray) -> np.ndarray:
        """The probabilities (S, K) that `act` draws from."""
        policy = np.empty(preferences.shape)
        from_python(softmax_rows)(np.ascontiguousarray(preferences, dtype=np.float64), policy)
        return policy

    def expected_update(self, mdp: FiniteMDP, learned: Learned) -> np.ndarray:
        """E[change of theta (S, K) in an episode] that the rule claims, where its critics and its estimate of d are right."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; `rule_from_dict` reads them."""
        return {"rule": self.name, **written(self)}


@dataclass(frozen=True, kw_only=True)
class ActorCritic(Rule):
    """The base of the policy gradients: advantages from a critic v(s), which learns from the same episodes.

    learning_rate  alpha
    trace          lambda of the generalised advantages, 0 to 1
    critic_rate    step of the critic, 0 to 1

    trace=1, critic_rate=0 is REINFORCE: the advantages are the returns themselves.
    """

    learning_rate: Positive
    trace: Share = 0.9
    critic_rate: Share = 0.1

    def hyper(self, mdp: FiniteMDP) -> tuple[Any, ...]:
        return float(self.trace), float(self.critic_rate), mdp.gamma, float(self.learning_rate)


MDPRule, MDPActorCritic = Rule, ActorCritic  # their names in logbarrier.extend
