"""The code in docs/deep.md and docs/exploration.md runs as printed."""

from __future__ import annotations

import re

from toys import ROOT


def run_page(name):
    page = ROOT / "docs" / name
    code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL))
    exec(compile(code, str(page), "exec"), {"__name__": "__main__"})


def test_python_on_the_page_runs(collapsed, collapsed_grid, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.zip").write_bytes(collapsed.read_bytes())
    run_page("deep.md")
    assert (tmp_path / "rescued.zip").exists()


def test_python_on_the_exploration_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page("exploration.md")
    assert (tmp_path / "explorer.zip").exists()
