"""The sender's half of the control protocol: one logical send, however often it is tried.

Every try of a send has the same request id, so trying again is always safe: the receiver tells
what became of the first try. Whoever sends writes down each message, each acknowledgement, each
retry and each failure, as the receiver does.
"""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from flybridge.errors import (
    FlybridgeError,
    GatewayUnreachableError,
    InvalidRequestError,
    RemoteProtocolError,
)
from flybridge.model.audit import Record
from flybridge.wire.control import messages as wire
from flybridge.wire.control.times import format_time

OVERSIZE = "content_ref"
_AT = "@"
_WITH_TURN = re.compile(r"req_[0-9a-f]{32}@([!-~]{1,128})")
_AGAIN = "the same request id tells what became of it"
Between: TypeAlias = Callable[[bytes], bool]
A = TypeVar("A", wire.StdinAck, wire.InterruptAck, wire.CapabilitiesAck)


class Channel(Protocol):
    """A way to a receiver. Each exchange stands alone: the next one may find another gateway."""

    async def exchange(self, message: bytes, between: Between) -> bytes:
        """Hand over one message and wait for what is answered. ``between`` is shown what comes,
        where more than one thing can come: True, it is on the way to the answer and not it.

        Raises:
            GatewayUnreachableError: nobody answers now.
            FlybridgeError: somebody does, and wants nothing of us.
        """


