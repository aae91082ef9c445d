"""What the figures of all views share, and what a view is."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from bokeh.layouts import row
from bokeh.models import ColumnDataSource, LayoutDOM
from bokeh.plotting import figure

HEIGHT = 440
# Colours come from the page, which knows whether it is light or dark.
THEMED = ":host { background: var(--page); }"


class View(Protocol):
    """A picture on the page.

    layout  what Bokeh renders
    show    take in a result of the kind the view is for
    table   the numbers it shows: a heading, then rows
    words   the same in a sentence or two, for those who do not see it
    """

    layout: LayoutDOM

    def show(self, result: Any) -> None: ...

    def table(self, result: Any) -> Iterable[Sequence[Any]]: ...

    def words(self, result: Any) -> str: ...


def new_figure(**options: Any) -> Any:
    """An empty figure in the style of the page, that leaves scrolling and dragging to the page."""
    settings: dict[str, Any] = {
        "height": HEIGHT,
        "sizing_mode": "stretch_width",
        "tools": "pan,box_zoom,wheel_zoom,reset",
        "active_drag": None,
        "active_scroll": None,
        "background_fill_color": None,
        "border_fill_color": None,
        "outline_line_color": None,
        "stylesheets": [THEMED],
        **options,
    }
    drawn = figure(**settings)
    drawn.toolbar.logo = None
    drawn.html_attributes = {"role": "img", "aria-label": "The picture is being computed."}
    return drawn


def put_legend_above(drawn: Any) -> None:
    """The legend in rows above the picture, where it hides nothing."""
    legend = drawn.legend[0]
    drawn.add_layout(legend, "above")
    legend.orientation = "horizontal"
    legend.ncols = "auto"
    legend.border_line_color = None
    legend.background_fill_color = None
    legend.padding = 0
    legend.margin = 4
    legend.spacing = 14
    legend.label_text_font_size = "13px"
    legend.label_text_color = "#808080"  # the one text that does not follow the page's colours, readable on both


def source(*columns: str) -> ColumnDataSource:
    """An empty source with these columns."""
    return ColumnDataSource({name: [] for name in columns})


def side_by_side(children: list[Any], narrowest: int = 280) -> Any:
    """Figures next to one another, or below one another where the page is narrow."""
    for child in children:
        child.styles = {"flex": f"1 1 {narrowest}px", "max-width": "460px"}
    return row(children, sizing_mode="stretch_width", styles={"flex-wrap": "wrap"})


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV; numbers in full, so that reading them back gives the same bits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(rows)
    return text.getvalue()
