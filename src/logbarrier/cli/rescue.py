"""logbarrier rescue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from .diagnose import environment, numbers, stable_baselines
from .errors import check_figure, check_folder, one_sentence, renamed


def rescue(
    model: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="A model saved by PPO, A2C, MaskablePPO or RecurrentPPO.")
    ],
    env: Annotated[
        str, typer.Option(help="A Gymnasium id, such as FrozenLake-v1; or module:Id, which imports the module first.")
    ],
    env_options: Annotated[str, typer.Option(help="Arguments of the environment, as JSON.")] = "{}",
    timesteps: Annotated[int, typer.Option(help="How long to train with the barrier; 0 only diagnoses.")] = 50_000,
    coefficient: Annotated[float, typer.Option(help="c at the start; it falls linearly to 0.")] = 0.6,
    save: Annotated[Path | None, typer.Option(help="Write the rescued model here; MODEL-rescued.zip by default.")] = None,
    out: Annotated[Path | None, typer.Option(hidden=True)] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot which actions are alive as .png, .pdf or .svg.")] = None,
    steps: Annotated[int, typer.Option(help="How many steps to watch for a diagnosis.")] = 2000,
    lost_below: Annotated[float, typer.Option(help="An action less likely than this is lost.")] = 1e-3,
    seed: Annotated[int, typer.Option(help="Same seed, same rescue.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Train a healthy policy too, and save a worse one.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show which actions a saved Stable-Baselines3 policy has lost, and train it on with the log barrier.

    Example: logbarrier rescue model.zip --env FrozenLake-v1 --timesteps 50000 --plot rescue.png
    """
    with one_sentence("nothing was saved"):
        for name, value, least in (("timesteps", timesteps, 0), ("steps", steps, 1)):
            if value < least:
                raise ValueError(f"rescue: {name} must be at least {least}, got {value}")
        save = renamed("--out", out, "--save", save)
        check_figure(plot)
        if save is not None:
            check_folder(save)
        sb3 = stable_baselines("rescue")
        saved = sb3.load(model, env=environment("rescue", env, env_options))
        watch: dict[str, Any] = {"steps": steps, "lost_below": lost_below, "seed": seed}
        if timesteps == 0:
            diagnoses = [sb3.diagnose(saved, **watch)]
        else:
            done = sb3.rescue(saved, timesteps=timesteps, schedule=sb3.Linear(coefficient), force=force, **watch)
            diagnoses = [done.before, done.after]
            if done.worse and not force:
                raise ValueError(f"rescue: the mean return changed by {done.change:.3g}; --force saves the worse model")
            save = save or model.with_name(f"{model.stem}-rescued.zip")
            done.model.save(save)
        if plot is not None:
            from ..plots.style import save_figure, styled

            with styled():
                save_figure(sb3.plot_diagnoses(*diagnoses), plot)
    if as_json:
        typer.echo(json.dumps({when: numbers(found) for when, found in zip(("before", "after"), diagnoses, strict=False)}))
        return
    for when, found in zip(("Before", "After"), diagnoses, strict=False):
        typer.echo(f"{when}: {found}\n")
    if timesteps:
        typer.echo(f"{save}: the mean return changed by {done.change:+.3g}")
