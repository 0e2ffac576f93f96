"""Somebody wants a WebSocket: who they are, as far as they say, and what they hear outside."""

from __future__ import annotations

import asyncio
import socket

import msgspec
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from flybridge.auth.authority import Authority
from flybridge.auth.gate import Head, Refused
from flybridge.auth.login import LOGIN_KEY, HalfLogin
from flybridge.auth.peer import TALK, restricted
from flybridge.auth.peer_socket import Address
from flybridge.auth.tcp_peer import Origin, TcpPeers
from flybridge.errors import LoginIncompleteError, NotAuthenticatedError, TooManyTriesError
from flybridge.listeners import frames
from flybridge.listeners.frames import Ending
from flybridge.listeners.http.problems import MEDIA_TYPE, of_refusal
from flybridge.model.audit import Record
from flybridge.session.authorisation import Caller
from flybridge.wire.native.messages import Auth, LoginAuth

DOOR = "websocket"

UNSENT_BYTES = 128 * 1024  # that the kernel holds for somebody who does not read


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    hello_s: float = 10.0  # to say who one is, and hello
    ping_s: float = 20.0
    pong_s: float = 20.0


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """How many there may be."""

    clients: int = 5000
    strangers: int = 64

    def full(self, known: bool, clients: int, strangers: int) -> Refused | None:
        """Why there is no room for one more, if there is none."""
        if clients + strangers >= self.clients:
            return Refused(503, "too_many_clients", "there is no room for more clients")
        if not known and strangers >= self.strangers:
            return Refused(429, "too_many_clients", "too many come without saying who they are")
        return None


def head_of(request: Request) -> Head:
    return Head(
        method=request.method,
        target=request.path,
        headers=[
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in request.headers.raw_items()
        ],
        upgrade=True,
    )


def bad_form(head: Head, path: str, status: int) -> Refused | None:
    """Whether this is anything else than an upgrade, here; ``status`` is the library's opinion.

    A token in the address would end in logs and histories: nothing may follow the path.
    """
    if head.target != path:
        return Refused(404, "not_found", "there is no WebSocket here")
    if status != 101:
        return Refused(status, "bad_upgrade", "a WebSocket of version 13, by GET")
    return None


def identify(
    authority: Authority, head: Head, *, source: str
) -> Caller | HalfLogin | Refused | None:
    """Whoever came with a cookie or a token in a header; None: nothing of the kind came."""
    try:
        return authority.caller_of(head, door=DOOR, source=source)
    except LoginIncompleteError as error:
        if head.all(LOGIN_KEY):
            return Refused(401, error.code, str(error))
        return HalfLogin(tuple(authority.cookies_in(head)))
    except NotAuthenticatedError as error:
        return Refused(401, error.code, str(error))
    except TooManyTriesError as error:
        return Refused(429, error.code, str(error))


_FIRST: tuple[msgspec.json.Decoder[Auth | LoginAuth], ...] = (
    msgspec.json.Decoder(Auth),
    msgspec.json.Decoder(LoginAuth),
)


def authenticate(
    authority: Authority, login: HalfLogin | None, message: bytes, *, source: str
) -> Caller | Ending:
    """Return the caller that a first message names, or why there is none. It brings a token, or
    the key of the login whose cookie came with the upgrade."""
    first = _first(message)
    try:
        if login is None or isinstance(first, Auth):
            token = first.token if isinstance(first, Auth) else ""
            return authority.by_token(token.encode(), door=DOOR, source=source)
        key = first.key if first else ""
        return authority.by_login(login.cookies, key.encode(), door=DOOR, source=source)
    except TooManyTriesError:
        return frames.TOO_MANY_TRIES
    except LoginIncompleteError:
        return frames.LOGIN_INCOMPLETE
    except NotAuthenticatedError:
        return frames.NOT_AUTHENTICATED


def _first(message: bytes) -> Auth | LoginAuth | None:
    for decoder in _FIRST:
        try:
            return decoder.decode(message)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue
    return None


def ends_of(transport: asyncio.Transport) -> tuple[Address | None, Address | None]:
    """Return the client's address and ours, in tuples of this call's own."""
    client, server = (transport.get_extra_info(name) for name in ("peername", "sockname"))
    return (
        (client[0], client[1]) if isinstance(client, tuple) else None,
        (server[0], server[1]) if isinstance(server, tuple) else None,
    )


def glance(peers: TcpPeers, transport: asyncio.Transport | None) -> Origin | None:
    """Return where a connection comes from, if that is known at once."""
    return None if transport is None else peers.glance(*ends_of(transport))


async def judged(
    peers: TcpPeers, caller: Caller | None, transport: asyncio.Transport
) -> Caller | Refused | None:
    """Return the caller with the rights that the program at the other end has, or a refusal.

    An agent could have read a person's cookie: from below a keeper it may look and talk.
    """
    transport.pause_reading()
    client, server = ends_of(transport)
    origin = await peers.origin(client, server)
    if origin.refused is not None:
        return origin.refused
    if caller is None or caller.scopes <= TALK:
        return caller
    return restricted(caller, await peers.verdict(client, server, login=caller.credential))


def refusal(code: str, source: str, who: Caller | None) -> Record:
    """What the audit log hears of somebody who was not let in, or no longer."""
    return Record(
        event="connect",
        outcome="refused",
        code=code,
        door=DOOR,
        source=source,
        principal=who.principal if who else "",
        credential=who.credential if who else "",
    )


def problem(refused: Refused) -> bytes:
    """The answer, as HTTP gives it."""
    found = of_refusal(refused)
    body = msgspec.json.encode(found)
    headers = Headers(
        {
            "Connection": "close",
            "Content-Length": str(len(body)),
            "Content-Type": MEDIA_TYPE.decode(),
            "Cache-Control": "no-store",
            "Sec-WebSocket-Version": "13",
        }
    )
    return Response(found.status, found.title, headers, body).serialize()


def limit_unsent(sock: socket.socket | None) -> None:
    """Keep what was not sent yet with us, where it can still be replaced by something newer."""
    option = getattr(socket, "TCP_NOTSENT_LOWAT", None)
    if option is not None and sock is not None and sock.family != socket.AF_UNIX:
        sock.setsockopt(socket.IPPROTO_TCP, option, UNSENT_BYTES)
