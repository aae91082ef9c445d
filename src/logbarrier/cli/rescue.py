"""logbarrier rescue."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import one_sentence

if TYPE_CHECKING:
    from ..deep.sb3 import Diagnosis


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
    out: Annotated[Path | None, typer.Option(help="Where to save the rescued model; by default MODEL-rescued.zip.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot which actions are alive as .png, .pdf or .svg.")] = None,
    steps: Annotated[int, typer.Option(help="How many steps to watch for a diagnosis.")] = 2000,
    lost_below: Annotated[float, typer.Option(help="An action less likely than this is lost.")] = 1e-3,
    seed: Annotated[int, typer.Option(help="Same seed, same rescue.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show which actions a saved Stable-Baselines3 policy has lost, and train it on with the log barrier.

    Example: logbarrier rescue model.zip --env FrozenLake-v1 --timesteps 50000 --plot rescue.png
    """
    with one_sentence("nothing was saved"):
        for name, value, least in (("timesteps", timesteps, 0), ("steps", steps, 1)):
            if value < least:
                raise ValueError(f"rescue: {name} must be at least {least}, got {value}")
        for path in (out, plot):
            if path is not None and not path.resolve().parent.is_dir():
                raise ValueError(f"{path}: the folder {path.parent} does not exist")
        try:
            from ..deep import sb3
        except ModuleNotFoundError as missing:
            raise ValueError(f"rescue: {missing.name} is not installed; run pip install 'logbarrier[rl]'") from None
        saved = sb3.load(model, env=_environment(env, env_options))
        watch: dict[str, Any] = {"steps": steps, "lost_below": lost_below, "seed": seed}
        if timesteps == 0:
            diagnoses = [sb3.diagnose(saved, **watch)]
        else:
            done = sb3.rescue(saved, timesteps=timesteps, schedule=sb3.Linear(coefficient), **watch)
            diagnoses = [done.before, done.after]
            out = out or model.with_name(f"{model.stem}-rescued.zip")
            done.model.save(out)
        if plot is not None:
            sb3.plot_diagnoses(*diagnoses).savefig(plot, dpi=150)
    if as_json:
        typer.echo(json.dumps({when: _numbers(found) for when, found in zip(("before", "after"), diagnoses, strict=False)}))
        return
    for when, found in zip(("Before", "After"), diagnoses, strict=False):
        typer.echo(f"{when}: {found}\n")
    if timesteps:
        typer.echo(f"{out}")


def _environment(name: str, options: str) -> Any:
    import gymnasium

    sys.path.insert(0, os.getcwd())  # so that module:Id finds a module of this folder
    try:
        return gymnasium.make(name, **json.loads(options))
    except (gymnasium.error.Error, ModuleNotFoundError, TypeError) as error:
        raise ValueError(f"rescue: cannot make the environment {name} with {options}: {error}") from None


def _numbers(found: Diagnosis) -> dict[str, Any]:
    return {
        "lost_share": found.lost_share,
        "effective_actions": float(found.effective.mean()),
        "returns": found.returns,
        "actions": [dict(zip(("action", "mean", "smallest", "lost"), line, strict=True)) for line in found.by_action()],
        "states": [dict(zip(("state", "visits", "effective", "lost"), line, strict=True)) for line in found.by_state(100)],
    }
