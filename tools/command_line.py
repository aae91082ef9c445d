"""Write docs/command-line.md from the commands: `python tools/command_line.py`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from logbarrier.cli import GROUPS, app

PAGE = Path(__file__).resolve().parents[1] / "docs" / "command-line.md"
HEAD = """# Command line

Written by `python tools/command_line.py` from the commands. `logbarrier COMMAND --help` prints the same.
`logbarrier` takes the name of a command, `--version` or `--help`. `logbarrier --install-completion` lets your shell complete
commands and options.
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page())


def page() -> str:
    """Return the page as Markdown."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    lines = [HEAD]
    for group, names in GROUPS.items():
        lines += [f"## {group}", ""]
        for name in (name for name in names if name in commands):
            lines += described(f"logbarrier {name}", commands[name])
    return "\n".join(lines).rstrip() + "\n"


def described(name: str, command: Any) -> Iterator[str]:
    """Yield the lines about a command, then about those below it."""
    yield f"### {name}\n"
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        is_kept_as_written = "\b" in paragraph or "Example: " in paragraph
        text = paragraph.replace("\b\n", "")
        yield f"```text\n{text}\n```\n" if is_kept_as_written else f"{' '.join(text.split())}\n"
    parameters = [given for given in command.params if given.name != "help" and not getattr(given, "hidden", False)]
    if parameters:
        yield "| argument | meaning | default |\n|---|---|---|"
        yield from (
            f"| {words_of(given)} | {cell(getattr(given, 'help', '') or '')} | {default_of(given)} |" for given in parameters
        )
        yield ""
    for word, inner in getattr(command, "commands", {}).items():
        yield from described(f"{name} {word}", inner)


def words_of(parameter: Any) -> str:
    """Return what is typed: FILE, or `--runs`."""
    if parameter.param_type_name == "argument":
        return f"`{(parameter.metavar or parameter.name).upper()}`"
    return ", ".join(f"`{word}`" for word in (*parameter.opts, *parameter.secondary_opts))


def default_of(parameter: Any) -> str:
    """Return the default as it is typed; nothing where there is none."""
    value = parameter.default
    if parameter.required:
        return "must be given"
    if value is None or value is False or value == "" or callable(value) or value == ():
        return ""
    return f"`{getattr(value, 'value', value)}`"


def cell(text: str) -> str:
    """Return a text that does not break a table."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    main()
