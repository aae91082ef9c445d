"""A contextual agent as plain JSON values, and back. Arrays are the base64 text of their bytes, so that no bit is lost."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base import validate
from ...contexts.regression import FIRST, Regressions
from ..pending import Decision
from ..state import MOST_DECISIONS, MOST_UPDATES
from .model import Observed, Situation

if TYPE_CHECKING:
    from .contextual_agent import ContextualAgent

FORMAT = 2
WHO = "ContextualAgent.from_state_dict"


def to_plain(agent: ContextualAgent) -> dict[str, Any]:
    """Everything an agent is.

    pending  [id, arm, place of the arm, propensity, context, index among the first observations]
    first    [raw features, those the scale is estimated from, place of the arm, reward or null]
    """
    model = agent._model
    shape = {"arms": list(agent.arms)} if agent.actions is None else {"actions": agent.actions}
    return {
        "contextual": FORMAT,
        **shape,
        "features": agent.features,
        "seed": agent.seed,
        "price": agent.rule.price,
        "optimism": agent.rule.optimism,
        "floor": agent.floor,
        "asked": agent._asked,
        "updates": agent._updates,
        "seen": model.seen,
        "statistics": agent._statistics.state(),
        "policy": _text(agent._policy),
        "categories": agent._encoder.seen(),
        "scaling": [_text(array) for array in model.scaling],
        "regressions": {name: _text(array) for name, array in model.state._asdict().items()},
        "pending": [
            [i, each.decision.arm, each.situation.arm, each.decision.probability, _text(each.situation.x), each.situation.first]
            for i, each in agent._pending.items()
        ],
        "first": [
            [_text(each.raw), _text(each.fitted), each.arm, None if np.isnan(each.reward) else each.reward]
            for each in (model.first if model.seen < FIRST else [])
        ],
        "rewarded": model.rewarded if model.seen < FIRST else [],
    }


def restored(kind: type[ContextualAgent], state: Any) -> ContextualAgent:
    """The agent that `to_plain` described."""
    if not isinstance(state, dict) or type(state.get("contextual")) is not int:
        raise ValueError(f"{WHO}: not the state of a contextual agent")
    if state["contextual"] != FORMAT:
        raise ValueError(f"{WHO}: format must be {FORMAT}, got {state['contextual']}")
    try:
        options = {name: state[name] for name in ("features", "seed", "price", "optimism", "floor")}
        agent = kind(**{name: state[name] for name in ("arms", "actions") if name in state}, **options)
        agent._asked = validate.integer(WHO, "asked", state["asked"], 0, MOST_DECISIONS)
        agent._updates = validate.integer(WHO, "updates", state["updates"], 0, MOST_UPDATES)
        agent._encoder.restore(state["categories"])
        agent._policy = _array("policy", state["policy"], agent._policy.shape)
        agent._statistics.restore(WHO, state["statistics"])
        _restore_model(agent, state)
        _restore_pending(agent, state["pending"])
    except KeyError as error:
        raise ValueError(f"{WHO}: the state lacks {error.args[0]!r}") from None
    except (TypeError, AttributeError, IndexError, OverflowError, binascii.Error):
        raise ValueError(f"{WHO}: the state is damaged") from None
    return agent


def _restore_model(agent: ContextualAgent, state: dict[str, Any]) -> None:
    model = agent._model
    model.seen = validate.integer(WHO, "seen", state["seen"], 0)
    for array, text in zip(model.scaling, state["scaling"], strict=True):
        array[:] = _array("scaling", text, array.shape)
    for name in Regressions._fields:
        array = getattr(model.state, name)
        array[...] = _array(name, state["regressions"][name], array.shape)
    size = (len(model.scaling.centre),)
    for raw, fitted, arm, reward in state["first"]:
        values = _array("first", raw, size), _array("first", fitted, size)
        model.first.append(Observed(*values, _place(agent, arm), np.nan if reward is None else float(reward)))
    model.rewarded = [validate.integer(WHO, "rewarded", i, 0, len(model.first) - 1) for i in state["rewarded"]]


def _restore_pending(agent: ContextualAgent, entries: Any) -> None:
    from .contextual_agent import PendingDecision

    size = (agent._model.state.counted.shape[1],)
    for identity, arm, place, probability, x, first in entries:
        number = validate.integer(WHO, "pending id", identity, 0, agent._asked - 1)
        if agent._pending and number <= next(reversed(agent._pending)):
            raise ValueError(f"{WHO}: pending ids must be in ascending order, got {number}")
        if not 0 < validate.number(WHO, "pending propensity", probability) <= 1 + 1e-9:
            raise ValueError(f"{WHO}: pending propensity must be above 0 and at most 1, got {probability}")
        situation = Situation(
            _place(agent, place), _array("pending", x, size), validate.integer(WHO, "first", first, -1, FIRST - 1)
        )
        agent._pending[number] = PendingDecision(Decision(number, arm, probability), situation)


def _place(agent: ContextualAgent, place: Any) -> int:
    return validate.integer(WHO, "place of an arm", place, -1, max(agent.n_arms, 1) - 1)


def _text(values: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode()


def _array(name: str, text: str, shape: tuple[int, ...]) -> np.ndarray:
    values = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f8")
    if values.size != int(np.prod(shape)):
        raise ValueError(f"{WHO}: {name} must have {int(np.prod(shape))} numbers, got {values.size}")
    return values.reshape(shape).copy()
