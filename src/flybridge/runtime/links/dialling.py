"""One session's agent that connects to us: how it is started, met, and met again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from flybridge.errors import AgentStartError
from flybridge.model import events as e
from flybridge.model.capabilities import OpenSpec
from flybridge.runtime.keeper import stand_in_program
from flybridge.runtime.keeper.client import Hello, KeeperEvents
from flybridge.runtime.links.dial_in import SLOT, DialIns
from flybridge.runtime.links.keeper_link import AgentLink, LinkEvents
from flybridge.runtime.links.socket_link import SocketLink
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.unit_of_work import Memory
from flybridge.session.ports import IncarnationRow, OutLine, Rejoins

Pipes: TypeAlias = Literal["stdio", "none"]
LATE = "the agent did not connect in time"
NO_DOOR = "this gateway takes no connections of agents"


class Dialling:
    """What is special about agents that dial in. Others pass through unchanged."""

    def __init__(self, session: LiveSession) -> None:
        self._session = session

    @property
    def _dial_ins(self) -> DialIns | None:
        return self._session.services.dial_ins

    # ---- up ----------------------------------------------------------------------------------

    async def announced(self, spec: OpenSpec, row: IncarnationRow) -> OpenSpec:
        """The spec with the address the agent is to connect to.

        Raises:
            AgentStartError: nobody can connect to this gateway.
            KeeperError: there is no port to be had.
        """
        if row.transport == "stdio":
            return spec
        if self._dial_ins is None:
            raise AgentStartError(spec.agent, reason=NO_DOOR)
        await self._dial_ins.open()
        return msgspec.structs.replace(spec, dial_in=self._dial_ins.url(row, self.place))

    @property
    def place(self) -> str:
        """The name the agent comes under: the session's slot, if it has one."""
        state = self._session.memory.state
        slot = state.labels.get(SLOT, "")
        return slot if slot.isdecimal() else state.session

    def program(self, row: IncarnationRow, argv: tuple[str, ...]) -> tuple[tuple[str, ...], Pipes]:
        """What the keeper runs, and whether that is spoken to over its pipes."""
        if row.transport == "by_hand":
            return (sys.executable, "-I", "-S", str(Path(stand_in_program.__file__))), "stdio"
        return argv, "none" if row.transport == "socket" else "stdio"

    def new_link(self, events: LinkEvents, row: IncarnationRow, outbox: list[OutLine]) -> AgentLink:
        """A link to the keeper, or to the socket of an agent that dials in."""
        memory = self._session.memory
        line_bytes = self._session.services.limits.line_bytes
        if row.transport == "stdio" or self._dial_ins is None:
            return AgentLink(events, consumed=memory.consumed, max_line=line_bytes)
        dial_ins, link = self._dial_ins, self._link(self._dial_ins, row, outbox)

        async def reach(socket: str, hello: Hello, keeper_events: KeeperEvents) -> SocketLink:
            await dial_ins.open()
            return await link.connect(socket, hello, keeper_events)

        return AgentLink(events, consumed=memory.consumed, max_line=line_bytes, reach=reach)

    def _link(self, dial_ins: DialIns, row: IncarnationRow, outbox: list[OutLine]) -> SocketLink:
        """The one link of this life; it is there already when only the session was away."""
        known = dial_ins.of(row.incarnation)
        if known is not None:
            return known.link
        link = SocketLink(
            transport=row.transport,
            settled=settled_upto(self._session.memory, outbox),
            met=row.state == "live" and was_met(self._session.memory, outbox),
            rejoined=self._rejoined,
            late=self._late,
            dial_in_s=self._session.services.timing.dial_in_s,
        )
        dial_ins.expect(row, self.place, link)
        return link

    def forget(self) -> None:
        """The process is gone."""
        row = self._session.memory.incarnation
        if row is not None and self._dial_ins is not None:
            self._dial_ins.forget(row.incarnation)

    # ---- what the link says ------------------------------------------------------------------

    def _rejoined(self, last: str, cut: bool) -> bool:
        """It is back. False when the session cannot hear of it now."""
        session = self._session
        if session.down is not None:
            return False
        if not session.later(lambda: self._note_rejoined(last, cut)):
            self._note_rejoined(last, cut)
        return True

    def _note_rejoined(self, last: str, cut: bool) -> None:
        session = self._session
        step, driver = session.step(), session.memory.driver
        lost = isinstance(driver, Rejoins) and driver.rejoined(last, step.now_ms)
        if lost or cut:
            step.fact(e.Gap(reason="socket"))
        step.drain()
        session.save_if_durable(step)

    def _late(self) -> None:
        session = self._session
        if session.down is None and not session.later(self._late):
            step = session.step()
            step.fact(e.Error(code="never_connected", text=LATE))
            session.save_if_durable(step)


def settled_upto(memory: Memory, outbox: list[OutLine]) -> int:
    """The last number that is known to have arrived. Lines arrive one after the other."""
    if outbox:
        return min(one.number for one in outbox) - 1
    return max((row.number for row in memory.rows.values()), default=0)


def was_met(memory: Memory, outbox: list[OutLine]) -> bool:
    """Whether an earlier gateway has heard anything of this agent: its first line arrived."""
    return memory.consumed > 0 or all(one.number > 1 for one in outbox)
