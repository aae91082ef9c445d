"""Agent: a rule that decides online, one ask and tell at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base import validate
from ..engine.compiled import from_python
from ..engine.random import step_uniforms, stream_key
from .algorithms import rule_from_dict
from .algorithms.rule import Rule
from .learners import PRESENT, learner_of, numbers
from .loops.policy import LARGEST_REWARD
from .starts import as_start

FORMAT = 1
MOST_DECISIONS = 2**32 - 1


@dataclass(frozen=True)
class Decision:
    """What `Agent.ask` answers: the arm to pull, by name if arms have names, and the probability it was drawn with."""

    id: int
    arm: Any
    probability: float


@dataclass(frozen=True)
class _Pending:
    arm: int
    probability: float
    version: int


class Agent:
    """A policy over a set of arms that learns from rewards by a rule.

    rule    any rule, such as lb.LogBarrierSGB(learning_rate=0.1, eta=1000)
    n_arms  how many arms, numbered from 0; or
    arms    their names, all different
    seed    the draws: same seed, same rewards, same decisions, to the bit those of run 0 of `simulate`
    start   None (uniform) or K probabilities
    means   the true mean rewards (K,), for the exact-gradient rules alone, which are told them

    Rewards may come late and in any order. A reward is credited to the policy that drew its arm: both p(a) and the vector p
    in theta + lift e_a - drain p are those of the moment of `ask`, so each update is the sampled gradient of that moment.
    What does move on in between: the step number t, a rule's memory (average reward, arm means) and theta itself.
    While a decision waits and others are told, its policy is kept (n_arms numbers per moment that anyone still waits for);
    `forget` lets go of a decision that will have no reward. An agent belongs to one thread at a time.

    >>> import logbarrier as lb
    >>> agent = lb.Agent(lb.LogBarrierSGB(learning_rate=0.1, eta=100), arms=["a", "b", "c"], seed=0)
    >>> first, second = agent.ask(), agent.ask()
    >>> agent.tell(second, reward=1.0)
    >>> agent.tell(first, reward=0.0)
    >>> restored = lb.Agent.from_state_dict(agent.state_dict())
    >>> restored.ask() == agent.ask()
    True
    """

    def __init__(
        self,
        rule: Rule,
        *,
        n_arms: int | None = None,
        arms: Sequence[Hashable] | None = None,
        seed: int = 0,
        start: Any = None,
        means: Any = None,
    ) -> None:
        if not isinstance(rule, Rule):
            raise ValueError(f"Agent: rule must be a rule such as SGB(learning_rate=0.1), got {rule!r}")
        if (n_arms is None) == (arms is None):
            raise ValueError("Agent: give either n_arms or arms")
        names = _names(arms) if arms is not None else list(range(validate.integer("Agent", "n_arms", n_arms, 2)))
        if len(names) < 2:
            raise ValueError(f"Agent: needs at least 2 arms, got {len(names)}")
        self._index = {name: i for i, name in enumerate(names)}
        if len(self._index) < len(names):
            twice = next(name for i, name in enumerate(names) if self._index[name] != i)
            raise ValueError(f"Agent: arms must all differ, got {twice!r} twice")
        if hasattr(start, "theta"):
            raise ValueError(f"Agent: start must be None or one probability per arm, got {start!r}")
        if start is not None and not rule.prefers:
            raise ValueError(f"Agent: {rule.name} keeps no preferences that a start could set, so start must be None")
        self.rule = rule
        self.arms = tuple(names)
        self.seed = validate.integer("Agent", "seed", seed, 0)
        self._key = stream_key(self.seed)
        self._means = _means(rule, means, self.n_arms)
        self._learner = learner_of(rule, as_start("Agent", start, self.n_arms).theta(np.zeros(self.n_arms)), self._means)
        self._asked = 0
        self._updates = 0
        self._pending: dict[int, _Pending] = {}
        self._waiting: Counter[int] = Counter()  # version -> how many decisions of it wait
        self._earlier: dict[int, np.ndarray] = {}  # version -> policy, for the versions someone still waits for

    @property
    def n_arms(self) -> int:
        """K."""
        return len(self.arms)

    @property
    def updates(self) -> int:
        """How many rewards have been learnt from."""
        return self._updates

    @property
    def pending(self) -> tuple[int, ...]:
        """The ids of the decisions that wait for a reward, oldest first."""
        return tuple(self._pending)

    @property
    def policy(self) -> np.ndarray:
        """Probabilities (n_arms,) of the arms now."""
        return self._learner.probabilities

    @property
    def theta(self) -> np.ndarray:
        """Preferences (n_arms,), shifted to sum to zero: softmax cannot tell them from any other shift."""
        theta = self._learner.theta
        return np.asarray(theta - theta.mean())

    def ask(self) -> Decision:
        """Draw an arm from the policy."""
        if self._asked >= MOST_DECISIONS:
            raise ValueError(f"Agent.ask: an agent makes at most {MOST_DECISIONS} decisions")
        u, _ = from_python(step_uniforms)(self._asked, 0, self._key)
        arm = self._learner.draw(u, (self._key, self._asked, 0))
        decision = Decision(self._asked, self.arms[arm], float(self._learner.probabilities[arm]))
        self._pending[decision.id] = _Pending(arm, decision.probability, self._updates)
        self._waiting[self._updates] += 1
        self._asked += 1
        return decision

    def tell(self, decision: Decision | int, reward: float) -> None:
        """Learn from the reward of a decision, given as `ask` returned it or by its id; once, at any later time."""
        checked = _reward("Agent.tell", reward)
        identity, waiting = self._find("Agent.tell", decision)
        present = waiting.version == self._updates
        self._update(waiting.arm, checked, PRESENT if present else self._earlier[waiting.version], identity)

    def observe(self, arm: Any, reward: float) -> None:
        """Learn from a pull that this agent did not draw, as if the present policy had: for replaying a log."""
        checked = _reward("Agent.observe", reward)
        if not isinstance(arm, Hashable) or arm not in self._index:
            known = f"0 to {self.n_arms - 1}" if self.arms == tuple(range(self.n_arms)) else ", ".join(map(str, self.arms[:10]))
            raise ValueError(f"Agent.observe: arm must be one of {known}, got {arm!r}")
        self._update(self._index[arm], checked, PRESENT, None)

    def forget(self, decision: Decision | int) -> None:
        """Let go of a decision that will have no reward."""
        identity, _ = self._find("Agent.forget", decision)
        self._settle(identity)

    def state_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values: a restored agent goes on with the same draws and the same bits."""
        return {
            "format": FORMAT,
            "rule": self.rule.to_dict(),
            "arms": list(self.arms),
            "seed": self.seed,
            "asked": self._asked,
            "updates": self._updates,
            **({} if self._means is None else {"means": self._means.tolist()}),
            **self._learner.state(),
            "pending": [[i, p.arm, p.probability, p.version] for i, p in self._pending.items()],
            "earlier": {str(version): policy.tolist() for version, policy in self._earlier.items()},
        }

    @classmethod
    def from_state_dict(cls, state: dict[str, Any], rule: Rule | None = None) -> Agent:
        """The agent that `state_dict` described. rule: needed only for a rule that is not one of this package's."""
        if not isinstance(state, dict) or "format" not in state:
            raise ValueError("Agent.from_state_dict: not an agent's state")
        if state["format"] != FORMAT:
            raise ValueError(f"Agent.from_state_dict: format must be {FORMAT}, got {state['format']!r}")
        who = "Agent.from_state_dict"
        try:
            agent = cls(rule or rule_from_dict(state["rule"]), arms=state["arms"], seed=state["seed"], means=state.get("means"))
            agent._asked = validate.integer(who, "asked", state["asked"], 0, MOST_DECISIONS)
            agent._updates = validate.integer(who, "updates", state["updates"], 0)
            agent._learner.restore(who, state, agent._updates)
            agent._earlier = {int(version): _policy(policy, agent.n_arms) for version, policy in state["earlier"].items()}
            for entry in state["pending"]:
                agent._restore_pending(*entry)
        except KeyError as error:
            raise ValueError(f"{who}: the state lacks {error.args[0]!r}") from None
        except (TypeError, AttributeError):
            raise ValueError(f"{who}: the state is damaged") from None
        return agent

    def __repr__(self) -> str:
        likely = int(np.argmax(self.policy))
        return (
            f"Agent({self.rule!r}, {self.n_arms} arms, {self._updates} updates, {len(self._pending)} pending, "
            f"most likely {self.arms[likely]!r} at {self.policy[likely]:.3f})"
        )

    def _restore_pending(self, identity: int, arm: int, probability: float, version: int) -> None:
        who = "Agent.from_state_dict"
        validate.integer(who, "pending id", identity, 0, self._asked - 1)
        validate.integer(who, "pending arm", arm, 0, self.n_arms - 1)
        if validate.integer(who, "pending version", version, 0, self._updates) < self._updates and version not in self._earlier:
            raise ValueError(f"{who}: the policy of pending decision {identity} is missing")
        self._pending[identity] = _Pending(arm, validate.number(who, "pending probability", probability), version)
        self._waiting[version] += 1

    def _find(self, who: str, decision: Decision | int) -> tuple[int, _Pending]:
        identity = decision.id if isinstance(decision, Decision) else decision
        if not isinstance(identity, int) or identity not in self._pending:
            known = isinstance(identity, int) and 0 <= identity < self._asked
            what = "has been told or forgotten already" if known else "was never asked"
            raise KeyError(f"{who}: decision {identity} {what}")
        waiting = self._pending[identity]
        if isinstance(decision, Decision) and decision != Decision(identity, self.arms[waiting.arm], waiting.probability):
            raise KeyError(f"{who}: decision {identity} is not this agent's, which drew {self.arms[waiting.arm]!r}")
        return identity, waiting

    def _update(self, arm: int, reward: float, earlier: np.ndarray, settled: int | None) -> None:
        told_now = settled is not None and self._pending[settled].version == self._updates
        if self._waiting[self._updates] > told_now:
            self._earlier[self._updates] = self.policy
        self._learner.update(self._updates + 1, arm, reward, earlier)
        self._updates += 1
        if settled is not None:
            self._settle(settled)

    def _settle(self, identity: int) -> None:
        version = self._pending.pop(identity).version
        self._waiting[version] -= 1
        if self._waiting[version] == 0:
            del self._waiting[version]
            self._earlier.pop(version, None)


