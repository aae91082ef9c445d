"""The paper's claims as a table for the terminal, at most 100 columns wide."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .console import wide_console

WIDTH = 100
COLOURS = {
    "reproduced": "green",
    "not reproduced": "red",
    "only at the long horizon": "yellow",
    "undecided by these runs": "cyan",
}


def print_claims(evaluated: list[dict[str, Any]], explanation: str) -> None:
    """Claim, the evidence that decides it, verdict; then a tally and why the horizon matters."""
    from rich.table import Table

    console = wide_console()
    console.width = min(WIDTH, console.width)
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("claim", "effect", "95 % interval", "needed", "p", "verdict"):
        table.add_column(heading, no_wrap=True, justify="right" if heading in ("effect", "needed", "p") else "left")
    for one in evaluated:
        colour = COLOURS.get(one["verdict"], "dim")
        table.add_row(one["name"], *_shown(_deciding(one)), f"[{colour}]{one['verdict']}[/]")
    console.print(table)
    console.print("\n" + tally_of(evaluated))
    console.print(f"Evidence: each claim's weakest comparison, at the horizon its verdict rests on. {explanation}")


def tally_of(evaluated: list[dict[str, Any]]) -> str:
    """How many claims have which verdict."""
    tally = Counter(one["verdict"] for one in evaluated)
    return ", ".join(f"{count} {verdict}" for verdict, count in tally.most_common())


def _deciding(one: dict[str, Any]) -> dict[str, Any] | None:
    """A claim that holds as printed rests on that; any other on the longest horizon that was run."""
    printed, long = one["printed"], one["long"]
    evidence: dict[str, Any] | None = printed if one["verdict"] == "reproduced" or long is None else long
    return evidence


def _shown(one: dict[str, Any] | None) -> tuple[str, str, str, str]:
    if one is None:
        return "-", "", "", ""
    p = "" if one["p"] is None else f"{one['p']:.0e}" if one["p"] < 0.001 else f"{one['p']:.3f}"
    interval = f"{_number(one['low'])} to {_number(one['high'])}"
    return _number(one["effect"]), interval, f"{'>' if one['above'] else '<'} {one['bound']:g}", p


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"