class Shelf(Protocol):
    """Where content goes that is too long for a message."""

    def put(self, request_id: str, data: bytes) -> wire.ContentRef: ...
    def remove(self, ref: wire.ContentRef) -> None: ...


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Who is spoken to, and who speaks."""

    team: str
    session_id: str
    agent_id: str
    sender: str
    thread_id: str | UnsetType = UNSET


class Manners(msgspec.Struct, frozen=True, kw_only=True):
    """How patiently, and how much at once."""

    timeout_s: float = 2.0  # for an acknowledgement
    retries: int = 1
    backoff_s: float = 0.25  # before the first retry; twice that before the next
    soft_bytes: int = 64 << 10
    hard_bytes: int = 1 << 20
    source: str = "python"


class Sender:
    """Sends to live sessions. ``warn`` is told when something is long, ``note`` hears of
    everything, ``shelf`` keeps what is too long; without one, that cannot be sent. With
    ``progress`` the receiver is asked how far long content is, if it can tell."""

    def __init__(
        self,
        channel: Channel,
        *,
        manners: Manners | None = None,
        shelf: Shelf | None = None,
        note: Callable[[Record], None] = lambda record: None,
        warn: Callable[[str], None] = lambda text: None,
        progress: Callable[[wire.StdinProgress], None] | None = None,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._channel = channel
        self._manners = manners or Manners()
        self._shelf = shelf
        self._note = note
        self._warn = warn
        self._progress = progress
        self._now_ms = now_ms

    async def stdin(
        self,
        target: Target,
        text: str,
        *,
        request_id: str = "",
        interrupt: bool = False,
        mode: wire.Mode | UnsetType = UNSET,
        retry_of: str | UnsetType = UNSET,
    ) -> wire.StdinAck:
        """Say something. ``request_id``: of an earlier send that is to be tried again.

        Raises:
            GatewayUnreachableError: nobody acknowledged it; it may have happened all the same.
            FlybridgeError: it was not sent, or what came back was no acknowledgement.
        """
        request_id = request_id or new_request_id()
        data = text.encode()
        manners = self._manners
        ref: wire.ContentRef | UnsetType = UNSET
        if len(data) > manners.hard_bytes:
            ref = self._put_away(request_id, data)
            self._warn(f"Message is {_size(len(data))}; sending it as a file.")
        elif len(data) > manners.soft_bytes:
            usual = _size(manners.soft_bytes)
            self._warn(f"Message is {_size(len(data))}; more than {usual} is a lot for an agent.")
        request = wire.StdinRequest(
            **self._head(target, request_id),
            content=text if ref is UNSET else UNSET,
            content_ref=ref,
            content_encoding="utf-8",
            content_preview=text[: wire.PREVIEW_CHARACTERS],
            interrupt=interrupt,
            mode=mode,
            retry_of=retry_of,
            progress=True if self._progress is not None and ref is not UNSET else UNSET,
            meta=self._meta(OVERSIZE if ref is not UNSET else UNSET),
        )
        ack = await self.send(request, wire.StdinAck)
        over = ack.result != "timeout"
        if isinstance(ref, wire.ContentRef) and self._shelf is not None and over:
            self._shelf.remove(ref)
        return ack

    async def interrupt(
        self,
        target: Target,
        *,
        request_id: str = "",
        turn_id: str | UnsetType = UNSET,
        retry_of: str | UnsetType = UNSET,
    ) -> wire.InterruptAck:
        """Stop the turn that runs, or only that one.

        Raises:
            GatewayUnreachableError: nobody acknowledged it; it may have happened all the same.
            FlybridgeError: it was not sent, or what came back was no acknowledgement.
        """
        request = wire.InterruptRequest(
            **self._head(target, request_id or new_request_id()),
            signal="interrupt",
            turn_id=turn_id,
            retry_of=retry_of,
            meta=self._meta(),
        )
        return await self.send(request, wire.InterruptAck)

    async def capabilities(self, target: Target) -> wire.CapabilitiesAck:
        """Ask what the session can take.

        Raises:
            FlybridgeError: nobody answered, or what came back was no answer.
        """
        head = self._head(target, new_request_id())
        request = wire.CapabilitiesRequest(**head, meta=self._meta())
        return await self.send(request, wire.CapabilitiesAck)

    async def send(self, request: wire.Request, kind: type[A]) -> A:
        """Send one message, again if need be, until it is acknowledged or patience is over.

        Raises:
            GatewayUnreachableError: nobody acknowledged it; it may have happened all the same.
            FlybridgeError: somebody did not want it, or what came back was no acknowledgement.
        """
        manners = self._manners
        for count in range(manners.retries + 1):
            if count:
                await asyncio.sleep(manners.backoff_s * 2 ** (count - 1))
                meta = wire.given(request.meta, wire.Metadata())
                meta = msgspec.structs.replace(meta, retry_count=count)
                at = format_time(self._now_ms())
                request = msgspec.structs.replace(request, sent_at=at, meta=meta)
            last = count == manners.retries
            self._tell(request, "sent", detail=f"retry {count}" if count else "")
            try:
                ack = await self._once(request, kind)
            except GatewayUnreachableError as error:
                self._tell(request, "failed", code=error.code)
                if last:
                    raise
                continue
            except FlybridgeError as error:
                self._tell(request, "failed", code=error.code)
                raise
            self._acked(request, ack)
            if last or ack.result != "timeout":
                return ack
        raise AssertionError("the last try returns or raises")

    async def _once(self, request: wire.Request, kind: type[A]) -> A:
        wait_s = self._manners.timeout_s
        try:
            async with asyncio.timeout(wait_s) as limit:

                def between(data: bytes) -> bool:
                    if not self._is_progress(request, data):
                        return False
                    limit.reschedule(asyncio.get_running_loop().time() + wait_s)
                    return True

                data = await self._channel.exchange(wire.encode(request), between)
        except TimeoutError:
            said = f"no acknowledgement of {request.request_id} in time; {_AGAIN}"
            raise GatewayUnreachableError(said) from None
        answer = wire.decode_answer(data)
        if isinstance(answer, wire.ErrorMessage):
            raise InvalidRequestError(answer.error.message or answer.error.code)
        if not isinstance(answer, kind) or answer.request_id != request.request_id:
            raise RemoteProtocolError("that is the acknowledgement of something else")
        return answer

    def _is_progress(self, request: wire.Request, data: bytes) -> bool:
        """Whether it tells how far this request is; then somebody hears of it."""
        found = wire.read_progress(data) if self._progress is not None else None
        if found is None or self._progress is None or found.request_id != request.request_id:
            return False
        self._progress(found)
        return True

    # ---- inside ------------------------------------------------------------------------------

    def _head(self, target: Target, request_id: str) -> dict[str, Any]:
        return {
            "v": wire.VERSION,
            "request_id": request_id,
            "team": target.team,
            "session_id": target.session_id,
            "agent_id": target.agent_id,
            "thread_id": target.thread_id,
            "sender": target.sender,
            "sent_at": format_time(self._now_ms()),
        }

    def _meta(self, oversize: str | UnsetType = UNSET) -> wire.Metadata:
        return wire.Metadata(
            retry_count=0, ui_source=self._manners.source, oversize_strategy=oversize
        )

    def _put_away(self, request_id: str, data: bytes) -> wire.ContentRef:
        if len(data) > wire.MAX_REF_BYTES:
            raise InvalidRequestError(f"at most {wire.MAX_REF_BYTES} bytes can be sent")
        if self._shelf is None:
            most = self._manners.hard_bytes
            raise InvalidRequestError(f"at most {most} bytes can be sent from another machine")
        return self._shelf.put(request_id, data)

    def _acked(self, request: wire.Request, ack: wire.Ack) -> None:
        self._tell(
            request,
            "acked",
            kind=wire.type_of(ack),
            result=ack.result,
            duplicate=str(ack.duplicate).lower(),
            code=ack.error.code if isinstance(ack.error, wire.Failure) else "",
        )

    def _tell(self, request: wire.Request, outcome: str, kind: str = "", **more: str) -> None:
        self._note(
            Record(
                event=kind or wire.type_of(request),
                outcome=outcome,
                session=request.session_id,
                request=request.request_id,
                team=request.team,
                agent_id=request.agent_id,
                sender=request.sender,
                **more,
            )
        )


def _size(count: int) -> str:
    return f"{count / (1 << 20):.1f} MiB" if count >= 1 << 20 else f"{count / (1 << 10):.0f} KiB"


def new_request_id() -> str:
    return f"req_{uuid.uuid4().hex}"


def interrupt_id(turn: str) -> str:
    """Return a new request id that carries the turn to stop, so that a retry names it too."""
    return f"{new_request_id()}{_AT}{turn}" if turn else new_request_id()


def turn_of(request_id: str) -> str:
    """Return the turn that an id of :func:`interrupt_id` carries, or an empty string."""
    found = _WITH_TURN.fullmatch(request_id)
    return found[1] if found else ""
