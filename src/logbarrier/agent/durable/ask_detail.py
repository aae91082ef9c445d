"""What an `ask` event holds besides its arm: the arms that were available and the subject, as JSON.

A new property of decisions, such as a context, is one more field of `AskDetail`, one key of `text` and `read`, and one key of
`log_row` in log.py.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class AskDetail(NamedTuple):
    """available: names, None for all arms; subject: the user or session that the decision is for, None where none was named."""

    available: list[Any] | None = None
    subject: str | None = None

    def text(self) -> str | None:
        """As the column `detail` holds it; a list where there is no subject, as the first versions wrote it."""
        if self.subject is None:
            return None if self.available is None else json.dumps(self.available)
        available = {} if self.available is None else {"available": self.available}
        return json.dumps({**available, "subject": self.subject})


def read_detail(text: str | None) -> AskDetail:
    """The detail of an `ask` event."""
    plain = None if text is None else json.loads(text)
    if isinstance(plain, dict):
        return AskDetail(plain.get("available"), plain.get("subject"))
    return AskDetail(plain)
