"""logbarrier plan."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from . import execution
from .console import bar_of, table_of, wide_console
from .errors import one_sentence
from .simulate import Rewards

if TYPE_CHECKING:
    from rich.console import Console

    from ..planning.plan import Plan


class Objective(StrEnum):
    """What a plan optimises."""

    REGRET = "regret"
    FINAL = "final"


MOST_ARMS = 100_000  # with more, a run takes far longer than any usual budget
MEANING = {"regret": "the regret over", "final": "the probability of the best arm after"}


def plan(
    arms: Annotated[int, typer.Option(help="Number of arms K.")],
    gap: Annotated[float, typer.Option(help="Best mean minus second best.")],
    horizon: Annotated[float, typer.Option(help="How many pulls you have; 1e6 is fine.")],
    objective: Annotated[Objective, typer.Option(help="What counts: losses on the way, or the policy at the end.")] = (
        Objective.REGRET
    ),
    rewards: Annotated[Rewards, typer.Option(help="The law of the rewards; bernoulli is for clicks.")] = Rewards.GAUSSIAN,
    r_max: Annotated[float | None, typer.Option(help="Best mean reward; 1, or 0.9 for bernoulli.")] = None,
    scale: Annotated[float, typer.Option(help="Standard deviation of Gaussian rewards.")] = 1.0,
    rule: Annotated[str | None, typer.Option(help="Race one rule only; log-barrier-sgb: its alpha and eta.")] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same plan.")] = 0,
    budget: Annotated[float, typer.Option(help="About how many seconds of one core to use.")] = 8.0,
    threads: execution.AllCores = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a report.")] = False,
    quiet: execution.Quiet = False,
) -> None:
    """Race the rules on a problem like yours and recommend one of them, as a line of code.

    Example: logbarrier plan --arms 1000 --gap 0.1 --horizon 1e5 --rewards bernoulli

    Alpha and eta of LB-SGB: logbarrier plan --arms 10 --gap 0.2 --horizon 1e4 --rule log-barrier-sgb
    """
    from ..base.validate import integer
    from ..planning.plan import plan as make_plan

    with one_sentence("nothing was saved"):
        integer("plan", "arms", arms, 2, MOST_ARMS)
        with bar_of(100, "planning", quiet=quiet) as bar:
            found = make_plan(
                arms, gap, horizon, objective=objective.value, rewards=rewards.value, r_max=r_max, scale=scale, rule=rule,
                seed=seed, budget=budget, threads=threads, progress=bar,
            )  # fmt: skip
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
    else:
        _print_report(found, wide_console())


def tune() -> None:
    """Replaced by `plan --rule log-barrier-sgb`."""
    with one_sentence("nothing was saved"):
        raise ValueError("tune: is now a part of plan; run 'logbarrier plan --rule log-barrier-sgb --objective final' instead")


def _print_report(found: Plan, console: Console) -> None:
    problem = found.problem
    law = f"Gaussian rewards of deviation {problem['scale']:g}" if "scale" in problem else "Bernoulli rewards"
    console.print(
        f"The best for {MEANING[found.objective]} {found.horizon:,} pulls: {problem['n_arms']:,} arms, best mean "
        f"{problem['r_max']:g}, ahead by {problem['gap']:g}, {law}",
    )
    console.print(f"\n[bold]Run[/bold]\n{found.choice.code}", highlight=False)
    if len(found.rows) > 1:
        second = found.rows[1]
        if found.undecided:
            console.print(
                f"\n[bold]Undecided[/bold] between {found.choice.code} and {second.code}, raise --budget; "
                "the first has the better mean.",
                highlight=False,
            )
        console.print(
            f"\nAgainst the runner-up it saves {second.ahead:,.0f} of regret ({second.low:,.0f} .. {second.high:,.0f}, 95 %), "
            f"on the same {second.runs} runs of both.",
        )
    console.print("\n[bold]Compared[/bold], on the same runs; rules dropped early had fewer")
    _print_rows(found, console)
    if found.left_out:
        console.print(f"Not tried, because they are too slow for this budget: {', '.join(found.left_out)}")


def _print_rows(found: Plan, console: Console) -> None:
    table = table_of(["rule"], ["regret", "p(a*)", "stuck", "saved by the choice", "runs"])
    for row in found.rows:
        saved = "" if row is found.choice else f"{row.ahead:,.0f} ({row.low:,.0f} .. {row.high:,.0f})"
        table.add_row(
            row.code.removeprefix("lb."),
            f"{row.regret:,.0f}",
            f"{row.optimal_probability:.3f}",
            "-" if row.stuck is None else f"{row.stuck:.2f}",
            saved,
            str(row.runs),
        )
    console.print(table)
