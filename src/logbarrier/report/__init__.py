"""A study -> its summary, figures and one self-contained HTML page."""

from __future__ import annotations

from .publish import figures, publish, publish_together

__all__ = ["figures", "publish", "publish_together"]
