"""Talking in one session: say something, wait for what comes of it, follow along, decide.

One task reads the session, across lost connections, and folds what comes; whoever waits for
something looks at the fold. What goes wrong in it, or in a callback, is raised to whoever waits
next, and at the latest when the block is left.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

import msgspec
from msgspec import Raw

from flybridge.client.asking import Asking, OnPermission, OnQuestion
from flybridge.client.items import Detached, EventItem, Item, Reset, ViewItem
from flybridge.client.pictures import Picture, to_image
from flybridge.client.recent import Recent
from flybridge.client.session import Watch
from flybridge.client.transcript import Transcript
from flybridge.client.transport.patience import PATIENCE_S, patiently
from flybridge.client.turns import Fate, Turn, Turns
from flybridge.client.values import SessionView, view_of
from flybridge.errors import (
    FlybridgeError,
    GatewayUnreachableError,
    LocalProtocolError,
    RemoteProtocolError,
    SessionNotFoundError,
)
from flybridge.model import commands as c
from flybridge.model.content import Text
from flybridge.model.deliveries import Reply, Stage
from flybridge.model.ids import TurnId

if TYPE_CHECKING:
    from flybridge.client.gateway import Client

ATTEMPTS = 3  # to deliver an input that provably never arrived
WAIT_MS = 10_000
PAGE = 1000  # events


class Conversation:
    """One session, entered with ``async with``. Made by ``Client.session`` and ``Client.start``.

    ``id`` is the session's, ``transcript`` all that was said, ``view`` how it is now. Leaving
    the block ends nothing but our following.
    """

    def __init__(
        self,
        client: Client,
        session: str | Callable[[], Awaitable[str]],
        *,
        last: int = 0,
        on_permission: OnPermission | None = None,
        on_question: OnQuestion | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.id = session if isinstance(session, str) else ""
        self.transcript = Transcript()
        self.view: SessionView | None = None
        self._client = client
        self._open = None if isinstance(session, str) else session
        self._last = last
        self._patience_s = patience_s
        self._asking = Asking(
            self.submit, self._fail, on_permission=on_permission, on_question=on_question
        )
        self._turns = Turns()
        self._recent = Recent()
        self._joined = 0
        self._watch: Watch | None = None
        self._reader: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._failure: Exception | None = None
        self._told = False
        self._over = ""

    # ---- coming and going --------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Open the session if it is to be a new one, and read what has happened so far."""
        if self._watch is not None:
            raise LocalProtocolError("a conversation is entered once")
        if self._open is not None:
            self.id = await patiently(self._open, self._patience_s)
        self._watch = self._client.watch(self.id, last=self._last, patience_s=self._patience_s)
        try:
            await self._watch.begin()
            self.transcript.epoch = self._watch.epoch
            while self._behind and not self._over:
                self._take(await anext(self._watch))
        except BaseException:
            await self._close()
            raise
        self._joined = 0 if self._open is not None else self.transcript.last_seq
        self._asking.sync()
        self._reader = asyncio.create_task(self._read(self._watch))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._close()
        if kind is None and self._failure is not None and not self._told:
            raise self._failure

    async def _close(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        await self._asking.close()
        if self._watch is not None:
            await self._watch.close()

    # ---- saying ------------------------------------------------------------------------------

    async def send(
        self,
        text: str,
        *,
        images: Sequence[Picture] = (),
        mode: Literal["auto", "steer", "queue"] = "auto",
        request: str | None = None,
    ) -> Reply:
        """Say something, once per ``request``, and do not wait for what comes of it."""
        command = c.SendInput(content=(*map(to_image, images), Text(text)), mode=mode)
        return await self.submit(command, request)

    async def ask(
        self, text: str, *, images: Sequence[Picture] = (), request: str | None = None
    ) -> Turn:
        """Say something and wait for the end of the turn that took it.

        What provably never arrived is sent again. What somebody said before under the same
        ``request`` is not said again: its turn is returned.
        """
        request = request or str(uuid.uuid4())
        fate = self._turns.attempts(request)
        for _ in range(ATTEMPTS):
            before = fate.attempt if fate.outcome == "not_delivered" else 0
            key = _key(await self.send(text, images=images, request=request))
            fate = await self._end_of(key, before)
            if fate.outcome != "not_delivered":
                break
        blobs = self._turns.long_texts(fate, self.transcript)
        whole = {blob: await self._text(blob) for blob in blobs}
        return self._turns.turn(fate, self.transcript, whole)

    async def _end_of(self, key: str, before: int) -> Fate:
        """What became of an input in an attempt after ``before``."""
        while (fate := self._turns.fate(key)).attempt <= before or not fate.outcome:
            await self._change()
            if self._over:
                raise self._gone()
        return fate

    async def _text(self, blob: str) -> str:
        data = await patiently(lambda: self._client.blob(blob), self._patience_s)
        return data.decode(errors="replace")

    async def submit(self, command: c.Command, request: str | None = None) -> Reply:
        """Carry out any command, once per ``request``, over lost connections too.

        Raises:
            FlybridgeError: it was refused and left no trace.
        """
        self._check()
        return await self._client.submit_reliably(
            self.id,
            command,
            request=request,
            until=Stage.ACCEPTED,
            wait_ms=WAIT_MS,
            patience_s=self._patience_s,
        )

    async def interrupt(self, *, hard: bool = False) -> Reply:
        """Stop the turn that runs, as far as we know; another one is left alone."""
        turn = TurnId(self.transcript.turn)
        return await self.submit(c.Interrupt(turn=turn, hard=hard))

    async def set_model(self, model: str) -> Reply:
        return await self.submit(c.SetModel(model=model))

    async def set_mode(self, mode: str) -> Reply:
        return await self.submit(c.SetMode(mode=mode))

    async def set_effort(self, effort: str) -> Reply:
        return await self.submit(c.SetEffort(effort=effort))

    async def set_thinking(self, tokens: int) -> Reply:
        return await self.submit(c.SetThinking(tokens=tokens))

    async def rename(self, title: str) -> Reply:
        return await self.submit(c.Rename(title=title))

    async def end(self) -> Reply:
        """End the agent, and take no more input. The log stays."""
        return await self.submit(c.Close())

    # ---- following ---------------------------------------------------------------------------

    async def events(self, *, after: int | None = None) -> AsyncIterator[EventItem]:
        """Every event, each once and in order: since the block was entered, or ``after`` one.

        A reader may be as slow as it likes: what we do not hold any more is read again. Ends
        when the session is deleted or the gateway stopped. Should the log itself begin anew,
        in another epoch, it comes from its beginning.
        """
        at = self._joined if after is None else after
        epoch = self.transcript.epoch
        while True:
            if epoch != self.transcript.epoch:
                at, epoch = 0, self.transcript.epoch
            if item := self._recent.get(at + 1):
                at = item.seq
                yield item
            elif at < self.transcript.last_seq:
                async for item in self._older(at, self.transcript.last_seq):
                    at = item.seq
                    yield item
            elif self._over:
                return
            else:
                await self._change()

    async def _older(self, at: int, last: int) -> AsyncIterator[EventItem]:
        page = await patiently(lambda: self._client.page(self.id, at, PAGE), self._patience_s)
        if not page.events:
            raise RemoteProtocolError(f"the gateway has no events {at + 1} to {last}")
        for item in page.events:
            if item.seq <= last:  # the rest comes by itself
                yield item

    async def _change(self) -> None:
        """Wait until anything is different.

        Raises:
            Exception: what went wrong, here or in a callback.
        """
        self._check()
        if not self._over:
            await self._changed.wait()
            self._check()

    def _check(self) -> None:
        if self._failure is not None:
            self._told = True
            raise self._failure

    # ---- the reader --------------------------------------------------------------------------

    @property
    def _behind(self) -> bool:
        return self._watch is not None and self.transcript.last_seq < self._watch.head

    async def _read(self, watch: Watch) -> None:
        try:
            async for item in watch:
                self._take(item)
                if not self._behind:
                    self._asking.sync()
                self._wake()
        except Exception as error:  # whatever it is, those who wait must hear of it
            self._fail(error)

    def _take(self, item: Item) -> None:
        self.transcript.apply(item)
        match item:
            case EventItem(event=event):
                self._recent.put(item)
                if event is not None:
                    self._turns.apply(event)
                    self._asking.apply(event)
            case ViewItem(state=state):
                self.view = view_of(state) or self.view
            case Reset():
                self._turns = Turns()
                self._recent.clear()
                self._asking.reset()
            case Detached(code=code):
                self._over = code or "detached"
            case _:
                pass

    def _fail(self, error: Exception) -> None:
        if self._failure is None:
            self._failure = error
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _gone(self) -> FlybridgeError:
        if self._over == "gateway_stopped":
            return GatewayUnreachableError("the gateway was stopped; the agent works on")
        return SessionNotFoundError(self.id)


def _key(reply: Reply) -> str:
    """Under which key the ledger has what was submitted."""
    value = reply.value if isinstance(reply.value, Raw) else b"{}"
    try:
        return str(msgspec.json.decode(value)["key"])
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError) as error:
        raise RemoteProtocolError("bad reply to a submit: it names no key") from error
