"""Pieces of a self-contained HTML page: no script, no network, light and dark, fit for print."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

STYLE = """
:root { color-scheme: light dark; --ink: #1c2127; --soft: #5c6670; --line: #d9dee3; --paper: #ffffff; --panel: #f5f7f9;
        --good: #0a6b4b; --bad: #a33a00; --late: #7a5a00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ec; --soft: #9aa5b1; --line: #333b44; --paper: #14181c; --panel: #1b2026;
          --good: #5fd3a6; --bad: #ff9d66; --late: #e6c452; }
  figure img { filter: invert(0.92) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
       font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .6rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
p { max-width: 46rem; }
.lead, figcaption, .soft { color: var(--soft); }
figure { margin: 1.2rem 0; }
figure img { width: 100%; height: auto; display: block; background: #fff; }
figcaption { font-size: .9rem; margin-top: .4rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; }
pre { background: var(--panel); padding: .8rem 1rem; overflow-x: auto; font-size: .875rem; border-radius: 4px; }
.tally { display: flex; gap: 2.2rem; flex-wrap: wrap; margin: 1rem 0; padding: 0; list-style: none; }
.tally b { display: block; font-size: 1.6rem; line-height: 1.2; }
.reproduced { color: var(--good); } .not-reproduced { color: var(--bad); }
.only-at-the-long-horizon, .undecided-by-these-runs { color: var(--late); }
td span { white-space: nowrap; }
td small { color: var(--soft); display: block; }
"""
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # the browser itself refuses to fetch anything


def page(title: str, sections: Iterable[str]) -> str:
    """The whole document."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(sections)
        + "\n</body>\n</html>\n"
    )


class Markup(str):
    """HTML that is ready: not escaped again."""


def title(text: str) -> str:
    """The page's heading."""
    return f"<h1>{escape(text)}</h1>"


def heading(text: str) -> str:
    """A section's heading."""
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str, kind: str = "") -> str:
    """Plain text."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def commands(lines: Sequence[str]) -> str:
    """What to type."""
    return f"<pre>{escape(chr(10).join(lines))}</pre>"


def picture(svg: Path, caption: str) -> str:
    """A figure, carried inside the page."""
    content = base64.b64encode(svg.read_bytes()).decode()
    return (
        f'<figure><img alt="{escape(caption)}" src="data:image/svg+xml;base64,{content}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Rows of text, or of `Markup`; the columns in `numbers` are set to the right."""

    def cells(tag: str, row: Sequence[str]) -> str:
        kinds = (' class="number"' if i in numbers else "" for i in range(len(row)))
        ready = (cell if isinstance(cell, Markup) else escape(cell) for cell in row)
        return "".join(f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, ready, strict=True))

    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    head = f"<thead><tr>{cells('th', headings)}</tr></thead>"
    return f'<div class="scroll"><table>{head}<tbody>\n{body}\n</tbody></table></div>'
