"""The little HTTP that the device door speaks: its health, and the head of an upgrade."""

from __future__ import annotations

from http import HTTPStatus

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

HEALTH = "/health"
OF_AGENTS = "/ws/cli"  # not here: agents are no devices


def answer_to(request: Request) -> bytes | None:
    """What is said to a request that is no device's; None: it is an upgrade."""
    path = request.path.partition("?")[0]
    upgrades = "websocket" in request.headers.get("Upgrade", "").lower()
    if request.headers.get_all("Origin"):
        return refused(403)
    if request.method != "GET":
        return refused(405)
    if upgrades:
        return refused(404) if path.startswith(OF_AGENTS) else None
    if path == HEALTH:
        return _response(200, b'{"ok":true}', "application/json")
    return _response(200, b"Flybridge: devices come in here, by WebSocket.\n", "text/plain")


def refused(status: int) -> bytes:
    return _response(status, b"", "text/plain")


def _response(status: int, body: bytes, kind: str) -> bytes:
    headers = Headers(
        {
            "Connection": "close",
            "Content-Length": str(len(body)),
            "Content-Type": kind,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        }
    )
    return Response(status, HTTPStatus(status).phrase, headers, body).serialize()


def token_of(request: Request) -> str:
    """The token that the head brings, if it brings one."""
    given = request.headers.get_all("Authorization")
    kind, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return token.strip() if kind.lower() == "bearer" else ""
