"""The calls of the interface: each handler with its path, its fields and its description."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from .fields import Field

Body = dict[str, Any]
Headers = list[tuple[bytes, bytes]]
LARGEST_ID = 2**53 - 1  # the largest integer that JSON numbers carry everywhere
OF_EXPERIMENT = "/experiments/{name}"


class Asked(NamedTuple):
    """A request: the experiment it is about, its checked body and its headers."""

    name: str
    body: Body
    headers: Headers


class Answer(NamedTuple):
    """An answer that is not simply JSON with status 200; plain: None for no body."""

    plain: Body | None
    status: int = 200
    headers: Sequence[tuple[bytes, bytes]] = ()


Handler = Callable[[Any, Asked], Awaitable[Body | Answer]]
Decorated = TypeVar("Decorated", bound=Handler)


class Operation(NamedTuple):
    """A call.

    answer            the fields of the answer
    needed, optional  the fields of the body
    one_of            names of fields of which the body must have exactly one
    is_open           whether it needs no token
    is_free           whether the body may have more fields, and errors have another form, as a protocol of others wants it
    missing           what a 404 means, None where there is none
    """

    method: str
    path: str
    summary: str
    answer: Mapping[str, Any]
    needed: Mapping[str, Field] = {}
    optional: Mapping[str, Field] = {}
    one_of: tuple[str, ...] = ()
    is_open: bool = False
    is_free: bool = False
    missing: str | None = None


def operation(method: str, path: str, summary: str, answer: Mapping[str, Any], **rest: Any) -> Callable[[Decorated], Decorated]:
    """Declare what a handler answers; one at a path such as /decide answers for every experiment, too."""

    def declare(handler: Decorated) -> Decorated:
        handler.operation = Operation(method, path, summary, answer, **rest)  # type: ignore[attr-defined]
        return handler

    return declare


def operations_of(*owners: Any) -> Iterator[tuple[Operation, Any]]:
    """The operations of classes or objects, each with its handler; those of the default experiment also at its name."""
    for owner in owners:
        for name in vars(owner if isinstance(owner, type) else type(owner)):
            handler = getattr(owner, name)
            declared: Operation | None = getattr(handler, "operation", None)
            if declared is None:
                continue
            yield declared, handler
            if "{" not in declared.path and declared.path in getattr(owner, "of_experiments", ()):
                missing = declared.missing or "There is no such experiment."
                yield declared._replace(path=OF_EXPERIMENT + declared.path, missing=missing), handler
