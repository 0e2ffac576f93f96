"""One greeted connection to a gateway: what is asked over it, and the replies."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Protocol

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.client.transport.feed import Feed
from flybridge.client.transport.link import Link
from flybridge.client.transport.refusals import is_recorded, to_error
from flybridge.errors import GatewayError, GatewayUnreachableError
from flybridge.wire.native import messages as wire

HELLO_S = 10.0
REPLY_S = 60.0  # beyond what the gateway itself was told to wait


class Reachable(Protocol):
    """Where a gateway is."""

    async def dial(self) -> Link:
        """An open connection on which nothing was said yet.

        Raises:
            GatewayUnreachableError: nobody listens there.
            GatewayError: whoever listens is not to be trusted.
        """
        ...


class Connection:
    """A greeted client of a gateway. Made by :meth:`open`."""

    def __init__(self, link: Link, welcome: wire.Welcome) -> None:
        self._link = link
        self.welcome = welcome

    @classmethod
    async def open(cls, where: Reachable, *, client: str = "python") -> Connection:
        """Connect and say hello.

        Raises:
            GatewayUnreachableError: nobody listens, or it hung up before it answered.
            GatewayError: somebody else listens, or it speaks another protocol.
        """
        link = await where.dial()
        try:
            async with asyncio.timeout(HELLO_S):
                await link.write(wire.encode(wire.Hello(proto=wire.PROTO, client=client)))
                welcome = await link.welcome
        except TimeoutError as error:
            link.abort()
            raise GatewayUnreachableError(f"no welcome within {HELLO_S:.0f} s") from error
        except BaseException:
            link.abort()
            raise
        if welcome.proto != wire.PROTO:
            link.abort()
            raise GatewayError(
                f"the gateway speaks protocol {welcome.proto}, this client {wire.PROTO}: "
                "stop the gateway, then try again"
            )
        return cls(link, welcome)

    @property
    def closed(self) -> bool:
        """Whether the connection was lost or closed; nothing more can be asked of it."""
        return self._link.lost is not None

    async def submit(
        self, session: str, command: Raw, *, request: str, until: str, wait_ms: int
    ) -> wire.ReplyLine:
        """Hand a command to a session; the reply, or the error a refusal stands for.

        A reply that says how far the command came is not a refusal, even with an ``error``:
        the command is in the log, and the code says why it is not where it should be.
        """
        ref = self._link.next_ref()
        message = wire.Submit(
            ref=ref,
            session=session,
            request=request,
            command=command,
            until=until,
            wait_ms=wait_ms,
        )
        reply = await self._call(ref, message, REPLY_S + wait_ms / 1000)
        return reply if is_recorded(reply) else _checked(reply, {"session": session})

    async def ask(
        self, name: str, params: Mapping[str, object] | None = None, *, timeout_s: float = REPLY_S
    ) -> wire.ReplyLine:
        """Ask the gateway something; the reply, or the error it stands for."""
        ref = self._link.next_ref()
        raw: Raw | UnsetType = UNSET if params is None else Raw(msgspec.json.encode(params))
        reply = await self._call(ref, wire.Ask(ref=ref, name=name, params=raw), timeout_s)
        return _checked(reply, params or {})

    async def attach(
        self, session: str, *, epoch: int = 0, after: int = 0, last: int = 0, previews: bool = True
    ) -> tuple[wire.ReplyLine, Feed]:
        """Follow a session: the reply, and the feed of what comes after it."""
        ref = self._link.next_ref()
        feed = self._link.expect_feed(ref, session)
        message = wire.Attach(
            ref=ref, session=session, epoch=epoch, after=after, last=last, previews=previews
        )
        try:
            reply = _checked(await self._call(ref, message, REPLY_S), {"session": session})
        except BaseException:
            await self.detach(feed)
            raise
        return reply, feed

    async def detach(self, feed: Feed) -> None:
        """Stop following. Harmless when the attachment or the connection is gone already."""
        if self._link.drop_feed(feed) and not self.closed:
            self._link.write_soon(wire.encode(wire.Detach(session=feed.session)))

    async def close(self) -> None:
        """Hang up; whoever still waits for something gets an error."""
        await self._link.close()

    async def _call(
        self, ref: str, message: wire.ClientMessage, timeout_s: float
    ) -> wire.ReplyLine:
        answer = self._link.expect_reply(ref)
        try:
            async with asyncio.timeout(timeout_s):
                await self._link.write(wire.encode(message))
                return await answer
        except TimeoutError as error:
            raise GatewayUnreachableError(f"no answer within {timeout_s:.0f} s") from error
        finally:
            self._link.forget_reply(ref)


def _checked(reply: wire.ReplyLine, context: Mapping[str, object]) -> wire.ReplyLine:
    if reply.error:
        raise to_error(reply, context)
    return reply
