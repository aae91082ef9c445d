"""DurableAgent: ask and tell that survive a kill, shared by any number of threads."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from threading import Lock as ThreadLock
from typing import Any, Literal, TypeVar, cast

import numpy as np

from ...bandits.algorithms.rule import Rule
from ...base import validate
from ...base.failure import INVALID
from ..agent import Agent
from ..inputs import below_one, checked_names, checked_reward
from ..pending import Decision
from .checksums import damaged
from .database import reading
from .journal import Journal, Mark
from .ledger import Ledger
from .lock import locked
from .log import read_log

Result = TypeVar("Result")
Call = Callable[[Ledger], Result]


class DurableAgent:
    """An `Agent` in a file: every call is on disk before it is answered.

    path            the file, an SQLite database; created where there is none, together with path.lock
    rule, arms      as for Agent; for a file that exists they may be left out, and must agree if given
    seed, floor     likewise; 0 at creation unless told
    start, means    likewise; None at creation unless told
    ttl             seconds after which a decision without a reward is closed; None: never
    default_reward  what a closed decision is told; None: it is forgotten
    clock           seconds; unless told, the time of day at opening, then steady

    Exactly once: a reward told again is a "duplicate"; another one for the same decision is refused; ids never repeat. One
    process at a time, any number of threads; calls that come while the disk is busy share its next write.

    >>> import logbarrier as lb, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "agent.db"
    >>> with lb.DurableAgent(path, rule=lb.SGB(learning_rate=0.1), arms=["a", "b"]) as agent:
    ...     decision = agent.ask()
    >>> with lb.DurableAgent(path) as agent:
    ...     agent.tell(decision, reward=1.0), agent.tell(decision, reward=1.0)
    ('told', 'duplicate')
    """

    def __init__(
        self,
        path: str | Path,
        *,
        rule: Rule | None = None,
        arms: Sequence[Hashable] | None = None,
        seed: int | None = None,
        start: Any = None,
        means: Any = None,
        floor: float | None = None,
        ttl: float | None = None,
        default_reward: float | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.path = Path(path).resolve()
        if not self.path.parent.is_dir():
            raise OSError(f"DurableAgent: there is no folder {self.path.parent}")
        if rule is not None:
            validate.instance("DurableAgent", "rule", rule, Rule, "a rule such as SGB(learning_rate=0.1)")
        if seed is not None:
            validate.integer("DurableAgent", "seed", seed, 0)
        if floor is not None:
            below_one("DurableAgent", "floor", floor)
        if ttl is not None:
            validate.positive("DurableAgent", "ttl", ttl)
        if default_reward is not None:
            checked_reward("DurableAgent", default_reward)
        names = None if arms is None else checked_names(arms)
        given = {"arms": names, "seed": seed, "start": start, "means": means, "floor": floor}
        if not self.path.exists():
            self._new_agent(rule, given)  # raises before a file is made
        self._process = os.getpid()
        self._closed = self._stale = False
        self._turn, self._queue, self._compacting = ThreadLock(), deque[_Ticket](), ThreadLock()
        with contextlib.ExitStack() as undo:
            self._lock = locked(self.path.with_name(self.path.name + ".lock"))
            undo.callback(self._lock.release)
            self._journal = Journal(self.path)
            undo.callback(self._journal.close)
            with reading(self.path):
                self._open(rule, given, clock or _steady_clock())
                self._set_closing(ttl, default_reward)
            undo.pop_all()

    def _new_agent(self, rule: Rule | None, given: dict[str, Any]) -> Agent:
        if rule is None or given["arms"] is None:
            raise ValueError(f"DurableAgent: {self.path} is new, so it needs a rule and arms")
        return Agent(rule, **{**given, "seed": given["seed"] or 0, "floor": given["floor"] or 0.0})

    def _open(self, rule: Rule | None, given: dict[str, Any], clock: Callable[[], float]) -> None:
        if self._journal.is_new:
            agent, now = self._new_agent(rule, given), float(clock())
            birth = json.dumps({"agent": agent.state_dict(), "asked_at": [], "told": 0, "reward_sum": 0.0, "time": now})
            made_of = {name: _plain(value) for name, value in given.items()}
            made_of |= {"rule": agent.rule.to_dict(), "arms": list(agent.arms), "seed": agent.seed, "floor": agent.floor}
            first: dict[str, Any] = {"snapshot": (0, birth), "mark": Mark(0, now, 0, 0.0, "[]"), "arm_sets": [(0, agent.arms)]}
            self._journal.commit([], settings={"made of": made_of}, **first)
        if "made of" not in (stored := self._journal.settings()):
            raise damaged(self.path, "settings has no row 'made of'")
        for name, value in {"rule": None if rule is None else rule.to_dict(), **given}.items():
            plain, made_with = _plain(value), stored["made of"].get(name)  # earlier versions wrote neither start nor means
            if plain is not None and plain != made_with:
                raise ValueError(f"DurableAgent: {self.path} was made with {name} {made_with!r}, got {plain!r}")
        self._ledger = Ledger(self._journal, rule, clock)

    def _set_closing(self, ttl: float | None, default_reward: float | None) -> None:
        stored, given = self._journal.settings(), {"ttl": ttl, "default_reward": default_reward}
        chosen = {name: stored.get(name) if value is None else float(value) + 0.0 for name, value in given.items()}
        if chosen != {name: stored.get(name) for name in chosen}:
            self._journal.commit([], settings=chosen)
        self._ledger.ttl, self._ledger.default_reward = chosen["ttl"], chosen["default_reward"]

    def perform(self, calls: Sequence[Call[Any]]) -> list[Any]:
        """Several calls, each a function of the ledger, with one write for all; per call what it returned, or its exception.

        >>> import logbarrier as lb, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "agent.db"
        >>> agent = lb.DurableAgent(path, rule=lb.SGB(learning_rate=0.1), arms=["a", "b"])
        >>> first, second = agent.perform([lambda ledger: ledger.ask(), lambda ledger: ledger.ask()])
        >>> agent.close()
        """
        self._refuse_fork()
        with self._turn:
            return self._perform(calls)

    def _refuse_fork(self) -> None:
        """Before any lock is waited for: in a child, its holder may be a thread that does not exist."""
        if os.getpid() != self._process:
            raise ValueError("DurableAgent: this process is a fork of the one that opened the agent; open it after forking")

    def _perform(self, calls: Sequence[Call[Any]]) -> list[Any]:
        if self._closed:
            raise ValueError(f"DurableAgent: {self.path} is closed")
        ledger = self._ledger
        try:
            if self._stale:
                ledger.recover()
            self._stale = True  # until all is on disk, memory is ahead of it
            ledger.expire()
            results: list[Any] = []
            for call in calls:
                try:
                    results.append(call(ledger))
                except (*INVALID, KeyError) as error:  # the call was wrong, and changed nothing
                    results.append(error)
            ledger.commit()
        except sqlite3.Error as error:
            raise OSError(f"DurableAgent: {self.path} cannot be written ({error}); nothing was done") from None
        self._stale = False
        return results

    def _one(self, call: Call[Result]) -> Result:
        """One call, written together with those of the other threads that wait for the disk."""
        self._refuse_fork()
        ticket = _Ticket(call)
        self._queue.append(ticket)
        with self._turn:
            if not ticket.done:
                batch = [self._queue.popleft() for _ in range(len(self._queue))]
                outcomes: list[Any] = [OSError("DurableAgent: interrupted; nothing was done")] * len(batch)
                try:
                    outcomes = self._perform([each.call for each in batch])
                except Exception as error:
                    outcomes = [error] * len(batch)
                finally:
                    for each, outcome in zip(batch, outcomes, strict=True):
                        each.outcome, each.done = outcome, True
        if isinstance(ticket.outcome, Exception):
            raise ticket.outcome
        return cast(Result, ticket.outcome)

    def ask(self, available: Sequence[Hashable] | None = None) -> Decision:
        """Draw an arm from the policy, or from its restriction to the arms that are available."""
        return self._one(lambda ledger: ledger.ask(available))

    def tell(self, decision: Decision | int, reward: float) -> Literal["told", "duplicate"]:
        """Learn from the reward of a decision; "duplicate" if it had been told already."""
        return self._one(lambda ledger: ledger.tell(decision, reward))

    def observe(self, arm: Hashable, reward: float, *, probability: float | None = None) -> None:
        """Learn from a pull that this agent did not draw; see `Agent.observe`."""
        self._one(lambda ledger: ledger.observe(arm, reward, probability=probability))

    def forget(self, decision: Decision | int) -> Literal["forgotten", "duplicate"]:
        """Drop a decision that will never have a reward; "duplicate" if it had been forgotten already."""
        return self._one(lambda ledger: ledger.forget(decision))

    def add_arm(self, arm: Hashable, *, probability: float | None = None) -> None:
        """Add an arm; see `Agent.add_arm`."""
        self._one(lambda ledger: ledger.add_arm(arm, probability=probability))

    def remove_arm(self, arm: Hashable) -> None:
        """Remove an arm; see `Agent.remove_arm`."""
        self._one(lambda ledger: ledger.remove_arm(arm))

    @property
    def policy(self) -> np.ndarray:
        """Probabilities (n_arms,) of the arms now, the floor included."""
        return self._one(lambda ledger: ledger.agent.policy)

    @property
    def arms(self) -> tuple[Any, ...]:
        """The names of the arms now."""
        return self._one(lambda ledger: ledger.agent.arms)

    @property
    def pending(self) -> tuple[int, ...]:
        """The ids of the decisions that wait for a reward, oldest first."""
        return self._one(lambda ledger: ledger.agent.pending)

    @property
    def updates(self) -> int:
        """How many rewards have been learnt from."""
        return self._one(lambda ledger: ledger.agent.updates)

    def state_dict(self) -> dict[str, Any]:
        """As `Agent.state_dict`, from which an agent in memory can go on."""
        return self._one(lambda ledger: ledger.agent.state_dict())

    def replayed(self) -> Agent:
        """An agent in memory, rebuilt by replaying the journal from its creation, or from the last `compact`.

        It equals this one to the bit.
        """
        return self._one(lambda ledger: ledger.replayed())

    def compact(self, *, keep: float) -> int:
        """Drop from the journal what was closed `keep` seconds ago or earlier; how many decisions and other events that were.

        The policy, the ids, and whatever waits for a reward stay. Dropped decisions are no longer in the log, so export that
        first; a reward told for one of them is refused. Others may use the agent meanwhile; a crash loses nothing else.
        """
        age = validate.at_least_zero("DurableAgent.compact", "keep", keep)
        until, total = self._one(lambda ledger: ledger.ago(age)), 0
        with self._compacting:  # two that drop at once would count the same decisions
            while dropped := self._one(lambda ledger: ledger.drop(until)):
                total += dropped
        return total

    def log(self) -> Iterator[dict[str, Any]]:
        """The decisions so far, each with its propensity and what became of it; see `read_log`."""
        return read_log(self.path)

    def close(self) -> None:
        """Write a snapshot and release the lock; do nothing in a forked child."""
        if os.getpid() != self._process:
            return
        with self._turn:
            if self._closed:
                return
            self._closed = True
            try:
                if not self._stale:
                    self._ledger.save_snapshot()
            except sqlite3.Error:
                pass  # the journal has it all; the next start replays it
            finally:
                self._journal.close()
                self._lock.release()

    def __enter__(self) -> DurableAgent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"DurableAgent({str(self.path)!r}, {self._ledger.agent!r})"


class _Ticket:
    """A call that waits its turn, and what came of it."""

    def __init__(self, call: Call[Any]) -> None:
        self.call, self.done = call, False
        self.outcome: Any = None


def _steady_clock() -> Callable[[], float]:
    """The time of day when opened, from then on unmoved by whoever sets the clock."""
    start = time.time() - time.monotonic()
    return lambda: start + time.monotonic()


def _plain(value: Any) -> Any:
    """As JSON gives it back."""
    return json.loads(
        json.dumps(value, default=lambda odd: odd.tolist() if isinstance(odd, np.generic | np.ndarray) else str(odd))
    )
