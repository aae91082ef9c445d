"""The controls of the page: widgets that show a state, and report which settings their user changed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import CustomJSTickFormatter
from bokeh.models.widgets import CheckboxGroup, RadioButtonGroup, Select, Slider, Spinner, TextInput

from .environments import ENVIRONMENTS, FEATURE_MAPS
from .laws import LAWS
from .presets import PRESETS
from .rules import CHOICES
from .state import MOST_ARMS, MOST_HORIZON, MOST_RUNS, State

# What a view does not depend on; its controls are not shown.
WITHOUT_EFFECT = {
    "distribution": {"spacing"},
    "policy": {"spacing", "runs"},
    "simplex": {"spacing", "runs", "arms"},
    "environment": {"arms", "gap", "noise", "start", "more_etas", "rules", "law"},
}
Changed = Callable[[dict[str, Any]], None]
UNIFORM = -6.1  # where the start's slider stands for a uniform start; above, the exponent of p(a*)
SHEET = """
:host { color: var(--ink); font: inherit; }
.bk-input { background: var(--field); color: var(--ink); border-color: var(--line); }
.bk-btn { background: var(--field); color: var(--ink); border-color: var(--line); }
.bk-btn:hover, .bk-btn.bk-active { background: var(--strong); color: var(--on-strong); border-color: var(--strong); }
.bk-btn-group { flex-wrap: wrap; gap: 4px; }
.bk-btn-group > .bk-btn { flex: 1 1 auto; border-radius: 4px; }
.bk-input:focus-visible, .bk-btn:focus-visible, .noUi-handle:focus-visible, input:focus-visible {
  outline: 3px solid var(--strong); outline-offset: 1px; }
