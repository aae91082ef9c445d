"""Experiments: any number of named agents in one file."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...bandits.algorithms.rule import Rule
from ...base.failure import WrongTypeError
from ..recommended import recommended_rule
from .decision_file import DecisionFile
from .durable_agent import checked_path, made_of, new_agent
from .experiment import Experiment
from .ledger import ON, Ledger
from .settings import checked_settings

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Experiments:
    """Named experiments in one file, each an agent with the calls of `DurableAgent`.

    path   the file, created where there is none; the experiment of a file made by `DurableAgent` is called "default"
    rules  for experiments with user-defined rules: the rules by name of the experiment
    clock  as for `DurableAgent`

    >>> import logbarrier as lb, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "decisions.db"
    >>> with lb.Experiments(path) as experiments:
    ...     checkout = experiments.create("checkout", arms=["short", "long"])
    ...     decision = checkout.ask(subject="user 1")
    ...     again = checkout.ask(subject="user 1")
    ...     checkout.tell_subject("user 1", reward=1.0), decision == again, list(experiments)
    ('told', True, ['checkout'])
    """

    def __init__(
        self, path: str | Path, *, rules: Mapping[str, Rule] | None = None, clock: Callable[[], float] | None = None
    ) -> None:
        self.path = checked_path(path)
        self.file = DecisionFile(self.path, rules=rules or {}, clock=clock)

    def create(
        self,
        name: str,
        *,
        arms: Sequence[Hashable] | None = None,
        rule: Rule | None = None,
        seed: int | None = None,
        floor: float = 0.0,
        ttl: float | None = None,
        default_reward: float | None = None,
        baseline: Hashable | None = None,
        difference: float | None = None,
        features: int | Mapping[str, Any] | None = None,
        actions: int | None = None,
    ) -> Experiment:
        """Add an experiment.

        rule: the recommended one by default. seed: derived from the name by default, so that experiments draw independently.
        ttl, default_reward: as for `DurableAgent`. baseline, difference: as for `Agent.summary`.
        features: as for `ContextualAgent`; then there is no rule to choose, and every `ask` needs a context.
        actions: likewise, in place of arms; then every `ask` offers actions.
        """
        given = {"arms": arms, "rule": rule, "seed": seed, "floor": floor, "features": features, "actions": actions}
        settings = {"ttl": ttl, "default_reward": default_reward, "baseline": baseline, "difference": difference}
        self.file.do(lambda file: create(file, name, given, settings))
        return self[name]

    @property
    def unreadable(self) -> dict[str, str]:
        """The experiments that cannot be used, and why: their rule is not given, or another version wrote them."""
        return dict(self.file.unreadable)

    def __getitem__(self, name: str) -> Experiment:
        self.file.check(name)
        return Experiment(self.file, name)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self.file.ledgers))

    def __contains__(self, name: object) -> bool:
        return name in self.file.ledgers

    def __len__(self) -> int:
        return len(self.file.ledgers)

    def close(self) -> None:
        """Write snapshots and release the lock."""
        self.file.close()

    def __enter__(self) -> Experiments:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def create(file: DecisionFile, name: str, given: dict[str, Any], settings: dict[str, Any]) -> Ledger:
    """Add an experiment to a file, as a call: arguments as of `Experiments.create`."""
    if not isinstance(name, str):
        raise WrongTypeError(f"Experiments.create: name must be a string, got {name!r}")
    if NAME.fullmatch(name) is None:
        raise ValueError(
            f"Experiments.create: name must be 1 to 100 letters, digits, '.', '_' or '-', and start with a letter or digit, "
            f"got {name!r}"
        )
    seed = zlib.crc32(name.encode()) if given["seed"] is None else given["seed"]
    features, actions, rule = given.get("features"), given.get("actions"), given["rule"]
    by_context = features is not None or actions is not None
    if (given["arms"] is None) == (actions is None):
        raise ValueError("Experiments.create: give either arms or actions")
    if by_context and rule is not None:
        raise ValueError("Experiments.create: rule must be left out where there are features")
    plain = {"arms": given["arms"], "seed": seed, "floor": given["floor"], "features": features, "actions": actions}
    agent = new_agent(rule if by_context or rule is not None else recommended_rule(), plain)
    made = made_of(agent, {"start": None, "means": None, "features": features, "actions": actions})
    checked = checked_settings("Experiments.create", agent, settings)
    return file.create(name, agent, {"made of": made, "state": ON, **checked})
