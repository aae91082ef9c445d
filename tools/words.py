"""List private words, long sentences and long table cells: `python tools/words.py [PATH ...]`.

A path is a file or a folder, by default README.md, docs, src and tests. Words are searched in all text, names included.
Sentences are taken from Markdown, docstrings and messages, table cells from Markdown. The exit status is 1 if a private word
is found.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "src", "tests")
ENDINGS = {".py", ".pyi", ".md", ".toml", ".html", ".js", ".css"}
MOST_WORDS, MOST_WORDS_IN_CELL = 30, 25
COLUMNS = re.compile(r"\S {2,}\S")
FORMULA = re.compile(r"\$(?=\S)[^$]+(?<=\S)\$")  # counts as one word
THING = r"(rules?|problems?|class(es)?|environments?|MDPs?|distributions?|file|functions?)"
# private word: (a pattern of the word in that sense, what to write instead, a pattern of lines in which the word is allowed)
WORDS = {
    "flight": (r"\b(in[ _])?flights?\b|\bfly\b|\bin the air\b", "run, engine", None),
    "room": (r"\b(the|every|other|upper|lower) rooms?\b", "package, layer", r"rooms under|through the rooms|in_the_rooms"),
    "beside": (r"\bbeside\b", "lane arrays; next to", None),
    "drafts": (r"\bdrafts?\b", "linking kernels", None),
    "kept": (r"\b(code|kernels?|rules?|functions?) (is|are|was) kept\b|\bkeeper\b", "cache", None),
    "identity": (r"\bidentity of (the |a )?code\b|\bcode identity\b", "code hash", None),
    "slots": (r"\bslots?\b|slot_|_slot", "arguments", r"slots=True|__slot"),
    "watched": (r"\bwatched\b", "interruptible", None),
    "waiting": (r"\bwaiting\b", "pending", r"without waiting|waiting for|no waiting"),
    "own": (
        rf"\b(an|your|one's|user's) own {THING}\b|\bown {THING} (are|is|in)\b"
        r"|\bof (your|one's|(a|the) user's) own\b|\bclass Own\b",
        "user-defined", None,
    ),
    "some arms": (r"\bsome arms\b", "subset of the arms", None),
    "begin anew": (r"\banew\b|\bstart(s|ed|ing)? over\b", "reset, restart, again", None),
    "chance": (r"(?-i:\bCHANCE\b)|taken? for chance|what chance adds", "variance correction", None),
    "world": (r"worlds?(?![a-z])", "environment, problem", r"world=|world:|self\.world|[\"'`]world|hello|worldwide"),
    "told": (r"\btold\b|_told\b", "is given, knows; distinguished", r"[\"'`]told|outcome"),
    "judged": (r"\bjudg(e|ed|es|ing)\b|_judg|judge[ds]?_", "evaluated, test seed", None),
    "draw": (
        r"\bdraw(s|n|ing)? (\w+ )?(a |the |its |both )?(figures?|pictures?|curves?|plots?|paths|legend|policies|bars)\b"
        r"|\b(figures?|pictures?|plots?) (is|are|was|were) drawn\b|draw_figure|drawable",
        "plot, render", None,
    ),
    "let go": (r"\blets? go\b|\bset[s_ ]aside\b|\btaken for\b", "evicted, moved, reused as", r"taken for granted"),
}  # fmt: skip
PATTERNS = {
    word: (re.compile(found, re.IGNORECASE), wanted, re.compile(allowed) if allowed else None)
    for word, (found, wanted, allowed) in WORDS.items()
}


def main() -> int:
    """Print what is found and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT / place for place in PLACES])
    parser.add_argument("--words", action="store_true", help="list words alone")
    options = parser.parse_args()
    found = [(path, *row) for path in files(options.paths) for row in findings(path, options.words)]
    for path, line, what in found:
        print(f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}:{line}: {what}")
    kinds = [what.partition(" ")[0] for _, _, what in found]
    print(f"{kinds.count('word')} words, {kinds.count('sentence')} sentences, {kinds.count('cell')} table cells")
    return int("word" in kinds)


