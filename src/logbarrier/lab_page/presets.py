"""States worth a look: the panels of the paper's figures, and three traps."""

from __future__ import annotations

from ..paper import design
from ..paper.eta import LEARNING_RATES as ETA_RATES
from .state import State

PAPER_RULES = ("lb", "sgb", "ent", "npg")
BASELINE_RULES = ("lb", "npg-sqrt", "npg-mei", "clipped")

PRESETS: dict[str, State] = {
    "Trap: collapse (SGB ends on a wrong arm in many runs)": State(alpha=0.5, rules=("lb", "sgb"), view="distribution"),
    "Trap: a bad start (the best arm at 0.001)": State(start=1e-3, rules=("lb", "adaptive", "sgb", "npg")),
    "Trap: a near tie (gap 0.01)": State(gap=0.01, rules=("lb", "sgb", "thompson"), view="regret"),
    "Three arms on the simplex": State(arms=3, gap=0.3, alpha=0.5, etas=(100.0,), start=0.02, horizon=3000, view="simplex"),
    "Four rooms: what explores?": State(view="environment", horizon=100_000, runs=20),
    "Deep sea: what do features add?": State(
        view="environment", environment="deep-sea", features="cosines", horizon=30_000, runs=20
    ),
    "Many arms: 10,000": State(
        arms=10_000, alpha=0.3, etas=(50_000.0,), horizon=250_000, runs=16, rules=("lb", "adaptive", "sgb")
    ),
    **{
        f"Figure 1: K = {K}, alpha = {alpha:g}": State(
            arms=K,
            alpha=alpha,
            etas=(design.barrier(K, alpha),),
            rules=PAPER_RULES,
            horizon=design.HORIZON,
            runs=design.RUNS,
        )
        for alpha in design.LEARNING_RATES
        for K in design.ARMS
    },
    **{
        f"Appendix E, eta: alpha = {alpha:g}": State(alpha=alpha, etas=(1e2, 1e3, 1e4), rules=("sgb", "lb"))
        for alpha in ETA_RATES
    },
    **{
        f"Appendix E, baselines: K = {K}": State(arms=K, etas=(design.barrier(K, 0.1),), rules=BASELINE_RULES)
        for K in design.ARMS
    },
}
