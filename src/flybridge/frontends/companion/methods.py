"""The gateway's own questions about devices and slots: asked by a person, who administers it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from flybridge.errors import InvalidRequestError
from flybridge.frontends.companion.board import SLOTS
from flybridge.frontends.companion.devices import Devices
from flybridge.frontends.companion.slots import MAX_SLOTS
from flybridge.model.audit import Record
from flybridge.runtime.methods.sessions import NoParams, Question
from flybridge.session.authorisation import Caller, who
from flybridge.store.devices import Device, SlotSpec

if TYPE_CHECKING:
    from flybridge.frontends.companion.listener import CompanionDoor

Right: TypeAlias = Literal["view", "input", "interrupt", "approve", "spawn", "auto_edit"]
SlotNumber: TypeAlias = Annotated[int, Meta(ge=0, lt=MAX_SLOTS)]


class PairParams(msgspec.Struct, kw_only=True):
    code: Annotated[str, Meta(min_length=1, max_length=64)]  # what the device shows
    name: str
    rights: tuple[Right, ...] = ("view",)
    slots: Annotated[tuple[SlotNumber, ...], Meta(max_length=MAX_SLOTS)] = ()  # none: all


class TokenParams(msgspec.Struct, kw_only=True):
    name: str
    rights: tuple[Right, ...] = ("view",)
    slots: Annotated[tuple[SlotNumber, ...], Meta(max_length=MAX_SLOTS)] = ()


class NameParams(msgspec.Struct, kw_only=True):
    name: str  # or its id


class SlotsParams(msgspec.Struct, kw_only=True):
    slots: Annotated[tuple[SlotSpec, ...], Meta(min_length=1, max_length=MAX_SLOTS)]


class DeviceShown(msgspec.Struct, kw_only=True):
    """A paired device, as a list shows it: no secret, and no hash of one."""

    id: str
    name: str
    address: str  # empty: it has a token
    rights: tuple[str, ...]
    slots: tuple[int, ...]  # none: all
    created_ms: int
    connected: int  # how many connections it has now


class WaitingShown(msgspec.Struct, kw_only=True):
    """A device that nobody has paired. Its code is on its screen, and nowhere else."""

    address: str
    since_ms: int
    until_ms: int


class SlotShown(msgspec.Struct, kw_only=True):
    """A slot: what would be started in it, and what is in it."""

    slot: int
    agent: str
    dir: str
    mode: str
    name: str = ""  # as devices see it; empty: nobody is in it
    session: str = ""
    state: str = ""
    auto_edit: bool = False


class DeviceList(msgspec.Struct, kw_only=True):
    listening: str  # where devices come in; empty: nowhere
    devices: list[DeviceShown]
    waiting: list[WaitingShown]
    slots: list[SlotShown]


class DeviceQuestions:
    """Answers questions about devices. ``door`` is None while none is open."""

    def __init__(
        self,
        devices: Devices,
        *,
        audit: Callable[[Record], None],
        agents: Callable[[], list[str]],
        modes: Callable[[str], Awaitable[frozenset[str]]],
        door: Callable[[], CompanionDoor | None],
    ) -> None:
        self._devices = devices
        self._audit = audit
        self._agents = agents
        self._modes = modes
        self._door = door

    def table(self) -> dict[str, Question]:
        return {
            "devices.list": Question("admin", NoParams, self.listed),
            "devices.pair": Question("admin", PairParams, self.pair),
            "devices.token": Question("admin", TokenParams, self.token),
            "devices.revoke": Question("admin", NameParams, self.revoke),
            "slots.set": Question("admin", SlotsParams, self.set_slots),
        }

    async def listed(self, _: Caller, __: NoParams) -> DeviceList:
        door = self._door()
        return DeviceList(
            listening=door.address if door is not None else "",
            devices=[self._shown(one, door) for one in self._devices.all()],
            waiting=[
                WaitingShown(address=one.address, since_ms=one.since_ms, until_ms=one.until_ms)
                for one in self._devices.waiting()
            ],
            slots=self._slots(door),
        )

    async def pair(self, caller: Caller, params: PairParams) -> object:
        device = self._devices.pair(params.code, params.name, params.rights, params.slots)
        self._note(caller, "devices.pair", device)
        return {"id": device.id, "name": device.name, "address": device.address}

    async def token(self, caller: Caller, params: TokenParams) -> object:
        device, token = self._devices.create_token(params.name, params.rights, params.slots)
        self._note(caller, "devices.token", device)
        return {"id": device.id, "name": device.name, "token": token}

    async def revoke(self, caller: Caller, params: NameParams) -> object:
        device = self._devices.revoke(params.name)
        self._note(caller, "devices.revoke", device)
        return {"id": device.id, "name": device.name}

    async def set_slots(self, caller: Caller, params: SlotsParams) -> object:
        known = self._agents()
        for one in params.slots:
            if one.agent and one.agent not in known:
                names = ", ".join(known)
                raise InvalidRequestError(f"Unknown agent {one.agent[:100]!r}. Available: {names}.")
            await self._check_mode(one, known)
            if one.dir and not Path(one.dir).is_absolute():
                raise InvalidRequestError(f"not an absolute path: {one.dir[:200]!r}")
        door = self._door()
        if door is not None:
            door.host.configure(params.slots)
        else:
            self._devices.file.change(slots=params.slots)
        record = Record(event="slots.set", outcome="done", **who(caller))
        self._audit(msgspec.structs.replace(record, detail=f"{len(params.slots)} slots"))
        return {"slots": self._slots(door)}

    async def _check_mode(self, spec: SlotSpec, agents: list[str]) -> None:
        """Refuse a permission mode that the slot's agent does not have.

        Raises:
            InvalidRequestError: it has no such mode.
        """
        if not spec.mode:
            return
        modes: set[str] = set()
        for name in [spec.agent] if spec.agent else agents:
            modes |= await self._modes(name)
        if spec.mode not in modes:
            names = ", ".join(sorted(modes))
            raise InvalidRequestError(
                f"Unknown permission mode {spec.mode[:100]!r}. Available: {names}."
            )

    def _shown(self, one: Device, door: CompanionDoor | None) -> DeviceShown:
        here = door.connections if door is not None else ()
        return DeviceShown(
            id=one.id,
            name=one.name,
            address=one.address,
            rights=one.rights,
            slots=one.slots,
            created_ms=one.created_ms,
            connected=sum(1 for c in here if c.device is not None and c.device.id == one.id),
        )

    def _slots(self, door: CompanionDoor | None) -> list[SlotShown]:
        if door is None:
            told = self._devices.file.known.slots or (SlotSpec(),) * SLOTS
            return [
                SlotShown(slot=n, agent=one.agent, dir=one.dir, mode=one.mode)
                for n, one in enumerate(told)
            ]
        return [self._slot(door, number) for number in range(door.host.board.count)]

    @staticmethod
    def _slot(door: CompanionDoor, number: int) -> SlotShown:
        spec = door.host.spec(number)
        shown = SlotShown(slot=number, agent=spec.agent, dir=spec.dir, mode=spec.mode)
        slot = door.host.board.used.get(number)
        if slot is not None:
            shown.name, shown.session = slot.name, slot.session
            shown.state, shown.auto_edit = slot.face().status.state, bool(slot.auto_edit)
        return shown

    def _note(self, caller: Caller, event: str, device: Device) -> None:
        """What was done, and to whom: the name, where it is known by, and what it may do."""
        self._audit(
            Record(
                event=event,
                outcome="done",
                target=device.name,
                detail=f"{device.address or 'token'} {','.join(device.rights)}",
                **who(caller),
            )
        )
