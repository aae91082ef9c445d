"""Results as plain JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any


class Plain:
    """A dataclass of plain values: numbers, words, and tuples and dataclasses of these."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]
