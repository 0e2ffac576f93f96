"""The native protocol in WebSocket frames: what a gateway speaks behind a URL. Pure.

The library frames and masks; nothing is compressed. Where the connection is not encrypted,
whoever listens has to prove first that they know our token: on this very connection, because on
the next one somebody else may answer. Then the upgrade, then the token, then messages.
"""

from __future__ import annotations

import logging

import msgspec
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake, InvalidStatus
from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import OPEN
from websockets.uri import parse_uri

from flybridge.client.transport.http import WAIT_S, AnswerReader, to_error
from flybridge.client.transport.proof import Challenge
from flybridge.client.transport.tokens import Token
from flybridge.errors import (
    FlybridgeError,
    GatewayError,
    GatewayUnreachableError,
    LocalProtocolError,
    NotAllowedError,
    NotAuthenticatedError,
    RemoteProtocolError,
    TooManyTriesError,
)

MAX_MESSAGE_BYTES = 2**20  # that a gateway takes
MAX_FRAME_BYTES = 64 * 2**20  # that we take
_log = logging.getLogger(__name__)
_log.setLevel(logging.WARNING)  # below that the library writes down headers and contents


class Frames:
    """A :class:`~flybridge.client.transport.framing.Framing`.

    ``challenge`` is what the gateway has to prove before the token is sent.
    """

    def __init__(self, uri: str, token: Token, challenge: Challenge | None = None) -> None:
        self.over: FlybridgeError | None = None
        self._frames = ClientProtocol(parse_uri(uri), max_size=MAX_FRAME_BYTES, logger=_log)
        self._token = token
        self._challenge = challenge
        self._answer = AnswerReader()
        self._early: list[bytes] = []  # said before the upgrade: no more than hello
        self._parts: list[bytes] = []
        self._out: list[bytes] = []
        if challenge is None:
            self._upgrade()
        else:
            self._out.append(challenge.request)

    def receive(self, data: bytes) -> list[bytes]:
        if self._challenge is not None:
            self._prove(data)
            return []
        self._frames.receive_data(data)
        messages: list[bytes] = []
        for event in self._frames.events_received():
            if isinstance(event, Response):
                self._upgraded(event)
            elif isinstance(event, Frame):
                messages += self._frame(event)
        if self.over is None and (broken := _broken(self._frames)):
            self.over = broken
        return messages

    def send(self, message: bytes) -> None:
        if len(message) > MAX_MESSAGE_BYTES:
            raise LocalProtocolError(
                f"a message of {len(message)} bytes is too long for a WebSocket, which takes "
                f"{MAX_MESSAGE_BYTES}: use the Unix socket, or upload it over HTTP"
            )
        if self._frames.state is OPEN:
            self._frames.send_text(message)
        else:
            self._early.append(message)

    def ping(self) -> bool:
        if self._frames.state is OPEN:
            self._frames.send_ping(b"")
        return True

    def close(self) -> None:
        if self._frames.state is OPEN:
            self._frames.send_close(1000)

    def take(self) -> bytes:
        out, self._out = self._out, []
        return b"".join((*out, *self._frames.data_to_send()))

    # ---- coming in ---------------------------------------------------------------------------

    def _prove(self, data: bytes) -> None:
        assert self._challenge is not None
        answer = self._answer.receive(data)
        if answer is None:
            return
        try:
            self._challenge.check(answer)
        except GatewayError as error:
            self.over = error
            return
        self._challenge = None
        self._upgrade()

    def _upgrade(self) -> None:
        self._frames.send_request(self._frames.connect())

    def _upgraded(self, response: Response) -> None:
        refused = self._frames.handshake_exc
        if refused is not None:
            self.over = _refusal(refused, response)
            return
        auth = {"type": "auth", "token": self._token.text}
        for message in (msgspec.json.encode(auth), *self._early):
            self._frames.send_text(message)
        self._early.clear()

    # ---- frames ------------------------------------------------------------------------------

    def _frame(self, frame: Frame) -> list[bytes]:
        if frame.opcode is Opcode.CLOSE:
            self.over = to_end(self._frames.close_rcvd)
        elif frame.opcode is Opcode.BINARY:
            raise RemoteProtocolError("the gateway sent something that is no text")
        elif frame.opcode in (Opcode.TEXT, Opcode.CONT):
            self._parts.append(bytes(frame.data))
            if frame.fin:
                whole, self._parts = b"".join(self._parts), []
                return [line for line in whole.split(b"\n") if line]
        return []


def _broken(frames: ClientProtocol) -> FlybridgeError | None:
    """What the library found wrong with what came."""
    if frames.handshake_exc is not None:
        return RemoteProtocolError("what answers there is no gateway")
    if frames.parser_exc is not None:
        return RemoteProtocolError(f"the gateway sent a bad frame: {frames.parser_exc}"[:200])
    return None


def _refusal(error: Exception, response: Response) -> FlybridgeError:
    if isinstance(error, InvalidStatus):
        return to_error(response.status_code, bytes(response.body or b""))
    assert isinstance(error, InvalidHandshake)
    return GatewayError(f"the gateway did not upgrade as it should: {error}"[:200])


def to_end(close: Close | None) -> FlybridgeError:
    """Why a gateway ended a connection: whether to come again, or what is wrong with us."""
    code = close.code if close is not None else 1006
    said = close.reason if close is not None and close.reason.isprintable() else ""
    match code:
        case 4401:
            return NotAuthenticatedError()
        case 4403:
            return NotAllowedError("view", why=said)
        case 4429:
            return TooManyTriesError(WAIT_S)
        case 1002 | 1003 | 1007 | 1008 | 1009:
            return LocalProtocolError(f"the gateway would not take what we said: {said or code}")
        case _:
            return GatewayUnreachableError(f"the gateway hung up: {said or code}")
