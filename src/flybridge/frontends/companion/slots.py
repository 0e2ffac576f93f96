"""What is behind the slots: sessions like all others, opened, followed and answered by the desk.

A slot is in use from the moment its agent's process is there until that is gone. Which session
is in which slot survives the gateway: one whose agent lives is taken up again, one whose agent
died with the machine goes on in its conversation, or anew where that is not to be had.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from flybridge.errors import FlybridgeError, InvalidRequestError, StorageError
from flybridge.frontends.companion.board import SLOTS, Board
from flybridge.frontends.companion.devices import AUTO_EDIT, DOOR, Devices
from flybridge.frontends.companion.project import is_inside
from flybridge.frontends.companion.prompts import Prompt, answer
from flybridge.frontends.companion.slot import Slot
from flybridge.frontends.companion.wire.messages import NO_FREE_SLOTS, SLOT_OCCUPIED, SPAWN_FAILED
from flybridge.model.deliveries import Batch, Gauge, Reply, Shown, Stage, View
from flybridge.model.ids import SessionId
from flybridge.model.requests import Ask, Attach, Submit
from flybridge.model.trust import TrustFiles
from flybridge.runtime.broadcaster import Subscription
from flybridge.runtime.dispatcher import Desk
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.sessions import Sessions
from flybridge.runtime.unit_of_work import entries_of
from flybridge.session.authorisation import Caller, Scope
from flybridge.store.devices import Device, SlotSpec

LABEL = "companion.slot"
OURSELVES = "companion"
MAX_SLOTS = 16
UP_S = 20.0  # for a process to be there
RESUMED_S = 5.0  # one that resumed and lives so long has found its conversation
T = TypeVar("T")
_log = logging.getLogger(__name__)


class Follower:
    """Reads along in a slot's session, from its start."""

    writable = True

    def __init__(self, slot: Slot, changed: Callable[[Slot], None]) -> None:
        self.caller = Caller(principal=OURSELVES, scopes=frozenset({"view"}), door=DOOR)
        self.subscriptions: dict[SessionId, Subscription] = {}
        self.slot = slot
        self.up = asyncio.Event()  # its process is there, or never will be
        self.over = asyncio.Event()
        self._changed = changed

    def batch(self, batch: Batch) -> None:
        for entry in entries_of(batch):
            self.slot.apply(entry.event)

    def shown(self, shown: Shown, wire: bytes) -> None:
        if isinstance(shown.what, Gauge):
            self.slot.gauge(shown.what.name, shown.what.value)
            self._changed(self.slot)

    def view(self, view: View, wire: bytes) -> None:
        """Comes last in each step, and when what was there before is told."""
        if self.slot.active or self.slot.ended:
            self.up.set()
        if self.slot.ended:
            self.over.set()
        self._changed(self.slot)

    def detached(self, session: SessionId, code: str) -> None:
        """The session was deleted."""
        self.slot.active, self.slot.ended = False, True
        self.up.set()
        self.over.set()
        self._changed(self.slot)

    def reply(self, reply: Reply) -> None:
        if reply.error:
            _log.warning("slot %d cannot be followed: %s", self.slot.number, reply.message)


