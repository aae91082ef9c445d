"""User-defined rules and problems: where their class or function is found, in a file, a module or an installed package.

my_rules.py:MyRule       a file, relative to the study file that names it; a problem may also be a function
my_package.rules:MyRule  a module that Python can import here
my-rule                  the entry point of that name in the group `logbarrier.rules` (or `logbarrier.problems`)
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

INSTALLED = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib"))
_being_loaded: list[Path] = []


def is_reference(name: str) -> bool:
    """Whether a name says where its class is."""
    return ":" in name


def short_name(name: str) -> str:
    """A name as it is shown: the class alone where it is user-defined."""
    return name.rpartition(":")[2].partition("@")[0]


def without_place(name: str) -> str:
    """A name as it goes into a cell's identity: the class, wherever the file is."""
    return name.rpartition(":")[2]


def reference_to(kind: type[Any]) -> str:
    """Where a class is, to be found again by other processes."""
    module = sys.modules.get(kind.__module__)
    if module is None or getattr(module, kind.__qualname__, None) is not kind:
        raise ValueError(
            f"Study: {kind.__qualname__} must be defined at the top level of a file or module, so that it can be found again"
        )
    file = getattr(module, "__file__", None)
    in_file = file is not None and "." not in module.__name__ and not _installed(Path(file))
    place = str(Path(str(file)).resolve()) if in_file else module.__name__
    return f"{place}:{kind.__qualname__}"


def load(reference: str, near: Path | None = None) -> Any:
    """The class or function that a reference names; files are relative to the folder `near`, the present one by default."""
    place, _, rest = reference.rpartition(":")
    name = rest.partition("@")[0]  # earlier versions wrote a hash behind it
    folder = near or Path.cwd()
    module = _module_in(folder / place) if place.endswith(".py") else _module_called(place, folder)
    found = getattr(module, name, None)
    if not callable(found):
        raise ValueError(f"{place}:{name}: there is no class or function {name} in {place}")
    return found


def entry_point(group: str, name: str) -> Any:
    """The class or function that an installed package offers under a name, None if none does."""
    for found in entry_points(group=group, name=name):
        try:
            kind = found.load()
        except Exception as error:
            raise ValueError(f"{name}: the entry point {found.value} cannot be imported: {_said(error)}") from None
        if not callable(kind):
            raise ValueError(f"{name}: the entry point {found.value} must be a class or a function, got {kind!r}")
        return kind
    return None


def refuse_while_loading(who: str) -> None:
    """Stop a file that would start a study whenever somebody looks up a class in it."""
    if _being_loaded:
        raise ValueError(
            f"{who}: {_being_loaded[-1]} must not run a study when imported; put that under 'if __name__ == \"__main__\":'"
        )


def _module_in(path: Path) -> ModuleType:
    path = path.resolve()
    for module in list(sys.modules.values()):  # imported already, perhaps as the script that is running
        file = getattr(module, "__file__", None)
        if file is None or (os.path.basename(file) != path.name and module is not sys.modules.get("__main__")):
            continue  # following the links of every module takes a third of a second; a script may be started through one
        if Path(file).resolve() == path:
            return module
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file")
    name = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while they are made
    _being_loaded.append(path)
    try:
        with _importable(path.parent):
            spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ValueError(f"{path}: cannot be imported: {_said(error)}") from None
    finally:
        _being_loaded.pop()
    return module


def _module_called(name: str, near: Path) -> ModuleType:
    file = near / f"{name}.py"
    if name not in sys.modules and file.is_file():
        return _module_in(file)
    try:
        with _importable(near), _importable(Path.cwd()):
            return importlib.import_module(name)
    except Exception as error:
        raise ValueError(f"{name}: cannot be imported: {_said(error)}") from None


@contextlib.contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """A folder's modules can be imported, as those next to a script can."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _installed(path: Path) -> bool:
    return any(path.resolve().is_relative_to(folder) for folder in INSTALLED)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".replace("\n", " ")
