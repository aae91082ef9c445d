"""Who did best on each problem, how sure that is, and what it means for a user."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..plots import save_figure, standings
from ..plots.words import short_label_of
from .html_page import heading, paragraph, picture, table
from .ranking import Place, ranking
from .study_sections import Entry, by_problem, measured_by_all, number

FEWEST_RANKED = 2
KEY = "thick bars are 95 % intervals of the mean, thin ones 5 % to 95 % of the runs"
HOLLOW = "; hollow marks are not policy gradients"
EXPLAINED = (
    "Places are by the mean at the end. All rules face the same instances; 'could be' is where 95 % of the rankings lie when "
    "the runs are drawn again with replacement. Rules that are given what a user cannot know, such as the mean rewards, are "
    "listed and left out of the advice. A rule that pulls one arm for certain, such as UCB1, counts as stuck if its next "
    "pull is wrong."
)
Names = dict[int, str]


def rankings(listed: Sequence[Entry], folder: Path) -> tuple[list[str], list[Path]]:
    """For every problem with several rules: a figure, a sentence and a table; returns sections and files."""
    sections = [heading("Ranking"), paragraph(EXPLAINED)]
    files: list[Path] = []
    for problem, group in by_problem(listed).items():
        metric = group[0].case.setting.ranking_metric(measured_by_all(group))
        if metric is None or len(group) < FEWEST_RANKED:
            continue
        changes = group[0].case.changes
        places = ranking([(entry.case, entry.record) for entry in group], metric)
        names = {id(entry.record): entry.rule for entry in group}
        second = group[0].case.setting.plotted_metric(measured_by_all(group))
        shown = list(dict.fromkeys([metric, second]))
        rows = {names[id(place.record)]: (place.record, place.follows_preferences) for place in places}
        files.append(save_figure(standings(rows, shown, changes=changes), folder / f"ranking-{len(files) + 1}.svg"))
        key = KEY if all(filled for _, filled in rows.values()) else KEY + HOLLOW
        sections.append(picture(files[-1], f"{problem}: the best {words(metric, changes)} on top; {key}"))
        sections.append(paragraph(f"{problem}: {_advice(names, places, metric, words(metric, changes))}"))
        sections.append(_table(names, places, shown, changes))
    return (sections, files) if files else ([], [])


def words(metric: str, changes: bool) -> str:
    """A metric within a sentence."""
    return "dynamic regret" if changes and metric == "regret" else metric.replace("_", " ")


def _advice(names: Names, places: list[Place], metric: str, word: str) -> str:
    """Which rule, and which kind of rule, a user should take here."""
    usable = [place for place in places if not place.knows_means] or places
    gradient = next((place for place in usable if place.follows_preferences), None)
    plain = next((place for place in usable if not place.follows_preferences), None)
    if gradient is None or plain is None:
        first, *others = usable
        rivals = [names[id(place.record)] for place in others if place.best <= first.worst]
        sure = f"; these runs cannot distinguish it from {', '.join(rivals)}" if rivals else ""
        return f"{names[id(first.record)]} has the best mean {word}, {number(first.record.mean(metric)[-1])}{sure}."
    ours, theirs = (f"{names[id(p.record)]} with {number(p.record.mean(metric)[-1])}" for p in (gradient, plain))
    if gradient.best <= plain.worst and plain.best <= gradient.worst:
        return (
            f"the best policy gradient, {ours}, and the best other algorithm, {theirs}, cannot be distinguished by the "
            f"{word} of {gradient.record.runs} runs."
        )
    if plain.place < gradient.place:
        return f"no policy gradient is the best choice here, but {theirs} {word}; the best policy gradient is {ours}."
    return f"a policy gradient has the best {word} here: {ours}; the best other algorithm is {theirs}."


def _table(names: Names, places: list[Place], shown: list[str], changes: bool) -> str:
    metric, *further = shown
    with_stuck = all("wrong_probability" in place.record.values for place in places)
    rows = []
    for place in places:
        record = place.record
        low, high = (bound[-1] for bound in record.interval(metric))
        rows.append(
            [
                str(place.place),
                f"{place.best}" if place.best == place.worst else f"{place.best} to {place.worst}",
                names[id(record)],
                number(record.mean(metric)[-1]),
                f"{number(low)} to {number(high)}" if record.runs > 1 else "",
                *(number(value[-1]) for value in record.quantiles(metric, (0.05, 0.5, 0.95))),
                *(number(record.mean(other)[-1]) for other in further),
                *([f"{record.stuck_fraction():.2f}"] if with_stuck else []),
            ]
        )
    others = [short_label_of(other, changes) for other in further]
    columns = [
        "place",
        "could be",
        "rule",
        f"mean {words(metric, changes)}",
        "95 % interval",
        "5 %",
        "median",
        "95 %",
        *others,
        *(["stuck"] * with_stuck),
    ]
    return table(columns, rows, numbers=(0, 1, *range(3, len(columns))))
