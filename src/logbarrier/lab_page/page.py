"""One browser tab: controls change the state, the state asks for work, and what the work yields is rendered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from bokeh.document import Document
from bokeh.layouts import column, row
from bokeh.models import ColumnDataSource, CustomJS
from bokeh.models.widgets import Button, Div, PreText, Slider

from ..base.failure import INVALID
from .controls import SHEET, Controls, view_buttons
from .gallery import GALLERY, state_of
from .jobs import Compiling, ResultCache
from .scripts import COPY, ON_DRAWN, ON_FILE, PNG
from .source import as_python, as_toml
from .state import State
from .views.figure import HEIGHT, THEMED, View, csv_text
from .worker import Worker

Later = Callable[[Callable[[], None]], object]

BETWEEN_PROGRESS = 0.1  # seconds
BEFORE_PROGRESS = 0.4  # work that ends sooner shows none
FRAME = 70  # milliseconds between two pictures of a replay
FRAMES = 50
MOST_ROWS = 500_000  # of a CSV file
MOST_PICTURES = 12  # stored until their view is chosen again
SAY = ":host { color: var(--faint); font: inherit; min-height: 1.4em; }"
TEXT = ":host { color: var(--ink); } pre { overflow-x: auto; background: var(--field); padding: 0.75rem; }"


class Page:
    """The state of one tab and all that hangs on it.

    later: called by the worker's thread to have the page's loop call a function, unless the tab is closed by then
    """

    def __init__(self, document: Document, query: str, cache: ResultCache, later: Later) -> None:
        self._document, self._cache, self._later = document, cache, later
        self._arms = State().arms  # to return to after the simplex view, which has three
        self.state, self._notice = state_of(query)  # the notice says why an address was not taken
        self.result: Any = None
        self._built: dict[Any, View] = {}
        self._view: Any = None
        self._began = self._reported = 0.0
        self._replay: Any = None
        self.worker = Worker(self._deliver, self._progress)
        self.controls = Controls(self.change)
        self._lay_out()
        document.add_root(self.controls.layout)
        document.add_root(self._stage)
        document.title = "logbarrier lab"
        self._show_state()
        document.add_next_tick_callback(self._ask)  # once the session is there: a result before that would meet it half made

    def close(self) -> None:
        """The tab is gone: end its work."""
        self.worker.close()

    def change(self, settings: dict[str, Any]) -> None:
        """Take new settings, or say why not; after the simplex view K is what it was before."""
        if self.state.view == "simplex" and settings.get("view", "simplex") != "simplex":
            settings = {"arms": self._arms, **settings}
        try:
            wanted = self.state.changed(**settings)
        except INVALID as error:
            with self._together():
                self.controls.show(self.state)
                self._say(str(error))
            return
        if wanted == self.state:
            return
        self._notice = ""
        if self.state.view != "simplex":
            self._arms = self.state.arms
        only_moment = wanted == replace(self.state, at=wanted.at) and self.result is not None
        self.state = wanted
        if only_moment:
            self._take(self.worker.ticket, replace(self.result, state=wanted))
        else:
            self._renew()

    def _renew(self) -> None:
        """Show the state and ask for its work."""
        with self._together():
            self._show_state()
            self._ask()

    def _show_state(self) -> None:
        """Controls and the picture's place, as the state has them."""
        self.controls.show(self.state)
        self._views.active = list(GALLERY).index(self.state.view)
        self._moment.visible = GALLERY[self.state.view].of_one_moment
        self._time.value = self.state.at
        self._text.visible = False
        self._toml.visible = self.state.view != "environment"
        self._build()

    def _ask(self) -> None:
        """Ask for the work of the state."""
        self._began, self._reported = time.monotonic(), 0.0
        self._stop.disabled = False
        ticket = self.worker.ask(partial(GALLERY[self.state.view].job, self.state, self._cache))
        self._tell_browser("asked", ticket)

    def _build(self) -> None:
        """Have the state's picture ready; one that was built before is taken again."""
        key = (self.state.view, GALLERY[self.state.view].built_for(self.state))
        if key not in self._built:
            self._built = {**self._built, key: GALLERY[self.state.view].build(self.state)}
            self._built = dict(list(self._built.items())[-MOST_PICTURES:])
        if self._built[key] is not self._view:
            self._view = self._built[key]
            self._holder.children = [self._nothing]  # until there is something to see

    # What the worker's thread calls.

    def _deliver(self, ticket: int, result: Any) -> None:
        self._later(partial(self._take, ticket, result))

    def _progress(self, ticket: int, progress: tuple[int, int]) -> None:
        now = time.monotonic()
        if now - self._began > BEFORE_PROGRESS and now - self._reported > BETWEEN_PROGRESS:
            self._reported = now
            self._later(partial(self._show_progress, ticket, *progress))

    # What the page's own loop calls.

    def _take(self, ticket: int, result: Any) -> None:
        if ticket != self.worker.ticket:
            return
        with self._together():
            if isinstance(result, Compiling):
                self._say(f"Compiling {result.label}; this happens once per machine.")
            elif isinstance(result, Exception):
                self._stop.disabled = True
                self._say(f"This could not be simulated: {result}")
            else:
                self.result = result
                self._view.show(result)
                words = self._view.words(result)
                self._view.layout.html_attributes = {"role": "img", "aria-label": words}
                if self._holder.children != [self._view.layout]:
                    self._holder.children = [self._view.layout]
                if result.complete:
                    self._stop.disabled = True
                    self._say(f"{self._notice} {words}".strip())
                self._tell_browser("full" if result.complete else "coarse", ticket)

    def _show_progress(self, ticket: int, done: int, total: int) -> None:
        if ticket == self.worker.ticket and not self._stop.disabled:
            left = (time.monotonic() - self._began) * (total - done) / max(done, 1)
            self._say(f"{done / total:.0%} simulated, about {left:.0f} s left.")

    def _halt(self) -> None:
        self.worker.stop()
        self._stop.disabled = True
        records = getattr(self.result, "records", None)
        shown = f" with {min(record.runs for record in records.values())} of {self.state.runs} runs" if records else ""
        self._say(f"Stopped{shown}.")

    def _tell_browser(self, stage: str, ticket: int) -> None:
        self._wire.data = {"query": [self.state.query()], "stage": [stage], "ticket": [ticket]}

    def _say(self, words: str) -> None:
        self._status.text = words.replace("&", "&amp;").replace("<", "&lt;")

    def _replay_or_pause(self) -> None:
        if self._replay is None:
            self._frame = 0
            self._replay = self._document.add_periodic_callback(self._next_frame, FRAME)
            self._play.label = "Pause"
        else:
            self._document.remove_periodic_callback(self._replay)
            self._replay, self._play.label = None, "Play"

    def _next_frame(self) -> None:
        self._time.value = (self._frame / FRAMES) ** 2
        self._frame += 1
        if self._frame > FRAMES:
            self._replay_or_pause()

    def _download_csv(self) -> None:
        if self.result is None:
            return
        rows = list(islice(self._view.table(self.result), MOST_ROWS + 1))
        if len(rows) > MOST_ROWS:
            self._say(f"A CSV file has at most {MOST_ROWS:,} rows here; 'as Python' gives all of them.")
            return
        self._file.data = {"name": [f"logbarrier-{self.state.view}.csv"], "text": [csv_text(rows)]}

    def _show_text(self, text_of: Any) -> None:
        with self._together():
            try:
                self._text.text = text_of(self.state)
                self._text.visible = True
            except INVALID as error:
                self._say(str(error))

    @contextmanager
    def _together(self) -> Iterator[None]:
        """Whatever changes inside goes to the browser as one message."""
        self._document.hold("combine")
        try:
            yield
        finally:
            self._document.unhold()

    def _lay_out(self) -> None:
        labels = [entry.label for entry in GALLERY.values()]
        self._views = view_buttons(labels, lambda number: self.change({"view": _view_at(number)}))
        self._status = Div(
            text="", stylesheets=[SAY], sizing_mode="stretch_width", html_attributes={"role": "status", "aria-live": "polite"}
        )
        self._stop = _button("Stop", self._halt)
        moment = "Moment, as a share of the horizon"
        self._time = Slider(
            title=moment, start=0, end=1, step=0.005, value=1.0, sizing_mode="stretch_width", stylesheets=[SHEET]
        )
        self._time.html_attributes = {"role": "group", "aria-label": moment}
        self._time.on_change("value", lambda _attr, _old, new: self.change({"at": new}))
        self._play = _button("Play", self._replay_or_pause)
        self._moment = row(self._time, self._play, sizing_mode="stretch_width", spacing=16)
        self._nothing = Div(text="")
        self._holder = column(self._nothing, sizing_mode="stretch_width", stylesheets=[THEMED], min_height=HEIGHT)
        self._text = PreText(visible=False, stylesheets=[TEXT], sizing_mode="stretch_width")
        self._wire = ColumnDataSource({"query": [], "stage": [], "ticket": []})
        self._wire.js_on_change("data", CustomJS(args={"wire": self._wire}, code=ON_DRAWN))
        self._file = ColumnDataSource({"name": [], "text": []})
        self._file.js_on_change("data", CustomJS(args={"file": self._file}, code=ON_FILE))
        png = _button("PNG", None)
        png.js_on_click(CustomJS(args={"holder": self._holder}, code=PNG))
        link = _button("Copy link", None)
        link.js_on_click(CustomJS(code=COPY))
        self._toml = _button("as study.toml", partial(self._show_text, as_toml))
        exports = row(
            link,
            png,
            _button("CSV", self._download_csv),
            _button("as Python", partial(self._show_text, as_python)),
            self._toml,
            self._stop,
            sizing_mode="stretch_width",
            styles={"flex-wrap": "wrap"},
        )
        self._stage = column(
            self._views,
            self._status,
            self._holder,
            self._moment,
            exports,
            self._text,
            name="stage",
            sizing_mode="stretch_width",
        )
        self._stage.tags = [self._wire, self._file]


def _view_at(number: int) -> str:
    views = list(GALLERY)
    return views[number] if 0 <= number < len(views) else "unknown"


def _button(label: str, clicked: Any) -> Button:
    button = Button(label=label, stylesheets=[SHEET], width=max(70, 12 * len(label)), margin=(4, 6, 4, 0))
    if clicked is not None:
        button.on_click(clicked)
    return button
