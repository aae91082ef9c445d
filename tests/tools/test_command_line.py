"""The page of commands is what the commands say, and every help text has an example that is understood."""

from __future__ import annotations

import re
import shlex

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


@pytest.mark.parametrize("name", SHOWN)
def test_help_has_an_example_that_is_understood(name):
    found = re.findall(rf": +(logbarrier {name} [^\n]*|logbarrier {name})$", COMMANDS[name].help, flags=re.MULTILINE)
    assert found
    for line in found:
        _, first, *words = shlex.split(line.partition(" | ")[0].rstrip("."))
        with COMMANDS[first].make_context(first, words, resilient_parsing="model.zip" in line):
            pass
