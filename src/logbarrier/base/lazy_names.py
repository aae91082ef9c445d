"""Public names that are imported on first use, listed once: in the stub (.pyi) beside a package's __init__.py.

The stub holds lines such as `from .record import Record as Record`. Type checkers and editors read it as it is; at run time
`lazy_names` reads the same lines, so no second list can disagree with it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose __init__.py is `file`."""
    homes = names_in(Path(file).with_suffix(".pyi"))

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = homes[name]
        home = import_module(f".{module or original}", package)
        value = getattr(home, original) if module else home
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(homes), sorted(homes)


def names_in(stub: Path) -> dict[str, tuple[str, str]]:
    """Public name -> (module, name there) of every `from .module import name as public` in a stub; "" for `from . import`."""
    imports = [node for node in ast.parse(stub.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: (node.module or "", alias.name) for node in imports for alias in node.names}
