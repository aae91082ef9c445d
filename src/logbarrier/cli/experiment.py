"""logbarrier experiment: create, list, change and summarise experiments."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from .console import printable, table_of, unwrapped_console
from .errors import one_sentence
from .execution import AsJson
from .rule_words import rule_from_words

Target = Annotated[str, typer.Argument(help="The file of decisions; or the address of the service that has it open.")]
Name = Annotated[str, typer.Argument(help="The name of the experiment.")]
app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)


def _request(target: str, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    try:
        from ..service.request import request
    except ModuleNotFoundError as error:
        sys.stderr.write(f"logbarrier: experiment needs {error.name}; install it with: pip install 'logbarrier[serve]'\n")
        raise typer.Exit(2) from None
    given = None if body is None else {name: value for name, value in body.items() if value is not None}
    with one_sentence("what was answered is on disk"):
        return request(target, os.environ.get("LOGBARRIER_TOKEN"), method, path, given)


def _path(name: str) -> str:
    return f"/experiments/{quote(name, safe='')}"


@app.command("list")
def list_all(target: Target, as_json: AsJson = False) -> None:
    """List the experiments. For a service, the token is $LOGBARRIER_TOKEN.

    Example: logbarrier experiment list shop.db
    """
    listed = _request(target, "GET", "/experiments")
    experiments = listed["experiments"]
    for name, reason in listed["unreadable"].items():
        sys.stderr.write(f"logbarrier: experiment {name!r} cannot be read: {printable(reason)}\n")
    if as_json:
        typer.echo(json.dumps(experiments, indent=1))
        return
    table = table_of(["experiment", "state", "rule"], ["arms", "decisions", "rewards", "pending"])
    for each in experiments:
        state = each["state"] if each["winner"] is None else f"{each['state']}: {each['winner']}"
        numbers = [str(len(each["arms"])), *(f"{each[key]:,}" for key in ("decisions", "rewards", "pending"))]
        table.add_row(each["name"], printable(state), each["rule"]["rule"], *numbers)
    unwrapped_console().print(table)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def create(
    context: typer.Context,
    target: Target,
    name: Name,
    arms: Annotated[str, typer.Option(help="Names of the arms, separated by commas.")],
    features: Annotated[str | None, typer.Option(help='Of contexts, as JSON: 8, or {"age": "number"}.')] = None,
    rule: Annotated[str | None, typer.Option(help="See 'logbarrier rules'; its parameters follow.")] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of its draws; derived from the name by default.")] = None,
    floor: Annotated[float | None, typer.Option(help="Every propensity is at least floor/K.")] = None,
    ttl: Annotated[float | None, typer.Option(help="Close decisions that got no reward within this many seconds.")] = None,
    default_reward: Annotated[float | None, typer.Option(help="Reward of closed decisions; forgotten without it.")] = None,
    baseline: Annotated[str | None, typer.Option(help="The arm that lifts refer to; the first by default.")] = None,
    difference: Annotated[float | None, typer.Option(help="The largest difference that does not matter.")] = None,
) -> None:
    """Create an experiment.

    Example: logbarrier experiment create shop.db colours --arms red,green,blue
    """
    with one_sentence("nothing was changed"):
        if rule is None and context.args:
            raise ValueError(f"experiment: does not know what to do with {' '.join(context.args)!r}")
        plain = None if rule is None else rule_from_words(rule, context.args, {}).to_dict()
        of_contexts = None if features is None else json_of("features", features)
    body = {
        "name": name,
        "arms": [arm.strip() for arm in arms.split(",")],
        "rule": plain,
        "seed": seed,
        "floor": floor,
        "features": of_contexts,
    }
    closing = {"ttl": ttl, "default_reward": default_reward, "baseline": baseline, "difference": difference}
    made = _request(target, "POST", "/experiments", {**body, **closing})
    typer.echo(f"created {made['name']}: {len(made['arms'])} arms, rule {made['rule']['rule']}")


@app.command()
def change(
    target: Target,
    name: Name,
    ttl: Annotated[float | None, typer.Option(help="Close decisions that got no reward within this many seconds.")] = None,
    default_reward: Annotated[float | None, typer.Option(help="Reward of closed decisions.")] = None,
    baseline: Annotated[str | None, typer.Option(help="The arm that lifts refer to.")] = None,
    difference: Annotated[float | None, typer.Option(help="The largest difference that does not matter.")] = None,
) -> None:
    """Change what closes the decisions of an experiment, or what its summary refers to.

    Example: logbarrier experiment change shop.db colours --ttl 3600 --default-reward 0
    """
    body = {"ttl": ttl, "default_reward": default_reward, "baseline": baseline, "difference": difference}
    _say(_request(target, "PATCH", _path(name), body))


@app.command()
def pause(target: Target, name: Name) -> None:
    """Pause an experiment: it makes no decisions until 'start', but takes rewards.

    Example: logbarrier experiment pause shop.db colours
    """
    _say(_request(target, "PATCH", _path(name), {"state": "paused"}))


@app.command()
def start(target: Target, name: Name) -> None:
    """Start an experiment that is paused.

    Example: logbarrier experiment start shop.db colours
    """
    _say(_request(target, "PATCH", _path(name), {"state": "on"}))


@app.command()
def end(
    target: Target,
    name: Name,
    winner: Annotated[str | None, typer.Option(help="The arm to use from now on.")] = None,
) -> None:
    """End an experiment for good; it still takes the rewards of its pending decisions.

    Example: logbarrier experiment end shop.db colours --winner green
    """
    _say(_request(target, "PATCH", _path(name), {"state": "ended", "winner": winner}))


@app.command()
def summary(target: Target, name: Name, as_json: AsJson = False) -> None:
    """Show each arm with an interval that holds at all times, and which one wins.

    Example: logbarrier experiment summary shop.db colours
    """
    plain = _request(target, "GET", f"{_path(name)}/summary")
    if as_json:
        typer.echo(json.dumps(plain, indent=1))
        return
    table = table_of(["arm"], ["decisions", "rewards", "mean", "low", "high", "lift", "P(best)"])
    for arm in plain["arms"]:
        numbers = ["-" if arm[key] is None else f"{arm[key]:.5g}" for key in ("mean", "low", "high")]
        lift = "-" if arm["lift"] is None else f"{arm['lift']:+.1%}"
        counts = [f"{arm['decisions']:,}", f"{arm['rewards']:,}"]
        table.add_row(printable(str(arm["arm"])), *counts, *numbers, lift, f"{arm['best']:.3f}")
    unwrapped_console().print(table)
    typer.echo(printable(plain["sentence"]))


@app.command()
def value(
    target: Target,
    name: Name,
    always: Annotated[str | None, typer.Option(help="The arm that the policy always draws.")] = None,
    policy: Annotated[Path | None, typer.Option(help="A CSV file with id, arm and perhaps probability per decision.")] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate what another policy would have earned, from the decisions with a reward at which it could act.

    Example: logbarrier experiment value decisions.db checkout --always B
    """
    with one_sentence("nothing was changed"):
        if (always is None) == (policy is None):
            raise ValueError("experiment: value takes one of --always and --policy")
        plain = {} if policy is None else _value_of_file(target, name, policy)
    if always is not None:
        plain = _request(target, "POST", f"{_path(name)}/value", {"always": always})
    if as_json:
        typer.echo(json.dumps(plain, indent=1))
        return
    about = f"from {plain['decisions']:,} of {plain['rewarded']:,} decisions with a reward, worth {plain['effective']:,.0f}"
    typer.echo(f"{plain['mean']:.5g} ({plain['low']:.5g} .. {plain['high']:.5g} at level {plain['level']:g}), {about}")
    if plain["doubt"]:
        typer.echo(printable(f"Doubt: {plain['doubt']}."))


def _value_of_file(target: str, name: str, policy: Path) -> dict[str, Any]:
    """The value of a policy named decision by decision, from the file of decisions, which may be in use."""
    from ..agent.durable.log import read_log
    from ..agent.logged_policies import PolicyTable
    from ..agent.off_policy import Log, doubly_robust

    if target.startswith(("http://", "https://")):
        raise ValueError("experiment: value --policy reads the file of decisions; name it in place of the address")
    log = Log.from_rows(read_log(target, experiment=name))
    return {**asdict(doubly_robust(log, PolicyTable.from_csv(policy), warn=False)), "rewarded": len(log)}


def json_of(name: str, text: str) -> Any:
    """What a text of JSON stands for."""
    try:
        return json.loads(text)
    except ValueError:
        raise ValueError(f"experiment: {name} must be JSON, got {text!r}") from None


def _say(about: dict[str, Any]) -> None:
    winner = "" if about["winner"] is None else f", winner {about['winner']}"
    typer.echo(printable(f"{about['name']}: {about['state']}{winner}"))
