"""What clients ask of an agent beside the conversation, and the driver's own clock.

A query is never journaled: whoever asked is gone when the gateway is. Every one of them ends,
with the agent's answer or with a reason why there is none.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Raw

from flybridge.errors import (
    BusyError,
    FlybridgeError,
    InvalidRequestError,
    NotSupportedError,
    QueryFailedError,
)
from flybridge.model.deliveries import Answer
from flybridge.model.queries import RAW, RESULTS, QueryName, QueryResult
from flybridge.session.ports import Driver

if TYPE_CHECKING:
    from flybridge.runtime.live_session import LiveSession

MAX_OPEN = 64
NO_PARAMS = Raw(b"{}")
WITHIN_S = 15.0  # a driver gives up before that


class Queries:
    """The open queries of one session's agent."""

    def __init__(self, session: LiveSession) -> None:
        self._session = session
        self._waiting: dict[str, asyncio.Future[Raw]] = {}
        self._refs = itertools.count(1)
        self._timer: asyncio.TimerHandle | None = None
        self._due_ms: int | None = None

    @property
    def open(self) -> int:
        """How many wait for an answer."""
        return len(self._waiting)

    async def ask(self, name: str, params: Raw) -> Raw:
        """Put one of the agent's own queries; return the agent's own object.

        Raises:
            As ``info`` does.
        """
        return await self._ask(RAW + name, params)

    async def info(self, name: QueryName, params: Raw = NO_PARAMS) -> QueryResult:
        """Ask the agent something that every agent may be asked; return our own struct.

        Raises:
            BusyError: no agent is running, or too much is being asked.
            NotSupportedError: this agent, or this version of it, cannot be asked that.
            QueryFailedError: it refused, died, took too long, or made no sense.
        """
        answer = await self._ask(name, params)
        try:
            return msgspec.json.decode(answer, type=RESULTS[name])
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise QueryFailedError(f"the answer cannot be read: {error}") from error

    async def _ask(self, name: str, params: Raw) -> Raw:
        """Ask the agent something beside the conversation.

        Raises:
            BusyError: no agent is running, or too much is being asked.
            NotSupportedError: this version of the agent cannot be asked that.
            QueryFailedError: it refused, died, or took too long.
        """
        live = self._session
        await live.free()
        if live.down is not None:
            raise live.down
        driver = live.memory.driver
        if driver is None or live.memory.state.phase != "live":
            raise BusyError("the agent is not running")
        ref, answer = self._expect()
        try:
            driver.query(live.session, ref, name, params, live.services.now_ms())
            self._drain()
            return await asyncio.wait_for(answer, WITHIN_S)
        except TimeoutError:
            raise QueryFailedError("the agent did not answer") from None
        finally:
            answer.cancel()

    def _expect(self) -> tuple[str, asyncio.Future[Raw]]:
        if len(self._waiting) >= MAX_OPEN:
            raise BusyError("too many queries are open")
        ref = f"q{next(self._refs)}"
        future: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
        self._waiting[ref] = future
        future.add_done_callback(lambda _: self._waiting.pop(ref, None))
        return ref, future

    def _drain(self) -> None:
        """Take in what the driver has to say without having heard anything."""
        step = self._session.step()
        step.drain()
        self._session.save_if_durable(step)
        self.settle(step.answers)

    def settle(self, answers: list[Answer]) -> None:
        """Hand over the driver's answers, and see when it next wants to be called."""
        for one in answers:
            future = self._waiting.get(one.ref)
            if future is None or future.done():
                continue
            if one.error:
                future.set_exception(_error(one.error))
            else:
                future.set_result(Raw(b"null") if one.value is UNSET else one.value)
        self._watch(self._session.memory.driver)

    # ---- the driver's clock ------------------------------------------------------------------

    def _watch(self, driver: Driver | None) -> None:
        due = driver.deadline_ms if driver is not None else None
        if due == self._due_ms:  # as after nearly every line
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._due_ms = due
        if due is not None:
            delay = max(0, due - self._session.services.now_ms()) / 1000
            self._timer = asyncio.get_running_loop().call_later(delay, self._tick)

    def _tick(self) -> None:
        self._timer = self._due_ms = None
        live = self._session
        driver = live.memory.driver
        if driver is not None and not live.later(self._tick):
            driver.tick(live.services.now_ms())
            self._drain()

    def close(self) -> None:
        """The session is being put away: nobody will answer any more."""
        self._watch(None)
        for future in list(self._waiting.values()):
            future.cancel()


def _error(reason: str) -> FlybridgeError:
    match reason:
        case "not_supported":
            return NotSupportedError("this version of the agent cannot be asked that")
        case "busy":
            return BusyError("too many queries are open")
        case "timeout":
            return QueryFailedError("the agent did not answer")
        case "agent_exited":
            return QueryFailedError("the agent ended before it answered")
        case said if said.startswith(f"{InvalidRequestError.code}: "):
            return InvalidRequestError(said.partition(": ")[2])
        case said:
            return QueryFailedError(said)
