"""The gateway, as a Python program uses it.

async with await connect() as client:
    async with client.start(agent="demo", cwd="/home/ada/project") as session:
        turn = await session.ask("hello")
        print(turn.text)
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec
from msgspec import Raw

from flybridge.client.closing import Closing
from flybridge.client.session import Attachment, Watch
from flybridge.client.transport.connection import Connection
from flybridge.client.transport.patience import PATIENCE_S, patiently
from flybridge.client.transport.unix import UnixAddress
from flybridge.client.values import (
    BlobPart,
    Listed,
    Opened,
    Page,
    Rows,
    SessionList,
    SessionRow,
    page_of,
    reply_of,
    value_of,
)
from flybridge.client.values import Object as Object
from flybridge.config.state_dir import StateDir
from flybridge.errors import GatewayError, InvalidRequestError
from flybridge.model.capabilities import Options, StartOptions, Transport
from flybridge.model.commands import Command
from flybridge.model.deliveries import Reply, Stage
from flybridge.model.legacy_options import joined, start_fields, to_legacy
from flybridge.wire.native.messages import Welcome

if TYPE_CHECKING:  # who only runs a command need not wait for these
    from flybridge.client.asking import OnPermission, OnQuestion
    from flybridge.client.conversation import Conversation

PAGE_BYTES = 256 * 1024
BLOB_PART_BYTES = 1 << 20
MAX_BLOB_BYTES = 256 << 20


class Address(Protocol):
    """Where a gateway is, and how to get in."""

    async def connect(self, name: str) -> Connection: ...


async def connect(
    where: StateDir | str | os.PathLike[str] | None = None,
    *,
    token: str | None = None,
    token_file: str | os.PathLike[str] | None = None,
    cafile: str | os.PathLike[str] | None = None,
    start: bool = True,
    direct: bool = False,
    name: str = "python",
    argv: Sequence[str] | None = None,
) -> Client:
    """Reach a gateway: of a state directory, or behind a URL.

    With nothing given, $FLYBRIDGE_URL says where, else the usual state directory. A URL wants
    a token: given, in a file, or from $FLYBRIDGE_TOKEN or $FLYBRIDGE_TOKEN_FILE. A gateway of a
    state directory that does not answer is started (``argv``: how), one behind a URL is not.
    ``direct`` is for a URL on this machine that you found by yourself, instead of being given
    it: the gateway has to prove that it listens there itself. Not for tunnels and proxies.

    Raises:
        GatewayUnreachableError: none answers and none may be started, or it did not start.
        GatewayError: the directory, the address or who answers there is not safe to use.
        NotAuthenticatedError: the token is not good.
    """
    where = where if where is not None else os.environ.get("FLYBRIDGE_URL") or None
    address: Address
    if isinstance(where, str) and "://" in where:
        from flybridge.client.transport.tokens import find_token
        from flybridge.client.transport.url import UrlAddress

        address = UrlAddress(where, find_token(token, token_file), cafile=cafile, direct=direct)
    else:
        address = UnixAddress(StateDir.resolve(where), start=start, argv=argv)
    client = Client(address, name=name)
    await client.connection()
    return client


class Client(Closing):
    """What can be asked of a gateway. Made by :func:`connect`.

    A request raises ``GatewayUnreachableError`` when the connection is lost before its reply;
    the next one connects again. Only ``submit_reliably``, ``watch`` and what ``session`` and
    ``start`` give go on by themselves.
    """

    def __init__(self, address: Address, *, name: str = "python") -> None:
        self.address = address
        self._name = name
        self._connecting = asyncio.Lock()
        self._connection: Connection | None = None
        self._closed = False

    async def connection(self) -> Connection:
        """The live connection, made anew (and the gateway with it) where it was lost."""
        async with self._connecting:
            if self._closed:
                raise GatewayError("this client was closed")
            if self._connection is None or self._connection.closed:
                self._connection = await self.address.connect(self._name)
            if self._closed:  # meanwhile
                await self._connection.close()
                raise GatewayError("this client was closed")
            return self._connection

    @property
    def welcome(self) -> Welcome | None:
        """What the gateway last said about itself and about us."""
        return self._connection.welcome if self._connection else None

    # ---- the gateway -----------------------------------------------------------------------

    async def ask(self, name: str, params: Mapping[str, object] | None = None) -> Object:
        """Ask anything; the value of the reply."""
        reply = await (await self.connection()).ask(name, params)
        if not isinstance(reply.value, Raw) or bytes(reply.value) == b"null":
            return {}
        return value_of(reply, Object)

    async def open(
        self,
        *,
        agent: str,
        cwd: str | os.PathLike[str],
        title: str = "",
        model: str = "",
        mode: str = "",
        labels: Mapping[str, str] | None = None,
        request: str | None = None,
        resume: str = "",
        fork: bool = False,
        continue_latest: bool = False,
        from_pr: str = "",
        effort: str = "",
        budget_usd: float = 0.0,
        transport: Transport = "stdio",
        agent_options: Mapping[str, Any] | None = None,
        configured: bool = True,
        options: Options | None = None,
        folder: Literal["ask", "trust", "restrict"] = "ask",
        key_digest: str = "",
        ci_key: str = "",
    ) -> str:
        """Open a session and return its id; the same ``request`` opens it only once.

        ``resume`` names a conversation the agent had before, ``continue_latest`` takes the
        latest in ``cwd``, ``from_pr`` that of a pull request; ``fork``: go on in a copy.
        ``agent_options``: the agent's own, by name; ``ask("agents")`` lists them for each agent.
        ``configured=False`` leaves out what the configuration sets for the agent. ``options`` is
        the old form of all that, and goes away after one release.
        ``folder``: what to do with settings that ``cwd`` brings along; ``ask`` refuses.
        ``key_digest``: SHA-256, in hex, of a key that later lets another process of yours ``claim``
        the session, and decide in it as its opener. ``ci_key``: allows a ``mode`` that asks less
        to a program without a terminal.
        """
        asked = StartOptions(
            effort=effort,
            budget_usd=budget_usd,
            transport=transport,
            agent_options=dict(agent_options or {}),
        )
        start = joined(asked, options)
        sent = {name: value for name, value in start_fields(start).items() if value != "stdio"}
        params = {
            "agent": agent,
            "cwd": os.fspath(cwd),
            "title": title,
            "model": model,
            "mode": mode,
            "labels": dict(labels or {}),
            "request": request or str(uuid.uuid4()),
            "resume": resume,
            "fork": fork,
            "continue_latest": continue_latest,
            "from_pr": from_pr,
            **sent,
            **({} if configured else {"configured": False}),
            "options": to_legacy(start),  # all that a gateway of 0.1 reads
            "folder": folder,
            "key_digest": key_digest,
            **({"ci_key": ci_key} if ci_key else {}),
        }
        reply = await (await self.connection()).ask("open", params)
        return value_of(reply, Opened).session

    async def list(self) -> Rows:
        """Every session this client may see, as plain objects."""
        reply = await (await self.connection()).ask("list")
        return value_of(reply, Listed).sessions

    async def sessions(self) -> Sequence[SessionRow]:
        """Every session this client may see."""
        reply = await (await self.connection()).ask("list")
        return value_of(reply, SessionList).sessions

    async def status(self) -> Object:
        """How the gateway is."""
        return await self.ask("status")

    async def stop_gateway(self) -> Object:
        """End the gateway. Agents go on; the next gateway finds them."""
        return await self.ask("stop")

    async def query(
        self, session: str, name: str, params: Mapping[str, object] | None = None
    ) -> Object:
        """Ask a session's agent something beside the conversation: ``mcp``, ``context`` …"""
        return await self.ask("query", {"session": session, "name": name, "params": params or {}})

    # ---- one session -----------------------------------------------------------------------

    async def page(
        self, session: str, after: int = 0, limit: int = 100, *, max_bytes: int = PAGE_BYTES
    ) -> Page:
        """Read a piece of the log without following it: at most ``limit`` events, maybe fewer.

        The gateway reads about ``max_bytes``; there is more while the last event of the page
        is not its ``head``.
        """
        params = {"session": session, "after": after, "max_bytes": max_bytes}
        return page_of(await (await self.connection()).ask("page", params), after, limit)

    async def blob(self, digest: str, *, limit: int = MAX_BLOB_BYTES) -> bytes:
        """What was too long for an event, whole.

        Raises:
            InvalidRequestError: there is none, or it is longer than ``limit``.
        """
        data = bytearray()
        while True:
            params = {"digest": digest, "start": len(data), "size": BLOB_PART_BYTES}
            part = value_of(await (await self.connection()).ask("blob", params), BlobPart)
            if part.size > limit:
                raise InvalidRequestError(f"a blob of {part.size} bytes is longer than {limit}")
            data += part.data
            if len(data) >= part.size or not part.data:
                return bytes(data)

    async def submit(
        self,
        session: str,
        command: Command,
        *,
        request: str | None = None,
        until: Stage = Stage.WRITTEN,
        wait_ms: int = 2000,
    ) -> Reply:
        """Hand over a command, once per ``request``.

        Returns when ``until`` is reached, or after ``wait_ms`` with what was reached by then:
        ``error`` is empty in the first case and else a code that says what became of it
        (``in_progress``, ``not_delivered``, ``unknown`` …); the command is in the log then.

        Raises:
            FlybridgeError: it was refused and left no trace.
            GatewayUnreachableError: nobody knows; the same ``request`` may be sent again.
        """
        connection = await self.connection()
        reply = await connection.submit(
            session,
            Raw(msgspec.json.encode(command)),
            request=request or str(uuid.uuid4()),
            until=until.name.lower(),
            wait_ms=wait_ms,
        )
        return reply_of(reply)

    async def submit_reliably(
        self,
        session: str,
        command: Command,
        *,
        request: str | None = None,
        until: Stage = Stage.WRITTEN,
        wait_ms: int = 2000,
        patience_s: float = PATIENCE_S,
    ) -> Reply:
        """Like :meth:`submit`, again and again over lost connections until there is a reply.

        The request id stays the same, so the command is still carried out once.

        Raises:
            GatewayUnreachableError: no reply within ``patience_s``.
        """
        request = request or str(uuid.uuid4())
        return await patiently(
            lambda: self.submit(session, command, request=request, until=until, wait_ms=wait_ms),
            patience_s,
        )

    async def attach(
        self, session: str, *, after: int = 0, epoch: int = 0, last: int = 0, previews: bool = True
    ) -> Attachment:
        """Follow a session for as long as this connection lasts."""
        return await Attachment.open(
            await self.connection(),
            session,
            epoch=epoch,
            after=after,
            last=last,
            previews=previews,
        )

    def watch(
        self,
        session: str,
        *,
        after: int = 0,
        epoch: int = 0,
        last: int = 0,
        previews: bool = True,
        patience_s: float = PATIENCE_S,
    ) -> Watch:
        """Follow a session across lost connections and restarted gateways."""
        return Watch(
            self,
            session,
            epoch=epoch,
            after=after,
            last=last,
            previews=previews,
            patience_s=patience_s,
        )

    # ---- a conversation --------------------------------------------------------------------

    def session(
        self,
        session: str,
        *,
        last: int = 0,
        on_permission: OnPermission | None = None,
        on_question: OnQuestion | None = None,
        patience_s: float = PATIENCE_S,
    ) -> Conversation:
        """Talk in a session: ``async with client.session(id) as s``.

        ``last`` > 0: begin with so many of the newest events instead of all. The callbacks
        decide prompts that come up, and those that are open already.
        """
        from flybridge.client.conversation import Conversation

        return Conversation(
            self,
            session,
            last=last,
            on_permission=on_permission,
            on_question=on_question,
            patience_s=patience_s,
        )

    def start(
        self,
        *,
        agent: str,
        cwd: str | os.PathLike[str],
        title: str = "",
        model: str = "",
        mode: str = "",
        labels: Mapping[str, str] | None = None,
        effort: str = "",
        budget_usd: float = 0.0,
        agent_options: Mapping[str, Any] | None = None,
        options: Options | None = None,
        folder: Literal["ask", "trust", "restrict"] = "ask",
        request: str | None = None,
        on_permission: OnPermission | None = None,
        on_question: OnQuestion | None = None,
        patience_s: float = PATIENCE_S,
    ) -> Conversation:
        """Open a session and talk in it: ``async with client.start(agent="demo", cwd=".") as s``.

        Like :meth:`open` and :meth:`session` together. Leaving the block ends nothing: the
        agent works on, and anybody may come back to it; ``s.end()`` ends it.
        """
        from flybridge.client.conversation import Conversation

        key = request or str(uuid.uuid4())
        return Conversation(
            self,
            lambda: self.open(
                agent=agent,
                cwd=Path(cwd).absolute(),
                title=title,
                model=model,
                mode=mode,
                labels=labels,
                effort=effort,
                budget_usd=budget_usd,
                agent_options=agent_options,
                options=options,
                folder=folder,
                request=key,
            ),
            on_permission=on_permission,
            on_question=on_question,
            patience_s=patience_s,
        )

    async def close(self) -> None:
        """Hang up; nothing of this client runs afterwards."""
        self._closed = True
        if self._connection is not None:
            await self._connection.close()
