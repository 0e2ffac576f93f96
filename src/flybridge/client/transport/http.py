"""As much HTTP as a client of ours needs: one request, one answer of known length. Pure.

An answer that sends us elsewhere is an error: a token goes where it was meant to go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from flybridge.errors import (
    FlybridgeError,
    GatewayError,
    GatewayUnreachableError,
    NotAuthenticatedError,
    RemoteProtocolError,
    TooManyTriesError,
)

MAX_HEAD = 16 * 1024
MAX_BODY = 64 * 1024
MAX_SAID = 200
WAIT_S = 60  # what the gateway makes those wait who were wrong too often
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3})(?: [ -~]*)?")


class Answer(msgspec.Struct, frozen=True):
    status: int
    body: bytes


class AnswerReader:
    """Takes bytes until there is an answer; bounded."""

    def __init__(self) -> None:
        self._data = bytearray()

    def receive(self, data: bytes) -> Answer | None:
        """The answer, once it is whole.

        Raises:
            RemoteProtocolError: that is none, or more than one.
        """
        self._data += data
        head, end, body = bytes(self._data).partition(b"\r\n\r\n")
        if not end:
            if len(head) > MAX_HEAD:
                raise RemoteProtocolError("the gateway's answer has no end")
            return None
        status, length = _head(head)
        if len(body) > length:
            raise RemoteProtocolError("the gateway says more than it was asked")
        return Answer(status, body) if len(body) == length else None


def _head(head: bytes) -> tuple[int, int]:
    first, *lines = head.split(b"\r\n")
    found = _STATUS.fullmatch(first)
    headers = [(name.strip().lower(), value.strip()) for name, _, value in map(_parts, lines)]
    lengths = [value for name, value in headers if name == b"content-length"]
    if found is None or len(lengths) != 1 or not re.fullmatch(rb"\d{1,9}", lengths[0]):
        raise RemoteProtocolError("what answers there is no gateway")
    if int(lengths[0]) > MAX_BODY or any(name == b"transfer-encoding" for name, _ in headers):
        raise RemoteProtocolError("the gateway's answer is too long")
    return int(found[1]), int(lengths[0])


def _parts(line: bytes) -> tuple[bytes, bytes, bytes]:
    return line.partition(b":")


def request(
    method: str, target: str, host: str, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> bytes:
    """One request as bytes."""
    wanted = {"Host": host, "Accept": "application/json", **(headers or {})}
    if method != "GET":
        wanted["Content-Length"] = str(len(body))
    lines = [f"{method} {target} HTTP/1.1", *(f"{one}: {two}" for one, two in wanted.items())]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body


class _Problem(msgspec.Struct):
    code: str = ""
    detail: str = ""


def to_error(status: int, body: bytes) -> FlybridgeError:
    """What an answer that is no success stands for: to be tried again, or not."""
    try:
        problem = msgspec.json.decode(body, type=_Problem)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        problem = _Problem()
    said = "".join(one for one in problem.detail[:MAX_SAID] if one.isprintable())
    if status == 401:
        return NotAuthenticatedError()
    if problem.code == TooManyTriesError.code:
        return TooManyTriesError(WAIT_S)
    if 300 <= status < 400:
        return GatewayError("the gateway's address leads elsewhere: name the right one")
    if status in (429, 500, 502, 503, 504):  # full, starting, or a proxy without us behind it
        return GatewayUnreachableError(f"no gateway answers there now ({status}) {said}".strip())
    return GatewayError(f"the gateway refused us ({status}): {said or 'no reason given'}")
