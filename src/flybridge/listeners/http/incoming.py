"""A request as it comes in: its head, its parameters, its body, each within its bound."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, MutableMapping
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

import msgspec

from flybridge.auth.gate import Head
from flybridge.errors import InvalidRequestError
from flybridge.listeners.http.problems import HttpError
from flybridge.listeners.http.route import Params, Route
from flybridge.listeners.http.sse import Receive
from flybridge.model.loopback import is_loopback
from flybridge.wire import strict_json

Scope: TypeAlias = MutableMapping[str, Any]
BODY_S = 30.0
MAX_PARAMS = 32
DRAIN_S = 5.0
MAX_DRAINED = 64 << 20


class ClientGone(Exception):  # noqa: N818  nothing is wrong
    """Nobody is there any more to be answered."""


def head_of(scope: Scope) -> Head:
    query = scope.get("query_string", b"")
    target = scope.get("raw_path", b"") + (b"?" + query if query else b"")
    return Head(
        method=scope["method"],
        target=target.decode("ascii", "replace"),
        headers=tuple(scope["headers"]),
    )


def source_of(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def forwarded_client(head: Head, header: bytes, source: str) -> str:
    """Return the client that a proxy on this machine names in ``header``, else ``source``.

    A proxy appends the address it saw to what the client sent: only the last one counts. An
    IPv6 client is counted by its network, of which it has all addresses.
    """
    if not header or not is_loopback(source):
        return source
    named = b",".join(head.all(header)).rpartition(b",")[2].strip().decode("latin-1")
    try:
        address = ip_address(named.strip("[]"))
    except ValueError:
        return source
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(ip_network((address, 64), strict=False))
    return named


def address_of(scope: Scope) -> str:
    """Return host and port of the server's end of a connection."""
    server = scope.get("server")
    if not server:
        return ""
    host, port = str(server[0]), server[1]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def check_size(head: Head, limit: int) -> None:
    """Refuse what says itself that it is too big.

    Raises:
        HttpError: it is.
    """
    length = head.one(b"content-length")
    if length.isdigit() and (len(length) > 15 or int(length) > limit):
        raise _too_big(limit)


def _too_big(limit: int) -> HttpError:
    message = f"a request has {limit} bytes at most here"
    return HttpError(413, "too_big", message, connection="close")


async def drain(receive: Receive) -> None:
    """Let somebody who says too much come to an end: who is hung up on while they write never
    reads the answer. Nothing of it is kept, and there is a bound to our patience."""
    left, more = MAX_DRAINED, True
    try:
        async with asyncio.timeout(DRAIN_S):
            while more and left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                more = message.get("more_body", False)
    except TimeoutError:
        pass


def params_of(kind: type[Params], path: Mapping[str, object], query: bytes) -> Params:
    """What path and query say.

    Raises:
        InvalidRequestError: something is there twice, is not known, or is not of its type.
    """
    given = dict(path)
    try:
        pairs = parse_qsl(
            query.decode("ascii"),
            keep_blank_values=True,
            max_num_fields=MAX_PARAMS,
            errors="strict",
        )
    except ValueError:
        raise InvalidRequestError("the query cannot be read") from None
    for name, value in pairs:
        if name in given:
            raise InvalidRequestError(f"{name[:50]!r} is there twice")
        given[name] = value
    if any("\0" in str(one) for one in given.values()):
        raise InvalidRequestError("a parameter holds a NUL")
    try:
        return msgspec.convert(given, type=kind, strict=False)
    except (msgspec.ValidationError, ValueError) as error:
        raise InvalidRequestError(str(error)[:300]) from None


async def body_of(route: Route, receive: Receive) -> object:
    """What a request carries; not a byte more is kept than it may have.

    Raises:
        HttpError: it is too big, or does not come to its end.
        InvalidRequestError: it is not what it has to be.
        ClientGone: nobody is there any more.
    """
    assert route.body is not None
    data = bytearray()
    more = True
    try:
        async with asyncio.timeout(BODY_S):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientGone
                data += message.get("body", b"")
                if len(data) > route.max_body:
                    raise _too_big(route.max_body)
                more = message.get("more_body", False)
    except TimeoutError:
        said = "the request did not come to its end"
        raise HttpError(408, "too_slow", said, connection="close") from None
    if route.body is bytes:
        return bytes(data)
    decoded: object = strict_json.decode(bytes(data), route.body)
    return decoded
