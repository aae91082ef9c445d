"""logbarrier serve."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .errors import one_sentence
from .rule_words import rule_from_words


def serve(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The file of decisions; created if there is none.")],
    arms: Annotated[str | None, typer.Option(help="For a new default experiment: its arms, separated by commas.")] = None,
    rule: Annotated[str | None, typer.Option(help="Its rule, see 'logbarrier rules'; the rule's options follow.")] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of its draws.")] = None,
    floor: Annotated[float | None, typer.Option(help="Every propensity is at least floor/K.")] = None,
    ttl: Annotated[float | None, typer.Option(help="Close decisions that got no reward within this many seconds.")] = None,
    default_reward: Annotated[float | None, typer.Option(help="Reward of closed decisions; forgotten without it.")] = None,
    keep_days: Annotated[
        float | None,
        typer.Option(help="Delete decisions from the journal this many days after they were closed; never without it."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free port.")] = 8000,
) -> None:
    """Serve the experiments of a file over HTTP; the token is $LOGBARRIER_TOKEN, or in FILE.token.

    With --arms, a new file has the experiment 'default'; create others with 'logbarrier experiment create'.

    Example: logbarrier serve shop.db --arms red,green,blue --floor 0.3
    """
    try:
        from ..service.server import bound, token_beside
        from ..service.server import serve as run
    except ModuleNotFoundError as error:
        sys.stderr.write(f"logbarrier: serve needs {error.name}; install it with: pip install 'logbarrier[serve]'\n")
        raise typer.Exit(2) from None
    from ..agent.durable.durable_agent import DurableAgent
    from ..agent.durable.experiments import Experiments
    from ..agent.recommended import recommended_rule
    from ..base import validate
    from ..base.addresses import is_local

    with one_sentence("every answered request is on disk"):
        if rule is None and context.args:
            raise ValueError(f"serve: does not know what to do with {' '.join(context.args)!r}")
        keep = None if keep_days is None else 86400 * validate.at_least_zero("serve", "keep-days", keep_days)
        given: dict[str, Any] = {"seed": seed, "floor": floor, "ttl": ttl, "default_reward": default_reward}
        given["rule"] = None if rule is None else rule_from_words(rule, context.args, {})
        given["arms"] = None if arms is None else [name.strip() for name in arms.split(",")]
        if arms is not None and rule is None and not file.exists():
            given["rule"] = recommended_rule()
        is_default_given = any(value is not None for value in given.values())
        with (
            bound(host, port) as listener,  # first, so that a port in use leaves no new file behind
            DurableAgent(file, **given) if is_default_given else Experiments(file) as opened,
        ):
            token, where = os.environ.get("LOGBARRIER_TOKEN"), Path("LOGBARRIER_TOKEN")
            if not token:
                token, where = token_beside(opened.path)
            address, chosen = listener.getsockname()[:2]
            shown = f"[{address}]" if ":" in address else address
            typer.echo(json.dumps({"address": f"http://{shown}:{chosen}", "token": str(where), "pid": os.getpid()}))
            if not is_local(host):
                sys.stderr.write(f"logbarrier: {host} can be reached over the network, unencrypted; put TLS in front of it\n")
            unreadable = opened.file.unreadable.items()
            sys.stderr.writelines(f"logbarrier: experiment {name!r} is not served: {reason}\n" for name, reason in unreadable)
            sys.stdout.flush()
            run(opened.file, token, listener, keep)
