"""logbarrier diagnose."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import check_figure, one_sentence

if TYPE_CHECKING:
    from ..deep.sb3 import Diagnosis


def diagnose(
    model: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="A model saved by PPO, A2C, MaskablePPO or RecurrentPPO.")
    ],
    env: Annotated[
        str, typer.Option(help="A Gymnasium id, such as FrozenLake-v1; or module:Id, which imports the module first.")
    ],
    env_options: Annotated[str, typer.Option(help="Arguments of the environment, as JSON.")] = "{}",
    steps: Annotated[int, typer.Option(help="How many steps the policy acts.")] = 2000,
    lost_below: Annotated[float, typer.Option(help="An action less likely than this is lost.")] = 1e-3,
    plot: Annotated[Path | None, typer.Option(help="Plot which actions are alive as .png, .pdf or .svg.")] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same diagnosis.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show which actions a saved Stable-Baselines3 policy has lost, and whether its returns are good nevertheless.

    Example: logbarrier diagnose model.zip --env FrozenLake-v1
    """
    with one_sentence("nothing was plotted"):
        check_figure(plot)
        if steps < 1:
            raise ValueError(f"diagnose: steps must be at least 1, got {steps}")
        sb3 = stable_baselines("diagnose")
        saved = sb3.load(model, env=environment("diagnose", env, env_options))
        found = sb3.diagnose(saved, steps=steps, lost_below=lost_below, seed=seed)
        if plot is not None:
            from ..plots.style import save_figure, styled

            with styled():
                save_figure(sb3.plot_diagnoses(found, titles=("policy",)), plot)
    typer.echo(json.dumps(numbers(found)) if as_json else str(found))


def stable_baselines(who: str) -> Any:
    """Return `logbarrier.deep.sb3`, or name the package to install."""
    try:
        from ..deep import sb3
    except ModuleNotFoundError as missing:
        raise ValueError(f"{who}: {missing.name} is not installed; run pip install 'logbarrier[rl]'") from None
    return sb3


def environment(who: str, name: str, options: str) -> Any:
    """Return the Gymnasium environment of a name and its options in JSON."""
    import gymnasium

    sys.path.insert(0, os.getcwd())  # so that module:Id finds a module of this folder
    try:
        return gymnasium.make(name, **json.loads(options))
    except json.JSONDecodeError:
        raise ValueError(f"{who}: --env-options must be a JSON object, such as '{{\"size\": 8}}', got {options}") from None
    except (gymnasium.error.Error, ModuleNotFoundError, TypeError) as error:
        raise ValueError(f"{who}: cannot make the environment {name} with {options}: {error}") from None


def numbers(found: Diagnosis) -> dict[str, Any]:
    """Return a diagnosis as JSON has it."""
    return {
        "collapsed": found.collapsed,
        "verdict": found.verdict,
        "lost_share": found.lost_share,
        "effective_actions": float(found.effective.mean()),
        "returns": found.returns,
        "uniform_returns": found.uniform,
        "actions": [dict(zip(("action", "mean", "smallest", "lost"), line, strict=True)) for line in found.by_action()],
        "states": [dict(zip(("state", "visits", "effective", "lost"), line, strict=True)) for line in found.by_state(100)],
    }
