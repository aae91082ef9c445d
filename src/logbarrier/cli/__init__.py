"""The command line: one small file a command. Arguments in, tables out; nothing is computed here.

Command files import the package inside the function, so that `logbarrier --help` does not wait for the compiler.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ..version import __version__
from . import complexity, plan, report, reproduce, rules, run, simulate, status, verify, warm_up

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(rules.rules)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(simulate.simulate)
app.command()(run.run)
app.command()(status.status)
app.command()(report.report)
app.command()(reproduce.reproduce)
app.command()(verify.verify)
app.command()(plan.plan)
app.command()(complexity.complexity)
app.command()(warm_up.warm_up)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"logbarrier {__version__}")
        raise typer.Exit


@app.callback()
def _global(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Softmax policy gradient on bandits, with a log barrier that keeps every arm alive."""


def main() -> None:
    """Entry point."""
    app()
