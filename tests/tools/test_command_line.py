"""The page of commands is what the commands say, and every help text has an example that is understood."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import command_line
from logbarrier.cli import GROUPS, app

COMMANDS = typer.main.get_command(app).commands
SHOWN = [name for name, command in COMMANDS.items() if not command.hidden]


def test_the_page_is_current():
    assert command_line.PAGE.read_text() == command_line.page(), "run python tools/command_line.py"


def test_every_command_is_in_one_group():
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(SHOWN)


def _below(commands, path=()):
    """Yield the words of every command that is shown, and the command."""
    for name, command in commands.items():
        if not command.hidden:
            yield (*path, name), command
            yield from _below(getattr(command, "commands", {}), (*path, name))


@pytest.mark.parametrize(("words", "command"), [pytest.param(*one, id=" ".join(one[0])) for one in _below(COMMANDS)])
def test_help_has_an_example_that_is_understood(words, command):
    start = re.escape(" ".join(["logbarrier", *words]))
    found = re.findall(rf": +({start}(?: [^\n]*)?)$", command.help, flags=re.MULTILINE)
    assert found
    for line in found:
        given = shlex.split(line.partition(" | ")[0])[1 + len(words) :]
        if hasattr(command, "commands"):  # a group: its example is one of a command below it
            command, given = command.commands[given[0]], given[1:]
        with command.make_context(words[-1], given, resilient_parsing="model.zip" in line):
            pass


def test_completion_is_installed_and_completes_in_bash(tmp_path):
    places = {"HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    words = "COMP_WORDS=(logbarrier rescue --sa) COMP_CWORD=2 && _logbarrier_completion logbarrier && echo ${COMPREPLY[@]}"
    script = f"logbarrier --install-completion bash && source ~/.bashrc && {words}"
    done = subprocess.run(["bash", "-c", script], env=os.environ | places, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "--save", done.stderr
