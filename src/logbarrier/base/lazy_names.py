"""Public names that are imported on first use, listed once: in the stub (.pyi) of a package's __init__.py or a module.

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


def lazy_names(name: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of the package or module of a name, whose source is `file`.

    Subpackages, `from . import theory as theory` in the stub, are not in `__all__`: `import *` must not load them.
    """
    homes = names_in(Path(file).with_suffix(".pyi"))
    package = name if Path(file).stem == "__init__" else name.rpartition(".")[0]

    def get(wanted: str) -> Any:
        if wanted not in homes:
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}")
        module, original = homes[wanted]
        home = import_module(f".{module or original}", package)
        value = getattr(home, original) if module else home
        setattr(sys.modules[name], wanted, value)
        return value

    return get, lambda: sorted(homes), sorted(each for each, (module, _) in homes.items() if module)


def names_in(stub: Path) -> dict[str, tuple[str, str]]:
    """Public name -> (module, name there) of every `from .module import name as public` in a stub; "" for `from . import`."""
    imports = [node for node in ast.parse(stub.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: (node.module or "", alias.name) for node in imports for alias in node.names}
