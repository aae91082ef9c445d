"""An agent as plain JSON values, and back, with every value checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..bandits.algorithms import rule_from_dict
from ..bandits.algorithms.rule import Rule
from ..base import validate
from ..base.failure import WrongTypeError
from .inputs import numbers
from .pending import Decision, Moment, PendingDecisions

if TYPE_CHECKING:
    from .agent import Agent

FORMAT = 2
WHO = "Agent.from_state_dict"
MOST_DECISIONS = 2**32 - 1
MOST_UPDATES = 2**53  # every step number up to here is a float64 too


def to_plain(agent: Agent) -> dict[str, Any]:
    """Everything an agent is.

    pending  [id, arm's name, its place or -1, q(arm), propensity, index among the moments or null for the present]
    moments  [places of the arms or null for all, their probabilities or null if evicted, n]
    """
    pending = agent._pending
    moments = pending.moments()
    index = {id(moment): i for i, moment in enumerate(moments)}
    return {
        "format": FORMAT,
        "rule": agent.rule.to_dict(),
        "arms": list(agent.arms),
        "seed": agent.seed,
        "floor": agent.floor,
        "asked": agent._asked,
        "updates": agent._updates,
        **({} if agent._means is None else {"means": agent._means.tolist()}),
        **({} if agent._features is None else {"features": agent._features.T.tolist()}),
        **agent._learner.state(),
        "statistics": agent._statistics.state(),
        "pending": [
            [i, p.decision.arm, p.arm, p.probability, p.decision.probability, index.get(id(p.moment))]
            for i, p in pending.decisions.items()
        ],
        "moments": [[_list(moment.arms), _list(moment.policy), moment.size] for moment in moments],
    }


def restored(kind: type[Agent], state: Any, rule: Rule | None) -> Agent:
    """The agent that `to_plain` described."""
    if not isinstance(state, dict) or "format" not in state:
        raise ValueError(f"{WHO}: not an agent's state")
    if type(state["format"]) is not int or state["format"] not in (1, FORMAT):
        raise ValueError(f"{WHO}: format must be {FORMAT}, got {state['format']!r}")
    try:
        plain = _second_format(state) if state["format"] == 1 else state
        agent = kind(
            rule or rule_from_dict(plain["rule"]),
            arms=plain["arms"],
            seed=_whole("seed", plain["seed"], None),
            means=plain.get("means"),
            features=plain.get("features"),
            floor=plain["floor"],
        )
        agent._asked = _whole("asked", plain["asked"], MOST_DECISIONS)
        agent._updates = _whole("updates", plain["updates"], MOST_UPDATES)
        agent._learner.restore(WHO, plain, agent._updates)
        if "statistics" in plain:  # states of earlier versions have none
            agent._statistics.restore(WHO, plain["statistics"])
        _restore_pending(agent._pending, plain, agent._asked, agent.arms)
    except WrongTypeError as error:
        raise ValueError(str(error)) from None
    except KeyError as error:
        raise ValueError(f"{WHO}: the state lacks {error.args[0]!r}") from None
    except (TypeError, AttributeError, IndexError, OverflowError):
        raise ValueError(f"{WHO}: the state is damaged") from None
    return agent


def _restore_pending(pending: PendingDecisions, plain: dict[str, Any], asked: int, arms: tuple[Any, ...]) -> None:
    moments = [_moment(len(arms), *entry) for entry in _entries("moments", plain["moments"], 3)]
    for moment in moments:
        if moment.policy is not None:
            pending.keep(moment)
    last = -1
    for identity, name, place, probability, propensity, index in _entries("pending", plain["pending"], 6):
        if _whole("pending id", identity, asked - 1) <= last:
            raise ValueError(f"{WHO}: pending ids must be in ascending order, got {identity} after {last}")
        last = identity
        moment = pending.now if index is None else moments[_whole("pending moment", index, len(moments) - 1)]
        if type(place) is not int or not -1 <= place < len(arms):
            raise ValueError(f"{WHO}: pending arm must be between 0 and {len(arms) - 1}, or -1, got {place!r}")
        known = np.arange(len(arms)) if moment.arms is None else moment.arms
        if not (place in known and arms[place] == name if place >= 0 else moment.size > len(known)):
            raise ValueError(f"{WHO}: pending decision {identity} must be of an arm of its moment, got {name!r}")
        decision = Decision(identity, name, _probability("pending propensity", propensity))
        pending.add(decision, place, _probability("pending probability", probability), moment)
    orphan = next((i for i, moment in enumerate(moments) if moment.pending == 0), None)
    if orphan is not None:
        raise ValueError(f"{WHO}: no pending decision belongs to moment {orphan}")


def _moment(n_arms: int, arms: Any, policy: Any, size: Any) -> Moment:
    places = None
    if arms is not None:
        places = np.array([_whole("an arm of a moment", arm, n_arms - 1) for arm in arms], dtype=np.int64)
        if (np.diff(places) <= 0).any():
            raise ValueError(f"{WHO}: the arms of a moment must be in ascending order")
    known = n_arms if places is None else len(places)
    if _whole("the size of a moment", size, None) < max(known, 1) or (places is None and size != n_arms):
        raise ValueError(f"{WHO}: the size of a moment must fit its arms, got {size}")
    if policy is None:
        return Moment(places, None, size)
    kept = numbers(WHO, "an earlier policy", policy, known)
    total = kept.sum()
    if (kept < 0).any() or total > 1 + 1e-6 or (size == known and total < 1 - 1e-6):
        raise ValueError(f"{WHO}: an earlier policy must be probabilities that sum to 1")
    return Moment(places, kept, size)


def _second_format(state: dict[str, Any]) -> dict[str, Any]:
    """A state of format 1, where the moment of a decision was the number of updates before it."""
    arms, updates = state["arms"], state["updates"]
    earlier = dict(state["earlier"])
    index: dict[Any, int | None] = {str(version): i for i, version in enumerate(earlier)}
    pending = []
    for identity, arm, probability, version in _entries("pending", state["pending"], 4):
        if version != updates and str(version) not in index:
            raise ValueError(f"{WHO}: the policy of pending decision {identity!r} is missing")
        if type(arm) is not int or not 0 <= arm < len(arms):
            raise ValueError(f"{WHO}: pending arm must be between 0 and {len(arms) - 1}, got {arm!r}")
        moment = None if version == updates else index[str(version)]
        pending.append([identity, arms[arm], arm, probability, probability, moment])
    moments = [[None, policy, len(arms)] for policy in earlier.values()]
    return {**state, "floor": 0.0, "pending": pending, "moments": moments}


def _entries(name: str, values: Any, length: int) -> list[Any]:
    if not isinstance(values, list) or not all(isinstance(entry, list) and len(entry) == length for entry in values):
        raise ValueError(f"{WHO}: {name} must be a list of lists of {length}")
    return values


def _whole(name: str, value: Any, most: int | None) -> int:
    """A whole number, and no float or bool that equals one: states are written by this package."""
    if type(value) is not int:
        raise ValueError(f"{WHO}: {name} must be a whole number, got {value!r}")
    return validate.integer(WHO, name, value, 0, most)


def _probability(name: str, value: Any) -> float:
    checked = validate.number(WHO, name, value)
    if type(value) not in (int, float) or not 0 < checked <= 1 + 1e-9:
        raise ValueError(f"{WHO}: {name} must be above 0 and at most 1, got {value!r}")
    return checked


def _list(values: np.ndarray | None) -> list[Any] | None:
    return None if values is None else values.tolist()
