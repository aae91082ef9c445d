"""logbarrier verify."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import wide_console
from .errors import one_sentence

if TYPE_CHECKING:
    from ..verify.exercise import Exercise
    from ..verify.trials import Verdict, Worst


def verify(
    instances: Annotated[int, typer.Option(help="Random points per statement.")] = 10_000,
    optimised: Annotated[int, typer.Option(help="Starts of the optimiser that looks for a counterexample.")] = 200,
    runs: Annotated[int, typer.Option(help="Simulated runs per theorem; 0 leaves the simulations out.")] = 8,
    seed: Annotated[int, typer.Option(help="Same seed, same points.")] = 0,
    threads: Annotated[int | None, typer.Option(help="For the simulations; all cores by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with the worst point of each statement.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress bar.")] = False,
) -> None:
    """Try every statement of the paper, and of docs/mdps.md: on random points, on searched points, and by simulation.

    A ratio is the smaller side over the greater: 1 is tight, above 1 is a counterexample.
    """
    from ..base.progress import Bar
    from ..base.validate import integer
    from ..verify.exercise import exercises
    from ..verify.mdp_statements import STATEMENTS as MDP_STATEMENTS
    from ..verify.statements import STATEMENTS, Statement
    from ..verify.trials import verify as try_statements

    with one_sentence("nothing was saved"):
        integer("verify", "runs", runs, 0)
        simulations = exercises(runs=runs, seed=seed, threads=threads) if runs else ()
        statements: tuple[Statement[Any], ...] = (*STATEMENTS, *MDP_STATEMENTS)
        total = len(statements) + len(simulations)
        bar = None if quiet else Bar(total, "verifying")
        try:
            verdicts = try_statements(
                instances=instances,
                optimised=optimised,
                seed=seed,
                statements=statements,
                progress=None if bar is None else lambda done, _: bar(done, total),
            )
            measured = []
            for number, simulation in enumerate(simulations):
                measured.append(simulation())
                if bar is not None:
                    bar(len(statements) + number + 1, total)
        finally:
            if bar is not None:
                bar.close()
    if as_json:
        typer.echo(json.dumps({"statements": [v.to_dict() for v in verdicts], "theorems": [m.to_dict() for m in measured]}))
    else:
        _print_statements(verdicts)
        if measured:
            _print_theorems(measured)
    if any(verdict.verdict == "fails" for verdict in verdicts) or any(m.measured > m.bound for m in measured):
        raise typer.Exit(1)


def _print_statements(verdicts: list[Verdict]) -> None:
    from rich.table import Table

    first = verdicts[0]
    console = wide_console()
    console.print(
        f"{len(verdicts)} statements, each form on {first.random:,} random and {first.optimised:,} optimised points, "
        f"seed {first.printed.seed}",
    )
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("statement", "printed", "corrected", "worst at", "verdict"):
        table.add_column(heading, justify="right" if heading in ("printed", "corrected") else "left", no_wrap=True)
    for verdict in verdicts:
        shown = verdict.verdict + ("" if verdict.erratum is None else f" ({verdict.erratum})")
        table.add_row(
            verdict.statement,
            _tightness(verdict.printed, verdict.equation),
            "" if verdict.corrected is None else _tightness(verdict.corrected, verdict.equation),
            _place(verdict.printed.point),
            shown,
        )
    console.print(table)
    console.print(
        "Numbers are lesser side/greater side, or the error of an equation; in brackets: docs/errata.md", highlight=False
    )


def _place(point: dict[str, Any]) -> str:
    """K and eta of a bandit, S x K and eta of an MDP."""
    theta = point["theta"]
    size = f"{len(theta)} x {len(theta[0])}" if isinstance(theta[0], list) else f"K {len(theta)}"
    return f"{size}, eta {_short(point['eta'])}"


def _tightness(worst: Worst, equation: bool) -> str:
    if equation:
        return _short(1e-9 * worst.ratio)
    return _short(worst.ratio) if worst.ratio > 1e4 else f"{worst.ratio:.3f}"


def _short(value: float) -> str:
    return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def _print_theorems(measured: list[Exercise]) -> None:
    from rich.table import Table

    console = wide_console()
    console.print("\nTheorems with their own alpha and eta, simulated")
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("theorem", "K", "alpha", "eta", "T", "runs", "measured", "bound", ""):
        table.add_column(heading, justify="left" if heading == "theorem" else "right", no_wrap=True)
    for m in measured:
        table.add_row(
            m.statement,
            str(m.n_arms),
            f"{m.learning_rate:.1e}",
            f"{m.eta:.3g}",
            f"{m.horizon:.1e}",
            str(m.runs),
            f"{m.measured:.3g}",
            f"{m.bound:.3g}",
            "holds" if m.measured <= m.bound else "fails",
        )
    console.print(table)
