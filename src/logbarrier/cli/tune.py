"""logbarrier tune."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import execution
from .console import bar_of, wide_console
from .errors import check_figure, one_sentence
from .plan import MOST_ARMS

if TYPE_CHECKING:
    from rich.console import Console

    from ..planning.tune import Tuning

SECONDS_A_YEAR = 365.25 * 24 * 3600
PULLS_A_SECOND = 1e6


def tune(
    arms: Annotated[int, typer.Option(help="Number of arms K.")],
    gap: Annotated[float, typer.Option(help="Best mean minus second best.")],
    horizon: Annotated[float, typer.Option(help="How many pulls you have; 1e6 is fine.")],
    learning_rate: Annotated[float | None, typer.Option(help="alpha, if you have fixed it; searched for otherwise.")] = None,
    r_max: Annotated[float, typer.Option(help="Best mean reward; the others go down to minus this.")] = 1.0,
    scale: Annotated[float, typer.Option(help="Standard deviation of the rewards.")] = 1.0,
    epsilon: Annotated[float | None, typer.Option(help="Accuracy asked of the theorems; half the gap by default.")] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same answer.")] = 0,
    budget: Annotated[float | None, typer.Option(help="Steps to simulate in all; by default about 20 s on two cores.")] = None,
    threads: execution.AllCores = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a report.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the eta trade-off as .png, .pdf or .svg.")] = None,
    quiet: execution.Quiet = False,
) -> None:
    """Find alpha and eta of LB-SGB for your number of arms, gap and horizon, and say what the theorems would ask for.

    Example: logbarrier tune --arms 1000 --gap 0.1 --horizon 1e6
    """
    from ..base.validate import integer
    from ..planning.picture import trade_off
    from ..planning.tune import tune as find
    from ..plots.style import save_figure

    with one_sentence("nothing was saved"):
        check_figure(plot)
        integer("tune", "arms", arms, 2, MOST_ARMS)
        with bar_of(1, "tuning", quiet=quiet) as bar:
            found = find(
                arms, gap, horizon, r_max=r_max, scale=scale, learning_rate=learning_rate, epsilon=epsilon, seed=seed,
                budget=budget, threads=threads, progress=bar,
            )  # fmt: skip
        if plot is not None:
            save_figure(trade_off(found), plot)
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
    else:
        _print_report(found, wide_console())


def _print_report(found: Tuning, console: Console) -> None:
    console.print(
        f"{found.n_arms:,} arms, means within {found.r_max:g}, best ahead by {found.gap:g}, "
        f"rewards of deviation {found.scale:g}, {found.horizon:,} pulls",
    )
    console.print(f"\n[bold]What the theorems ask for[/bold], for an accuracy of {found.epsilon:g}")
    _print_theory(found, console)
    best = found.recommendation
    console.print("\n[bold]What to run[/bold]")
    console.print(f"LogBarrierSGB(learning_rate={best.learning_rate:g}, eta={best.eta:g})")
    console.print(
        f"After {found.horizon:,} pulls, in {best.runs} runs the search had not seen: p(a*) {best.optimal_probability:.3f} "
        f"({best.low:.3f} .. {best.high:.3f}), stuck {100 * best.stuck_fraction:.0f} %, regret {best.regret:,.0f}. "
        f"A run that is not stuck settles at p(a*) {best.plateau:.3f}, where the barrier costs {best.bias:.2g} per pull.",
    )
    console.print(
        f"\n[bold]The trade-off at alpha {best.learning_rate:g}[/bold]: a weaker barrier costs less, but more runs get stuck"
    )
    _print_trade_off(found, console)
    console.print(f"{found.simulated_steps:,} simulated steps, seed {found.seed}")


def _print_theory(found: Tuning, console: Console) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("theorem", "alpha", "eta", "pulls", "at a million per second"):
        table.add_column(heading, justify="left" if heading == "theorem" else "right", no_wrap=True)
    rate, worst, regret = found.theory
    for name, wanted in ((f"convergence rate, if c* is {found.n_arms}^2", rate), ("worst case, any c*", worst)):
        table.add_row(
            name, f"{wanted.learning_rate:.1e}", f"{wanted.eta:.1e}", f"{wanted.horizon:.1e}", _duration(wanted.horizon)
        )
    console.print(table)
    needed = min(rate.horizon, worst.horizon)
    if needed > found.horizon:
        console.print(
            f"Out of reach: at best {needed / found.horizon:.1g} times your pulls. Their alpha scales with the square of "
            f"the smallest gap between any two means, about {found.smallest_gap:.1e} here, and they assume rewards within "
            f"{found.r_max:g}.",
        )
    trivial = 2.0 * found.r_max * found.horizon
    empty = ", worse than playing at random" if regret.bound >= trivial else ""
    console.print(f"The regret corollary promises at most {regret.bound:.2g} over your horizon{empty}.")


def _duration(pulls: float) -> str:
    seconds = pulls / PULLS_A_SECOND
    for unit, length in (("years", SECONDS_A_YEAR), ("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.2g} {unit}"
    return f"{seconds:.2g} seconds"


def _print_trade_off(found: Tuning, console: Console) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("eta", "plateau", "bias", "p(a*)", "95 % interval", "stuck", "regret", "runs", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for c in found.searched:
        table.add_row(
            f"{c.eta:g}",
            f"{c.plateau:.3f}",
            f"{c.bias:.2g}",
            f"{c.optimal_probability:.3f}",
            f"{c.low:.3f} .. {c.high:.3f}",
            f"{c.stuck_fraction:.2f}",
            f"{c.regret:,.0f}",
            str(c.runs),
            "<- chosen" if c.eta == found.recommendation.eta else "",
        )
    console.print(table)
