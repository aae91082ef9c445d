"""logbarrier plan."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import execution
from .console import bar_of, table_of, wide_console
from .errors import one_sentence

if TYPE_CHECKING:
    from rich.console import Console

    from ..planning.plan import Plan


class Objective(StrEnum):
    """What a plan optimises."""

    REGRET = "regret"
    FINAL = "final"


class Law(StrEnum):
    """The laws of rewards that a plan knows by name."""

    GAUSSIAN = "gaussian"
    BERNOULLI = "bernoulli"
    COUNTS = "counts"
    REVENUE = "revenue"


MOST_ARMS = 100_000  # with more, a run takes far longer than any usual budget
SHOWN = 6  # means of a problem
MEANING = {"regret": "the regret over", "final": "the probability of the best arm after"}


def plan(
    context: typer.Context,
    horizon: Annotated[float, typer.Option(help="How many pulls you have; 1e6 is fine.")],
    arms: Annotated[int | None, typer.Option(help="Number of arms K.")] = None,
    means: Annotated[str | None, typer.Option(help="Mean rewards, such as 0.014,0.016,0.0215 or 2%,2.3%.")] = None,
    rate: Annotated[str | None, typer.Option(help="What most arms pay, such as 2%; with --difference.")] = None,
    difference: Annotated[str | None, typer.Option(help="How much better the best arm is, such as 0.3%.")] = None,
    gap: Annotated[float | None, typer.Option(help="Best mean minus second best, of instances like the paper's.")] = None,
    problem: Annotated[str | None, typer.Option(help="A problem by name, or my_problems.py:MyProblem.")] = None,
    from_log: Annotated[Path | None, typer.Option(help="A service's file, or its log as JSON lines.")] = None,
    experiment: Annotated[str | None, typer.Option(help="With --from-log: the experiment, if the file has several.")] = None,
    objective: Annotated[Objective, typer.Option(help="Losses on the way, or the policy at the end.")] = Objective.REGRET,
    rewards: Annotated[Law | None, typer.Option(help="The law of the rewards; bernoulli is for clicks.")] = None,
    r_max: Annotated[float | None, typer.Option(help="With --gap: best mean reward; 1, or 0.9 for bernoulli.")] = None,
    scale: Annotated[float | None, typer.Option(help="Standard deviation of Gaussian rewards.")] = None,
    amount: Annotated[float | None, typer.Option(help="With revenue: the mean amount of a purchase.")] = None,
    rule: Annotated[str | None, typer.Option(help="Race one rule only; log-barrier-sgb: its alpha and eta.")] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same plan.")] = 0,
    budget: Annotated[float, typer.Option(metavar="<seconds>", help="About how many seconds of one core to use.")] = 8.0,
    threads: execution.AllCores = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a report.")] = False,
    quiet: execution.Quiet = False,
) -> None:
    """Race the rules on a problem like yours and recommend one of them, as a line of code.

    Describe the problem by one of --means, --rate with --difference, --gap with --arms, --problem with its options, --from-log.

    \b
    Click rates:    logbarrier plan --means 1.4%,1.6%,2.15% --horizon 2e5
    A typical rate: logbarrier plan --rate 2% --difference 0.3% --arms 5 --horizon 1e5
    Revenue:        logbarrier plan --rate 3% --difference 1% --rewards revenue --amount 40 --horizon 1e5
    Contexts:       logbarrier plan --problem LinearContexts --arms 5 --n-features 10 --horizon 5000
    LB-SGB alone:   logbarrier plan --arms 10 --gap 0.2 --horizon 1e4 --rule log-barrier-sgb
    """
    from ..base.validate import integer
    from ..planning.plan import plan as make_plan

    with one_sentence("nothing was saved"):
        arms = None if arms is None else integer("plan", "arms", arms, 2, MOST_ARMS)
        facts: dict[str, Any] = {
            "n_arms": arms,
            "gap": gap,
            "means": None if means is None else [_number("means", word) for word in means.split(",")],
            "rate": None if rate is None else _number("rate", rate),
            "difference": None if difference is None else _number("difference", difference),
            "rewards": None if rewards is None else rewards.value,
        }
        facts |= {"r_max": r_max, "scale": scale, "amount": amount}
        if problem is not None or from_log is not None or experiment is not None:
            facts = {"problem": _problem(problem, from_log, experiment, facts, context.args)}
        elif context.args:
            raise ValueError(f"plan: does not know what to do with {context.args[0]!r}")
        facts |= {"objective": objective.value, "rule": rule, "seed": seed, "budget": budget, "threads": threads}
        with bar_of(100, "planning", quiet=quiet) as bar:
            found = make_plan(horizon=horizon, **facts, progress=bar)
    _print(found, as_json)


def _number(name: str, word: str) -> float:
    """Return the number that a word such as 0.02 or 2% stands for."""
    text = word.strip()
    try:
        return float(Decimal(text.removesuffix("%")) / (100 if text.endswith("%") else 1))
    except InvalidOperation:
        raise ValueError(f"plan: {name} must be numbers such as 0.02 or 2%, got {word!r}") from None


def _problem(name: str | None, log: Path | None, experiment: str | None, facts: dict[str, Any], words: list[str]) -> Any:
    """Return the problem of a name with its options, or the one that a log shows."""
    from ..agent.durable.log import experiments_in, read_log
    from ..planning.estimate import problem_from_log
    from .problem_words import problem_from_words

    given = [key for key, value in facts.items() if value is not None]
    if log is None and experiment is not None:
        raise ValueError("plan: --experiment is of --from-log")
    if log is None:
        made, left = problem_from_words(name or "", {key: facts[key] for key in ["n_arms", *given]}, words)
        if left:
            raise ValueError(f"plan: does not know what to do with {left[0]!r}")
        return made
    if name is not None or given or words:
        raise ValueError("plan: --from-log describes the problem; leave out what else does")
    if log.suffix in (".jsonl", ".json"):
        if experiment is not None:
            raise ValueError("plan: JSON lines are of one experiment; leave out --experiment")
        return problem_from_log(json.loads(line) for line in log.read_text().splitlines() if line.strip())
    names = experiments_in(log)
    if experiment not in names and (experiment is not None or len(names) != 1):
        raise ValueError(f"plan: --experiment must be one of those in {log.name}: {', '.join(names)}")
    return problem_from_log(read_log(log, experiment=experiment or names[0]))


def tune() -> None:
    """Replaced by `plan --rule log-barrier-sgb`."""
    with one_sentence("nothing was saved"):
        raise ValueError("tune: is now a part of plan; run 'logbarrier plan --rule log-barrier-sgb --objective final' instead")


def _print(found: Plan, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
    else:
        _print_report(found, wide_console())


def _print_report(found: Plan, console: Console) -> None:
    console.print(f"The best for {MEANING[found.objective]} {found.horizon:,} pulls of {_described(found.problem)}")
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


def _described(problem: dict[str, Any]) -> str:
    """Return a problem in words: its name and parameters, or its arms and their means."""
    name = problem["problem"]
    if "parameters" not in problem:
        return f"{name} ({', '.join(f'{key} {value:g}' for key, value in problem.items() if key != 'problem')})"
    means = problem["parameters"][0]
    shown = ", ".join(f"{mean:.4g}" for mean in means[:SHOWN]) + (", ..." if len(means) > SHOWN else "")
    return f"{name}, {len(means):,} arms of means {shown}"


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
