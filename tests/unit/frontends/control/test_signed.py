"""Messages that a relay brings: who signed them counts, and nothing else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.client.control.signed import public_of, sign
from flybridge.errors import InvalidRequestError
from flybridge.frontends.control.signed import is_remote
from flybridge.session.authorisation import Caller
from flybridge.store.teams import Key, Member, Rule, Teams
from flybridge.wire.control import signed
from flybridge.wire.control.times import format_time
from tests.harness.control_harness import LEAD, Json, Line, Steered, steered
from tests.harness.runtime_harness import EVERYTHING

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
RELAY = Caller(
    principal="token:relay", scopes=frozenset({"control"}), door="http", source="192.0.2.7"
)
FAR = Teams(
    gateway="gw_1",
    keys=(Key(name="far", public=public_of(KEY)),),
    members=(Member(team="default", name="far", principal="key:far"),),
    rules=(Rule(effect="allow", team="default"),),
)


@pytest.fixture
async def place(short_tmp: Path) -> AsyncIterator[Steered]:
    async with steered(short_tmp, teams=FAR) as one:
        yield one


def seal(
    place: Steered, body: Json, *, key: bytes = KEY, name: str = "far", audience: str = "gw_1"
) -> bytes:
    expires_at = format_time(place.clock() + 60_000)
    data = signed.to_sign(body, kid=name, audience=audience, expires_at=expires_at)
    return signed.put_together(data, sign(key, data))


@pytest.mark.conforms("S2-9c")
async def test_a_signed_message_is_its_senders_whoever_brings_it(place: Steered) -> None:
    live = await place.ready()
    sealed = seal(place, place.message(live, sender="far"))
    first = await place.ack(sealed, RELAY)
    assert (first["result"], first["duplicate"]) == ("ok", False)
    again = await place.ack(sealed, msgspec.structs.replace(RELAY, principal="token:other"))
    assert (again["result"], again["duplicate"]) == ("ok", True), "a relay may repeat it"
    assert place.lines() == ["hello"]
    assert {one.principal for one in place.notes} == {"key:far"}
    line = await Line.to(place.path)
    assert (await line.ask(sealed))["duplicate"] is True
    bad = await line.ask(seal(place, place.message(live), key=OTHER))
    assert bad["type"] == "control.error"
    line.close()


@pytest.mark.conforms("S2-9c")
@pytest.mark.abuse(50)
async def test_50_what_comes_from_another_machine_has_to_be_signed(place: Steered) -> None:
    live = await place.ready()
    place.file.save(
        msgspec.structs.replace(
            FAR,
            members=(*FAR.members, Member(team="default", name="r", principal="token:relay")),
        )
    )
    message = place.message(live, sender="r")
    ack = await place.ack(message, RELAY)
    assert (ack["result"], ack["error"]["code"]) == ("rejected", "unsigned")
    near = msgspec.structs.replace(RELAY, source="127.0.0.1")
    assert (await place.ack(message, near))["result"] == "ok"


@pytest.mark.abuse(50)
async def test_50_forged_messages_are_refused_and_written_down(place: Steered) -> None:
    live = await place.ready()
    message = place.message(live, sender="far")
    good = seal(place, message)
    head, payload, signature = json.loads(good)["jws"].split(".")
    flipped = ("A" if signature[0] != "A" else "B") + signature[1:]

    def with_jws(jws: str) -> bytes:
        return json.dumps({"type": "control.signed", "v": 1, "jws": jws}).encode()

    none = json.dumps({"alg": "none", "kid": "far", "typ": signed.TYPE}).encode()
    other = seal(place, {**message, "content": "other"})
    for forged in (
        seal(place, message, key=OTHER),
        seal(place, message, name="nobody"),
        seal(place, message, audience="gw_2"),
        with_jws(f"{head}.{payload}.{flipped}"),
        with_jws(f"{head}.{json.loads(other)['jws'].split('.')[1]}.{signature}"),
        with_jws(f"{signed._encode(none).decode()}.{payload}.{signature}"),
        with_jws(f"{signed._encode(none).decode()}.{payload}."),
    ):
        with pytest.raises(InvalidRequestError):
            await place.ack(forged, RELAY)
    place.skip_ms = 61_000
    with pytest.raises(InvalidRequestError):
        await place.ack(good, RELAY)
    assert place.lines() == []
    assert [one.code for one in place.notes] == ["invalid_request"] * 8


@pytest.mark.abuse(50)
async def test_50_a_signature_gives_no_other_right(place: Steered) -> None:
    live = await place.ready()
    wrong = await place.ack(seal(place, place.message(live, sender="lead")), RELAY)
    assert wrong["error"]["code"] == "unknown_sender"
    ref = {"path": "f", "size_bytes": 1, "sha256": "0" * 64, "mime": "text/plain"}
    named = place.message(live, sender="far", content_ref=ref)
    assert (await place.ack(seal(place, named), LEAD))["error"]["code"] == "ref_not_local"
    place.file.save(msgspec.structs.replace(FAR, keys=()))
    with pytest.raises(InvalidRequestError):
        await place.ack(seal(place, place.message(live, sender="far")), RELAY)


async def test_keys_are_pinned_by_a_person(place: Steered) -> None:
    async def ask(name: str, params: Json) -> Any:
        raw = msgspec.Raw(msgspec.json.encode(params))
        question = place.control.table()[name]
        assert question.scope == "admin"
        return await question.answer(EVERYTHING, msgspec.json.decode(raw, type=question.params))

    found = await ask("team.pin", {"name": "new", "public": public_of(OTHER)})
    assert found == {"gateway": "gw_1"}
    for bad in ({"name": "new", "public": public_of(KEY)}, {"name": "x", "public": "short"}):
        with pytest.raises(InvalidRequestError):
            await ask("team.pin", bad)
    await ask("team.unpin", {"name": "new"})
    with pytest.raises(InvalidRequestError):
        await ask("team.unpin", {"name": "new"})
    place.file.save(Teams())
    made = await ask("team.pin", {"name": "new", "public": public_of(OTHER)})
    assert made["gateway"].startswith("gw_")


@pytest.mark.parametrize(
    ("door", "source", "remote"),
    [
        ("unix", "", False),
        ("signed", "192.0.2.7", False),
        ("http", "127.0.0.1", False),
        ("websocket", "::1", False),
        ("http", "192.0.2.7", True),
        ("http", "", True),
        ("http", "localhost.evil.example", True),
    ],
)
def test_another_machine_is_told_by_its_address(door: str, source: str, remote: bool) -> None:
    caller = msgspec.structs.replace(RELAY, door=door, source=source)
    assert is_remote(caller) is remote
