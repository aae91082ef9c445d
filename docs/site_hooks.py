"""Hooks of the documentation site: its table of contents follows what is in docs/, and links out of docs/ become file names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

OUTWARD = re.compile(r"\[([^\]]*)\]\(\.\./([^)#]+)\)")


def on_config(config: Any) -> Any:
    """Leave out listed pages that do not exist, and list those that exist under "More"."""
    docs = Path(config["docs_dir"])
    listed = set(_pages(config["nav"]))
    config["nav"] = _existing(config["nav"], docs)
    more = [page.name for page in sorted(docs.glob("*.md")) if page.name not in listed]
    if more:
        config["nav"].append({"More": more})
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """A link to a file of the repository that is no page becomes the file's name; a broken one stays, and is warned of."""
    root = Path(config["docs_dir"]).parent

    def named(link: re.Match[str]) -> str:
        text, path = link.groups()
        if not (root / path).exists():
            return link[0]
        return text if path.rpartition("/")[2] in text else f"{text} (`{path}`)"

    return OUTWARD.sub(named, markdown)


def _pages(entries: list[Any]) -> list[str]:
    """Every page of a table of contents."""
    found = []
    for entry in entries:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            found += _pages(value) if isinstance(value, list) else [value]
    return found


def _existing(entries: list[Any], docs: Path) -> list[Any]:
    """The table of contents without pages that are not there."""
    kept: list[Any] = []
    for entry in entries:
        if not isinstance(entry, dict):
            kept += [entry] if (docs / entry).exists() else []
            continue
        for title, value in entry.items():
            inner = _existing(value, docs) if isinstance(value, list) else value if (docs / value).exists() else None
            kept += [{title: inner}] if inner else []
    return kept
