"""ContextualAgent: decisions that depend on a context, one ask and tell at a time."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...base import validate
from ...contexts.algorithms import ContextualBarrier
from ...engine.random import stream_key
from ...statistics import LEVEL
from ..arm_statistics import ArmStatistics
from ..inputs import below_one, checked_names, checked_reward
from ..pending import Decision
from ..state import MOST_DECISIONS
from ..summary import Summary, summarise
from . import contextual_state
from .encoder import MOST_FEATURES, NamedEncoder, encoder_of
from .model import Model, Situation
from .offers import action_table, crossed, place_of, places_of
from .segments import without_verdict

WHO = "ContextualAgent"
RECENT = 1 / 64  # the weight of a decision in the average policy


@dataclass(slots=True, eq=False)
class PendingDecision:
    """A decision without a reward so far."""

    decision: Decision
    situation: Situation


class ContextualAgent:
    """A policy that chooses an arm for a context and learns from rewards, without settings.

    arms      names of the arms, all different; each has a regression of its own. Or
    n_arms    how many arms, numbered from 0. Or
    actions   how many features an action has: one regression is shared, and every `ask` offers actions of its own
    features  how many numbers a context has; or a dict such as {"age": "number", "member": "boolean", "country": "category",
              "device": ["phone", "desktop"]}. Numbers are standardised. With `actions`, contexts are vectors
    seed      the draws
    price     of randomising, in standard errors of the best arm; 0.03 decides well, 0.3 makes logs for off-policy estimates
    optimism  standard errors that are added to the estimated rewards
    floor     every arm is drawn with probability at least floor/K; 0 <= floor < 1

    Rewards may come late and in any order, each once. Pending decisions count in the uncertainty. Every decision has its exact
    propensity. Rewards may have any unit. When recent rewards show that the past misleads, the past is dropped.
    Memory: 3 (d + 1)^2 numbers of 8 bytes per arm. docs/contexts.md has the equations.

    >>> import logbarrier as lb
    >>> agent = lb.ContextualAgent(arms=["a", "b"], features={"age": "number", "device": ["phone", "desktop"]}, seed=0)
    >>> decision = agent.ask({"age": 31, "device": "phone"})
    >>> agent.tell(decision, reward=1.0)
    'told'
    >>> restored = lb.ContextualAgent.from_state_dict(agent.state_dict())
    >>> restored.ask({"age": 50}) == agent.ask({"age": 50})
    True
    """

    def __init__(
        self,
        *,
        arms: Sequence[Hashable] | None = None,
        n_arms: int | None = None,
        actions: int | None = None,
        features: int | Mapping[str, Any] = 0,
        seed: int = 0,
        price: float = 0.03,
        optimism: float = 1.0,
        floor: float = 0.0,
    ) -> None:
        if (arms is not None) + (n_arms is not None) + (actions is not None) != 1:
            raise ValueError(f"{WHO}: give one of arms, n_arms and actions")
        self.rule = ContextualBarrier(optimism=optimism, price=price)
        self.floor = below_one(WHO, "floor", floor)
        self.seed = validate.integer(WHO, "seed", seed, 0)
        self._encoder = encoder_of(WHO, features)
        self.actions = None if actions is None else validate.integer(WHO, "actions", actions, 1, MOST_FEATURES)
        names: list[Any] = []
        if self.actions is None:
            names = checked_names(arms) if arms is not None else list(range(validate.integer(WHO, "n_arms", n_arms, 2)))
            if len(names) < 2:
                raise ValueError(f"{WHO}: needs at least 2 arms, got {len(names)}")
        elif isinstance(self._encoder, NamedEncoder):
            raise ValueError(f"{WHO}: features must be a whole number where actions are given")
        self._set_arms(names)
        d = self._encoder.size
        is_number = self._encoder.is_number if self.actions is None else np.zeros(self.actions * (1 + d) + d, dtype=bool)
        if len(is_number) == 0:
            raise ValueError(f"{WHO}: features must be at least 1, got 0")
        self._model = Model(self.rule, len(names), is_number, stream_key(self.seed))
        self._policy = np.full(len(names), 1.0 / max(len(names), 1))
        self._asked = self._updates = 0
        self._statistics = ArmStatistics(len(names))
        self._pending: dict[int, PendingDecision] = {}

    def _set_arms(self, names: list[Any]) -> None:
        index = {name: i for i, name in enumerate(names)}
        if len(index) < len(names):
            twice = next(name for i, name in enumerate(names) if index[name] != i)
            raise ValueError(f"{WHO}: arms must all differ, got {twice!r} twice")
        self.arms, self._index = tuple(names), index

    @property
    def n_arms(self) -> int:
        """K; 0 where actions are offered with every `ask`."""
        return len(self.arms)

    @property
    def features(self) -> int | dict[str, Any]:
        """What a context is made of, as it was given."""
        plain: int | dict[str, Any] = self._encoder.plain()
        return plain

    @property
    def policy(self) -> np.ndarray:
        """Probabilities (n_arms,) of the arms, averaged over recent decisions: the last one weighs 1/64."""
        return self._policy.copy()

    @property
    def theta(self) -> np.ndarray:
        """Not defined: probabilities come from estimated rewards."""
        raise AttributeError(f"{WHO}.theta: {self.rule.name} has no preferences")

    @property
    def asked(self) -> int:
        """How many decisions were made; the next one has this id."""
        return self._asked

    @property
    def updates(self) -> int:
        """How many rewards have been learnt from."""
        return self._updates

    @property
    def restarts(self) -> int:
        """How often the past was dropped after a change."""
        return int(self._model.state.restarts[0])

    @property
    def pending(self) -> tuple[int, ...]:
        """The ids of the pending decisions, oldest first."""
        return tuple(self._pending)

    def ask(self, context: Any = None, *, actions: Any = None, available: Sequence[Hashable] | None = None) -> Decision:
        """Draw an arm for a context, among those available; or one of the actions offered.

        actions: their features (n, a), or a dict name -> (a,); the arm of the decision is the row or the name.
        """
        if self._asked >= MOST_DECISIONS:
            raise ValueError(f"{WHO}.ask: an agent makes at most {MOST_DECISIONS} decisions")
        rows, names, places = self._offered(f"{WHO}.ask", context, actions, available)
        if self._model.is_due():
            self._rescale(rows)
        number = self._asked
        chosen = self._model.decide(rows, places, number, self.floor)
        arm = chosen.place if places is None else int(places[chosen.place])
        decision = Decision(number, names[arm] if names is not None else arm, chosen.probability)
        situation = Situation(0 if self.actions is not None else arm, chosen.x, chosen.first)
        self._pending[number] = PendingDecision(decision, situation)
        self._asked = number + 1
        if self.actions is None:
            self._statistics.decisions[arm] += 1
            self._policy *= 1.0 - RECENT
            self._policy[slice(None) if places is None else places] += RECENT * chosen.probabilities
        return decision

    def probabilities(
        self, context: Any = None, *, actions: Any = None, available: Sequence[Hashable] | None = None
    ) -> np.ndarray:
        """Probabilities (n,) with which `ask` would draw the arms available or the actions."""
        rows, _, places = self._offered(f"{WHO}.probabilities", context, actions, available, learns=False)
        return self._model.weigh(rows, places, self._asked, self.floor)[2]

    def predict(self, context: Any = None, *, actions: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Estimated rewards of the arms or actions (n,) at a context, and their standard errors (n,)."""
        rows, _, places = self._offered(f"{WHO}.predict", context, actions, None, learns=False)
        values, errors, _ = self._model.weigh(rows, places, self._asked, self.floor)
        return values, errors

    def tell(self, decision: Decision | int, reward: float) -> Literal["told"]:
        """Learn from the reward of a decision, given as `ask` returned it or by its id; once, at any later time."""
        checked = checked_reward(f"{WHO}.tell", reward)
        found = self._find(f"{WHO}.tell", decision)
        del self._pending[found.decision.id]
        self._learn(found.situation, checked)
        return "told"

    def observe(self, context: Any, arm: Any, reward: float) -> None:
        """Learn from a decision that this agent did not make; with `actions`, arm is the features of the action (a,)."""
        checked = checked_reward(f"{WHO}.observe", reward)
        place = 0 if self.actions is not None else place_of(f"{WHO}.observe", self._index, arm)
        offered = None if self.actions is None else [arm]
        rows, _, _ = self._offered(f"{WHO}.observe", context, offered, None)
        if self._model.is_due():
            self._rescale(rows)
        self._learn(self._model.observe(rows[0], place), checked)

    def forget(self, decision: Decision | int) -> Literal["forgotten"]:
        """Drop a decision that will never have a reward."""
        found = self._find(f"{WHO}.forget", decision)
        del self._pending[found.decision.id]
        self._model.count([found.situation], -1.0)
        return "forgotten"

    def add_arm(self, arm: Hashable) -> None:
        """Add an arm, as the last one."""
        self._refuse_actions("add_arm")
        names = checked_names([*self.arms, arm])
        if names[-1] in self._index:
            raise ValueError(f"{WHO}.add_arm: arm {arm!r} exists already")
        self._model.add_arm()
        self._statistics.add_arm()
        self._policy = np.append(self._policy, 0.0)
        self._set_arms(names)

    def remove_arm(self, arm: Hashable) -> None:
        """Remove an arm. Rewards of its pending decisions can still come."""
        self._refuse_actions("remove_arm")
        place = place_of(f"{WHO}.remove_arm", self._index, arm)
        if self.n_arms == 2:
            raise ValueError(f"{WHO}.remove_arm: at least 2 arms must remain")
        self._model.remove_arm(place)
        self._statistics.remove_arm(place)
        left = np.delete(self._policy, place)
        self._policy = left / left.sum() if left.sum() > 0 else np.full(len(left), 1.0 / len(left))
        self._set_arms([name for name in self.arms if name != arm])
        for each in self._pending.values():
            before = each.situation.arm
            each.situation = each.situation._replace(arm=-1 if before == place else before - (before > place))

    def summary(self, *, baseline: Any = None, difference: float | None = None, level: float = LEVEL) -> Summary:
        """Summarise the rewards of each arm, over the contexts in which it was chosen, without a verdict."""
        self._refuse_actions("summary")
        seen = summarise(self.arms, self._statistics, baseline=baseline, difference=difference, level=level)
        return without_verdict(seen)

    def state_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values: a restored agent goes on with the same draws and the same bits."""
        return contextual_state.to_plain(self)

    @classmethod
    def from_state_dict(cls, state: dict[str, Any]) -> ContextualAgent:
        """The agent that `state_dict` described."""
        return contextual_state.restored(cls, state)

    def __repr__(self) -> str:
        what = f"{self.n_arms} arms" if self.actions is None else f"actions of {self.actions} features"
        return f"ContextualAgent({what}, features={self.features!r}, {self._updates} updates, {len(self._pending)} pending)"

    def _offered(
        self, who: str, context: Any, actions: Any, available: Any, *, learns: bool = True
    ) -> tuple[np.ndarray, Sequence[Any] | None, np.ndarray | None]:
        """Raw features (rows, d), names of the arms, and the places of those available; everything checked."""
        if self.actions is None:
            if actions is not None:
                raise ValueError(f"{who}: actions must be left out, since this agent has arms")
            places = None if available is None else places_of(who, self._index, available)
            return self._encoder.encode(context, learns)[None, :], self.arms, places
        if available is not None:
            raise ValueError(f"{who}: available must be left out, since only the actions offered are available")
        names, table = action_table(who, actions, self.actions)
        return crossed(table, self._encoder.encode(context, learns)), names, None

    def _rescale(self, rows: np.ndarray) -> None:
        """Estimate the scale of the features again, the present context included."""
        contexts = self._model.rescale(self._model.row_to_fit(rows))
        for each in self._pending.values():
            each.situation = each.situation._replace(x=contexts[each.situation.first])
        self._model.count((each.situation for each in self._pending.values()), 1.0)

    def _learn(self, situation: Situation, reward: float) -> None:
        self._updates += 1
        if self.actions is None:
            self._statistics.add_reward(situation.arm, reward)
        if self._model.learn(situation, reward):
            self._model.count((each.situation for each in self._pending.values()), 1.0)

    def _find(self, who: str, decision: Decision | int) -> PendingDecision:
        identity = decision.id if isinstance(decision, Decision) else decision
        found = self._pending.get(identity) if type(identity) is int else None
        if found is None:
            known = type(identity) is int and 0 <= identity < self._asked
            what = "has a reward already or was forgotten" if known else "was never asked"
            raise KeyError(f"{who}: decision {identity!r} {what}")
        if isinstance(decision, Decision) and decision != found.decision:
            raise KeyError(f"{who}: decision {identity} is not this agent's, which drew {found.decision.arm!r}")
        return found

    def _refuse_actions(self, method: str) -> None:
        if self.actions is not None:
            raise ValueError(f"{WHO}.{method}: an agent with actions has no arms; offer other actions to ask")