.noUi-target { background: var(--field); border-color: var(--line); box-shadow: none; }
.noUi-connect { background: var(--line) !important; }
.bk-btn[disabled] { background: var(--field); color: var(--faint); opacity: 0.5; }
.noUi-handle { background: var(--strong); border-color: var(--strong); box-shadow: none; }
"""


_SHARED: dict[str, Any] = {"sizing_mode": "stretch_width", "stylesheets": [SHEET], "margin": (4, 12, 4, 12)}


def two_digits(exponent: float) -> float:
    """10^exponent rounded to two digits: where a logarithmic slider stands.

    >>> two_digits(3.3), two_digits(-1.0)
    (2000.0, 0.1)
    """
    return float(f"{10.0**exponent:.1e}")


def without_effect(state: State) -> set[str]:
    """Return the controls that change nothing in a state.

    >>> sorted(without_effect(State(view="environment"))), sorted(without_effect(State(rules=("sgb",))))
    (['arms', 'gap', 'law', 'more_etas', 'noise', 'rules', 'start'], ['environment', 'eta', 'features', 'more_etas'])
    """
    if state.view == "environment":
        has_features = ENVIRONMENTS[state.environment].has_features
        return WITHOUT_EFFECT["environment"] | (set() if has_features else {"features"})
    idle = {"environment", "features", *WITHOUT_EFFECT.get(state.view, ())}
    if "lb" not in state.rules:
        idle |= {"more_etas"} if "ent" in state.rules else {"more_etas", "eta"}
    return idle if LAWS[state.law].noisy else idle | {"noise"}


VALUE = 'return Number((10 ** tick).toPrecision(2)).toLocaleString("en", {maximumSignificantDigits: 2})'
START = 'return tick < -6 ? "uniform" : "p(a*) " + Number((10 ** tick).toPrecision(2))'


class LogSlider:
    """A slider over powers of ten, in steps of about an eighth."""

    def __init__(self, title: str, least: float, most: float, changed: Callable[[float], None], said: str) -> None:
        self._title = title
        self.widget = Slider(
            title=title,
            start=float(np.log10(least)),
            end=float(np.log10(most)),
            step=0.05,
            value=float(np.log10(least)),
            format=CustomJSTickFormatter(code=said),
            html_attributes={"role": "group", "aria-label": title},
            **_SHARED,
        )
        self.widget.on_change("value", lambda _attr, _old, new: changed(new))

    def show(self, exponent: float, value: float | None) -> None:
        """Stand at an exponent; a value that is not what the slider would say there is added to the title."""
        if two_digits(self.widget.value) != value or exponent == UNIFORM:
            self.widget.value = min(max(exponent, self.widget.start), self.widget.end)
        exact = value is None or two_digits(self.widget.value) == value
        self.widget.title = self._title if exact else f"{self._title} (here {value:g})"


class Controls:
    """All widgets of the page. `show` sets them to a state; what their user does goes to `changed` as settings."""

    def __init__(self, changed: Changed) -> None:
        self._changed = changed
        self._showing = False
        self.preset = self._select("Preset", ["choose ...", *PRESETS], self._choose_preset)
        self.law = self._select("Rewards", [(key, law.label) for key, law in LAWS.items()], lambda new: self._report(law=new))
        environments = [(key, one.label) for key, one in ENVIRONMENTS.items()]
        self.environment = self._select("Environment", environments, lambda new: self._report(environment=new))
        maps = [("none", "none"), *((key, one.label) for key, one in FEATURE_MAPS.items())]
        self.features = self._select("Spectral barrier with features", maps, lambda new: self._report(features=new))
        self.spacing = self._select(
            "Time axis", [("linear", "linear"), ("log", "logarithmic")], lambda new: self._report(spacing=new)
        )
        self.sliders = {
            "arms": self._log("Arms K", 2, MOST_ARMS, lambda x: {"arms": int(two_digits(x))}),
            "gap": self._log("Gap between the two best arms", 1e-3, 0.8, lambda x: {"gap": two_digits(x)}),
            "noise": self._log("Noise", 1e-2, 10, lambda x: {"noise": two_digits(x)}),
            "alpha": self._log("Learning rate alpha", 1e-3, 2, lambda x: {"alpha": two_digits(x)}),
            "eta": self._log("Barrier eta (larger is weaker)", 1, 1e6, lambda x: {"etas": self._etas(two_digits(x))}),
            "horizon": self._log("Horizon", 100, MOST_HORIZON, lambda x: {"horizon": int(two_digits(x))}),
            "runs": self._log("Runs", 2, MOST_RUNS, lambda x: {"runs": int(two_digits(x))}),
            "start": self._log(
                "Start", 10**UNIFORM, 0.5, lambda x: {"start": two_digits(x) if x > UNIFORM + 0.09 else None}, START
            ),
        }
        self.more_etas = TextInput(title="More values of eta, such as 100, 10000", **_SHARED)
        self.more_etas.on_change("value", lambda _attr, _old, new: self._report_more_etas(new))
        self.seed = Spinner(title="Seed", low=0, high=2**32 - 1, step=1, value=0, **_SHARED)
        self.seed.on_change("value", lambda _attr, _old, new: self._report(seed=0 if new is None else new))
        self.rules = CheckboxGroup(
            labels=[choice.label for choice in CHOICES.values()],
            html_attributes={"role": "group", "aria-label": "Which rules are plotted"},
            **_SHARED,
        )
        self.rules.on_change("active", lambda _attr, _old, new: self._report(rules=tuple(self._keys(new))))
        self._further: tuple[float, ...] = ()
        self._by_name = {
            "environment": self.environment,
            "features": self.features,
            **{name: slider.widget for name, slider in self.sliders.items()},
            "more_etas": self.more_etas,
            "rules": self.rules,
            "law": self.law,
            "spacing": self.spacing,
            "seed": self.seed,
        }
        self.layout = column(
            self.preset,
            *self._by_name.values(),
            name="controls",
            sizing_mode="stretch_width",
        )

    def show(self, state: State) -> None:
        """Set every widget to the state, without reporting a change."""
        self._showing = True
        try:
            self._further = state.etas[1:]
            for name in ("arms", "gap", "noise", "alpha", "horizon", "runs"):
                self.sliders[name].show(float(np.log10(getattr(state, name))), getattr(state, name))
            self.sliders["eta"].show(float(np.log10(state.etas[0])), state.etas[0])
            self.sliders["start"].show(UNIFORM if state.start is None else float(np.log10(state.start)), state.start)
            self.environment.value, self.features.value = state.environment, state.features
            for name, widget in self._by_name.items():
                widget.visible = name not in without_effect(state)
            self.more_etas.value = ", ".join(f"{eta:g}" for eta in state.etas[1:])
            self.rules.active = [number for number, key in enumerate(CHOICES) if key in state.rules]
            self.law.value, self.spacing.value, self.seed.value = state.law, state.spacing, state.seed
        finally:
            self._showing = False

    def _report(self, **settings: Any) -> None:
        if not self._showing:
            self._changed(settings)

    def _choose_preset(self, name: str) -> None:
        if name in PRESETS:
            preset = PRESETS[name]
            self._report(**{key: getattr(preset, key) for key in preset.__dataclass_fields__})

    def _report_more_etas(self, text: str) -> None:
        further: tuple[float, ...] | None = None
        with suppress(ValueError):
            further = tuple(float(word) for word in text.split(",") if word.strip())
        self._report(etas=("nothing",) if further is None else (self._first_eta, *further))

    @property
    def _first_eta(self) -> float:
        return two_digits(self.sliders["eta"].widget.value)

    def _etas(self, first: float) -> tuple[float, ...]:
        return (first, *(eta for eta in self._further if eta != first))

    def _keys(self, active: list[int]) -> list[str]:
        keys = list(CHOICES)
        return [keys[number] for number in active if 0 <= number < len(keys)]

    def _log(
        self, title: str, least: float, most: float, settings: Callable[[float], dict[str, Any]], said: str = VALUE
    ) -> LogSlider:
        return LogSlider(title, least, most, lambda exponent: self._report(**settings(exponent)), said)

    def _select(self, title: str, options: Any, changed: Callable[[Any], None]) -> Select:
        first = options[0] if isinstance(options[0], str) else options[0][0]
        widget = Select(title=title, options=options, value=first, **_SHARED)
        widget.on_change("value", lambda _attr, _old, new: changed(new))
        return widget


def view_buttons(labels: list[str], changed: Callable[[int], None]) -> RadioButtonGroup:
    """The row of buttons that choose a view."""
    buttons = RadioButtonGroup(
        labels=labels, active=0, html_attributes={"role": "group", "aria-label": "View"}, **{**_SHARED, "margin": 0}
    )
    buttons.on_change("active", lambda _attr, _old, new: changed(new))
    return buttons
