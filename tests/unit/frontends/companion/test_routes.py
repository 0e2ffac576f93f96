from __future__ import annotations

import msgspec

from flybridge.frontends.companion.methods import DeviceList
from flybridge.frontends.companion.routes import Paired
from tests.harness.http_harness import Web


async def test_a_device_that_shows_a_code_is_listed_paired_and_revoked(web: Web) -> None:
    waiting = web.devices.wait("198.51.100.7")
    assert waiting is not None
    listed = await web.call("GET", "/devices")
    found = msgspec.json.decode(listed.body, type=DeviceList)
    assert [one.address for one in found.waiting] == ["198.51.100.7"]
    assert waiting.code not in listed.body.decode(), "only the device shows it"
    body = {"code": waiting.code, "name": "box", "rights": ["approve"], "slots": [0]}
    got = await web.call("POST", "/devices", body)
    assert got.status == 201
    paired = msgspec.json.decode(got.body, type=Paired)
    assert (paired.name, paired.address, paired.token) == ("box", "198.51.100.7", "")
    [device] = (await web.call("GET", "/devices")).json["devices"]
    assert (device["rights"], device["slots"]) == (["view", "approve"], [0])
    gone = await web.call("DELETE", "/devices/box")
    assert gone.json == {"id": paired.id, "name": "box"}
    assert (await web.call("GET", "/devices")).json["devices"] == []


async def test_a_code_holds_once(web: Web) -> None:
    """Abuse case 25."""
    waiting = web.devices.wait("198.51.100.7")
    assert waiting is not None
    body = {"code": waiting.code, "name": "box"}
    assert (await web.call("POST", "/devices", body)).status == 201
    again = await web.call("POST", "/devices", {**body, "name": "other"})
    assert (again.status, again.code) == (410, "pairing_over")
    for _ in range(4):
        await web.call("POST", "/devices", {"code": "AAAAAAAA", "name": "other"})
    last = await web.call("POST", "/devices", {"code": "AAAAAAAA", "name": "other"})
    assert last.status == 429


async def test_a_device_that_can_say_a_token_gets_one_that_is_shown_once(web: Web) -> None:
    got = await web.call("POST", "/devices", {"name": "box", "rights": ["view", "input"]})
    token = got.json["token"]
    assert web.devices.by_token(token) is not None
    assert token.partition(".")[2] not in (web.house.folder / "devices").read_text()
    assert token.partition(".")[2] not in (await web.call("GET", "/devices")).body.decode()


async def test_slots_are_configured_as_a_whole(web: Web) -> None:
    slots = [{"agent": "recorder", "dir": str(web.house.folder)}, {"mode": "plan"}]
    got = await web.call("POST", "/slots", {"slots": slots})
    assert [one["mode"] for one in got.json["slots"]] == ["", "plan"]
    assert len((await web.call("GET", "/devices")).json["slots"]) == 2
    wrong: list[list[dict[str, str]]] = [[], [{"agent": "nobody"}], [{"dir": "here"}], [{}] * 17]
    for bad in [*wrong, [{"program": "sh"}]]:
        assert (await web.call("POST", "/slots", {"slots": bad})).status == 400
