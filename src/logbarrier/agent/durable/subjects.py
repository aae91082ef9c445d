"""Subjects: the latest decision of each user or session, so that it is given the same arm again."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...base.failure import WrongTypeError
from .journal import Journal

LONGEST = 1000  # characters of a subject


class Assignment(NamedTuple):
    """A row of `subjects` after the subject: its latest decision, and of that the event's number, time, arm and propensity."""

    decision: int
    number: int
    time: float
    arm: str
    probability: float


class Subjects:
    """The assignments of an experiment: on disk, and those of the present batch."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._new: dict[str, Assignment] = {}
        self._removed_at: dict[str, int] = {}  # arm (JSON) -> the event that removed it last
        for (_, earlier), (number, arms) in journal.changes_of_arms():
            self._removed_at |= dict.fromkeys(set(earlier) - set(arms), number)

    def remove_arm(self, arm: str, number: int) -> None:
        """Note that an event has removed an arm."""
        self._removed_at[arm] = number

    def find(self, subject: str) -> Assignment | None:
        """The latest assignment of a subject."""
        found = self._new.get(subject)
        if found is None:
            row = self._journal.assignment(subject)
            found = None if row is None else Assignment(*row)
        return found

    def has_lost_its_arm(self, assignment: Assignment) -> bool:
        """Whether its arm was removed since."""
        return self._removed_at.get(assignment.arm, -1) > assignment.number

    def assign(self, subject: str, assignment: Assignment) -> None:
        """Set the assignment of a subject."""
        self._new[subject] = assignment

    def taken(self) -> list[tuple[Any, ...]]:
        """The rows of the present batch, which the journal is about to write."""
        rows: list[tuple[Any, ...]] = [(subject, *assignment) for subject, assignment in self._new.items()]
        self._new = {}
        return rows


def checked_subject(owner: str, subject: Any) -> str:
    """A text of 1 to LONGEST characters."""
    if not isinstance(subject, str):
        raise WrongTypeError(f"{owner}: subject must be a string, got {subject!r}")
    if not 0 < len(subject) <= LONGEST:
        raise ValueError(f"{owner}: subject must have 1 to {LONGEST} characters, got {len(subject)}")
    if any("\ud800" <= letter <= "\udfff" for letter in subject):
        raise ValueError(f"{owner}: subject must be text that UTF-8 can hold, got {subject!r}")
    return subject
