"""The calls about one experiment: decide, reward, arms, policy, summary. Each is answered when it is on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from ..agent.contextual.segments import summarise_segments, without_verdict
from ..agent.durable.ledger import Ledger, has_features, seen_of
from ..agent.durable.log import read_log
from ..agent.off_policy import Log, doubly_robust
from ..agent.summary import summarise
from .committer import Committer
from .fields import ACTIONS, ARM, ARMS, CONTEXT, FEATURE, ID, PROBABILITIES, PROPENSITY, REWARD, SHARE, SUBJECT, SUBSET
from .metrics import Metrics
from .operations import Asked, Body, operation

NUMBER: dict[str, Any] = {"type": "number"}
ARM_LIST: dict[str, Any] = {"arms": ARMS.schema}
UNKNOWN = "The experiment, the decision or the subject is unknown."


class Decisions:
    """The handlers: at /decide for the default experiment, at /experiments/{name}/decide for any, and so on."""

    of_experiments = (
        "/decide",
        "/reward",
        "/forget",
        "/observe",
        "/arms",
        "/arms/remove",
        "/policy",
        "/summary",
        "/segments",
        "/value",
    )

    def __init__(self, committer: Committer, metrics: Metrics) -> None:
        self._committer, self._metrics = committer, metrics

    async def _do(self, name: str, call: Callable[[Ledger], Any]) -> Any:
        return await self._committer.do(lambda file: call(file.ledger(name)))

    @operation(
        "POST",
        "/decide",
        "Draw an arm, from all or from those available, or an action. A subject is given the same decision again.",
        {"id": ID.schema, "arm": ARM.schema, "probability": PROPENSITY.schema},
        optional={"available": SUBSET, "subject": SUBJECT, "context": CONTEXT, "actions": ACTIONS},
        missing="There is no such experiment.",
    )
    async def decide(self, asked: Asked) -> Body:
        """Draw an arm."""
        decision = await self._do(asked.name, partial(Ledger.ask, **asked.body))
        self._metrics.decisions += 1
        return {"id": decision.id, "arm": decision.arm, "probability": decision.probability}

    @operation(
        "POST",
        "/reward",
        "Give the reward of a decision, by its id or by its subject. The same again is a duplicate; another one is refused.",
        {"result": {"enum": ["told", "duplicate"]}},
        needed={"reward": REWARD},
        optional={"id": ID, "subject": SUBJECT},
        one_of=("id", "subject"),
        missing=UNKNOWN,
    )
    async def reward(self, asked: Asked) -> Body:
        """Learn from the reward of a decision."""
        reward, subject = asked.body["reward"], asked.body.get("subject")
        if subject is None:
            result = await self._do(asked.name, partial(Ledger.tell, decision=int(asked.body["id"]), reward=reward))
        else:
            result = await self._do(asked.name, lambda ledger: ledger.tell(ledger.decision_of(subject), reward))
        self._metrics.rewards[result] += 1
        return {"result": result}

    @operation(
        "POST",
        "/forget",
        "Drop a decision that will have no reward. The same again is a duplicate; one with a reward is refused.",
        {"result": {"enum": ["forgotten", "duplicate"]}},
        needed={"id": ID},
        missing=UNKNOWN,
    )
    async def forget(self, asked: Asked) -> Body:
        """Drop a decision that will have no reward."""
        return {"result": await self._do(asked.name, partial(Ledger.forget, decision=int(asked.body["id"])))}

    @operation(
        "POST",
        "/observe",
        "Learn from a pull that another policy drew with this probability.",
        {"result": {"const": "observed"}},
        needed={"arm": ARM, "reward": REWARD},
        optional={"probability": PROPENSITY, "context": CONTEXT},
        missing="There is no such experiment.",
    )
    async def observe(self, asked: Asked) -> Body:
        """Learn from a pull of another policy."""
        await self._do(asked.name, partial(Ledger.observe, **asked.body))
        return {"result": "observed"}

    @operation("GET", "/arms", "The arms.", ARM_LIST, missing="There is no such experiment.")
    async def arms(self, asked: Asked) -> Body:
        """List the arms."""
        return {"arms": await self._do(asked.name, lambda ledger: ledger.agent.arms)}

    @operation(
        "POST",
        "/arms",
        "Add an arm, at 1/(K + 1) unless a probability is given.",
        ARM_LIST,
        needed={"arm": ARM},
        optional={"probability": SHARE},
        missing="There is no such experiment.",
    )
    async def add_arm(self, asked: Asked) -> Body:
        """Add an arm."""
        await self._do(asked.name, partial(Ledger.add_arm, **asked.body))
        return await self.arms(asked)

    @operation(
        "POST",
        "/arms/remove",
        "Remove an arm; its pending decisions can still have a reward.",
        ARM_LIST,
        needed={"arm": ARM},
        missing="There is no such experiment.",
    )
    async def remove_arm(self, asked: Asked) -> Body:
        """Remove an arm."""
        await self._do(asked.name, partial(Ledger.remove_arm, **asked.body))
        return await self.arms(asked)

    @operation(
        "GET",
        "/policy",
        "The probability of each arm now.",
        {
            **ARM_LIST,
            "policy": {"type": "array", "items": NUMBER},
            "updates": ID.schema,
            "pending": ID.schema,
            "rule": {"type": "object"},
        },
        missing="There is no such experiment.",
    )
    async def policy(self, asked: Asked) -> Body:
        """The probabilities now."""
        now: Body = await self._do(asked.name, policy_now)
        return now

    @operation(
        "GET",
        "/summary",
        "Each arm with its mean, an interval that holds at all times, lift and probability of being best; and which one wins.",
        {
            "arms": {"type": "array", "items": {"type": "object"}},
            "verdict": {"enum": ["winner", "no difference", "undecided"]},
            "sentence": {"type": "string"},
            "level": NUMBER,
        },
        missing="There is no such experiment.",
    )
    async def summary(self, asked: Asked) -> Body:
        """Which arm wins."""
        return await summary_of(self._committer, asked.name)

    @operation(
        "POST",
        "/segments",
        "The summary for each value of a feature of the contexts; numbers are split at their median.",
        {"segments": {"type": "object"}},
        needed={"feature": FEATURE},
        missing="There is no such experiment.",
    )
    async def segments(self, asked: Asked) -> Body:
        """Which arm wins in each segment."""
        path, arms = await self._committer.do(lambda file: (file.path, file.ledger(asked.name).agent.arms))

        def summarised() -> Body:
            found = summarise_segments(read_log(path, experiment=asked.name), arms, asked.body["feature"])
            return {"segments": {segment: summary.to_dict() for segment, summary in found.items()}}

        return await asyncio.to_thread(summarised)

    @operation(
        "POST",
        "/value",
        "What another policy, always one arm or probabilities, would have earned at the decisions at which it could act.",
        {
            **dict.fromkeys(("mean", "standard_error", "low", "high", "effective", "level"), NUMBER),
            "decisions": ID.schema,
            "rewarded": ID.schema,
            "doubt": {"type": "string"},
        },
        optional={"always": ARM, "policy": PROBABILITIES},
        one_of=("always", "policy"),
        missing="There is no such experiment.",
    )
    async def value(self, asked: Asked) -> Body:
        """What another policy would have earned."""
        path, agent = await self._committer.do(lambda file: (file.path, file.ledger(asked.name).agent))
        features, policy = getattr(agent, "features", None) or None, asked.body.get("always", asked.body.get("policy"))

        def estimated() -> Body:
            log = Log.from_rows(read_log(path, experiment=asked.name))
            return {**asdict(doubly_robust(log, policy, features=features, warn=False)), "rewarded": len(log)}

        return await asyncio.to_thread(estimated)


async def summary_of(committer: Committer, name: str) -> Body:
    """The summary of an experiment as plain values, computed outside the thread that writes."""
    arms, seen, settings = await committer.do(lambda file: seen_of(file.ledger(name)))
    options = {"baseline": settings.get("baseline"), "difference": settings.get("difference")}
    if options["baseline"] not in arms:
        options["baseline"] = None  # it was removed
    found = await asyncio.to_thread(partial(summarise, arms, seen, **options))
    return (without_verdict(found) if has_features(settings) else found).to_dict()


def policy_now(ledger: Ledger) -> dict[str, Any]:
    """What `GET /policy` answers."""
    agent = ledger.agent
    return {
        "arms": agent.arms,
        "policy": agent.policy.tolist(),
        "updates": agent.updates,
        "pending": len(agent.pending),
        "rule": agent.rule.to_dict(),
    }
