"""The interactive page: `logbarrier lab` on the command line, `lb.lab()` in Python. Needs the extra `lab` (Bokeh).

state     what is shown, checked, as text in the address bar        laws, rules, presets   what can be chosen
source    the same as Python and as a study file                   jobs, worker           the simulation behind it
views/    results -> picture, one file per view                    controls, page         one browser tab
server    bound to this machine alone
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    """`lb.lab` is this module once any part of it was imported, and the function before; `lb.lab()` works either way."""

    def __call__(self, **options: Any) -> Any:
        from .server import lab

        return lab(**options)


sys.modules[__name__].__class__ = _CallableModule
