"""The code in the pages about networks runs as printed."""

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


def test_python_in_the_tutorial_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    text = (ROOT / "docs" / "tutorial-ppo.md").read_text()
    file, *blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "chain.py").write_text(file)
    code = "\n".join(blocks)
    assert "learn(20_000)" in code
    exec(compile(code.replace("20_000", "512"), "tutorial-ppo.md", "exec"), {"__name__": "__main__"})
    assert (tmp_path / "model.zip").exists()


def test_the_exploration_page_shows_the_table_of_the_study(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import spectral_study

    page = (ROOT / "docs" / "exploration.md").read_text()
    shown = page.partition("<!-- python benchmarks/spectral_study.py table -->\n")[2].partition("\n\n")[0]
    assert shown == spectral_study.table(spectral_study.stored())
