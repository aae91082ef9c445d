"""logbarrier lab."""

from __future__ import annotations

import os
import signal
import sys
import threading
from importlib.util import find_spec
from typing import Annotated

import typer

from .errors import one_sentence


def lab(
    port: Annotated[int, typer.Option(help="0 takes any free port.")] = 5006,
    query: Annotated[str, typer.Option("--show", help="What to show first, as in the page's address.")] = "",
    browser: Annotated[bool, typer.Option(help="Open a browser window.")] = True,
) -> None:
    """Open the interactive page: turn alpha and eta, and the runs follow. It is served on this machine only; Ctrl-C ends it.

    Example: logbarrier lab --show "arms=100&alpha=0.01"
    """
    with one_sentence("the page is closed"):
        if find_spec("bokeh") is None:
            raise ValueError("lab: needs Bokeh; install it with pip install 'logbarrier[lab]'")
        from ..lab_page.server import lab as open_lab

        page = open_lab(port=port, query=query, browser=browser)
        typer.echo(f"logbarrier lab at {page.url} (Ctrl-C ends it)")
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            page.stop()
            sys.stderr.write("logbarrier: stopped; the page is closed\n")
            sys.stderr.flush()
            os._exit(130)  # a thread may be compiling, and an orderly exit would end in an abort
