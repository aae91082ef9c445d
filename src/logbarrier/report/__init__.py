"""A study -> its summary, figures, claims and one self-contained HTML page."""

from __future__ import annotations

from .publish import Published, publish

__all__ = ["Published", "publish"]
