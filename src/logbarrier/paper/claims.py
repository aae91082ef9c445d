"""Every empirical sentence of the paper's Section 6 and Appendix E, and its verdict."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .claims_eta import eta_claims
from .claims_rules import rule_claims
from .evidence import Evidence
from .experiment import Results

CLAIMS = [*rule_claims(), *eta_claims(0.1), *eta_claims(0.01)]


def verdict(printed: Evidence | None, long: Evidence | None) -> str:
    """What became of a claim, from its evidence at the printed and at the long horizon (None: not run)."""
    if printed is None:
        return "not run"
    if printed.holds:
        return "reproduced"
    if long is not None and long.holds:
        return "only at the long horizon"
    return "not reproduced" if printed.fails and (long is None or long.fails) else "undecided by these runs"


def evaluate(printed: Results | None, long: Results | None) -> list[dict[str, Any]]:
    """Every claim with its evidence at both horizons and its verdict, as plain JSON values."""
    evaluated = []
    for claim in CLAIMS:
        found = [None if results is None else claim.evaluate(results) for results in (printed, long)]
        evaluated.append(
            {
                **{key: getattr(claim, key) for key in ("name", "place", "sentence", "meaning")},
                "printed": None if found[0] is None else asdict(found[0]),
                "long": None if found[1] is None else asdict(found[1]),
                "verdict": verdict(*found),
            }
        )
    return evaluated