def _reward(owner: str, reward: Any) -> float:
    checked = validate.number(owner, "reward", reward)
    if abs(checked) > LARGEST_REWARD:
        raise ValueError(f"{owner}: reward must be at most {LARGEST_REWARD:g} in size, got {checked}")
    return checked


def _names(arms: Any) -> list[Any]:
    """Names that survive JSON: NumPy numbers become Python's."""
    try:
        names = [arm.item() if isinstance(arm, np.generic) else arm for arm in arms]
    except TypeError:
        raise ValueError(f"Agent: arms must be a sequence of names, got {arms!r}") from None
    for name in names:
        if not isinstance(name, str | int | float):
            raise ValueError(f"Agent: the name of an arm must be a string or a number, got {name!r}")
    return names


def _means(rule: Rule, means: Any, n_arms: int) -> np.ndarray | None:
    if not rule.informed:
        if means is not None:
            raise ValueError(f"Agent: {rule.name} learns from rewards alone, so means must be None")
        return None
    if means is None:
        raise ValueError(f"Agent: {rule.name} follows the exact gradient, so it needs means, the true mean reward of each arm")
    checked = validate.vector("Agent", "means", means)
    if len(checked) != n_arms:
        raise ValueError(f"Agent: means must have one entry per arm, {n_arms}, got {len(checked)}")
    return checked


def _policy(values: Any, n_arms: int) -> np.ndarray:
    policy = numbers("Agent.from_state_dict", "an earlier policy", values, n_arms)
    if (policy < 0).any() or abs(policy.sum() - 1.0) > 1e-6:
        raise ValueError("Agent.from_state_dict: an earlier policy must be probabilities that sum to 1")
    return policy
