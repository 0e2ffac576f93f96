"""How far long content is: told to who asked, before the acknowledgement, and not too often."""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from flybridge.frontends.control.adapter import speak_control
from flybridge.frontends.control.progress import (
    EVERY_BYTES,
    EVERY_S,
    Reporter,
    ReportingClient,
    follow,
    reporter_of,
)
from flybridge.listeners.connection import NativeDoor
from flybridge.model.deliveries import Reply, Stage
from flybridge.wire.control import messages as wire
from tests.harness.control_harness import LEAD, Json, Line, Steered, steered
from tests.harness.waiting import WAIT_S
from tests.harness.waiting import until as until_true
from tests.unit.frontends.control.test_websocket import dial

SIZE = 8 << 20
STAGES = ["reading", "verified", "accepted", "written"]
REQUEST = wire.StdinRequest(
    v=1,
    request_id="r",
    team="t",
    session_id="s",
    agent_id="a:1",
    sender="me",
    sent_at="",
    content="x" * 100,
    progress=True,
)


def reference(place: Steered) -> Json:
    data = b"long " * (SIZE // 5)
    (place.base_dir / "long").write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    return {"path": "long", "size_bytes": len(data), "sha256": digest, "mime": "text/plain"}


async def heard(line: Line) -> tuple[list[Json], Json]:
    """What was told on the way, and the acknowledgement."""
    told: list[Json] = []
    while (one := await line.hear())["type"] == "control.stdin.progress":
        told.append(one)
    return told, one


@pytest.mark.conforms("S2-9d")
async def test_a_sender_that_asks_hears_how_far_it_is_before_the_acknowledgement(
    place: Steered,
) -> None:
    live = await place.ready()
    line = await Line.to(place.path)
    ref = reference(place)
    message = place.message(live, content_ref=ref, sender="boss", progress=True)
    line.say(message)
    told, ack = await heard(line)
    assert (ack["type"], ack["result"], ack["duplicate"]) == ("control.stdin.ack", "ok", False)
    assert {one["request_id"] for one in (*told, ack)} == {message["request_id"]}
    assert list(dict.fromkeys(one["stage"] for one in told)) == STAGES
    far = [one["bytes"] for one in told]
    assert far == sorted(far)
    assert (far[-1], {one["total"] for one in told}) == (ref["size_bytes"], {ref["size_bytes"]})
    assert len(told) <= len(STAGES) + SIZE // EVERY_BYTES
    # a repeat hears what became of it and nothing else, asked for or not
    for again in (message, {**message, "progress": False}):
        told, ack = [], await line.ask(again)
        assert (ack["type"], ack["duplicate"]) == ("control.stdin.ack", True)
    after = await line.ask(place.message(live, "capabilities", sender="boss"))
    assert after["type"] == "control.capabilities.ack", "nothing came after the acknowledgement"
    assert [len(one) for one in place.lines()] == [ref["size_bytes"]]
    line.close()


@pytest.mark.conforms("S2-9d")
async def test_a_sender_that_does_not_ask_gets_its_acknowledgement_alone(place: Steered) -> None:
    live = await place.ready()
    line = await Line.to(place.path)
    ack = await line.ask(place.message(live, content_ref=reference(place), sender="boss"))
    assert (ack["type"], ack["result"]) == ("control.stdin.ack", "ok")
    short = await line.ask(place.message(live, sender="boss", progress=True))
    assert (short["type"], short["result"]) == ("control.stdin.ack", "ok"), "it is not long"
    line.close()


async def test_by_a_websocket_it_is_told_and_by_http_it_is_not(short_tmp: Path) -> None:
    """A frame has no room for what is long by itself: here less counts as long."""
    async with steered(short_tmp, progress_bytes=1000) as place:
        live = await place.ready()
        cookie = place.sender()
        text: Json = {"content": "x" * 2000, "sender": "boss", "progress": True}
        message = place.message(live, **text)
        async with dial(place, cookie=cookie) as socket:
            await socket.send(json.dumps(message))
            found = [json.loads(await asyncio.wait_for(socket.recv(), WAIT_S)) for _ in range(3)]
        assert [one.get("stage") for one in found[:2]] == ["accepted", "written"]
        assert [(one["bytes"], one["total"]) for one in found[:2]] == [(2000, 2000)] * 2
        assert (found[2]["type"], found[2]["result"]) == ("control.stdin.ack", "ok")
        by_http = await place.call("POST", "/control", place.message(live, **text), cookie=cookie)
        assert (by_http.json["type"], by_http.json["result"]) == ("control.stdin.ack", "ok")


async def test_a_file_that_is_not_what_was_said_is_not_called_verified(place: Steered) -> None:
    live = await place.ready()
    line = await Line.to(place.path)
    wrong = {**reference(place), "sha256": "0" * 64}
    line.say(place.message(live, content_ref=wrong, sender="boss", progress=True))
    told, ack = await heard(line)
    assert {one["stage"] for one in told} == {"reading"}
    assert ack["error"]["code"] == "ref_mismatch"
    assert place.lines() == []
    line.close()


async def test_within_a_stage_it_is_told_neither_too_often_nor_for_too_little() -> None:
    told: list[wire.StdinProgress] = []
    now = [100.0]
    one = Reporter(REQUEST, 100 << 20, told.append, lambda: 0, lambda: now[0])
    one.reached("reading", 1)
    one.reached("reading", 50 << 20)  # too soon
    now[0] += EVERY_S
    one.reached("reading", EVERY_BYTES)  # too little
    one.reached("reading", 50 << 20)
    one.reached("verified")
    one.reached("verified")
    assert [(each.stage, each.bytes) for each in told] == [
        ("reading", 1),
        ("reading", 50 << 20),
        ("verified", 100 << 20),
    ]


async def test_where_nobody_listens_nobody_tells() -> None:
    assert reporter_of(REQUEST, 0, lambda: 0) is None


@pytest.mark.parametrize(
    ("replies", "until", "wanted"),
    [
        ([1, 2, 3], Stage.OBSERVED, ["accepted", "written"]),
        ([1, 2], Stage.WRITTEN, ["accepted", "written"]),
        ([1], Stage.ACCEPTED, ["accepted"]),
        ([1, 1], Stage.OBSERVED, ["accepted"]),  # not written in time: no more is waited for
        ([0, 0], Stage.OBSERVED, []),  # it ended without getting anywhere
    ],
)
async def test_each_stage_is_told_when_it_is_reached(
    replies: list[int], until: Stage, wanted: list[str]
) -> None:
    told: list[wire.StdinProgress] = []
    left = list(replies)

    async def wait(stage: Stage) -> Reply:
        found = left.pop(0)
        return Reply(ref="", stage=Stage(found) if found else None)

    report = Reporter(REQUEST, 100, told.append, lambda: 0)
    await follow(report, wait, until)
    assert [each.stage for each in told] == wanted
    assert left == []


async def test_another_ones_request_is_not_told_of() -> None:
    told: list[Any] = []

    async def wait(stage: Stage) -> Reply:
        return Reply(ref="", stage=stage, duplicate=True)

    reply = await follow(Reporter(REQUEST, 100, told.append, lambda: 0), wait, Stage.WRITTEN)
    assert reply.duplicate
    assert told == []


class SlowDesk:
    """Begins with a request, and does not come to an end."""

    def __init__(self) -> None:
        self.report: Reporter | None = None

    async def handle(self, client: Any, request: Any) -> None:
        self.report = reporter_of(REQUEST, 0, lambda: 0)
        await asyncio.Event().wait()

    def gone(self, client: Any) -> None: ...
    def drained(self, client: Any) -> None: ...


async def test_what_a_sender_does_not_take_is_dropped() -> None:
    desk = SlowDesk()
    door = NativeDoor(desk, join=b"".join, speak=speak_control, now_ms=lambda: 0)
    client = ReportingClient(door)
    client.admit(LEAD)
    client.take(wire.encode(REQUEST) + b"\n")
    await until_true(lambda: desk.report is not None)
    assert desk.report is not None
    client.pause_writing()
    desk.report.reached("reading", 1)
    assert client._out == []
    client.resume_writing()
    desk.report.reached("verified")
    assert [json.loads(one)["stage"] for one in client._out] == ["verified"]
    client.leave()
    desk.report.reached("accepted")
    assert len(client._out) == 1, "it has gone"
