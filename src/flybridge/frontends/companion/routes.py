"""Small devices, and the slots they show: who is let in, and what is started for them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from flybridge.frontends.companion.methods import DeviceList, Right, SlotNumber, SlotShown
from flybridge.frontends.companion.slots import MAX_SLOTS
from flybridge.listeners.http.route import API, Body, Call, Name, Params, Route


class NewDevice(Body, kw_only=True):
    """With a code: the device that shows it. Without one: a token, for a device that can say it."""

    name: Annotated[str, Meta(min_length=1, max_length=40)]
    code: Annotated[str, Meta(max_length=64)] = ""
    rights: tuple[Right, ...] = ("view",)
    slots: Annotated[tuple[SlotNumber, ...], Meta(max_length=MAX_SLOTS)] = ()  # none: all


class SlotBody(Body, kw_only=True):
    """What is started in a slot; what is empty is as the gateway has it."""

    agent: Annotated[str, Meta(max_length=100)] = ""
    dir: Annotated[str, Meta(max_length=4096)] = ""
    mode: Annotated[str, Meta(max_length=100)] = ""


class Slots(Body, kw_only=True):
    slots: Annotated[tuple[SlotBody, ...], Meta(min_length=1, max_length=MAX_SLOTS)]


class OneDevice(Params, kw_only=True):
    name: Name  # or its id


class Paired(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: str
    name: str
    address: str = ""
    token: str = ""  # shown this once


class Revoked(msgspec.Struct, kw_only=True):
    id: str
    name: str


class SlotList(msgspec.Struct, kw_only=True):
    slots: list[SlotShown]


async def devices(call: Call) -> Any:
    return await call.ask("devices.list")


async def pair(call: Call) -> Any:
    body: NewDevice = call.body
    wanted: dict[str, Any] = {"name": body.name, "rights": body.rights, "slots": body.slots}
    if body.code:
        return await call.ask("devices.pair", code=body.code, **wanted)
    return await call.ask("devices.token", **wanted)


async def revoke(call: Call) -> Any:
    return await call.ask("devices.revoke", name=call.params.name)


async def set_slots(call: Call) -> Any:
    return await call.ask("slots.set", slots=call.body.slots)


ROUTES = (
    Route(
        method="GET",
        path=f"{API}/devices",
        scope="admin",
        handler=devices,
        result=DeviceList,
        summary="List devices, those that wait to be paired, and the slots",
    ),
    Route(
        method="POST",
        path=f"{API}/devices",
        scope="admin",
        handler=pair,
        body=NewDevice,
        result=Paired,
        status=201,
        summary="Pair the device that shows a code, or make a token for one that can say it",
    ),
    Route(
        method="DELETE",
        path=f"{API}/devices/{{name}}",
        scope="admin",
        handler=revoke,
        params=OneDevice,
        result=Revoked,
        summary="Take a device's rights back; its connections end at once",
    ),
    Route(
        method="POST",
        path=f"{API}/slots",
        scope="admin",
        handler=set_slots,
        body=Slots,
        result=SlotList,
        summary="Say how many slots there are, and what is started in each",
    ),
)
