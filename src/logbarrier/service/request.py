"""One request: to a running service by its address, or, without one, to the file itself."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from pathlib import Path

from ..agent.durable.experiments import Experiments
from .calls import split_path
from .committer import Committer
from .decisions import Decisions
from .fields import RefusedError, check_fields
from .management import Management
from .metrics import Metrics
from .operations import Asked, Body, operations_of

TIMEOUT = 30.0  # seconds


def request(target: str, token: str | None, method: str, path: str, body: Body | None = None) -> Body:
    """The answer of a service at http://..., or of the file `target`, which no process may have open."""
    if target.startswith(("http://", "https://")):
        return _over_http(target.rstrip("/"), token, method, path, body)
    if (method, path) != ("POST", "/experiments") and not Path(target).is_file():
        raise OSError(f"experiment: there is no file {target}")
    try:
        return asyncio.run(_in_file(Path(target), method, path, body or {}))
    except BlockingIOError:
        raise OSError(
            f"experiment: {target} is in use. If a service has it open, name the address that 'logbarrier serve' printed "
            f"in place of the file. Set LOGBARRIER_TOKEN to what is in {target}.token"
        ) from None


def _over_http(address: str, token: str | None, method: str, path: str, body: Body | None) -> Body:
    headers = {"Authorization": f"Bearer {token or ''}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(address + path, content, headers, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=TIMEOUT) as answer:
            plain: Body = json.load(answer)
            return plain
    except urllib.error.HTTPError as error:
        with error:
            raise ValueError(_sentence(error)) from None
    except urllib.error.URLError as error:
        raise OSError(f"experiment: {address} does not answer: {error.reason}") from None


def _sentence(error: urllib.error.HTTPError) -> str:
    if error.code == 401:
        return "experiment: the service needs its token; set LOGBARRIER_TOKEN to what is in FILE.token"
    try:
        return str(json.load(error)["error"])
    except (ValueError, KeyError, TypeError):
        return f"experiment: the service answered {error.code}"


async def _in_file(path: Path, method: str, route: str, body: Body) -> Body:
    with Experiments(path) as experiments:
        committer = Committer(experiments.file)
        template, name = split_path(route)
        handlers = operations_of(Decisions(committer, Metrics(committer)), Management(committer))
        operation, handler = next(each for each in handlers if (each[0].method, each[0].path) == (method, template))
        try:
            check_fields(body, operation.needed, operation.optional, operation.one_of)
            plain: Body = await handler(Asked(name, body, []))
        except RefusedError as error:
            raise ValueError(error.args[1]) from None
        return plain
