"""logbarrier verify."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import execution
from .console import bar_of
from .errors import one_sentence

if TYPE_CHECKING:
    from ..verify.exercise import Exercise
    from ..verify.statements import Statement
    from ..verify.trials import Verdict, Worst

STATEMENT_ROW = "{:<34} {:>9} {:>9}  {:<14} {}"
THEOREM_ROW = "{:<24} {:>3} {:>8} {:>8} {:>8} {:>5} {:>9} {:>9}  {}"


def verify(
    instances: Annotated[int, typer.Option(help="Random points per statement.")] = 10_000,
    optimised: Annotated[int, typer.Option(help="Starts of the optimiser that looks for a counterexample.")] = 24,
    runs: Annotated[int, typer.Option(help="Simulated runs per theorem; 0 leaves the simulations out.")] = 8,
    seed: Annotated[int, typer.Option(help="Same seed, same points.")] = 0,
    threads: Annotated[int | None, typer.Option(help="For the simulations; all cores by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with the worst point of each statement.")] = False,
    quiet: execution.Quiet = False,
) -> None:
    """Try every statement of the paper, docs/mdps.md and docs/features.md: at random and searched points, and by simulation.

    A ratio is the smaller side over the greater: 1 is tight, above 1 is a counterexample. It takes about a minute.

    Example: logbarrier verify --runs 20
    """
    from ..base.validate import integer
    from ..verify.exercise import exercises
    from ..verify.feature_statements import STATEMENTS as FEATURE_STATEMENTS
    from ..verify.mdp_statements import STATEMENTS as MDP_STATEMENTS
    from ..verify.statements import STATEMENTS
    from ..verify.trials import verify as try_statements

    with one_sentence("nothing is kept of an unfinished 'verify'"):
        integer("verify", "runs", runs, 0)
        simulations = exercises(runs=runs, seed=seed, threads=threads) if runs else ()
        statements: tuple[Statement[Any], ...] = (*STATEMENTS, *MDP_STATEMENTS, *FEATURE_STATEMENTS)
        total = len(statements) + len(simulations)
        verdicts: list[Verdict] = []
        measured: list[Exercise] = []
        with bar_of(total, "verifying", quiet=quiet or not as_json) as bar:  # rows that appear show the progress otherwise
            for statement in statements:
                verdicts += try_statements(instances=instances, optimised=optimised, seed=seed, statements=(statement,))
                if not as_json:
                    _print_statement(verdicts)
                if bar is not None:
                    bar(len(verdicts), total)
            for simulation in simulations:
                measured.append(simulation())
                if not as_json:
                    _print_theorem(measured)
                if bar is not None:
                    bar(len(verdicts) + len(measured), total)
    if as_json:
        typer.echo(json.dumps({"statements": [v.to_dict() for v in verdicts], "theorems": [m.to_dict() for m in measured]}))
    if any(verdict.verdict == "fails" for verdict in verdicts) or any(m.measured > m.bound for m in measured):
        raise typer.Exit(1)


def _print_statement(verdicts: list[Verdict]) -> None:
    """The row of the last verdict, below the headings if it is the first."""
    last = verdicts[-1]
    if len(verdicts) == 1:
        points = f"{last.random:,} random and {last.optimised:,} optimised points, seed {last.printed.seed}"
        typer.echo(f"Each form of a statement was tried on {points}.")
        typer.echo("Numbers are smaller side/greater side, or the error of an equation; brackets refer to docs/errata.md")
        typer.echo(STATEMENT_ROW.format("statement", "printed", "corrected", "worst at", "verdict"))
    corrected = "" if last.corrected is None else _tightness(last.corrected, last.equation)
    worst = _place(last.printed.point)
    verdict = last.verdict + ("" if last.erratum is None else f" ({last.erratum})")
    typer.echo(STATEMENT_ROW.format(last.statement, _tightness(last.printed, last.equation), corrected, worst, verdict))


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


def _print_theorem(measured: list[Exercise]) -> None:
    """The row of the last theorem, below the headings if it is the first."""
    m = measured[-1]
    if len(measured) == 1:
        typer.echo("\nTheorems with their own alpha and eta, simulated")
        typer.echo(THEOREM_ROW.format("theorem", "K", "alpha", "eta", "T", "runs", "measured", "bound", ""))
    sizes = (m.n_arms, f"{m.learning_rate:.1e}", f"{m.eta:.3g}", f"{m.horizon:.1e}", m.runs)
    verdict = "holds" if m.measured <= m.bound else "fails"
    typer.echo(THEOREM_ROW.format(m.statement, *sizes, f"{m.measured:.3g}", f"{m.bound:.3g}", verdict))
