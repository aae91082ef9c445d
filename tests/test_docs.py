"""The code in README and docs runs as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


RUNNABLE = [page for page in PAGES if page.name != "deep.md"]  # that one needs torch: tests/deep runs it


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: page.name)
def test_python_on_the_page_runs(page):
    code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL))
    exec(compile(code, str(page), "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), target
