"""The page's server, bound to this machine alone: other computers cannot reach it, and other web pages may not talk to it."""

from __future__ import annotations

import asyncio
import socket
import threading
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bokeh.application import Application
from bokeh.application.handlers.function import FunctionHandler
from bokeh.document import Document
from bokeh.models.widgets import Div
from bokeh.server.server import BaseServer
from jinja2 import Template
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.netutil import bind_sockets

from ..base import validate
from .jobs import ResultCache, warm_up
from .local import LocalPages
from .page import Page
from .state import State

ADDRESS = "127.0.0.1"
MOST_SESSIONS = 20
LARGEST_MESSAGE = 100_000  # bytes; a browser sends the position of a control
SESSION_CHECK, SESSION_LIFETIME = 2_000, 5_000  # milliseconds after which a closed tab is noticed and forgotten
WARM_STATES = [
    State(),
    State(arms=100),
    State(rules=("ent", "npg", "adaptive")),
    State(arms=100, rules=("ent", "npg", "adaptive")),
]


class Lab:
    """A running page. `url` opens it, `stop()` ends it; in a notebook it shows itself."""

    def __init__(self, url: str, stop: Callable[[], None]) -> None:
        self.url, self.stop = url, stop

    def __repr__(self) -> str:
        return f"Lab at {self.url}"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" title="logbarrier lab" width="100%" height="900" style="border: 0"></iframe>'


def lab(*, port: int = 0, query: str = "", browser: bool = False, warm: bool = True) -> Lab:
    """Start the interactive page in the background.

    port     0 for any free one
    query    what it shows first, as in its address: "arms=100&alpha=0.01"; an unknown setting is refused
    browser  open a browser window too
    warm     compile the usual rules in the background meanwhile

    The server listens on 127.0.0.1 only and ends with the process, or with `stop()`.

    >>> import logbarrier as lb
    >>> page = lb.lab(warm=False)
    >>> page.url.startswith("http://127.0.0.1:")
    True
    >>> page.stop()
    """
    State.of_query(query)
    port = _free_port(validate.integer("lab", "port", port, 0, 65535))
    ready, wanted = threading.Event(), threading.Event()
    held: list[tuple[BaseServer, IOLoop]] = []
    failed: list[OSError] = []

    def serve() -> None:
        asyncio.set_event_loop(asyncio.new_event_loop())
        loop = IOLoop.current()
        try:
            server = _server(port, loop)
        except OSError as error:
            failed.append(error)
            ready.set()
            return
        held.append((server, loop))
        server.start()
        loop.add_callback(ready.set)
        loop.start()
        loop.close(all_fds=True)

    thread = threading.Thread(target=serve, name="logbarrier-lab-server", daemon=True)
    thread.start()
    ready.wait()
    if failed:
        raise OSError(f"lab: port {port} cannot be used: {failed[0].strerror}")
    server, loop = held[0]
    wanted.set()
    if warm:
        threading.Thread(target=warm_up, args=(WARM_STATES, wanted), name="logbarrier-lab-warm-up", daemon=True).start()
    url = f"http://{ADDRESS}:{port}/" + (f"?{query}" if query else "")

    def stop() -> None:
        wanted.clear()
        if thread.is_alive():
            loop.add_callback(_end, server, loop)
            thread.join()

    if browser:
        webbrowser.open(url)
    return Lab(url, stop)


def _end(server: BaseServer, loop: IOLoop) -> None:
    server.stop(wait=True)
    loop.stop()


def _free_port(wanted: int) -> int:
    """The port, or any free one for 0; OSError with a sentence if it is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, wanted))
        except OSError as error:
            raise OSError(f"lab: port {wanted} cannot be used: {error.strerror}") from None
        return int(probe.getsockname()[1])


def _server(port: int, loop: IOLoop) -> BaseServer:
    sockets = bind_sockets(port, ADDRESS)
    pages = LocalPages(
        {"/": Application(FunctionHandler(_open))},
        extra_websocket_origins=[f"{ADDRESS}:{port}", f"localhost:{port}"],
        check_unused_sessions_milliseconds=SESSION_CHECK,
        unused_session_lifetime_milliseconds=SESSION_LIFETIME,
        websocket_max_message_size_bytes=LARGEST_MESSAGE,
    )
    http = HTTPServer(pages)
    http.add_sockets(sockets)
    return BaseServer(loop, pages, http)


_TEMPLATE = Template((Path(__file__).parent / "page.html").read_text(encoding="utf-8"))
_open_pages: set[int] = set()


def _open(document: Document) -> None:
    """Fill a new tab."""
    document.title = "logbarrier lab"
    if len(_open_pages) >= MOST_SESSIONS:
        document.add_root(Div(text=f"This lab serves at most {MOST_SESSIONS} tabs at once; close one and load the page again."))
        return
    context: Any = document.session_context
    request = context.request if context is not None else None
    arguments = request.arguments if request is not None else {}
    query = "&".join(f"{name}={values[-1].decode(errors='replace')}" for name, values in arguments.items() if values)
    document.template = _TEMPLATE
    page = Page(document, query, ResultCache(), partial(IOLoop.current().add_callback, _call_unless_closed, document, context))
    _open_pages.add(id(document))

    def closed(_context: object) -> None:
        page.close()
        _open_pages.discard(id(document))

    document.on_session_destroyed(closed)


def _call_unless_closed(document: Document, context: Any, callback: Callable[[], None]) -> None:
    """Have a tab's session call a function. In the server's loop, which also destroys the sessions of closed tabs."""
    if not context.destroyed:
        document.add_next_tick_callback(callback)
