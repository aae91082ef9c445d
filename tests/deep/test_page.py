"""The code in docs/deep.md runs as printed."""

from __future__ import annotations

import re

from toys import ROOT


def test_python_on_the_page_runs(collapsed, collapsed_grid, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.zip").write_bytes(collapsed.read_bytes())
    page = ROOT / "docs" / "deep.md"
    code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL))
    exec(compile(code, str(page), "exec"), {"__name__": "__main__"})
    assert (tmp_path / "rescued.zip").exists()
