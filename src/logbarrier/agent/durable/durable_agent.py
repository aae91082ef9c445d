"""DurableAgent: ask and tell that survive a kill, shared by any number of threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...bandits.algorithms.rule import Rule
from ...base import validate
from ..agent import Agent
from ..any_agent import AnyAgent
from ..contextual.contextual_agent import ContextualAgent
from ..inputs import below_one, checked_names
from .checksums import damaged
from .database import DEFAULT
from .decision_file import DecisionFile
from .experiment import Experiment
from .settings import closing_settings

UNFIT = ("start", "means")  # where decisions depend on contexts


class DurableAgent(Experiment):
    """An `Agent` in a file: every call is on disk before it is answered.

    path            the file, an SQLite database; created where there is none, together with path.lock
    rule, arms      as for Agent; for a file that exists they may be left out, and must agree if given
    seed, floor     likewise; 0 at creation unless given
    start, means    likewise; None at creation unless given
    features        likewise; with a rule such as lb.LogDetSGB the features (K, m) of the arms. Without a rule they describe
                    contexts: the agent is a `ContextualAgent`, and every ask needs a context
    actions         likewise, in place of arms: how many features an action has; then every ask offers actions
    ttl             seconds after which a decision without a reward is closed; None: never
    default_reward  the reward of a closed decision; None: it is forgotten
    clock           seconds; unless given, the time of day at opening, then steady

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
        features: Any = None,
        actions: int | None = None,
        ttl: float | None = None,
        default_reward: float | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.path = checked_path(path)
        if rule is not None:
            validate.instance("DurableAgent", "rule", rule, Rule, "a rule such as SGB(learning_rate=0.1)")
        if seed is not None:
            validate.integer("DurableAgent", "seed", seed, 0)
        if floor is not None:
            below_one("DurableAgent", "floor", floor)
        closing = closing_settings("DurableAgent", ttl, default_reward)
        names = None if arms is None else checked_names(arms)
        given = {"arms": names, "seed": seed, "start": start, "means": means, "floor": floor}
        given |= {"features": features, "actions": actions}
        if not self.path.exists():
            self._new_agent(rule, given)  # raises before a file is made
        super().__init__(DecisionFile(self.path, rules={} if rule is None else {DEFAULT: rule}, clock=clock), DEFAULT)
        try:
            self.file.do(lambda file: self._open(file, rule, given, closing))
        except BaseException:
            self.file.close()
            raise

    def _new_agent(self, rule: Rule | None, given: dict[str, Any]) -> AnyAgent:
        by_context = given["features"] is not None or given["actions"] is not None
        if (given["arms"] is None) == (given["actions"] is None) or (rule is None and not by_context):
            raise ValueError(f"DurableAgent: {self.path} is new, so it needs arms, and a rule or features; or actions")
        return new_agent(rule, {**given, "seed": given["seed"] or 0, "floor": given["floor"] or 0.0})

    def _open(self, file: DecisionFile, rule: Rule | None, given: dict[str, Any], closing: dict[str, float]) -> None:
        if DEFAULT not in file.ledgers and DEFAULT not in file.unreadable:
            agent = self._new_agent(rule, given)
            file.create(DEFAULT, agent, {"made of": made_of(agent, given), **closing})
        ledger = file.ledger(DEFAULT)
        if "made of" not in ledger.settings:
            raise damaged(self.path, "settings has no row 'made of'")
        for name, value in {"rule": None if rule is None else rule.to_dict(), **given}.items():
            plain, made_with = _plain(value), ledger.settings["made of"].get(name)  # the first version wrote no start or means
            if plain is not None and plain != made_with:
                raise ValueError(f"DurableAgent: {self.path} was made with {name} {made_with!r}, got {plain!r}")
        ledger.set(**closing)

    def close(self) -> None:
        """Write a snapshot and release the lock; do nothing in a forked child."""
        self.file.close()

    def __enter__(self) -> DurableAgent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"DurableAgent({str(self.path)!r}, {self.file.ledgers[DEFAULT].agent!r})"


def checked_path(path: str | Path) -> Path:
    """The whole path of a file whose folder exists."""
    whole = Path(path).resolve()
    if not whole.parent.is_dir():
        raise OSError(f"DurableAgent: there is no folder {whole.parent}")
    return whole


def new_agent(rule: Rule | None, given: dict[str, Any]) -> AnyAgent:
    """An agent with a rule, which may use features of arms, or one with features of contexts."""
    if rule is not None:
        if given.get("actions") is not None:
            raise ValueError("DurableAgent: actions must be left out where there is a rule")
        return Agent(rule, **{name: value for name, value in given.items() if name != "actions"})
    unfit = next((name for name in UNFIT if given.get(name) is not None), None)
    if unfit is not None:
        raise ValueError(f"DurableAgent: {unfit} must be left out where there are features")
    return ContextualAgent(**{name: value for name, value in given.items() if name not in UNFIT and value is not None})


def made_of(agent: AnyAgent, given: dict[str, Any]) -> dict[str, Any]:
    """What a new agent was made of, as plain values."""
    plain: dict[str, Any] = _plain(given)
    return plain | {"rule": agent.rule.to_dict(), "arms": list(agent.arms), "seed": agent.seed, "floor": agent.floor}


def _plain(value: Any) -> Any:
    """As JSON gives it back."""
    return json.loads(
        json.dumps(value, default=lambda odd: odd.tolist() if isinstance(odd, np.generic | np.ndarray) else str(odd))
    )
