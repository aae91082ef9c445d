"""Say which pictures of the documentation are stale: `python tools/pictures.py`.

A program that makes pictures has a table `PICTURES`: the name of each file in docs/images, and the functions, classes, values
and files (`Path`) that it depends on. It calls `stamp` on each file that it wrote. The stamp holds the version of the package
and the hash of what the picture depends on. A picture is stale if that hash has changed since. Numbers of rules are pinned by
tests to the bit, so a picture depends on those pinned digests rather than on all code of the engine.
"""

from __future__ import annotations

import inspect
import re
import struct
import sys
import zlib
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from logbarrier.version import __version__

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
# Modules in tools/ and benchmarks/ with a table PICTURES.
MAKERS = (
    "rule_curves", "figure_collapse", "figures_simplex", "figures_mdps", "figures_deep", "figures_features", "figures_results",
    "figure_decisions", "lab_screenshots", "import_graph",
)  # fmt: skip
STAMP = re.compile(rb"logbarrier (\S+) code ([0-9a-f]{16})")


class Stamp(NamedTuple):
    """What a picture says of its making."""

    version: str
    code: str


def hash_of(things: tuple[Any, ...]) -> str:
    """Return the hash of what a picture depends on: contents of files, sources of functions and classes, other values."""
    total = sha256()
    for thing in things:
        is_code = inspect.isfunction(thing) or inspect.isclass(thing)
        content = (
            thing.read_bytes() if isinstance(thing, Path) else (inspect.getsource(thing) if is_code else repr(thing)).encode()
        )
        total.update(sha256(content).digest())
    return total.hexdigest()[:16]


def stamp(path: Path, things: tuple[Any, ...]) -> None:
    """Write the stamp into a picture, where its format has comments."""
    text = f"logbarrier {__version__} code {hash_of(things)}".encode()
    data = path.read_bytes()
    if path.suffix == ".png":  # a text chunk after the header, which ends at byte 33
        chunk = b"tEXtSoftware\0" + text
        data = data[:33] + struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) + data[33:]
    elif path.suffix == ".gif":  # a comment block before the trailer
        data = data[:-1] + b"!\xfe" + bytes([len(text)]) + text + b"\0;"
    else:
        data += b"<!-- " + text + b" -->\n"
    path.write_bytes(data)


def stamp_of(path: Path) -> Stamp | None:
    """Return the stamp of a picture, None if it has none."""
    found = STAMP.findall(path.read_bytes())
    return Stamp(*(part.decode() for part in found[-1])) if found else None


def registered() -> dict[str, tuple[str, tuple[Any, ...]]]:
    """Return every picture that has a stamp: the module that makes it, and what it depends on."""
    sys.path += [str(ROOT / "tools"), str(ROOT / "benchmarks")]
    return {name: (maker, things) for maker in MAKERS for name, things in import_module(maker).PICTURES.items()}


def what_is_wrong(name: str, things: tuple[Any, ...]) -> str:
    """Return why a picture must be made again; the empty string if it need not."""
    if not (IMAGES / name).exists():
        return "is missing"
    found = stamp_of(IMAGES / name)
    if found is None:
        return "has no stamp"
    if found.code != hash_of(things):
        return f"is stale: made by version {found.version}, and what it depends on has changed"
    return ""


def main() -> int:
    """Print what is wrong with which picture; return 1 if there is one."""
    table = registered()
    wrong = {name: what for name, (_, things) in table.items() if (what := what_is_wrong(name, things))}
    for name, what in wrong.items():
        print(f"docs/images/{name} {what}; made by {table[name][0]}.py")
    print(f"{len(table)} pictures, {len(wrong)} to make again")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
