"""What the page shows, as one value: checked, and equal to the text in the address bar.

    State(arms=100, alpha=0.01).query()          'arms=100&alpha=0.01'
    State.of_query('arms=100&alpha=0.01')        the same state

Whatever comes from a browser passes through here, so nothing behind this file need check it again.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from ..base import validate
from .environments import ENVIRONMENTS, FEATURE_MAPS, LEARNERS
from .laws import LAWS
from .rules import CHOICES

VIEWS = ("learning", "smallest", "regret", "distribution", "policy", "simplex", "environment")
SIMPLEX_ARMS = 3
LEAST_ARMS, MOST_ARMS = 2, 100_000
MOST_HORIZON = 2_500_000
MOST_RUNS = 1000
MOST_ETAS = 4
MOST_STEPS = 1_000_000_000  # rules x runs x horizon: ten seconds to a few minutes of two cores
MOST_DENSE = 5_000_000_000  # arms x horizon of the views that follow single runs
LONGEST_QUERY = 2000
FORMER = {"world": "environment"}  # words of addresses that were saved before 0.3


@dataclass(frozen=True, kw_only=True)
class State:
    """The settings of the page.

    arms         K
    gap          best mean minus second best
    noise        standard deviation of the rewards (half-width of uniform ones); Bernoulli and beta rewards have their own
    law          a key of `laws.LAWS`
    alpha        learning rate of the rules that take one
    etas         of LB-SGB, one curve for each; ENT takes 1/etas[0] as its temperature
    start        None for uniform, or the probability the optimal arm starts at
    rules        keys of `rules.CHOICES`
    spacing      of the checkpoints: linear or log
    environment  a key of `environments.ENVIRONMENTS`, for the view of environments
    features     "none", or a key of `environments.FEATURE_MAPS`: a further rule in environments whose states have features
    at           the moment that the views of one moment show, as a share of the horizon

    >>> State.of_query("arms=100&alpha=0.01&rules=lb,sgb").alpha
    0.01
    """

    arms: int = 10
    gap: float = 0.1
    noise: float = 1.0
    law: str = "gaussian"
    alpha: float = 0.1
    etas: tuple[float, ...] = (1000.0,)
    horizon: int = 25_000
    runs: int = 100
    seed: int = 0
    start: float | None = None
    rules: tuple[str, ...] = ("lb", "sgb")
    spacing: str = "linear"
    view: str = "learning"
    environment: str = "rooms"
    features: str = "none"
    at: float = 1.0

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "arms": validate.integer("lab", "arms", self.arms, LEAST_ARMS, MOST_ARMS),
            "gap": _within("gap", self.gap, 1e-3, 0.8),
            "noise": _within("noise", self.noise, 1e-2, 10.0),
            "law": validate.choice("lab", "law", self.law, tuple(LAWS)),
            "alpha": _within("alpha", self.alpha, 1e-4, 10.0),
            "etas": _several("eta", [_within("eta", eta, 1.0, 1e8) for eta in self.etas], MOST_ETAS),
            "horizon": validate.integer("lab", "horizon", self.horizon, 10, MOST_HORIZON),
            "runs": validate.integer("lab", "runs", self.runs, 2, MOST_RUNS),
            "seed": validate.integer("lab", "seed", self.seed, 0, 2**32 - 1),
            "start": None if self.start is None else _within("start", self.start, 1e-6, 0.5),
            "rules": _several("rules", [validate.choice("lab", "rule", r, tuple(CHOICES)) for r in self.rules], len(CHOICES)),
            "spacing": validate.choice("lab", "spacing", self.spacing, ("linear", "log")),
            "view": validate.choice("lab", "view", self.view, VIEWS),
            "environment": validate.choice("lab", "environment", self.environment, tuple(ENVIRONMENTS)),
            "features": validate.choice("lab", "features", self.features, ("none", *FEATURE_MAPS)),
            "at": validate.between_zero_and_one("lab", "at", self.at),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        self._refuse_what_does_not_fit()

    def _refuse_what_does_not_fit(self) -> None:
        if self.view == "simplex" and self.arms != SIMPLEX_ARMS:
            raise ValueError(f"lab: the simplex view needs arms = {SIMPLEX_ARMS}, got {self.arms}")
        steps = self.n_curves * self.runs * self.horizon
        if steps > MOST_STEPS:
            raise ValueError(f"lab: curves x runs x horizon must be at most {MOST_STEPS:.0e} steps, got {steps:.1e}")
        if self.view == "policy" and self.arms * self.horizon > MOST_DENSE:
            raise ValueError(
                f"lab: the policy view needs arms x horizon of at most {MOST_DENSE:.0e}, got {self.arms * self.horizon:.1e}"
            )

    @property
    def n_curves(self) -> int:
        """How many curves are plotted."""
        if self.view == "environment":
            return len(LEARNERS) + (self.feature_map is not None)
        return sum(len(self.etas) if CHOICES[key].for_each_eta else 1 for key in self.rules)

    @property
    def feature_map(self) -> str | None:
        """A key of `environments.FEATURE_MAPS`; None if no features are chosen or the environment has none."""
        applies = self.features != "none" and ENVIRONMENTS[self.environment].has_features
        return self.features if applies else None

    def changed(self, **changes: Any) -> State:
        """The state with some settings changed; choosing the simplex view sets three arms."""
        if changes.get("view") == "simplex":
            changes = {"arms": SIMPLEX_ARMS, **changes}
        return replace(self, **changes)

    def query(self) -> str:
        """What differs from the defaults, as in an address: 'arms=100&rules=lb,sgb'."""
        default = State()
        pairs = [
            (field.name, _as_text(getattr(self, field.name)))
            for field in fields(self)
            if getattr(self, field.name) != getattr(default, field.name)
        ]
        return urlencode(pairs, safe=",")

    @classmethod
    def of_query(cls, query: str) -> State:
        """The state an address describes; ValueError with a sentence if it describes none."""
        if len(query) > LONGEST_QUERY:
            raise ValueError(f"lab: the address must have at most {LONGEST_QUERY} characters, got {len(query)}")
        found: dict[str, Any] = {}
        for given, text in parse_qsl(query, keep_blank_values=True):
            name, text = FORMER.get(given, given), FORMER.get(text, text)
            if name not in READERS:
                raise ValueError(f"lab: the address has no setting {name!r}; it takes {', '.join(READERS)}")
            try:
                found[name] = READERS[name](text)
            except ValueError:
                raise ValueError(f"lab: {name} in the address cannot be read, got {text!r}") from None
        return cls(**found)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(word) for word in text.split(","))


def _start(text: str) -> float | None:
    return None if text == "uniform" else float(text)


READERS: dict[str, Any] = {
    "arms": int,
    "gap": float,
    "noise": float,
    "law": str,
    "alpha": float,
    "etas": _numbers,
    "horizon": int,
    "runs": int,
    "seed": int,
    "start": _start,
    "rules": _words,
    "spacing": str,
    "view": str,
    "environment": str,
    "features": str,
    "at": float,
}


def _as_text(value: Any) -> str:
    if value is None:
        return "uniform"
    if isinstance(value, tuple):
        return ",".join(_as_text(entry) for entry in value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def _within(name: str, value: Any, least: float, most: float) -> float:
    checked = validate.number("lab", name, value)
    if not least <= checked <= most:
        raise ValueError(f"lab: {name} must be between {least:g} and {most:g}, got {checked:g}")
    return checked


def _several(name: str, values: list[Any], most: int) -> tuple[Any, ...]:
    if not 1 <= len(values) <= most or len(set(values)) < len(values):
        raise ValueError(f"lab: {name} must have 1 to {most} different values, got {', '.join(map(str, values)) or 'none'}")
    return tuple(values)
