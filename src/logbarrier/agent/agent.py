"""Agent: a rule that decides online, one ask and tell at a time."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np

from ..bandits.algorithms.rule import Rule
from ..bandits.starts import as_start
from ..base import validate
from ..base.failure import RuleError, WrongTypeError
from ..engine.random import stream_key
from ..statistics import LEVEL
from . import state as agent_state
from .arm_statistics import ArmStatistics
from .drawn import PRESENT, Drawn, drawn_from
from .inputs import below_one, checked_means, checked_names, checked_reward, features_of, names_of
from .learner import Learner, learner_of
from .pending import Decision, Moment, Pending, PendingDecisions
from .state import MOST_DECISIONS
from .summary import Summary, summarise


class Agent:
    """A policy over a set of arms that learns from rewards by a rule.

    rule    any rule, such as lb.LogBarrierSGB(learning_rate=0.1, eta=1000)
    n_arms  how many arms, numbered from 0; or
    arms    their names, all different
    seed    the draws: same seed, same rewards, same decisions, to the bit those of run 0 of `simulate`
    start   None (uniform) or K probabilities
    features  (K, m) known numbers of each arm, for rules such as lb.LogDetSGB that use them
    means   the true mean rewards (K,), for the exact-gradient rules alone, which know them
    floor   arms are drawn from floor/K + (1 - floor) p, so that every propensity is at least floor/K; 0 <= floor < 1

    Rewards may come late and in any order. A reward is credited to the policy that drew its arm: p in
    theta + lift e_a - drain p is that of the moment of `ask`. Each update is the sampled gradient of that moment.
    The step number t, a rule's memory (average reward, arm means) and theta itself are those of the moment of `tell`.
    While a decision is pending and the policy moves, its policy is kept: n_arms numbers per moment with pending decisions.
    `forget` drops a decision that will have no reward. An agent belongs to one thread at a time; threads may share a
    `DurableAgent`. docs/agent.md has the equations.

    >>> import logbarrier as lb
    >>> agent = lb.Agent(lb.LogBarrierSGB(learning_rate=0.1, eta=100), arms=["a", "b", "c"], seed=0)
    >>> first, second = agent.ask(), agent.ask(available=["a", "b"])
    >>> agent.tell(second, reward=1.0)
    'told'
    >>> agent.add_arm("d")
    >>> agent.tell(first, reward=0.0)
    'told'
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
        features: Any = None,
        floor: float = 0.0,
    ) -> None:
        validate.instance("Agent", "rule", rule, Rule, "a rule such as SGB(learning_rate=0.1)")
        names = names_of(n_arms, arms)
        if hasattr(start, "theta"):
            raise WrongTypeError(f"Agent: start must be None or one probability per arm, got {start!r}")
        if start is not None and not rule.has_preferences:
            raise ValueError(f"Agent: {rule.name} has no preferences that a start could set, so start must be None")
        self.rule = rule
        self._set_arms(names)
        self.seed = validate.integer("Agent", "seed", seed, 0)
        self._key = stream_key(self.seed)
        self._means = checked_means(rule, means, self.n_arms)
        self._features = features_of(rule, features, self.n_arms)
        theta = as_start("Agent", start, self.n_arms).theta(np.zeros(self.n_arms))
        self._learner = learner_of(rule, theta, self._means, self._features)
        self.floor = below_one("Agent", "floor", floor)
        if self.floor:
            self._following("Agent", "a floor")
        self._asked = 0
        self._updates = 0
        self._pending = PendingDecisions(self.n_arms)
        self._statistics = ArmStatistics(self.n_arms)

    def _set_arms(self, names: list[Any]) -> None:
        index = {name: i for i, name in enumerate(names)}
        if len(index) < len(names):
            twice = next(name for i, name in enumerate(names) if index[name] != i)
            raise ValueError(f"Agent: arms must all differ, got {twice!r} twice")
        self.arms, self._index, self._all = tuple(names), index, np.arange(len(names))

    @property
    def n_arms(self) -> int:
        """K."""
        return len(self.arms)

    @property
    def asked(self) -> int:
        """How many decisions were made; the next one has this id."""
        return self._asked

    @property
    def updates(self) -> int:
        """How many rewards have been learnt from."""
        return self._updates

    @property
    def pending(self) -> tuple[int, ...]:
        """The ids of the pending decisions, oldest first."""
        return tuple(self._pending.decisions)

    @property
    def policy(self) -> np.ndarray:
        """Probabilities (n_arms,) of the arms now, the floor included."""
        probabilities = self._learner.probabilities
        return self.floor / self.n_arms + (1 - self.floor) * probabilities if self.floor else probabilities

    @property
    def theta(self) -> np.ndarray:
        """Preferences (n_arms,), shifted to sum to zero: softmax cannot tell them from any other shift."""
        theta = self._learner.theta
        return np.asarray(theta - theta.mean())

    def ask(self, available: Sequence[Hashable] | None = None) -> Decision:
        """Draw an arm from the policy, or from its restriction to the arms that are available."""
        number = self._asked
        if number >= MOST_DECISIONS:
            raise ValueError(f"Agent.ask: an agent makes at most {MOST_DECISIONS} decisions")
        moment = self._pending.now
        if available is None and not self.floor:
            arm, probability = self._learner.draw(number, self._key)
            decision = Decision(number, self.arms[arm], probability)
        else:
            arms = self._all if available is None else self._places(available)
            place, q, propensity = self._following("Agent.ask", "available").draw_subset(number, self._key, arms, self.floor)
            arm, probability = int(arms[place]), float(q[place])
            decision = Decision(number, self.arms[arm], propensity)
            if len(arms) < self.n_arms:
                moment = Moment(arms, q, len(arms))
        self._pending.add(decision, arm, probability, moment)
        self._learner.note_pending(arm, 1)
        self._statistics.decisions[arm] += 1
        self._asked = number + 1
        return decision

    def tell(self, decision: Decision | int, reward: float) -> Literal["told", "duplicate"]:
        """Learn from the reward of a decision, given as `ask` returned it or by its id; once, at any later time.

        Return "told". A second reward raises KeyError here; `DurableAgent`, which remembers rewards, recognises duplicates.
        """
        checked = checked_reward("Agent.tell", reward)
        pending = self._pending.find("Agent.tell", decision, self._asked)
        self._learn(pending, checked)
        self._settle(pending)
        return "told"

    def observe(self, arm: Any, reward: float, *, probability: float | None = None) -> None:
        """Learn from a pull that this agent did not draw, such as one in another system's log.

        probability: the other system's propensity of the arm; the update is weighted by p(arm)/probability, so that its mean
        is the gradient at the present policy. None: as if the present policy had drawn it.
        """
        checked = checked_reward("Agent.observe", reward)
        place = self._place("Agent.observe", arm)
        if probability is None and not self.floor:
            observed = Decision(-1, arm, 1.0)
            self._learn(Pending(observed, place, 1.0, self._pending.now), checked)
            return
        learner = self._following("Agent.observe", "probability")
        q = float(learner.restricted(self._all)[place])
        propensity = self.floor / self.n_arms + (1 - self.floor) * q
        if probability is not None:
            propensity = validate.number("Agent.observe", "probability", probability)
            if not 0 < propensity <= 1:
                raise ValueError(f"Agent.observe: probability must be above 0 and at most 1, got {propensity}")
        self._learn(Pending(Decision(-1, arm, propensity), place, q, self._pending.now), checked)

    def forget(self, decision: Decision | int) -> Literal["forgotten", "duplicate"]:
        """Drop a decision that will never have a reward; return "forgotten"."""
        self._settle(self._pending.find("Agent.forget", decision, self._asked))
        return "forgotten"

    def add_arm(self, arm: Hashable, *, probability: float | None = None) -> None:
        """Add an arm, as the last one, at `probability` (default 1/(K + 1)); the odds among the others stay as they are.

        For a rule with a table of means it starts without rewards, and probability must be None.
        """
        names = checked_names([*self.arms, arm])
        learner = self._following("Agent.add_arm", "add_arm")
        entering = None if probability is None else validate.number("Agent.add_arm", "probability", probability)
        if entering is not None and not 0 < entering < 1:
            raise ValueError(f"Agent.add_arm: probability must be between 0 and 1, got {entering}")
        if names[-1] in self._index:
            raise ValueError(f"Agent.add_arm: arm {arm!r} exists already")
        before = learner.probabilities
        learner.add(entering)
        self._pending.leave(lambda: before)
        self._statistics.add_arm()
        self._set_arms(names)
        self._pending.add_arm(len(names))

    def remove_arm(self, arm: Hashable) -> None:
        """Remove an arm; the odds among the others stay as they are. Rewards of its pending decisions can still be told."""
        place = self._place("Agent.remove_arm", arm)
        learner = self._following("Agent.remove_arm", "remove_arm")
        if self.n_arms == 2:
            raise ValueError("Agent.remove_arm: at least 2 arms must remain")
        self._pending.leave(lambda: learner.probabilities)
        learner.remove(place)
        self._statistics.remove_arm(place)
        self._pending.remove_arm(place, self.n_arms)
        self._set_arms([name for name in self.arms if name != arm])

    def summary(self, *, baseline: Any = None, difference: float | None = None, level: float = LEVEL) -> Summary:
        """Say which arm wins; see `summarise`. Intervals hold at all times at once, however the arms were chosen."""
        return summarise(self.arms, self._statistics, baseline=baseline, difference=difference, level=level)

    def state_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values: a restored agent goes on with the same draws and the same bits."""
        return agent_state.to_plain(self)

    @classmethod
    def from_state_dict(cls, state: dict[str, Any], rule: Rule | None = None) -> Agent:
        """The agent that `state_dict` described. rule: needed only for a rule that is not one of this package's."""
        return agent_state.restored(cls, state, rule)

    def __repr__(self) -> str:
        policy = self.policy
        likely = int(np.argmax(policy))
        return (
            f"Agent({self.rule!r}, {self.n_arms} arms, {self._updates} updates, {len(self.pending)} pending, "
            f"most likely {self.arms[likely]!r} at {policy[likely]:.3f})"
        )

    def _settle(self, pending: Pending) -> None:
        """Remove a decision that was told or forgotten from the pending ones."""
        self._pending.settle(pending.decision.id)
        self._learner.note_pending(pending.arm, -1)

    def _learn(self, pending: Pending, reward: float) -> None:
        """One update from an arm that was drawn at pending.moment with probability q and propensity b."""
        learner, t = self._learner, self._updates + 1
        if not learner.needs_past_policy:
            learner.update_subset(t, pending.arm, reward, Drawn(self._all, PRESENT, 1.0, self.n_arms, 1.0))
        else:
            self._learn_from_past(pending, reward, t)
        self._updates = t
        self._statistics.add_reward(pending.arm, reward)

    def _learn_from_past(self, pending: Pending, reward: float, t: int) -> None:
        """Step t at the policy of the moment at which the arm was drawn."""
        learner, moment, weighted = self._learner, pending.moment, pending.probability != pending.decision.probability
        now = self._pending.now
        present = moment is now
        drawn_now = present and pending.decision.id >= 0
        if now.pending > drawn_now:  # other decisions of the present policy are pending
            self._pending.leave(lambda: learner.probabilities)
        try:
            if present and not weighted:
                learner.update(t, pending.arm, reward, PRESENT)
            elif moment.arms is None and not weighted and moment.policy is not None:
                learner.update(t, pending.arm, reward, moment.policy)
            elif learner.follows_arms:
                learner.update_subset(t, pending.arm, reward, drawn_from(pending, learner, self._all, present))
            else:
                learner.update(t, pending.arm, reward, PRESENT)  # its policy was evicted
        except RuleError:
            self._pending.stay(now)
            raise

    def _following(self, who: str, what: str) -> Learner:
        """The learner, if it can follow changing arms."""
        if not self._learner.follows_arms:
            known = getattr(self.rule, "uses_features", False)
            kept = "knows the features of a fixed set of arms" if known else "keeps vectors"
            raise ValueError(f"{who}: {self.rule.name} {kept}, for which {what} is not defined")
        return self._learner

    def _place(self, who: str, arm: Any) -> int:
        if not isinstance(arm, Hashable) or arm not in self._index:
            known = f"0 to {self.n_arms - 1}" if self.arms == tuple(range(self.n_arms)) else ", ".join(map(str, self.arms[:10]))
            raise ValueError(f"{who}: arm must be one of {known}, got {arm!r}")
        return self._index[arm]

    def _places(self, available: Any) -> np.ndarray:
        if isinstance(available, str) or not hasattr(available, "__iter__"):
            raise WrongTypeError(f"Agent.ask: available must be a sequence of arms, got {available!r}")
        places = np.array(sorted(self._place("Agent.ask", arm) for arm in available), dtype=np.int64)
        if len(places) == 0:
            raise ValueError("Agent.ask: available must name at least one arm")
        if (np.diff(places) == 0).any():
            raise ValueError("Agent.ask: available must name each arm once")
        return places
