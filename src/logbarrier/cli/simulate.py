"""logbarrier simulate."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import execution
from .console import table_of
from .errors import check_figure, check_folder, one_sentence
from .rule_words import rule_from_words

if TYPE_CHECKING:
    from ..record import Record

TABLE_ROWS = 11
SHARED = ("gap", "r_max", "scale")  # of the problem, which a rule with a parameter of that name is given too


class Rewards(StrEnum):
    """The reward distributions that gap instances come with."""

    GAUSSIAN = "gaussian"
    BERNOULLI = "bernoulli"

    @property
    def family(self) -> str:
        """The gap instances with such rewards."""
        return {Rewards.GAUSSIAN: "GapInstances", Rewards.BERNOULLI: "BernoulliGapInstances"}[self]


def simulate(
    context: typer.Context,
    rule: Annotated[str, typer.Option(help="A name from 'logbarrier rules', or one in a file as my_rules.py:MyRule.")],
    arms: Annotated[int | None, typer.Option(help="Number of arms K; not for a problem with given means.")] = None,
    horizon: Annotated[float, typer.Option(help="Steps per run; 25e3 is fine.")] = 25_000,
    runs: Annotated[int, typer.Option(help="Independent runs, each on a fresh instance.")] = 100,
    seed: Annotated[int, typer.Option(help="Same seed, same result, to the bit.")] = 0,
    gap: Annotated[float | None, typer.Option(help="Best mean minus second best; 0.1, or 0.5 for SwappingArms.")] = None,
    problem: Annotated[
        str | None,
        typer.Option(help="Another problem: ClickInstances, RevenueInstances, SwappingArms, ..., or my_problems.py:MyProblem."),
    ] = None,
    rewards: Annotated[Rewards, typer.Option(help="The law of the rewards; bernoulli is for clicks.")] = Rewards.GAUSSIAN,
    r_max: Annotated[float | None, typer.Option(help="Best mean reward; 1, or 0.9 for bernoulli.")] = None,
    scale: Annotated[float | None, typer.Option(help="Standard deviation of Gaussian rewards; 1 by default.")] = None,
    bad_start: Annotated[float | None, typer.Option(help="Start with the optimal arm at this probability.")] = None,
    engine: Annotated[str, typer.Option(help="auto, dense, lockstep, lazy or sparse.")] = "auto",
    threads: execution.AllCores = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Write the learning curves as .png, .pdf or .svg.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the record as .npz; Record.load reads it.")] = None,
    quiet: execution.Quiet = False,
    traceback: execution.Traceback = False,
) -> None:
    """Simulate one rule on the paper's gap instances, a fresh one for every run, and print how it learns.

    The rule's own parameters are further options, as 'logbarrier rules' lists them; so are those of the problem.

    \b
    Example: logbarrier simulate --rule log-barrier-sgb --arms 10 --learning-rate 0.1 --eta 1000
    Clicks: logbarrier simulate --rule auto-log-barrier --arms 12 --problem ClickInstances --rate 0.02
    Contexts: logbarrier simulate --rule contextual-barrier --arms 5 --problem LinearContexts --n-features 10 --horizon 2000
    Known means: logbarrier simulate --rule auto-log-barrier --problem PoissonBandit --means 1.5,2,2.2
    """
    from ..contexts.problems import is_contextual

    with one_sentence("nothing was saved", traceback=traceback):
        check_figure(plot)
        if save is not None:
            check_folder(save)
        shape = {"n_arms": arms, "gap": gap, "r_max": r_max, "scale": scale}
        family, words = _family(problem, rewards, shape, context.args)
        asked = {"horizon": horizon, "runs": runs, "seed": seed, "threads": threads, "progress": not quiet}
        if is_contextual(family):
            if bad_start is not None or engine != "auto":
                raise ValueError("simulate: --bad-start and --engine are for problems without contexts")
            record = _with_contexts(rule, words, family, asked)
        else:
            known = _known(family, horizon=horizon, scale=scale)
            record = _without_contexts(rule, words, family, known, asked | {"bad_start": bad_start, "engine": engine})
        if save is not None:
            record.save(save)
        if plot is not None:
            _save_picture(plot, rule, record, family, seed)
    if as_json:
        typer.echo(json.dumps(record.to_dict()))
    else:
        _print_table(record, family)


def _with_contexts(rule: str, words: list[str], family: Any, asked: dict[str, Any]) -> Record:
    from ..contexts.algorithms import RULES
    from ..contexts.simulator import simulate as run_simulation

    return run_simulation(rule_from_words(rule, words, {}, RULES), family, **asked)


def _without_contexts(rule: str, words: list[str], family: Any, known: dict[str, Any], asked: dict[str, Any]) -> Record:
    from ..bandits.simulator import simulate as run_simulation
    from ..bandits.starts import OptimalArmAt

    bad_start = asked.pop("bad_start")
    start = None if bad_start is None else OptimalArmAt(bad_start)
    return run_simulation(rule_from_words(rule, words, known), family, start=start, **asked)


def _family(problem: str | None, rewards: Rewards, shape: dict[str, Any], words: list[str]) -> tuple[Any, list[str]]:
    """Return the problem that was asked for, and the words that are left for the rule."""
    from .problem_words import problem_from_words

    if rewards is Rewards.BERNOULLI:
        if problem is not None:
            raise ValueError("simulate: --rewards is for gap instances; leave it out with --problem")
        shape = shape | {"scale": None}
    return problem_from_words(problem or rewards.family, shape, words)


def _known(family: Any, **given: float | None) -> dict[str, Any]:
    """What a rule knows of the problem, if it has a parameter of that name."""
    known = given | {key: getattr(family, key) for key in SHARED if hasattr(family, key)}
    return {key: value for key, value in known.items() if value is not None}


def _save_picture(plot: Path, rule: str, record: Record, family: Any, seed: int) -> None:
    from ..bandits.changing import ChangingBandits
    from ..plots import changing_curves, learning_curves
    from ..plots.changing import moments
    from ..plots.style import save_figure

    if isinstance(family, ChangingBandits):
        steps = moments(record.horizon)
        save_figure(changing_curves({rule: record}, steps, family.means_along(steps, seed=seed)), plot)
    else:
        save_figure(learning_curves({rule: record}), plot)


def _described(record: Record) -> str:
    rule, problem, how = dict(record.settings["rule"]), dict(record.settings["problem"]), record.provenance
    name, family = rule.pop("rule"), problem.pop("problem")
    problem.pop("n_arms", None)
    return (
        f"{name}{_in_brackets(rule)} on {record.settings['n_arms']} arms, {family}{_in_brackets(problem)}: "
        f"{record.runs} runs of {record.horizon:,} steps in {how['seconds']:.2f} s "
        f"({how['engine']} engine, {how['threads']} threads)"
    )


def _in_brackets(parameters: dict[str, Any]) -> str:
    words = [f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}" for key, value in parameters.items()]
    return f" ({', '.join(words)})" if words else ""


def _print_table(record: Record, family: Any) -> None:
    """Probability of the optimal arm at about ten checkpoints: step, mean, interval, median, and stuck where it is measured."""
    import numpy as np
    from rich.console import Console

    from ..bandits.changing import ChangingBandits
    from ..plots.words import short_label_of

    mean, median = record.mean("optimal_probability"), record.quantiles("optimal_probability", 0.5)
    stuck = record.stuck() if "wrong_probability" in record.metrics else np.full(len(record.steps), np.nan)
    low, high = record.interval("optimal_probability")
    changes = isinstance(family, ChangingBandits)
    name = short_label_of("optimal_probability", changes)
    table = table_of([], ["step", f"mean {name}", "95 % interval", "median", "stuck"])
    shown = np.unique(np.linspace(0, len(record.steps) - 1, TABLE_ROWS).round().astype(int))
    for i in shown:
        interval = f"{low[i]:.4f} .. {high[i]:.4f}" if np.isfinite(low[i]) else "-"
        is_stuck = f"{stuck[i]:.2f}" if np.isfinite(stuck[i]) else "-"
        table.add_row(f"{record.steps[i]:,}", f"{mean[i]:.4f}", interval, f"{median[i]:.4f}", is_stuck)
    console = Console()
    console.print(_described(record), highlight=False)
    console.print(table)
    regret: Any = record.mean("regret")[-1]
    console.print(
        f"mean {short_label_of('regret', changes)} {regret:,.1f} ({regret / record.horizon:.4f} per step)", highlight=False
    )
