"""An agent together with its journal: loading, replaying and writing. The calls themselves are in ledger.py."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from ...bandits.algorithms.rule import Rule
from ..any_agent import AnyAgent, restored_agent
from .checksums import damaged
from .database import Event
from .journal import Journal, Mark, Old
from .replay import recount, replay
from .subjects import Subjects

EVENTS_PER_SNAPSHOT = 4096
BYTES_PER_EVENT = 64  # a snapshot may cost so much of the file per event since the last
MARKS = 200  # of the history: one whenever the journal has grown by a 200th
ARMS_IN_A_MARK = 8
DROPPED_AT_ONCE = 500  # so that no call is delayed for long


class JournaledAgent:
    """The agent of an experiment as its journal has it, and the events of the present batch.

    clock: seconds; the journal's time never runs backwards, whatever the clock does.
    """

    def __init__(self, journal: Journal, rule: Rule | None, clock: Callable[[], float]) -> None:
        self._journal, self._rule, self._clock = journal, rule, clock
        self._asked_at: dict[int, float]
        self.load()

    @classmethod
    def create(cls, journal: Journal, agent: AnyAgent, settings: dict[str, Any], clock: Callable[[], float]) -> Self:
        """Write a new agent as the first snapshot of a journal that is empty; return its ledger."""
        now = float(clock())
        birth = json.dumps({"agent": agent.state_dict(), "asked_at": [], "told": 0, "reward_sum": 0.0, "time": now})
        mark = Mark(0, now, 0, 0.0, "[]")
        journal.write([], snapshot=(0, birth), mark=mark, settings=settings, arm_sets=[(0, agent.arms)])
        return cls(journal, agent.rule if isinstance(agent.rule, Rule) else None, clock)

    def load(self) -> None:
        """Set the agent as the journal has it: the last snapshot, and the events after it."""
        self.settings = self._journal.settings()
        number, text = self._journal.snapshot()
        try:
            plain = json.loads(text)
            state, self._asked_at = plain["agent"], dict(plain["asked_at"])
            self._told, self._reward_sum, self._time = plain["told"], plain["reward_sum"], plain["time"]
        except (ValueError, KeyError, TypeError):
            raise damaged(self._journal.path, f"row {number} of snapshots is not the state of an agent") from None
        self.agent = self._restored(state, number)
        self._number = self._snapshot_at = number
        self._snapshot_size = len(text)
        self._marked_at = self._journal.last_mark().number
        for event in self._journal.events(number):
            try:
                replay(self.agent, event)
                self._follow(event)
            except KeyError:
                raise damaged(self._journal.path, f"row {event.number} of events does not fit those before it") from None
        self._offset = max(0.0, self._time - self._clock())  # the clock was set back while closed
        self._new: list[Event] = []
        self._new_settings: dict[str, Any] = {}
        self._subjects = Subjects(self._journal)
        self._new_arm_sets: list[tuple[int, tuple[Any, ...]]] = []
        self._drop: Old | None = None

    def _restored(self, state: dict[str, Any], number: int) -> AnyAgent:
        """The agent of the snapshot after event `number`; statistics that earlier versions did not store are counted again."""
        try:
            agent = restored_agent(state, self._rule)
        except ValueError as error:
            path = self._journal.path
            command = f"'logbarrier log {path} [--experiment NAME]'"
            remedy = f"If another version wrote {path}, open it with that one; {command} reads its decisions"
            raise ValueError(f"{error}. {remedy}") from None
        if "statistics" not in state:
            recount(agent, itertools.takewhile(lambda event: event.number <= number, self._journal.events(-1)))
        return agent

    def set(self, **settings: Any) -> None:
        """Change settings."""
        changed = {name: value for name, value in settings.items() if self.settings.get(name) != value}
        self.settings |= changed
        self._new_settings |= changed

    def write(self) -> None:
        """Write everything since the last commit in the present transaction. Raises sqlite3.Error; `load` after that."""
        if not self._new and not self._new_settings and self._drop is None:
            return
        since = self._number - self._snapshot_at
        snapshot, mark = None, None
        if self._drop is not None or (since >= EVENTS_PER_SNAPSHOT and since * BYTES_PER_EVENT >= self._snapshot_size):
            snapshot = self._number, self.snapshot_text()
            self._snapshot_at, self._snapshot_size = self._number, len(snapshot[1])
        if self._number - self._marked_at >= max(16, self._number // MARKS):
            mark, self._marked_at = self.mark(), self._number
        self._journal.write(
            self._new,
            snapshot=snapshot,
            mark=mark,
            settings=self._new_settings,
            arm_sets=self._new_arm_sets,
            subjects=self._subjects.taken(),
            drop=self._drop,
        )
        self._new, self._new_settings, self._new_arm_sets, self._drop = [], {}, [], None

    def save_snapshot(self) -> None:
        """Write a snapshot, so that the next start has nothing to replay."""
        if self._number > self._snapshot_at:
            self._journal.write([], snapshot=(self._number, self.snapshot_text()), mark=self.mark())

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

    def replayed(self) -> AnyAgent:
        """An agent rebuilt by replaying the whole journal, from its creation or from when something was last dropped.

        Events of the present batch are part of it.
        """
        number, text = self._journal.snapshot(first=True)
        agent = self._restored(json.loads(text)["agent"], number)
        for event in itertools.chain(self._journal.events(number), self._new):
            replay(agent, event)
        return agent

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
    ) -> Event:
        name = None if arm is None else json.dumps(plain_name(arm))
        event = Event(self._number + 1, self._now(), kind, decision, name, reward, probability, detail)
        self._new.append(event)
        self._follow(event)
        return event

    def _follow(self, event: Event) -> None:
        """Update the numbers of the ledger itself by an event."""
        self._number, self._time = event.number, event.time
        if event.decision is not None and event.kind == "ask":
            self._asked_at[event.decision] = event.time
        elif event.decision is not None:
            del self._asked_at[event.decision]
        if event.reward is not None:
            self._told += 1
            self._reward_sum += event.reward


def plain_name(arm: Any) -> Any:
    """A NumPy number as Python's."""
    return arm.item() if isinstance(arm, np.generic) else arm
