"""logbarrier warm-up."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from .errors import one_sentence

FEW, MANY = 3, 65  # arms: each rule on the loop for few and on the one for many


def warm_up(
    rule: Annotated[list[str] | None, typer.Option(metavar="<name>", help="Only this rule; repeat for more.")] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing.")] = False,
) -> None:
    """Compile everything now: the loops, the rules, the rewards and the agent, for services and cluster workers.

    What is compiled is kept in the cache folder (LOGBARRIER_CACHE_DIR), so later processes start at once.

    Example: logbarrier warm-up --rule optimistic-barrier --rule sgb
    """
    from ..agent.warm_up import warm
    from ..bandits.algorithms import RULES
    from ..base.validate import choice
    from ..engine.object_cache import cache_folder

    with one_sentence("nothing else was compiled"):
        names = rule or list(RULES)
        for name in names:
            choice("warm-up", "rule", name, tuple(RULES))
        started = time.perf_counter()
        count = sum(warm(RULES[name], (FEW, MANY)) for name in names)
    if not quiet:
        seconds = time.perf_counter() - started
        typer.echo(f"{len(names)} rules on {count} loops are ready in {cache_folder()}, after {seconds:.0f} s")
