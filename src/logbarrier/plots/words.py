"""Metrics in words, as axes, captions and tables name them."""

from __future__ import annotations

LABELS = {
    "optimal_probability": "probability of the optimal arm",
    "min_probability": "smallest probability",
    "wrong_probability": "largest probability of a wrong arm",
    "regret": "cumulative regret",
    "suboptimality": "suboptimality",
    "gradient_norm": "gradient norm",
    "inverse_square_probability": r"$1/\pi(a^*)^2$",
    "entropy": "entropy",
}
OF_THE_MOMENT = {  # where a problem changes while it is played
    "optimal_probability": "probability of the present best arm",
    "wrong_probability": "largest probability of an arm that is not the present best",
    "regret": "cumulative dynamic regret",
}
SHORT = {"optimal_probability": "p(a*)"}
SHORT_OF_THE_MOMENT = {"optimal_probability": "p(present best)", "regret": "dynamic regret"}


def label_of(metric: str, changes: bool = False) -> str:
    """A metric in words; changes: of a problem that changes, whose best arm is that of the moment."""
    return (LABELS | OF_THE_MOMENT if changes else LABELS).get(metric, metric.replace("_", " "))


def short_label_of(metric: str, changes: bool = False) -> str:
    """The same as it fits a column."""
    return (SHORT | SHORT_OF_THE_MOMENT if changes else SHORT).get(metric, metric.replace("_", " "))