def files(paths: list[Path]) -> Iterator[Path]:
    """Yield the text files at and below some paths, without bundled ones; this file and its test list the words."""
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.suffix in ENDINGS and file.name not in ("words.py", "test_words.py") and "assets" not in file.parts:
                yield file


def findings(path: Path, words_alone: bool = False) -> list[tuple[int, str]]:
    """Return lines and what is wrong with them."""
    text = path.read_text()
    found = [row for row in private_words(text) if not (is_of_agent(path) and "(told)" in row[1])]
    if not words_alone:
        blocks = passages(text) if path.suffix == ".md" else docstrings_and_messages(text) if path.suffix == ".py" else []
        for line, block in blocks:
            found += long_sentences(line, block)
        found += long_cells(text) if path.suffix == ".md" else []
    return sorted(found)


def is_of_agent(path: Path) -> bool:
    """Whether a file is about `Agent.tell`, whose past tense is allowed there."""
    return any(part.partition(".")[0] in ("agent", "service") for part in path.parts)


def private_words(text: str) -> Iterator[tuple[int, str]]:
    """Find words that have a standard term."""
    for number, line in enumerate(text.splitlines(), 1):
        for word, (pattern, wanted, allowed) in PATTERNS.items():
            if (match := pattern.search(line)) and not (allowed and allowed.search(line)):
                yield number, f"word '{match[0]}' ({word}): use {wanted}"


def long_sentences(line: int, text: str) -> Iterator[tuple[int, str]]:
    """Find the sentences of a passage that are too long."""
    for sentence in re.split(r"(?<=[.!?])[\"')`*]*\s+", FORMULA.sub("X", text)):
        words = [word for word in sentence.split() if re.search(r"\w", word)]
        if len(words) > MOST_WORDS:
            yield line, f"sentence of {len(words)} words: {' '.join(words[:8])} ..."


def long_cells(text: str) -> Iterator[tuple[int, str]]:
    """Find the cells of Markdown tables that are too long."""
    for number, line in enumerate(text.splitlines(), 1):
        for cell in line.split("|")[1:-1] if line.startswith("|") else ():
            if len(words := FORMULA.sub("X", cell).split()) > MOST_WORDS_IN_CELL:
                yield number, f"cell of {len(words)} words: {' '.join(words[:8])} ..."


def passages(text: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs and list items of Markdown or of a docstring with their first lines: no code, tables or headings."""
    begin, lines, fenced, as_it_is = 0, list[str](), False, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        plain = line.strip()
        fence = plain.startswith("```")
        fenced ^= fence
        as_it_is = bool(plain) and (as_it_is or plain == "\b")  # until the next empty line, as in the help of commands
        apart = (
            fenced or fence or as_it_is or not plain or plain[0] in "|#<>!" or line.startswith("    ") or COLUMNS.search(line)
        )
        if lines and (apart or re.match(r"[-*] |\d+\. ", plain)):
            yield begin, " ".join(lines)
            lines = []
        if not apart:
            begin = begin if lines else number
            lines.append(plain)


def docstrings_and_messages(source: str) -> Iterator[tuple[int, str]]:
    """Yield the passages of docstrings and the strings that are raised, warned of or printed."""
    within: set[ast.AST] = set()  # docstrings, and parts of other strings; `walk` comes to the outer nodes first
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node)):
            first = node.body[0].lineno - 1
            within.update(ast.iter_child_nodes(node.body[0]))
            yield from ((first + line, passage) for line, passage in passages(text))
        elif isinstance(node, (ast.JoinedStr, ast.Constant)) and node not in within and (text := message(node)):
            within.update(ast.walk(node))
            yield node.lineno, text


def message(node: ast.JoinedStr | ast.Constant) -> str:
    """Return a string of several words on one line, with one word for each value in braces; else the empty string."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in parts)
    return "" if "\n" in text else text


if __name__ == "__main__":
    sys.exit(main())
