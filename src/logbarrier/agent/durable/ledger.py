"""The ledger of an experiment: calls that change its agent and its journal alike. For one thread at a time."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from typing import Any, Literal

from ...base import validate
from ..any_agent import add_arm, ask, observe, plain_actions, plain_context
from ..arm_statistics import ArmStatistics
from ..pending import Decision
from .ask_detail import AskDetail
from .database import Event
from .journaled_agent import JournaledAgent, plain_name
from .subjects import Assignment, checked_subject

ON, PAUSED, ENDED = "on", "paused", "ended"  # the states of an experiment


class SettledError(ValueError):
    """A decision that was told something else, forgotten or closed."""


class StoppedError(ValueError):
    """An experiment that is paused or has ended makes no decisions."""


class Ledger(JournaledAgent):
    """Calls change the agent in memory first, then, with `write` and a commit, the disk. Answer them after the commit.

    Two settings close decisions: one older than `ttl` seconds is told `default_reward`, or forgotten where that is None.
    """

    @property
    def state(self) -> str:
        """ON, PAUSED or ENDED."""
        return str(self.settings.get("state", ON))

    def ask(
        self,
        available: Sequence[Hashable] | None = None,
        *,
        subject: str | None = None,
        context: Any = None,
        actions: Any = None,
    ) -> Decision:
        """Draw an arm; a subject gets its latest decision again, as long as that stands, whatever its context is now."""
        if self.state != ON:
            winner = self.settings.get("winner")
            named = "" if winner is None else f"; its winner is {winner!r}"
            raise StoppedError(f"Experiment.ask: the experiment is {self.state}{named}")
        chosen: Any = available
        if available is not None and hasattr(available, "__iter__") and not isinstance(available, str):
            chosen = [plain_name(arm) for arm in available]
        offered = plain_actions(actions)
        if subject is not None:
            among = chosen if offered is None else [name for name, _ in offered]
            standing = self._standing(checked_subject("Experiment.ask", subject), among)
            if standing is not None:
                return standing
        plain = plain_context(context)
        decision = ask(self.agent, chosen, plain, None if offered is None else dict(offered))
        has_detail = chosen is not None or subject is not None or plain is not None or offered is not None
        detail = AskDetail(chosen, subject, plain, offered).text() if has_detail else None
        event = self._note("ask", decision.id, arm=decision.arm, probability=decision.probability, detail=detail)
        if subject is not None:
            name = str(event.arm)
            self._subjects.assign(subject, Assignment(decision.id, event.number, event.time, name, decision.probability))
        return decision

    def _standing(self, subject: str, available: Any) -> Decision | None:
        """The decision of a subject, until its reward window closes, its arm is removed or is not available."""
        assignment, ttl = self._subjects.find(subject), self.settings.get("ttl")
        if assignment is None or self._subjects.has_lost_its_arm(assignment):
            return None
        arm = json.loads(assignment.arm)
        is_late = ttl is not None and assignment.time < self._now() - ttl
        if is_late or (available is not None and arm not in available):
            return None
        if assignment.decision not in self._asked_at:
            settled = self._closing_event(assignment.decision)
            if settled is None or settled.kind != "tell":
                return None
        return Decision(assignment.decision, arm, assignment.probability)

    def decision_of(self, subject: str) -> int:
        """The id of the latest decision of a subject."""
        assignment = self._subjects.find(checked_subject("Experiment.tell", subject))
        if assignment is None:
            raise KeyError(f"Experiment.tell: subject {subject!r} has no decision")
        return assignment.decision

    def tell(self, decision: Decision | int, reward: float) -> Literal["told", "duplicate"]:
        """Learn from a reward, once: the same again is a duplicate, another is refused."""
        identity = decision.id if isinstance(decision, Decision) else decision
        checked = validate.number("DurableAgent.tell", "reward", reward) + 0.0  # no negative zero: SQLite has none
        settled = self._settled("DurableAgent.tell", identity)
        if settled is None:
            self.agent.tell(decision, checked)
            self._note("tell", identity, reward=checked)
            return "told"
        if settled.kind == "tell" and settled.reward == checked:
            return "duplicate"
        if settled.kind == "tell":
            raise SettledError(f"DurableAgent.tell: decision {identity} was told {settled.reward} already, got {checked}")
        closed = "was forgotten" if settled.kind == "forget" else "was closed, since no reward came in time"
        raise SettledError(f"DurableAgent.tell: decision {identity} {closed}")

    def observe(self, arm: Hashable, reward: float, *, probability: float | None = None, context: Any = None) -> None:
        """Learn from a pull that this agent did not draw."""
        checked = validate.number("DurableAgent.observe", "reward", reward) + 0.0
        given = None if probability is None else validate.number("DurableAgent.observe", "probability", probability)
        plain, pulled = plain_context(context), plain_context(arm)
        observe(self.agent, pulled, checked, given, plain)
        detail = AskDetail(context=plain).text()
        self._note("observe", None, arm=pulled, reward=checked, probability=given, detail=detail)

    def forget(self, decision: Decision | int) -> Literal["forgotten", "duplicate"]:
        """Drop a decision, once: again is a duplicate; one that has a reward, or was closed, is refused."""
        identity = decision.id if isinstance(decision, Decision) else decision
        settled = self._settled("DurableAgent.forget", identity)
        if settled is None:
            self.agent.forget(decision)
            self._note("forget", identity)
            return "forgotten"
        if settled.kind == "forget":
            return "duplicate"
        closed = f"was told {settled.reward} already" if settled.kind == "tell" else "was closed, since no reward came in time"
        raise SettledError(f"DurableAgent.forget: decision {identity} {closed}")

    def add_arm(self, arm: Hashable, *, probability: float | None = None) -> None:
        """Add an arm."""
        given = None if probability is None else validate.number("DurableAgent.add_arm", "probability", probability)
        add_arm(self.agent, arm, given)
        self._note("add_arm", None, arm=self.agent.arms[-1], probability=given)
        self._new_arm_sets.append((self._number, self.agent.arms))

    def remove_arm(self, arm: Hashable) -> None:
        """Remove an arm."""
        self.agent.remove_arm(arm)
        event = self._note("remove_arm", None, arm=arm)
        self._subjects.remove_arm(str(event.arm), event.number)
        self._new_arm_sets.append((self._number, self.agent.arms))

    def expire(self) -> None:
        """Close the decisions that have been pending longer than ttl."""
        ttl, default_reward = self.settings.get("ttl"), self.settings.get("default_reward")
        if ttl is None:
            return
        oldest_allowed = self._now() - ttl
        late = []
        for identity, asked_at in self._asked_at.items():  # oldest first, since time never runs backwards
            if asked_at >= oldest_allowed:
                break
            late.append(identity)
        for identity in late:
            if default_reward is None:
                self.agent.forget(identity)
            else:
                self.agent.tell(identity, default_reward)
            self._note("expire", identity, reward=default_reward)

    def _settled(self, owner: str, identity: Any) -> Event | None:
        """What closed a decision; None if it is pending or was never asked."""
        if type(identity) is not int or identity in self._asked_at or not 0 <= identity < self.agent.asked:
            return None
        settled = self._closing_event(identity)
        if settled is None:
            raise SettledError(f"{owner}: decision {identity} was closed so long ago that its record was dropped")
        return settled

    def _closing_event(self, identity: int) -> Event | None:
        """The event that settled a decision which is not pending; None where it was dropped."""
        unwritten = (e for e in self._new if e.decision == identity and e.kind != "ask")
        return next(unwritten, None) or self._journal.settled(identity)


def has_features(settings: dict[str, Any]) -> bool:
    """Whether an experiment with these settings decides by context: a list holds the features of arms instead."""
    return not isinstance(settings.get("made of", {}).get("features"), list | None)


def seen_of(ledger: Ledger) -> tuple[tuple[Any, ...], ArmStatistics, dict[str, Any]]:
    """The arms, what was seen of them, and the settings: copies, for a summary outside the turn of the ledger."""
    if not ledger.agent.arms:
        raise ValueError("Experiment.summary: an experiment with actions has no arms; its log has what was offered")
    return ledger.agent.arms, ledger.agent._statistics.copy(), dict(ledger.settings)
