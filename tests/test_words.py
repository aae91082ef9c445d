"""The vocabulary: tools/words.py finds private words, long sentences and long cells, and the sources have no such word."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLE = '''"""A rule that is told the scale of rewards."""

def slot_pointer(world):  # kept beside the code
    """{long}."""
    raise ValueError(f"run: {long}, got {{world}}")

def fine(pending):
    """Return what the agent was given: agent.tell(decision, reward=1.0)."""
'''
PAGE = """# Environments in which arms are drawn

Your rule is evaluated. {long}.

| {cell} | short |
"""
LONG = " ".join(["word"] * 31)


def printed(path):
    done = subprocess.run([sys.executable, ROOT / "tools/words.py", path], capture_output=True, text=True)
    return done.returncode, [line.removeprefix(f"{path}:") for line in done.stdout.splitlines()]


def test_private_words_and_long_sentences_are_found_in_code(tmp_path):
    (tmp_path / "example.py").write_text(EXAMPLE.format(long=LONG))
    status, lines = printed(tmp_path / "example.py")
    assert status == 1
    assert [line.split(":")[0] for line in lines[:-1]] == ["1", "3", "3", "3", "4", "5", "5"]
    assert lines[0] == "1: word 'told' (told): use is given, knows; distinguished"
    assert {line.split("'")[1] for line in lines[1:4]} == {"slot_", "world", "beside"}
    assert lines[-1] == "5 words, 2 sentences, 0 table cells"


def test_long_sentences_and_cells_are_found_on_a_page(tmp_path):
    (tmp_path / "page.md").write_text(PAGE.format(long=LONG, cell=LONG))
    status, lines = printed(tmp_path / "page.md")
    assert status == 0  # length alone is no failure
    assert [line.split(" words")[0] for line in lines] == ["3: sentence of 31", "5: cell of 31", "0"]


def test_formulas_count_as_a_word_and_examples_of_commands_as_none(tmp_path):
    formula = f"${LONG}$"
    (tmp_path / "page.md").write_text(PAGE.format(long=formula, cell=formula))
    (tmp_path / "code.py").write_text(f'"""Do it.\n\n\\b\nExample: {LONG}\n"""\n')
    assert printed(tmp_path) == (0, ["0 words, 0 sentences, 0 table cells"])


def test_no_sentence_or_cell_is_too_long():
    places = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "src")]
    done = subprocess.run([sys.executable, ROOT / "tools/words.py", *places], capture_output=True, text=True)
    assert done.stdout.splitlines()[:-1] == []


def test_no_private_word_is_left():
    folders = [ROOT / name for name in ("src", "docs", "tests")]
    done = subprocess.run([sys.executable, ROOT / "tools/words.py", "--words", *folders], capture_output=True, text=True)
    assert done.stdout.splitlines()[:-1] == []
