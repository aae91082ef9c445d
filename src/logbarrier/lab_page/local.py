"""Pages for this machine's own names: whoever reaches them under another name is refused.

A web site can point its own name at 127.0.0.1 (DNS rebinding). Its scripts then reach this server as their own site, so the
browser's rules for other sites do not apply. The name is still that of the site, in the header Host of every request.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from bokeh.server.tornado import BokehTornado
from tornado.httputil import HTTPServerRequest
from tornado.web import ErrorHandler

from ..base.addresses import is_local


class LocalPages(BokehTornado):
    """Bokeh's application; 403 for pages, scripts and websockets unless Host is localhost, in 127.0.0.0/8, or ::1."""

    def find_handler(self, request: HTTPServerRequest, **named: Any) -> Any:
        """Return what answers a request."""
        if not _is_for_this_machine(request.host):
            return self.get_handler_delegate(request, ErrorHandler, {"status_code": 403})
        return super().find_handler(request, **named)


def _is_for_this_machine(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    return name is not None and is_local(name)
