"""A response as it goes out: the same headers on every one of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

import msgspec

from flybridge.listeners.http.problems import MEDIA_TYPE, problem_of
from flybridge.listeners.http.route import Answered, Route
from flybridge.listeners.http.sse import Receive

Message: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types gateway"
)
HEADERS = (
    (b"content-security-policy", CSP.encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


class Sending:
    """Adds what every response carries, and knows what was said."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id.encode()
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = list(message.get("headers", ()))
            have = {name for name, _ in given}
            given += [one for one in HEADERS if one[0] not in have]
            given.append((b"x-request-id", self._request_id))
            message = {**message, "headers": given}
        await self._send(message)


def answered(value: object, route: Route) -> Answered:
    """What a handler gave back, as an answer."""
    if isinstance(value, Answered):
        return value
    headers = {"content-type": "application/json"}
    return Answered(status=route.status, headers=headers, body=msgspec.json.encode(value))


def failure(error: Exception) -> Answered:
    """What went wrong, as an answer."""
    problem, headers = problem_of(error)
    headers = {"content-type": MEDIA_TYPE.decode(), **headers}
    return Answered(status=problem.status, headers=headers, body=msgspec.json.encode(problem))


async def respond(
    send: Send, answer: Answered, receive: Receive, *, head_only: bool = False
) -> None:
    """Write it all; of a stream, until it is over."""
    headers = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers.items()]
    if answer.stream is None:
        headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if answer.stream is not None and not head_only:

        async def chunk(data: bytes) -> None:
            await send({"type": "http.response.body", "body": data, "more_body": True})

        await answer.stream(chunk, receive)
    elif answer.dropped is not None:
        answer.dropped()
    await send({"type": "http.response.body", "body": answer.body})