class SlotHost:
    """The slots of one gateway. ``changed`` is told which one may look different now, and
    ``spawned`` which one has an agent, before anything of that is shown."""

    def __init__(
        self,
        desk: Desk,
        sessions: Sessions,
        devices: Devices,
        *,
        usual: SlotSpec,
    ) -> None:
        self._desk = desk
        self._sessions = sessions
        self._devices = devices
        self._usual = usual
        self.changed: Callable[[int], None] = lambda number: None
        self.spawned: Callable[[int], None] = lambda number: None  # before its first status
        self.board = Board(len(devices.file.known.slots) or SLOTS)
        self._starting: set[int] = set()
        self._followers: dict[int, Follower] = {}
        self._joining: dict[SessionId, Follower] = {}  # no agent yet: somebody starts it by hand
        self._tasks: set[asyncio.Task[Any]] = set()

    # ---- what is in them -----------------------------------------------------------------------

    def spec(self, number: int) -> SlotSpec:
        """What would be started in a slot."""
        told = self._devices.file.known.slots
        one = told[number] if number < len(told) else SlotSpec()
        return SlotSpec(
            agent=one.agent or self._usual.agent,
            dir=one.dir or self._usual.dir,
            mode=one.mode or self._usual.mode,
        )

    def configure(self, slots: tuple[SlotSpec, ...]) -> None:
        """Say what is started in each slot, and how many there are. What runs goes on.

        Raises:
            InvalidRequestError: there would be none, too many, or one in use would be gone.
        """
        last_used = max(self.board.used, default=-1)
        if not max(last_used, 0) < len(slots) <= MAX_SLOTS:
            raise InvalidRequestError(f"1 to {MAX_SLOTS} slots, and none in use left out")
        self._devices.file.change(slots=slots)
        self.board.count = len(slots)

    def begin(self) -> None:
        """Bring the slots up, behind everything else."""
        self._spawn_task(self.start())

    async def start(self) -> None:
        """Bring back what was in the slots; slot 0 has an agent in any case."""
        for name, session in sorted(self._devices.file.known.used.items()):
            number = int(name) if name.isdecimal() else self.board.count
            if number < self.board.count:
                self._starting.add(number)
                try:
                    await self._bring_back(number, SessionId(session))
                finally:
                    self._starting.discard(number)
        if 0 in self.board.free([0]):
            _, error = await self.spawn(self._us(), 0, [0])
            if error:
                _log.warning("slot 0 has no agent: %s", error)

    async def close(self) -> None:
        """Let go of the sessions; their agents go on."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for follower in (*self._followers.values(), *self._joining.values()):
            self._desk.gone(follower)

    async def spawn(
        self, caller: Caller, wanted: int | None, among: Iterable[int]
    ) -> tuple[int, str]:
        """Start an agent in a slot, or in the lowest that is free: which, and what went wrong.
        It is gone through with, also where the device that wanted it is gone meanwhile."""
        return await asyncio.shield(self._spawn_task(self._spawn(caller, wanted, list(among))))

    async def _spawn(self, caller: Caller, wanted: int | None, among: list[int]) -> tuple[int, str]:
        free = [one for one in self.board.free(among) if one not in self._starting]
        if wanted is None and not free:
            return 0, NO_FREE_SLOTS
        number = free[0] if wanted is None else wanted
        if number not in free:
            return number, SLOT_OCCUPIED
        self._starting.add(number)
        try:
            await self._open(number, caller)
            self.spawned(number)
            self.show(number)
        except FlybridgeError as error:
            _log.warning("no agent for slot %d: %s", number, error)
            return number, SPAWN_FAILED
        finally:
            self._starting.discard(number)
        return number, ""

    def noticed(self, live: LiveSession) -> None:
        """A session has come to life; with our label, it is in that slot once its agent is."""
        state = live.memory.state
        name = state.labels.get(LABEL, "")
        number = int(name) if name.isdecimal() and len(name) < 4 else self.board.count
        if number in self.board.free([number]) and number not in self._starting:
            self._spawn_task(self._join(number, live.session, state.agent, state.cwd))

    async def _join(self, number: int, session: SessionId, agent: str, cwd: str) -> None:
        if len(self._joining) < MAX_SLOTS:
            follower = await self._follow(number, session, agent, cwd)
            self._joining[session] = follower

    def _joined(self, follower: Follower) -> None:
        number = follower.slot.number
        del self._joining[follower.slot.session]
        if follower.slot.active and number in self.board.free([number]):
            self._use(follower)
            self.show(number)
        else:
            self._desk.gone(follower)

    def show(self, number: int) -> None:
        """Let devices see a slot from here on."""
        follower = self._followers.get(number)
        if follower is not None and not follower.slot.ended:
            self.board.put(follower.slot)
            self.changed(number)

    def _us(self, caller: Caller | None = None) -> Caller:
        """Whoever wants it: an administrator said what a slot holds, mode included."""
        scopes: frozenset[Scope] = frozenset({"view", "spawn", "admin"})
        if caller is None:
            return Caller(principal=OURSELVES, scopes=scopes, door=DOOR)
        return msgspec.structs.replace(caller, scopes=scopes, sessions=frozenset())

    async def _open(self, number: int, caller: Caller, resume: str = "") -> Follower:
        spec = self.spec(number)
        params = {
            "agent": spec.agent,
            "cwd": spec.dir,
            "mode": spec.mode,
            "labels": {LABEL: str(number)},
            "request": f"slot{number}:{secrets.token_hex(8)}",
            "resume": resume,
        }
        ask = Ask(ref="open", name="open", params=Raw(msgspec.json.encode(params)))
        # Who may not open a session is refused as everybody is: by the desk, and on record.
        asker = self._us(caller) if "spawn" in caller.scopes else caller
        opened = await self._desk.ask(asker, ask)
        session = SessionId(opened["session"])  # type: ignore[index]
        follower = await self._follow(number, session, spec.agent, spec.dir)
        try:
            await asyncio.wait_for(follower.up.wait(), UP_S)
        except TimeoutError:
            pass
        if not follower.slot.active:
            self._desk.gone(follower)
            raise InvalidRequestError("its process did not start")
        self._use(follower)
        return follower

    async def _follow(self, number: int, session: SessionId, agent: str, cwd: str) -> Follower:
        slot = self.board.make(number, agent, session, cwd)
        follower = Follower(slot, self._stepped)
        await self._desk.handle(follower, Attach(ref="", session=session))
        return follower

    def _use(self, follower: Follower) -> None:
        number = follower.slot.number
        before = self._followers.get(number)
        if before is not None:
            self._desk.gone(before)
        self._followers[number] = follower
        self._remember()

    async def _bring_back(self, number: int, session: SessionId) -> None:
        try:
            state = self._sessions.get(session).memory.state
        except FlybridgeError:
            return  # it was deleted
        if state.phase != "none":
            follower = await self._follow(number, session, state.agent, state.cwd)
            await asyncio.wait_for(follower.up.wait(), UP_S)
            if follower.slot.active:
                self._use(follower)
                self.show(number)
            return
        try:
            await self._resume(number, state.agent_session if state.spoke else "")
        except FlybridgeError as error:
            _log.warning("slot %d does not come back: %s", number, error)
            self._remember()

    async def _resume(self, number: int, conversation: str) -> None:
        """Go on with a conversation; anew where there is none, or where that ends at once."""
        if conversation:
            try:
                follower = await self._open(number, self._us(), conversation)
            except FlybridgeError as error:
                _log.warning("slot %d cannot go on with its conversation: %s", number, error)
            else:
                self.show(number)
                self._spawn_task(self._watch_resumed(number, follower))
                return
        await self._open(number, self._us())
        self.show(number)

    async def _watch_resumed(self, number: int, follower: Follower) -> None:
        try:
            await asyncio.wait_for(follower.over.wait(), RESUMED_S)
        except TimeoutError:
            return
        if number in self.board.free([number]) and number not in self._starting:
            _log.warning("slot %d could not resume its conversation, and begins anew", number)
            self._starting.add(number)
            try:
                await self._resume(number, "")
            finally:
                self._starting.discard(number)

    def _remember(self) -> None:
        used = {
            str(number): str(one.slot.session)
            for number, one in self._followers.items()
            if not one.slot.ended
        }
        try:
            self._devices.file.change(used=used)
        except StorageError:
            _log.exception("the slots cannot be written down")

    # ---- what happens in them ------------------------------------------------------------------

    def _stepped(self, slot: Slot) -> None:
        joining = self._joining.get(slot.session)
        if joining is not None and (slot.active or slot.ended):
            self._joined(joining)
        follower = self._followers.get(slot.number)
        if follower is None or follower.slot is not slot:
            return
        for prompt in slot.held - slot.trying:
            slot.trying.add(prompt)
            self._spawn_task(self._decide(slot, slot.prompts[prompt]))
        if slot.ended:
            self._remember()
        self.changed(slot.number)

    def auto_edit(self, device: Device, numbers: Iterable[int], *, on: bool) -> bool:
        """Switch it for these slots; False: the device may not."""
        if on and not {AUTO_EDIT, "approve"} <= set(device.rights):
            return False  # any device may switch it off
        for number in numbers:
            slot = self.board.used.get(number)
            if slot is not None:
                slot.auto_edit = device.id if on else ""
                self.changed(number)
        return True

    def forget(self, device: str) -> None:
        """What this device allowed for later holds no more."""
        for slot in self.board.used.values():
            if slot.auto_edit == device:
                slot.auto_edit = ""
            slot.rules = {tool: by for tool, by in slot.rules.items() if by != device}
            self.changed(slot.number)

    async def _decide(self, slot: Slot, prompt: Prompt) -> None:
        """Allow what a device said needs no button; whatever stands against it shows it."""
        try:
            allowed = await self._may(slot, prompt)
        except FlybridgeError as error:
            _log.warning("slot %d: not allowed by itself: %s", slot.number, error)
            allowed = False
        if not allowed and prompt.prompt in slot.held:
            slot.reveal(prompt.prompt)
            self.changed(slot.number)

    async def _may(self, slot: Slot, prompt: Prompt) -> bool:
        by = slot.rules.get(prompt.tool, "")
        edit = not by
        if edit:
            inside = bool(prompt.edits) and await asyncio.to_thread(
                is_inside, slot.cwd, prompt.edits, self._trust_files(slot.session)
            )
            by = slot.auto_edit if inside else ""
        device = self._devices.get(by) if by else None
        if device is None or (edit and AUTO_EDIT not in device.rights):
            return False
        caller = self._devices.caller(device, source=OURSELVES, session=slot.session)
        request = Submit(
            ref="",
            session=slot.session,
            command=answer(prompt, "yes", device.name),
            request=f"auto:{prompt.prompt}",
            until=Stage.ACCEPTED,
        )
        await self._desk.submit(caller, request)
        why = "auto-edit" if edit else "a rule"
        _log.info("slot %d: %r allowed by %r (%s)", slot.number, prompt.tool, device.name, why)
        return True

    def _trust_files(self, session: SessionId) -> list[TrustFiles]:
        """Return the trust files of every configured agent, and of the session's own."""
        shelf, live = self._sessions.services.shelf, self._sessions.loaded(session)
        agents = [shelf.agent(name) for name in shelf.names()]
        if live is not None and live.installed is not None:
            agents.append(live.installed.agent)
        return [agent.trust_files for agent in agents]

    def _spawn_task(self, work: Coroutine[None, None, T]) -> asyncio.Task[T]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
