"""The code in README and docs runs as printed."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
PYTHON = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)
PRINTED = re.compile(r"```python\n.*?```\n+```text\n(.*?)```", flags=re.DOTALL)  # what the page says that it prints
FILE = re.compile(r"# (\w+\.py)\n")  # a block that starts so is a file next to the others


def python_on(page: Path) -> list[str]:
    """The Python blocks of a page, without those that need Stable-Baselines3 where it is not installed."""
    blocks = PYTHON.findall(page.read_text())
    return [block for block in blocks if "stable_baselines3" not in block or find_spec("stable_baselines3")]


RUNNABLE = [
    page for page in PAGES if python_on(page) and page.name not in ("deep.md", "exploration.md", "tutorial-ppo.md")
]  # these need torch: tests/deep runs them


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: page.name)
def test_python_on_the_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch, capsys):
    if "import gymnasium" in page.read_text():
        pytest.importorskip("gymnasium", reason="the extra `mdp` is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    code = []
    for block in python_on(page):
        named = FILE.match(block)
        if named:
            (tmp_path / named[1]).write_text(block)
        else:
            code.append(block)
    exec(compile("\n".join(code), str(page), "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    for expected in PRINTED.findall(page.read_text()):
        assert expected in printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), target
