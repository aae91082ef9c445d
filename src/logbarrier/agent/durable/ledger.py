"""The ledger: an agent together with its journal, both moved by the same calls. For one thread; DurableAgent shares it."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal

import numpy as np

from ...bandits.algorithms.rule import Rule
from ...base import validate
from ..agent import Agent
from ..pending import Decision
from .checksums import damaged
from .database import Event
from .journal import Journal, Mark, Old

EVENTS_PER_SNAPSHOT = 4096
BYTES_PER_EVENT = 64  # a snapshot may cost so much of the file per event since the last
MARKS = 200  # of the history: one whenever the journal has grown by a 200th
ARMS_IN_A_MARK = 8
DROPPED_AT_ONCE = 500  # so that no caller waits long for its turn


class SettledError(ValueError):
    """A decision that was told something else, forgotten or closed."""


class Ledger:
    """What calls do: first to the agent in memory, then, with `commit`, to the disk. Nothing may be answered before.

    ttl, default_reward: a decision older than ttl seconds is told default_reward, or forgotten where that is None.
    clock: seconds; the journal's time never runs backwards, whatever the clock does.
    """

    def __init__(self, journal: Journal, rule: Rule | None, clock: Callable[[], float]) -> None:
        self.ttl: float | None = None
        self.default_reward: float | None = None
        self._journal, self._rule, self._clock = journal, rule, clock
        self._asked_at: dict[int, float]
        self._load()

    def _load(self) -> None:
        """The agent as the journal has it: the last snapshot, and the events after it."""
        number, text = self._journal.snapshot()
        try:
            plain = json.loads(text)
            state, self._asked_at = plain["agent"], dict(plain["asked_at"])
            self._told, self._reward_sum, self._time = plain["told"], plain["reward_sum"], plain["time"]
        except (ValueError, KeyError, TypeError):
            raise damaged(self._journal.path, f"row {number} of snapshots is not the state of an agent") from None
        self.agent = Agent.from_state_dict(state, rule=self._rule)
        self._number = self._snapshot_at = number
        self._snapshot_size = len(text)
        self._marked_at = self._journal.last_mark().number
        for event in self._journal.events(number):
            try:
                replay(self.agent, event)
                self._follow(event)
            except KeyError:
                raise damaged(self._journal.path, f"row {event.number} of events does not fit those before it") from None
        self._offset = max(0.0, self._time - self._clock())  # the clock was set back while nobody looked
        self._new: list[Event] = []
        self._new_arm_sets: list[tuple[int, tuple[Any, ...]]] = []
        self._drop: Old | None = None

    def recover(self) -> None:
        """After a failed commit: forget what was not written."""
        self._journal.reopen()
        self._load()

    def commit(self) -> None:
        """Everything since the last commit is on disk when this returns. Raises sqlite3.Error; then `recover`."""
        if not self._new and self._drop is None:
            return
        since = self._number - self._snapshot_at
        snapshot, mark = None, None
        if self._drop is not None or (since >= EVENTS_PER_SNAPSHOT and since * BYTES_PER_EVENT >= self._snapshot_size):
            snapshot = self._number, self.snapshot_text()
        if self._number - self._marked_at >= max(16, self._number // MARKS):
            mark = self.mark()
        self._journal.commit(self._new, snapshot=snapshot, mark=mark, arm_sets=self._new_arm_sets, drop=self._drop)
        if snapshot is not None:
            self._snapshot_at, self._snapshot_size = self._number, len(snapshot[1])
        if mark is not None:
            self._marked_at = self._number
        self._new, self._new_arm_sets, self._drop = [], [], None

    def save_snapshot(self) -> None:
        """So that the next start has nothing to replay."""
        if self._number > self._snapshot_at:
            self._journal.commit([], snapshot=(self._number, self.snapshot_text()), mark=self.mark())

    def snapshot_text(self) -> str:
        """The state of the agent and what the ledger adds to it."""
        return json.dumps(
            {
                "agent": self.agent.state_dict(),
                "asked_at": list(self._asked_at.items()),
                "told": self._told,
                "reward_sum": self._reward_sum,
                "time": self._time,
            }
        )

    def mark(self) -> Mark:
        """The most likely arms now, for the history."""
        policy = self.agent.policy
        likely = np.argsort(-policy, kind="stable")[:ARMS_IN_A_MARK]
        top = json.dumps([[self.agent.arms[i], float(policy[i])] for i in likely])
        return Mark(self._number, self._time, self._told, self._reward_sum, top)

    def replayed(self) -> Agent:
        """An agent rebuilt by replaying the whole journal, from its creation or from when something was last dropped.

        Events that wait for the next commit are part of it.
        """
        number, text = self._journal.snapshot(first=True)
        agent = Agent.from_state_dict(json.loads(text)["agent"], rule=self._rule)
        for event in itertools.chain(self._journal.events(number), self._new):
            replay(agent, event)
        return agent

    def ask(self, available: Sequence[Hashable] | None = None) -> Decision:
        """Draw an arm."""
        chosen = available
        if available is not None and hasattr(available, "__iter__") and not isinstance(available, str):
            chosen = [_plain_name(arm) for arm in available]
        decision = self.agent.ask(chosen)
        detail = None if chosen is None else json.dumps(chosen)
        self._note("ask", decision.id, arm=decision.arm, probability=decision.probability, detail=detail)
        return decision

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

    def observe(self, arm: Hashable, reward: float, *, probability: float | None = None) -> None:
        """Learn from a pull that this agent did not draw."""
        checked = validate.number("DurableAgent.observe", "reward", reward) + 0.0
        given = None if probability is None else validate.number("DurableAgent.observe", "probability", probability)
        self.agent.observe(arm, checked, probability=given)
        self._note("observe", None, arm=arm, reward=checked, probability=given)

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
        self.agent.add_arm(arm, probability=given)
        self._note("add_arm", None, arm=self.agent.arms[-1], probability=given)
        self._new_arm_sets.append((self._number, self.agent.arms))

    def remove_arm(self, arm: Hashable) -> None:
        """Remove an arm."""
        self.agent.remove_arm(arm)
        self._note("remove_arm", None, arm=arm)
        self._new_arm_sets.append((self._number, self.agent.arms))

    def expire(self) -> None:
        """Close the decisions that have waited longer than ttl."""
        if self.ttl is None:
            return
        oldest_allowed = self._now() - self.ttl
        late = []
        for identity, asked_at in self._asked_at.items():  # oldest first, since time never runs backwards
            if asked_at >= oldest_allowed:
                break
            late.append(identity)
        for identity in late:
            if self.default_reward is None:
                self.agent.forget(identity)
            else:
                self.agent.tell(identity, self.default_reward)
            self._note("expire", identity, reward=self.default_reward)

    def ago(self, seconds: float) -> float:
        """The journal's time so long ago."""
        return self._now() - seconds

    def drop(self, until: float) -> int:
        """Drop some of what was closed at time `until` or before; how many decisions and other events. 0: none are left."""
        self._drop = self._journal.old(until, DROPPED_AT_ONCE)
        dropped = len(self._drop.decisions) + len(self._drop.numbers)
        if dropped == 0:
            self._drop = None
        return dropped

    def _now(self) -> float:
        now = float(self._clock()) + self._offset
        return max(float(self._time), now) if math.isfinite(now) else float(self._time)

    def _note(
        self,
        kind: str,
        decision: int | None,
        *,
        arm: Any = None,
        reward: float | None = None,
        probability: float | None = None,
        detail: str | None = None,
    ) -> None:
        name = None if arm is None else json.dumps(_plain_name(arm))
        event = Event(self._number + 1, self._now(), kind, decision, name, reward, probability, detail)
        self._new.append(event)
        self._follow(event)

    def _follow(self, event: Event) -> None:
        """What the ledger itself remembers of an event."""
        self._number, self._time = event.number, event.time
        if event.decision is not None and event.kind == "ask":
            self._asked_at[event.decision] = event.time
        elif event.decision is not None:
            del self._asked_at[event.decision]
        if event.reward is not None:
            self._told += 1
            self._reward_sum += event.reward

    def _settled(self, owner: str, identity: Any) -> Event | None:
        """What closed a decision; None if it is pending or was never asked."""
        if type(identity) is not int or identity in self._asked_at or not 0 <= identity < self.agent.asked:
            return None
        unwritten = (e for e in self._new if e.decision == identity and e.kind != "ask")
        settled = next(unwritten, None) or self._journal.settled(identity)
        if settled is None:
            raise SettledError(f"{owner}: decision {identity} was closed so long ago that its record was dropped")
        return settled


