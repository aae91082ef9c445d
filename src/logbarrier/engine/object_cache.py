"""Machine code cached on disk: object files that only their owner can have written, under the hash of what they depend on.

A file is read only if it and its folder belong to the user or to root and nobody else can write to them. Anything else costs a
warning and a compilation. It is a line that says what it is, a checksum, a line of JSON, and the object code. It is written
whole and renamed into place, so two processes may write at once. A damaged file or a folder that cannot be written costs a
compilation.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from ..base.files import whole_file

FIRST_LINE = b"logbarrier kernel, format 1\n"
CHECKSUM = 64


@cache
def _warn_once(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def cache_folder() -> Path | None:
    """Where kernels are cached: $LOGBARRIER_CACHE_DIR, else `logbarrier` in the user's cache folder; None if there is none."""
    chosen, base = os.environ.get("LOGBARRIER_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")
    if chosen:
        return Path(chosen)
    try:
        return (Path(base) if base else Path.home() / ".cache") / "logbarrier"
    except RuntimeError:
        _warn_once(
            "logbarrier: there is no home folder for the cache of compiled code, so every process compiles again; "
            "set LOGBARRIER_CACHE_DIR to a folder of yours"
        )
        return None


def _is_ours(status: os.stat_result) -> bool:
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _refuse(path: Path) -> None:
    _warn_once(
        f"logbarrier: {path} is not used for compiled code, since others could have written it; "
        "it must belong to you and be writable by you alone"
    )


def _folder() -> Path | None:
    """The folder, made if need be; None unless it can be trusted."""
    folder = cache_folder()
    if folder is None:
        return None
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        trusted = _is_ours(os.stat(folder))
    except OSError:
        return None
    if not trusted:
        _refuse(folder)
        return None
    return folder


def _trusted_content(path: Path) -> bytes | None:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError:
        _refuse(path)
        return None
    with open(file, "rb") as opened:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or not _is_ours(status):
            _refuse(path)
            return None
        return opened.read()


def read(name: str) -> tuple[dict[str, Any], bytes] | None:
    """The header and the object code cached under a name; None if there is none that can be used."""
    folder = _folder()
    content = _trusted_content(folder / f"{name}.kernel") if folder else None
    if content is None or not content.startswith(FIRST_LINE):
        return None
    checksum, rest = content[len(FIRST_LINE) :][:CHECKSUM], content[len(FIRST_LINE) + CHECKSUM :]
    if hashlib.sha256(rest).hexdigest().encode() != checksum:
        return None
    line, _, code = rest.partition(b"\n")
    try:
        header = json.loads(line)
    except ValueError:
        return None
    return (header, code) if isinstance(header, dict) and header.get("name") == name else None


def write(name: str, header: dict[str, Any], code: bytes) -> None:
    """Cache object code under a name."""
    rest = json.dumps({"name": name, **header}).encode() + b"\n" + code
    folder = _folder()
    if folder is None:
        return
    with contextlib.suppress(OSError), whole_file(folder / f"{name}.kernel") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(FIRST_LINE + hashlib.sha256(rest).hexdigest().encode() + rest)
