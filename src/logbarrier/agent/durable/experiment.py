"""An experiment in an open file of decisions: the calls of an agent, each on disk before it is answered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Literal, TypeVar, cast

import numpy as np

from ...bandits.algorithms.rule import Rule
from ...base import validate
from ...contexts.algorithms import Rule as ContextualRule
from ...statistics import LEVEL
from ..any_agent import AnyAgent
from ..contextual.segments import summarise_segments, without_verdict
from ..off_policy import Log, Value, doubly_robust
from ..pending import Decision
from ..summary import Summary, summarise
from .decision_file import DecisionFile
from .ledger import Ledger, has_features, seen_of
from .log import read_log
from .settings import CHANGEABLE, change

Result = TypeVar("Result")
Call = Callable[[Ledger], Result]


class Experiment:
    """The agent of one experiment; any number of threads may use it."""

    def __init__(self, file: DecisionFile, name: str) -> None:
        self.file, self.name = file, name
        self._compacting = threading.Lock()

    def perform(self, calls: Sequence[Call[Any]]) -> list[Any]:
        """Several calls, each a function of the ledger, with one write for all; per call what it returned, or its exception.

        >>> import logbarrier as lb, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "agent.db"
        >>> agent = lb.DurableAgent(path, rule=lb.SGB(learning_rate=0.1), arms=["a", "b"])
        >>> first, second = agent.perform([lambda ledger: ledger.ask(), lambda ledger: ledger.ask()])
        >>> agent.close()
        """
        self.file.refuse_fork()
        return self.file.commits.perform([self._on_ledger(call) for call in calls])

    def _on_ledger(self, call: Call[Result]) -> Callable[[DecisionFile], Result]:
        return lambda file: call(file.ledger(self.name))

    def _do(self, call: Call[Result]) -> Result:
        """One call, written together with those that other threads have queued."""
        return cast(Result, self.file.do(self._on_ledger(call)))

    def ask(
        self,
        available: Sequence[Hashable] | None = None,
        *,
        subject: str | None = None,
        context: Any = None,
        actions: Any = None,
    ) -> Decision:
        """Draw an arm from the policy, or from its restriction to the arms that are available.

        subject: a user or session. It is given the same decision again, until its reward window (ttl) closes, the decision is
        forgotten, or the arm is removed or not available. context: where the experiment has features.
        actions: where it has actions, those offered, by their features; see `ContextualAgent.ask`. They go into the journal.
        """
        return self._do(lambda ledger: ledger.ask(available, subject=subject, context=context, actions=actions))

    def tell(self, decision: Decision | int, reward: float) -> Literal["told", "duplicate"]:
        """Learn from the reward of a decision; "duplicate" if it had been told already."""
        return self._do(lambda ledger: ledger.tell(decision, reward))

    def tell_subject(self, subject: str, reward: float) -> Literal["told", "duplicate"]:
        """Learn from the reward of the latest decision of a subject."""
        return self._do(lambda ledger: ledger.tell(ledger.decision_of(subject), reward))

    def observe(self, arm: Hashable, reward: float, *, probability: float | None = None, context: Any = None) -> None:
        """Learn from a pull that this agent did not draw; see `Agent.observe`."""
        self._do(lambda ledger: ledger.observe(arm, reward, probability=probability, context=context))

    def forget(self, decision: Decision | int) -> Literal["forgotten", "duplicate"]:
        """Drop a decision that will never have a reward; "duplicate" if it had been forgotten already."""
        return self._do(lambda ledger: ledger.forget(decision))

    def add_arm(self, arm: Hashable, *, probability: float | None = None) -> None:
        """Add an arm; see `Agent.add_arm`."""
        self._do(lambda ledger: ledger.add_arm(arm, probability=probability))

    def remove_arm(self, arm: Hashable) -> None:
        """Remove an arm; see `Agent.remove_arm`."""
        self._do(lambda ledger: ledger.remove_arm(arm))

    def change(self, **settings: Any) -> None:
        """Change ttl, default_reward, baseline, difference or state: "on", "paused" or "ended", the last with a `winner`."""
        unknown = settings.keys() - CHANGEABLE
        if unknown:
            raise ValueError(f"Experiment.change: takes {', '.join(CHANGEABLE)}, got {min(unknown)!r}")
        self._do(lambda ledger: change(ledger, settings))

    @property
    def state(self) -> str:
        """Whether it is "on", "paused" or "ended"."""
        return self._do(lambda ledger: ledger.state)

    @property
    def rule(self) -> Rule | ContextualRule:
        """The rule by which it learns."""
        return self._do(lambda ledger: ledger.agent.rule)

    @property
    def arms(self) -> tuple[Any, ...]:
        """The names of the arms now."""
        return self._do(lambda ledger: ledger.agent.arms)

    @property
    def n_arms(self) -> int:
        """K."""
        return self._do(lambda ledger: ledger.agent.n_arms)

    @property
    def floor(self) -> float:
        """The least probability of an arm is floor/K."""
        return self._do(lambda ledger: ledger.agent.floor)

    @property
    def policy(self) -> np.ndarray:
        """Probabilities (n_arms,) of the arms now, the floor included."""
        return self._do(lambda ledger: ledger.agent.policy)

    @property
    def theta(self) -> np.ndarray:
        """Preferences (n_arms,), shifted to sum to zero."""
        return self._do(lambda ledger: ledger.agent.theta)

    @property
    def asked(self) -> int:
        """How many decisions were made; the next one has this id."""
        return self._do(lambda ledger: ledger.agent.asked)

    @property
    def updates(self) -> int:
        """How many rewards have been learnt from."""
        return self._do(lambda ledger: ledger.agent.updates)

    @property
    def pending(self) -> tuple[int, ...]:
        """The ids of the pending decisions, oldest first."""
        return self._do(lambda ledger: ledger.agent.pending)

    def summary(self, *, baseline: Any = None, difference: float | None = None, level: float = LEVEL) -> Summary:
        """Summarise the rewards of each arm and say which one wins; see `Agent.summary`.

        baseline, difference: by default those of the experiment.
        """
        arms, seen, settings = self._do(seen_of)
        chosen = {"baseline": settings.get("baseline"), "difference": settings.get("difference")}
        given = {"baseline": baseline, "difference": difference}
        found = summarise(arms, seen, level=level, **chosen | {name: v for name, v in given.items() if v is not None})
        return without_verdict(found) if has_features(settings) else found

    def segments(self, feature: str | int, *, level: float = LEVEL) -> dict[str, Summary]:
        """Summarise the arms for each value of a feature; numbers are split at their median."""
        arms = self._do(lambda ledger: ledger.agent.arms)
        return summarise_segments(self.log(), arms, feature, level=level)

    def value(self, policy: Any, *, level: float = LEVEL) -> Value:
        """Estimate what another policy would have earned: the name of an arm, for always that one, or as of `doubly_robust`.

        Only decisions with a reward count at which the policy could act. Contexts are used where the experiment has features.
        """
        features = self._do(lambda ledger: getattr(ledger.agent, "features", None) or None)
        return doubly_robust(Log.from_rows(self.log()), policy, features=features, level=level)

    def state_dict(self) -> dict[str, Any]:
        """As `Agent.state_dict`, from which an agent in memory can go on."""
        return self._do(lambda ledger: ledger.agent.state_dict())

    def replayed(self) -> AnyAgent:
        """An agent in memory, rebuilt by replaying the journal from its creation, or from the last `compact`.

        It equals this one to the bit.
        """
        return self._do(lambda ledger: ledger.replayed())

    def compact(self, *, keep: float) -> int:
        """Drop from the journal what was closed `keep` seconds ago or earlier; how many decisions and other events that were.

        The policy, the ids and the pending decisions stay. Dropped decisions are no longer in the log, so export that
        first; a reward told for one of them is refused. Others may use the agent meanwhile; a crash loses nothing else.
        """
        age = validate.at_least_zero("DurableAgent.compact", "keep", keep)
        until, total = self._do(lambda ledger: ledger.ago(age)), 0
        with self._compacting:  # two that drop at once would count the same decisions
            while dropped := self._do(lambda ledger: ledger.drop(until)):
                total += dropped
        return total

    def log(self) -> Iterator[dict[str, Any]]:
        """The decisions so far, each with its propensity and what became of it; see `read_log`."""
        return read_log(self.file.path, experiment=self.name)
