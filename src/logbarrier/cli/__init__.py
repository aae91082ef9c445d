"""The command line: one small file per command. Arguments in, tables out; nothing is computed here.

Command files import the package inside the function, so that `logbarrier --help` does not wait for the compiler.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
import typer.core

from ..version import __version__
from . import (
    complexity,
    diagnose,
    experiment,
    lab,
    log,
    plan,
    report,
    reproduce,
    rescue,
    rules,
    run,
    serve,
    simulate,
    status,
    verify,
    warm_up,
)
from .errors import whole_output

RULE_OPTIONS = {"allow_extra_args": True, "ignore_unknown_options": True}  # the parameters of the rule that --rule names

GROUPS = {
    "Use": ("plan", "simulate", "lab", "serve", "experiment", "diagnose", "rescue"),
    "Research": ("rules", "run", "status", "report", "reproduce", "verify", "complexity"),
    "Maintain": ("log", "warm-up"),
}


class _Grouped(typer.core.TyperGroup):
    """List the commands by purpose."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for group, names in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(90)) for name in names])


app = typer.Typer(
    cls=_Grouped,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command(short_help="List the rules and their parameters.")(rules.rules)
app.command(short_help="Simulate one rule and print how it learns.", context_settings=RULE_OPTIONS)(simulate.simulate)
app.command(short_help="Run a study from a TOML file; it can be stopped and resumed.")(run.run)
app.command(short_help="Show how far studies have come.")(status.status)
app.command(short_help="Write a study's summary, figures and report page.")(report.report)
app.command(short_help="Reproduce the paper's figures and evaluate its claims.")(reproduce.reproduce)
app.command(short_help="Try every statement of the paper numerically.")(verify.verify)
app.command(short_help="Recommend a rule for a problem like yours.", context_settings=RULE_OPTIONS)(plan.plan)
app.command(hidden=True, context_settings=RULE_OPTIONS)(plan.tune)
app.command(short_help="Count the pulls each system needs for an accuracy.")(complexity.complexity)
app.command(short_help="Open the interactive page in your browser.")(lab.lab)
app.command(short_help="Show which actions a Stable-Baselines3 policy has lost.")(diagnose.diagnose)
app.command(short_help="Diagnose a collapsed Stable-Baselines3 policy and train on with the barrier.")(rescue.rescue)
app.command(short_help="Serve experiments that survive crashes over HTTP.", context_settings=RULE_OPTIONS)(serve.serve)
app.add_typer(
    experiment.app,
    name="experiment",
    short_help="Create, list, change and summarise experiments.",
    help="""Create, list, change and summarise the experiments of a file or a service.

    Example: logbarrier experiment create shop.db colours --arms red,green,blue
    """,
)
app.command(short_help="Print the decisions of an experiment, also of a damaged file.")(log.log)
app.command(short_help="Compile now what a service or a cluster worker needs later.")(warm_up.warm_up)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"logbarrier {__version__}")
        raise typer.Exit


@app.callback()
def _global(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """A log barrier that keeps policies exploring: bandits, online decisions, finite MDPs and networks.

    Example: logbarrier plan --rate 2% --difference 0.3% --arms 5 --horizon 1e5
    """


def main() -> None:
    """Entry point."""
    with whole_output():
        app()
