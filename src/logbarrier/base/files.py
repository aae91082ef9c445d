"""Files that are written whole or not at all. Devices and pipes are written to, links are followed; neither is replaced."""

from __future__ import annotations

import contextlib
import io
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` only when the block ends well, and is on disk by then."""
    path = path.resolve()
    if path.exists() and not path.is_file():
        content = io.BytesIO()
        yield content
        with open(path, "wb") as device:
            device.write(content.getvalue())
        return
    temporary = path.with_name(f".{os.getpid()}-{secrets.token_hex(4)}.part")  # short: a name as long as can be stays possible
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_table(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty where there is none to read."""
    try:
        plain = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return {}
    return plain if isinstance(plain, dict) else {}
