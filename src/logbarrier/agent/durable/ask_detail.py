"""What an `ask` event holds besides its arm, as JSON: the arms available or the actions offered, the subject and the context.

A new property of decisions is one more field of `AskDetail`, and one key of `log_row` in log.py.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class AskDetail(NamedTuple):
    """available: names, None for all arms; subject: the user or session; context: as JSON has it; actions: [name, features]."""

    available: list[Any] | None = None
    subject: str | None = None
    context: Any = None
    actions: list[list[Any]] | None = None

    def text(self) -> str | None:
        """As the column `detail` holds it; a list where there are only arms, as the first versions wrote it."""
        given = {name: value for name, value in self._asdict().items() if value is not None}
        if given.keys() <= {"available"}:
            return None if self.available is None else json.dumps(self.available)
        return json.dumps(given)


def read_detail(text: str | None) -> AskDetail:
    """The detail of an `ask` event."""
    plain = None if text is None else json.loads(text)
    if isinstance(plain, dict):
        return AskDetail(**{name: plain.get(name) for name in AskDetail._fields})
    return AskDetail(plain)
