"""Ways to a receiver of control messages: its Unix socket, or HTTP behind a URL."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path

from flybridge.client.control.sender import Between
from flybridge.client.transport.http import Answer, AnswerReader, request, to_error
from flybridge.client.transport.proof import Challenge
from flybridge.client.transport.url import UrlAddress
from flybridge.client.transport.url import to_error as lost
from flybridge.config.state_dir import StateDir
from flybridge.errors import GatewayError, GatewayUnreachableError
from flybridge.wire.control.messages import ContentRef

MAX_ACK = 1 << 20
MAX_BETWEEN = 256  # things said on the way to one answer
PATH = "/api/v1/control"
MIME = "text/plain; charset=utf-8"


class UnixChannel:
    """The socket ``control.sock`` of a state directory."""

    def __init__(self, state: StateDir) -> None:
        self._state = state

    async def exchange(self, message: bytes, between: Between = lambda data: False) -> bytes:
        """Hand over one message.

        Raises:
            GatewayUnreachableError: nobody answers now.
            GatewayError: the directory is not safe to use.
        """
        state = self._state
        state.check()
        try:
            with state.socket_address(state.control) as address:
                reader, writer = await asyncio.open_unix_connection(address, limit=MAX_ACK)
        except OSError as error:
            raise self._nobody() from error
        try:
            writer.write(message + b"\n")
            await writer.drain()
            answer = await reader.readline()
            for _ in range(MAX_BETWEEN):
                if not between(answer):
                    break
                answer = await reader.readline()
        except (OSError, ValueError) as error:
            raise self._nobody() from error
        finally:
            writer.close()
        if not answer.endswith(b"\n"):
            raise self._nobody()
        return answer

    def _nobody(self) -> GatewayUnreachableError:
        return GatewayUnreachableError(f"no gateway answers at {self._state.control}")


class HttpChannel:
    """``POST /api/v1/control`` of a gateway behind a URL."""

    def __init__(self, address: UrlAddress) -> None:
        self._address = address

    async def exchange(self, message: bytes, between: Between = lambda data: False) -> bytes:
        """Hand over one message. In the clear, only to somebody who proved to know the token.
        There is one answer, and nothing before it.

        Raises:
            GatewayUnreachableError: nobody answers now.
            GatewayError: somebody does whom we should not talk to.
            NotAuthenticatedError: they do not want us.
        """
        url, token = self._address.url, self._address.token
        try:
            reader, writer = await asyncio.open_connection(
                url.host, url.port, ssl=self._address.tls
            )
        except OSError as error:
            raise lost(url, error) from error
        try:
            if not url.secure:
                challenge = Challenge(
                    token,
                    host=url.authority,
                    base_path=url.base_path,
                    direct=self._address.direct,
                )
                challenge.check(await _ask(reader, writer, challenge.request))
            headers = {
                "Authorization": f"Bearer {token.text}",
                "Content-Type": "application/json",
            }
            target = f"{url.base_path}{PATH}"
            said = request("POST", target, url.authority, headers, message)
            answer = await _ask(reader, writer, said)
        except OSError as error:
            raise lost(url, error) from error
        finally:
            writer.close()
        if answer.status != 200:
            raise to_error(answer.status, answer.body)
        return answer.body


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes) -> Answer:
    writer.write(data)
    await writer.drain()
    answers = AnswerReader()
    while True:
        part = await reader.read(1 << 16)
        if not part:
            raise GatewayUnreachableError("the gateway hung up")
        found = answers.receive(part)
        if found is not None:
            return found


class Inbox:
    """Content as files below the receiver's folder, each under a name of its own: the same
    send tried again refers to the same file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, request_id: str, data: bytes) -> ContentRef:
        """Write it down.

        Raises:
            GatewayError: the folder cannot be written to.
        """
        digest = hashlib.sha256(data).hexdigest()
        whose = hashlib.sha256(f"{request_id}\n{digest}".encode()).hexdigest()
        path = self._folder / f"{whose[:40]}.txt"
        new = path.with_suffix(f".{os.getpid()}.new")
        try:
            fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(data)
            new.replace(path)
        except OSError as error:
            new.unlink(missing_ok=True)
            raise GatewayError(f"cannot write to {self._folder}: {error.strerror}") from error
        return ContentRef(path=str(path), size_bytes=len(data), sha256=digest, mime=MIME)

    def remove(self, ref: ContentRef) -> None:
        Path(ref.path).unlink(missing_ok=True)
