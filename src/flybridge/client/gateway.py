"""The gateway, as a Python program uses it.

async with await connect() as client:
    session = await client.open(agent="demo", cwd="/home/ada/project")
    await client.submit(session, SendInput(content=(Text("hello"),)))
    async with client.watch(session) as items:
        async for item in items:
            ...
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar

import msgspec
from msgspec import Raw

from flybridge.client.connection import Connection
from flybridge.client.items import EventItem, to_event
from flybridge.client.launch import gateway_argv, refuse_inside_agent, start_and_reach
from flybridge.client.session import PATIENCE_S, Attachment, Pauses, Watch
from flybridge.client.state_dir import StateDir
from flybridge.errors import GatewayError, GatewayUnreachableError, RemoteProtocolError
from flybridge.model.commands import Command
from flybridge.model.deliveries import Reply, Stage
from flybridge.wire.native.messages import ReplyLine, Welcome

Object: TypeAlias = dict[str, Any]
Rows: TypeAlias = list[Object]
_STAGES = {stage.name.lower(): stage for stage in Stage}


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a session's log, in order."""

    epoch: int
    head: int
    events: tuple[EventItem, ...]


async def connect(
    state: StateDir | str | os.PathLike[str] | None = None,
    *,
    start: bool = True,
    name: str = "python",
    argv: Sequence[str] | None = None,
) -> Client:
    """Reach the gateway of a state directory; if none answers, start one (``argv``: how).

    Raises:
        GatewayUnreachableError: none answers and none may be started, or it did not start.
        GatewayError: the directory is not safe to use, or another user's gateway answers.
    """
    where = StateDir.resolve(state)
    client = Client(where, name=name, start=start, argv=argv or gateway_argv(where))
    await client.connection()
    return client


class Client:
    """What can be asked of a gateway. Made by :func:`connect`.

    A request raises ``GatewayUnreachableError`` when the connection is lost before its reply;
    the next one connects again. Only ``submit_reliably`` and ``watch`` go on by themselves.
    """

    def __init__(self, state: StateDir, *, name: str, start: bool, argv: Sequence[str]) -> None:
        self.state = state
        self._name = name
        self._start = start
        self._argv = argv
        self._connecting = asyncio.Lock()
        self._connection: Connection | None = None
        self._closed = False

    async def connection(self) -> Connection:
        """The live connection, made anew (and the gateway with it) where it was lost."""
        async with self._connecting:
            if self._closed:
                raise GatewayError("this client was closed")
            if self._connection is None or self._connection.closed:
                self._connection = await self._connect()
            if self._closed:  # meanwhile
                await self._connection.close()
                raise GatewayError("this client was closed")
            return self._connection

    async def _connect(self) -> Connection:
        try:
            return await self._dial()
        except GatewayUnreachableError:
            if not self._start:
                raise
        refuse_inside_agent()
        return await start_and_reach(self.state, self._argv, self._dial)

    async def _dial(self) -> Connection:
        return await Connection.open(self.state, client=self._name)

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
        return _value(reply, Object)

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
    ) -> str:
        """Open a session and return its id; the same ``request`` opens it only once.

        ``resume`` names a conversation the agent had before; ``fork``: go on in a copy.
        """
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
        }
        reply = await (await self.connection()).ask("open", params)
        return _value(reply, _Opened).session

    async def list(self) -> Rows:
        """Every session this client may see."""
        reply = await (await self.connection()).ask("list")
        return _value(reply, _Listed).sessions

    async def status(self) -> Object:
        """How the gateway is."""
        return await self.ask("status")

    async def stop_gateway(self) -> Object:
        """End the gateway. Agents go on; the next gateway finds them."""
        return await self.ask("stop")

    # ---- one session -----------------------------------------------------------------------

    async def page(self, session: str, after: int = 0, limit: int = 100) -> Page:
        """Read a piece of the log without following it: at most ``limit`` events, maybe fewer.

        There is more while the last event of the page is not its ``head``.
        """
        params = {"session": session, "after": after, "limit": limit}
        page = _value(await (await self.connection()).ask("page", params), _Page)
        events = [  # whole batches come, the first may begin before what was asked for
            EventItem(one.seq, one.at_ms, to_event(one.event), bytes(one.event))
            for one in page.events
            if one.seq > after
        ]
        return Page(epoch=page.epoch, head=page.head, events=tuple(events[:limit]))

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
        return Reply(
            ref=reply.ref,
            stage=_STAGES.get(reply.stage),
            value=reply.value,
            error=reply.error,
            message=reply.message,
            duplicate=reply.duplicate,
        )

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
        pauses = Pauses(patience_s)
        try:
            async with asyncio.timeout(patience_s):
                while True:
                    try:
                        return await self.submit(
                            session, command, request=request, until=until, wait_ms=wait_ms
                        )
                    except GatewayUnreachableError as error:
                        await pauses.wait(error)
        except TimeoutError as error:
            raise GatewayUnreachableError(f"no reply within {patience_s:.0f} s") from error

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

    # ---- the end ---------------------------------------------------------------------------

    async def close(self) -> None:
        """Hang up; nothing of this client runs afterwards."""
        self._closed = True
        if self._connection is not None:
            await self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()


class _Opened(msgspec.Struct):
    session: str


class _Listed(msgspec.Struct):
    sessions: Rows


class _PageEntry(msgspec.Struct):
    seq: int
    at_ms: int
    event: Raw


class _Page(msgspec.Struct):
    events: tuple[_PageEntry, ...]
    epoch: int
    head: int


_T = TypeVar("_T")


def _value(reply: ReplyLine, kind: type[_T]) -> _T:
    raw = reply.value if isinstance(reply.value, Raw) else b"null"
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RemoteProtocolError(f"bad reply from the gateway: {str(error)[:200]}") from error
