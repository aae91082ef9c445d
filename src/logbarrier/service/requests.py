"""What is checked of every request first: its bearer token, its size, its JSON."""

from __future__ import annotations

import hmac
import json
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

LARGEST_BODY = 64 * 1024


def check_bearer(request: Request, token: str) -> None:
    """401 unless the request carries the token."""
    given = request.headers.get("authorization", "")
    if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        raise HTTPException(401, "service: needs the header 'Authorization: Bearer TOKEN'", {"WWW-Authenticate": "Bearer"})


async def body_of(request: Request, **fields: bool) -> dict[str, Any]:
    """The JSON object of a request; fields: name -> whether it must be there. Others are refused."""
    plain = _json(await _content(request))
    if not isinstance(plain, dict):
        raise HTTPException(400, "service: the body must be a JSON object")
    for name in plain:
        if name not in fields:
            raise HTTPException(400, f"service: the body has an unknown field {name!r}; it takes {', '.join(fields)}")
    for name, needed in fields.items():
        if needed and name not in plain:
            raise HTTPException(400, f"service: the body lacks the field {name!r}")
    return plain


async def _content(request: Request) -> bytes:
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > LARGEST_BODY:
            raise HTTPException(413, f"service: the body must be at most {LARGEST_BODY} bytes")
    return content


def _json(content: bytes) -> Any:
    try:
        return json.loads(content) if content else {}
    except (ValueError, RecursionError):
        raise HTTPException(400, "service: the body must be JSON") from None
