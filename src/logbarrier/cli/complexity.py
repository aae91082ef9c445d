"""logbarrier complexity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import execution
from .console import wide_console
from .errors import check_figure, one_sentence, renamed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..comparison import Budget, Measurement, System

AGAIN = "finished cells are kept; the same 'logbarrier complexity' command goes on from there"
EXPLANATION = (
    "slope: x of pulls ~ epsilon^-x over the accuracies hit, at least three, with its 95 % bootstrap interval over runs; in a "
    "finite budget it is not an asymptotic rate. stated: exponent in the paper's tables. hit: accuracies reached; with ~ the "
    "mean was above one again at the end. pulls: to the smallest accuracy hit. *: from its own start. More in docs/systems.md."
)


@execution.with_execution
def complexity(
    system: Annotated[
        list[str] | None, typer.Option(metavar="<name>", help="Only this system of the table; repeat for more.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(hidden=True)] = None,
    epsilons: Annotated[str | None, typer.Option(help="Accuracies, such as 0.1,0.05,0.02; six by default.")] = None,
    horizon: Annotated[float | None, typer.Option(help="Pulls per run; 3e5 by default.")] = None,
    long: Annotated[bool, typer.Option("--long", help="Ten times the default horizon.")] = False,
    runs: Annotated[int | None, typer.Option(help="Independent runs per curve; 64 by default.")] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same table.")] = 0,
    out: execution.Out = None,
    plot: Annotated[Path | None, typer.Option(help="Plot pulls against epsilon as .png, .pdf or .svg.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table of docs/systems.md.")] = False,
    *,
    how: execution.Execution,
) -> None:
    """Count the pulls each system needs for an accuracy epsilon, and the slope against 1/epsilon next to the stated rate.

    Example: logbarrier complexity --system sgb --system log-barrier-sgb --plot complexity.png
    """
    from ..comparison import INSTANCES, measure, study_of, systems_named
    from ..comparison.charts import complexity_figure
    from ..comparison.complexity import cases_on
    from ..plots.style import save_figure
    from ..studies import Store

    with one_sentence(AGAIN):
        check_figure(plot)
        if markdown and how.as_json:
            raise ValueError("complexity: give either --markdown or --json")
        systems = systems_named(renamed("--only", only or None, "--system", system or None) or [])
        budget = _budget(epsilons, horizon, long, runs, seed)
        studies = {instance.name: study_of(instance, budget) for instance in INSTANCES}
        stores = {name: Store((out or Path("runs")) / study.folder_name, study) for name, study in studies.items()}
        cases = {instance.name: cases_on(instance, systems, budget) for instance in INSTANCES}
        if how.dry_run:
            how.print_dry_run([(store, cases[name]) for name, store in stores.items()])
            return
        chosen = how.make_executor()
        with execution.kept_cells(AGAIN):
            outcomes = [how.compute(store, chosen, cases[name]) for name, store in stores.items()]
            measurements = list(measure(stores, systems, budget))
            if plot is not None:
                save_figure(complexity_figure(systems, measurements), plot)
    _print(systems, measurements, as_json=how.as_json, as_markdown=markdown)
    execution.finish(outcomes)


def _budget(epsilons: str | None, horizon: float | None, long: bool, runs: int | None, seed: int) -> Budget:
    """What to spend, from options of which None means the default."""
    from ..comparison import Budget
    from ..comparison.complexity import EPSILONS, HORIZON, LONG, RUNS

    if long and horizon is not None:
        raise ValueError("complexity: give either --long or --horizon")
    return Budget(
        epsilons=EPSILONS if epsilons is None else _numbers(epsilons),
        horizon=_whole(horizon) if horizon is not None else LONG if long else HORIZON,
        runs=RUNS if runs is None else runs,
        seed=seed,
    )


def _print(systems: Sequence[System], measurements: Sequence[Measurement], *, as_json: bool, as_markdown: bool) -> None:
    from ..comparison.markdown import markdown

    if as_json:
        typer.echo(json.dumps([one.to_dict() for one in measurements], indent=1))
    elif as_markdown:
        typer.echo(markdown(systems, measurements), nl=False)
    else:
        _print_tables(systems, measurements)


def _numbers(words: str) -> list[float]:
    try:
        return [float(word) for word in words.split(",")]
    except ValueError:
        raise ValueError(f"complexity: epsilons must be numbers separated by commas, got {words!r}") from None


def _whole(horizon: float) -> int:
    from ..base import validate

    return validate.integer("complexity", "horizon", horizon, 1)


def _print_tables(systems: Sequence[System], measurements: Sequence[Measurement]) -> None:
    """One table per instance, one row per system: last iterate, then average iterate."""
    from rich.markup import escape
    from rich.table import Table

    from ..comparison import INSTANCES
    from ..comparison.markdown import shown_pulls, shown_rate, shown_reach, shown_slope

    console = wide_console()
    for instance in INSTANCES:
        table = Table(title=instance.name, title_justify="left", title_style="bold", box=None, pad_edge=False)
        table.add_column("system", no_wrap=True)
        table.add_column("stated", no_wrap=True)
        for iterate in ("last", "average"):
            table.add_column(f"{iterate}: slope", no_wrap=True)
            table.add_column("hit", no_wrap=True)
            table.add_column("pulls", no_wrap=True)
        for system in systems:
            both = [one for one in measurements if (one.system, one.instance) == (system.name, instance.name)]
            name = system.name + ("*" if any(one.own_start for one in both) else "")
            cells = [cell for one in both for cell in (shown_slope(one), shown_reach(one), shown_pulls(one))]
            table.add_row(name, shown_rate(system), *map(escape, cells))
        console.print(table)
        console.print()
    if measurements:
        console.print(f"{measurements[0].runs} runs of {measurements[0].horizon:,} pulls.")
    console.print(escape(EXPLANATION))
