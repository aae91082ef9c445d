"""All experiments of the paper as one study a horizon, and their figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..plots import save_figure
from ..studies import Case, Study
from . import baselines, eta, figure_1, setting
from .experiment import Experiment, Results, draw

EXPERIMENTS: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in (figure_1, baselines, eta)}
FORMATS = ("pdf", "svg", "png")


def paper_study(horizon: str = "paper", runs: int = setting.RUNS, seed: int = 0) -> Study:
    """Every case of every experiment; curves that two figures share are simulated once. horizon: paper or long."""
    if horizon not in setting.HORIZONS:
        raise ValueError(f"reproduce: horizon must be one of {', '.join(setting.HORIZONS)}, got {horizon!r}")
    steps = setting.HORIZONS[horizon]
    return Study(
        name="paper" if horizon == "paper" else f"paper-{horizon}",
        cases=cases_of(list(EXPERIMENTS)),
        horizon=steps,
        runs=runs,
        seed=seed,
        runs_per_cell=20,
        checkpoints=setting.checkpoints(steps),
        metrics=setting.METRICS,
    )


def horizon_of(study: Study) -> str | None:
    """paper or long if this is the paper's study, None if it is another one."""
    for horizon in setting.HORIZONS:
        if paper_study(horizon, study.runs, study.seed).hash == study.hash:
            return horizon
    return None


def cases_of(names: Sequence[str]) -> list[Case]:
    """The cases of some experiments, without repetition."""
    for name in names:
        if name not in EXPERIMENTS:
            raise ValueError(f"reproduce: must be one of {', '.join(EXPERIMENTS)}, got {name!r}")
    return list({case.key: case for name in names for case in EXPERIMENTS[name].cases}.values())


def draw_figures(results: Results, names: Sequence[str] = tuple(EXPERIMENTS)) -> list[Path]:
    """Write each figure as PDF, SVG and PNG in the store's figures folder; the same cells give the same bytes."""
    folder = results.store.folder / "figures"
    folder.mkdir(exist_ok=True)
    written = []
    for name in names:
        figure = draw(EXPERIMENTS[name], results)
        for ending in FORMATS:
            written.append(save_figure(figure, folder / f"{name}.{ending}"))
    return written
