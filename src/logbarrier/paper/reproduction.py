"""All experiments of the paper as one study per horizon, and their figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..plots.style import save_figure
from ..studies import Case, Store, Study
from . import baselines, design, eta, figure_1
from .experiment import Experiment, Results
from .figures import VIEWS, experiment_figure

EXPERIMENTS: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in (figure_1, baselines, eta)}
FORMATS = ("pdf", "svg", "png")


def paper_study(horizon: str = "printed", runs: int = design.RUNS, seed: int = 0) -> Study:
    """Every case of every experiment; curves that two figures share are simulated once. horizon: printed or long."""
    if horizon not in design.HORIZONS:
        raise ValueError(f"reproduce: horizon must be one of {', '.join(design.HORIZONS)}, got {horizon!r}")
    steps = design.HORIZONS[horizon]
    return Study(
        name="paper" if horizon == "printed" else f"paper-{horizon}",
        cases=cases_of(list(EXPERIMENTS)),
        horizon=steps,
        runs=runs,
        seed=seed,
        runs_per_cell=20,
        checkpoints=design.checkpoints(steps),
        metrics=design.METRICS,
    )


def horizon_of(study: Study) -> str | None:
    """printed or long if this is the paper's study, None if it is another one."""
    if {case.key for case in study.cases} != {case.key for case in cases_of(list(EXPERIMENTS))}:
        return None
    return next((name for name, steps in design.HORIZONS.items() if steps == study.horizon), None)


def cases_of(names: Sequence[str]) -> list[Case]:
    """The cases of some experiments, without repetition."""
    for name in names:
        if name not in EXPERIMENTS:
            raise ValueError(f"reproduce: must be one of {', '.join(EXPERIMENTS)}, got {name!r}")
    return list({case.key: case for name in names for case in EXPERIMENTS[name].cases}.values())


def experiments_with_runs(results: Results) -> list[str]:
    """The experiments of which at least a panel has finished runs for every curve."""
    return [name for name, experiment in EXPERIMENTS.items() if results.finished(experiment).panels]


def results_of(store: Store) -> Results:
    """What a store holds of the paper's experiments."""
    return Results(store, EXPERIMENTS.values())


def plot_figures(results: Results, folder: Path, names: Sequence[str]) -> list[Path]:
    """Each figure as NAME.pdf, .svg and .png, and its other views as NAME-VIEW.svg; the same cells give the same bytes."""
    written = []
    for name in names:
        for view in VIEWS:
            figure = experiment_figure(results.finished(EXPERIMENTS[name]), results, view)
            stem, formats = (name, FORMATS) if view == "mean" else (f"{name}-{view}", ("svg",))
            written += [save_figure(figure, folder / f"{stem}.{ending}") for ending in formats]
    return written