def replay(agent: Agent, event: Event) -> None:
    """What an event did to the agent, once more."""
    arm = None if event.arm is None else json.loads(event.arm)
    match event.kind:
        case "ask":
            decision = agent.ask(None if event.detail is None else json.loads(event.detail))
            same = math.isclose(decision.probability, event.probability or 0.0, rel_tol=1e-9)
            if (decision.id, decision.arm) != (event.decision, arm) or not same:
                raise ValueError(f"DurableAgent: event {event.number} of the journal does not replay; is the rule the same?")
        case "tell":
            agent.tell(_of(event.decision), _of(event.reward))
        case "forget":
            agent.forget(_of(event.decision))
        case "expire" if event.reward is None:
            agent.forget(_of(event.decision))
        case "expire":
            agent.tell(_of(event.decision), _of(event.reward))
        case "observe":
            agent.observe(arm, _of(event.reward), probability=event.probability)
        case "add_arm":
            agent.add_arm(arm, probability=event.probability)
        case "remove_arm":
            agent.remove_arm(arm)
        case _:
            raise ValueError(f"DurableAgent: event {event.number} of the journal has an unknown kind {event.kind!r}")


def _plain_name(arm: Any) -> Any:
    return arm.item() if isinstance(arm, np.generic) else arm


def _of(value: Any) -> Any:
    if value is None:
        raise ValueError("DurableAgent: the journal is damaged")
    return value
