"""A panel of realistic problems, in two halves: rules are tuned on one and evaluated on the other.

Every kind of reward has families in both halves, with different parameters. The split is fixed by the table `FAMILIES`: in each
kind the families alternate, tuning first. A family comes with six numbers of arms. Each of them has one of three horizons,
also fixed by a rule, so that every horizon meets every number of arms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..bandits.algorithms.beta_thompson_sampling import BetaThompsonSampling
from ..bandits.algorithms.rule import Rule
from ..bandits.algorithms.thompson_sampling import ThompsonSampling
from ..bandits.problems import (
    ClickInstances,
    CostInstances,
    CountInstances,
    Family,
    GapInstances,
    NeedleInstances,
    RevenueInstances,
    StudentInstances,
    UnequalNoiseInstances,
)
from ..base import validate
from .typical import typical

ARMS = (2, 5, 12, 50, 300, 1000)
HORIZONS = (10_000, 100_000, 1_000_000)
PULLS_PER_ARM = 20  # a shorter horizon says nothing of K arms: the next one is taken
HALVES = ("tuning", "test")

FAMILIES: dict[str, dict[str, Callable[[int], Family]]] = {
    "gap": {
        "gap-0.1": lambda k: GapInstances(k, gap=0.1),
        "gap-0.5": lambda k: GapInstances(k, gap=0.5),
    },
    "quiet": {
        "quiet-0.3": lambda k: GapInstances(k, gap=0.5, scale=0.3),
        "quiet-0.1": lambda k: GapInstances(k, gap=0.02, scale=0.1),
    },
    "close": {
        "close-0.05": lambda k: GapInstances(k, gap=0.05, r_max=0.2),
        "close-0.02": lambda k: GapInstances(k, gap=0.02, r_max=0.1),
    },
    "needle": {
        "needle-0.3": lambda k: NeedleInstances(k, gap=0.3),
        "needle-0.1": lambda k: NeedleInstances(k, gap=0.1),
    },
    "clicks": {
        "clicks-2%": lambda k: ClickInstances(k, rate=0.02, spread=0.4),
        "clicks-0.2%": lambda k: ClickInstances(k, rate=0.002, spread=0.6),
        "clicks-50%": lambda k: ClickInstances(k, rate=0.5, spread=0.2),
        "clicks-12%": lambda k: ClickInstances(k, rate=0.12, spread=0.3),
    },
    "revenue": {
        "revenue-10%": lambda k: RevenueInstances(k, rate=0.1, amount=20.0, sigma=0.7),
        "revenue-3%": lambda k: RevenueInstances(k, rate=0.03, amount=50.0, sigma=1.0),
    },
    "counts": {
        "counts-5": lambda k: CountInstances(k, rate=5.0, spread=0.2),
        "counts-0.5": lambda k: CountInstances(k, rate=0.5, spread=0.4),
    },
    "student": {
        "student-0.5": lambda k: StudentInstances(k, gap=0.5),
        "student-0.1": lambda k: StudentInstances(k, gap=0.1),
    },
    "unequal": {
        "unequal-0.3": lambda k: UnequalNoiseInstances(k, gap=0.3, smallest=0.2, largest=2.0),
        "unequal-0.1": lambda k: UnequalNoiseInstances(k, gap=0.1, smallest=0.1, largest=3.0),
    },
    "costs": {
        "costs-0.5": lambda k: CostInstances(k, cost=10.0, sigma=0.5),
        "costs-1": lambda k: CostInstances(k, cost=0.2, sigma=1.0),
    },
}
"""kind -> name -> family of K arms."""


@dataclass(frozen=True)
class PanelCell:
    """A problem of the panel: its name, the kind of its rewards, its half, its horizon and the family itself.

    >>> import logbarrier as lb
    >>> [cell.name for cell in lb.panel(half="test", kinds=["clicks"], arms=[12])]
    ['clicks-0.2%/12/1000000', 'clicks-12%/12/100000']
    """

    name: str
    kind: str
    half: str
    horizon: int
    problem: Family

    def informed_rule(self) -> Rule:
        """Return Thompson sampling that is given the law of the rewards, their noise and the range of the means."""
        known = typical(self.problem)
        if known.clicks:
            return BetaThompsonSampling()
        return ThompsonSampling(scale=float(f"{known.deviation:.3g}"), prior_scale=float(f"{known.reach:.3g}"))


def panel(
    *,
    half: str | None = None,
    kinds: list[str] | None = None,
    arms: list[int] | None = None,
) -> tuple[PanelCell, ...]:
    """Return the cells of the panel, all 132 or those of a half, of some kinds of reward, or of some numbers of arms."""
    if half is not None:
        validate.choice("panel", "half", half, HALVES)
    for kind in kinds or ():
        validate.choice("panel", "kinds", kind, list(FAMILIES))
    wanted = [cell for cell in _cells() if half in (None, cell.half) and (kinds is None or cell.kind in kinds)]
    return tuple(cell for cell in wanted if arms is None or cell.problem.n_arms in arms)


def _cells() -> list[PanelCell]:
    named = [(kind, name, place) for kind, families in FAMILIES.items() for place, name in enumerate(families)]
    cells = []
    for number, (kind, name, place) in enumerate(named):
        for column, n_arms in enumerate(ARMS):
            horizon = HORIZONS[(number + column) % len(HORIZONS)]
            if horizon < PULLS_PER_ARM * n_arms:
                horizon = HORIZONS[1]
            half = HALVES[place % len(HALVES)]
            cells.append(PanelCell(f"{name}/{n_arms}/{horizon}", kind, half, horizon, FAMILIES[kind][name](n_arms)))
    return cells
