"""Hooks of the documentation site.

Its table of contents follows what is in docs/, and its reference the public names of the package.
Links out of docs/ become file names.
"""

from __future__ import annotations

import ast
import html
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent.parent / "src"
OUTWARD = re.compile(r"\[([^\]]*)\]\(\.\./([^)#]+)\)")
MARKER = re.compile(r"<!-- public names: ([\w.]+) -->")
BLOCK = re.compile(r"^::: ([\w.]+)\n((?: .*\n)*)", flags=re.MULTILINE)
TITLE = re.compile(r"<title>(.*?)</title>")
DOCSTRING = re.compile(r'<pre class="docstring">(.*?)</pre>', flags=re.DOTALL)
ENTRY = re.compile(r"\s*(?!>>>)\S.{0,22}?\s{2,20}(?=\S)")  # a name and the spaces before its meaning
SOURCE_WIDTH = 95  # a line of the source that ends later goes on in the next one
LISTED = re.compile(r"^::: (\S+)", flags=re.MULTILINE)
# A name that two of them export is on the page of the first.
PACKAGES = [f"logbarrier{name}" for name in ("", ".mdps", ".contexts", ".theory", ".plots", ".extend", ".deep", ".deep.sb3")]


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

    return OUTWARD.sub(named, BLOCK.sub(_with_curve, _reference(f"{markdown}\n", Path(config["docs_dir"]))))


def on_page_content(content: str, page: Any, config: Any, files: Any) -> str:
    """Let docstrings wrap at the width of the page instead of that of the source."""
    return DOCSTRING.sub(lambda found: f'<pre class="docstring">{_wrapping(found[1])}</pre>', content)


def _wrapping(text: str) -> str:
    """Join the lines of a sentence, and indent what wraps like the meaning of the entry, or like the line."""
    lines: list[tuple[int, str]] = []
    length = 0
    for line in html.unescape(text).splitlines():
        indent, first = len(line) - len(line.lstrip()), line.split()[:1]
        entry = ENTRY.match(line)
        is_broken = first and length + 1 + len(first[0]) > SOURCE_WIDTH and first[0] not in (">>>", "...")
        if lines and is_broken and not entry and indent == lines[-1][0]:
            lines[-1] = (indent, f"{lines[-1][1]} {line.strip()}")
        else:
            lines.append((entry.end() if entry else indent, line))
        length = len(line)
    return "".join(f'<span style="--hang: {hang}ch">{html.escape(line)}\n</span>' for hang, line in lines)


def public_names(package: str) -> dict[str, str]:
    """Return where the public names of a package are defined, by the imports of its stub or its __init__.py."""
    folder = SOURCE / package.replace(".", "/")
    file = next(path for path in (folder / "__init__.pyi", folder.with_suffix(".pyi"), folder / "__init__.py") if path.exists())
    home = package if file.stem == "__init__" else package.rpartition(".")[0]
    found = {}
    for statement in ast.parse(file.read_text()).body:
        if isinstance(statement, ast.ImportFrom) and statement.level == 1:
            origin = f"{home}.{statement.module}" if statement.module else home
            found |= {name.asname or name.name: f"{origin}.{name.name}" for name in statement.names}
    return {name: _home(package, name, path) for name, path in found.items() if name[0] != "_" and path not in PACKAGES}


def _home(package: str, name: str, path: str) -> str:
    """Return where a class or function is defined, which may be elsewhere than a stub says; networks need not be installed."""
    if package.startswith("logbarrier.deep"):
        return path
    given = getattr(importlib.import_module(package), name)
    place = f"{given.__module__}.{given.__qualname__}" if inspect.isclass(given) or inspect.isfunction(given) else path
    return path if "<" in place else place


def _reference(markdown: str, docs: Path) -> str:
    """Put the public names of a package, without those that stand on a page by name, in the place of its marker."""
    listed = {path for page in sorted((docs / "reference").glob("*.md")) for path in LISTED.findall(page.read_text())}

    def blocks(marker: re.Match[str]) -> str:
        earlier = {path for package in PACKAGES[: PACKAGES.index(marker[1])] for path in public_names(package).values()}
        names = public_names(marker[1])
        return "\n\n".join(f"::: {names[name]}" for name in sorted(names) if names[name] not in listed | earlier)

    return MARKER.sub(blocks, markdown)


def _with_curve(block: re.Match[str]) -> str:
    """Put the learning curve of a rule under its reference (tools/rule_curves.py)."""
    module, _, name = block[1].rpartition(".")
    kind = getattr(importlib.import_module(module), name) if ".algorithms" in module else None
    picture = f"images/rules/{getattr(kind, 'name', None)}.svg"
    if not (Path(__file__).parent / picture).exists():
        return block[0]
    title = html.unescape(TITLE.findall((Path(__file__).parent / picture).read_text())[0])
    return f"{block[0]}\n![Learning curve of {name}](../{picture})\n\n*{title}*\n\n"


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
