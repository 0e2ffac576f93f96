"""The sender's half: one logical send, however often it is tried."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from flybridge.client.control.sender import Between, Manners, Sender, Target
from flybridge.errors import (
    GatewayUnreachableError,
    InvalidRequestError,
    NotAuthenticatedError,
    RemoteProtocolError,
)
from flybridge.model.audit import Record
from flybridge.wire.control import messages as w
from flybridge.wire.control.times import format_time

Json = dict[str, Any]
TARGET = Target(team="red", session_id="ses_1", agent_id="claude:1", sender="lead")
QUICK = Manners(timeout_s=0.05, backoff_s=0.001)


class Receiver:
    """Answers by a script: a result, an error to raise, or silence."""

    def __init__(self, *script: object) -> None:
        self.script = list(script)
        self.heard: list[Json] = []

    async def exchange(self, message: bytes, between: Between = lambda data: False) -> bytes:
        self.heard.append(json.loads(message))
        step = self.script.pop(0) if self.script else "ok"
        if isinstance(step, Exception):
            raise step
        if step is None:
            await asyncio.Event().wait()
        if isinstance(step, bytes):
            return step
        asked = self.heard[-1]
        ack = {key: asked[key] for key in ("v", "request_id", "team", "session_id", "agent_id")}
        ack |= {"type": asked["type"].replace("request", "ack"), "acked_at": format_time(0)}
        return json.dumps({**ack, "result": step, "duplicate": len(self.heard) > 1}).encode()


class Drawer:
    """A shelf that keeps things where a test can see them."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def put(self, request_id: str, data: bytes) -> w.ContentRef:
        self.kept[request_id] = data
        return w.ContentRef(path=request_id, size_bytes=len(data), sha256="", mime="text/plain")

    def remove(self, ref: w.ContentRef) -> None:
        del self.kept[ref.path]


def sender(receiver: Receiver, **more: Any) -> tuple[Sender, list[Record]]:
    notes: list[Record] = []
    manners = more.pop("manners", QUICK)
    return Sender(receiver, manners=manners, note=notes.append, **more), notes


@pytest.mark.conforms("S2-3.1d", "S2-2")
async def test_a_message_has_all_that_one_has() -> None:
    receiver = Receiver()
    one, _ = sender(receiver)
    ack = await one.stdin(TARGET, "x" * 300)
    assert (ack.result, ack.duplicate) == ("ok", False)
    (said,) = receiver.heard
    assert said["content_preview"] == "x" * 240
    assert said["meta"] == {"retry_count": 0, "ui_source": "python"}
    assert (said["content_encoding"], said["interrupt"]) == ("utf-8", False)
    assert said["request_id"].startswith("req_")
    assert "mode" not in said
    assert "retry_of" not in said
    w.decode_request(json.dumps(said).encode())


@pytest.mark.conforms("S2-5a", "S2-5h")
@pytest.mark.parametrize("first", [None, GatewayUnreachableError("gone"), "timeout"])
async def test_a_try_that_came_to_nothing_is_made_again_under_the_same_id(first: object) -> None:
    receiver = Receiver(first, "ok")
    one, _ = sender(receiver)
    ack = await one.stdin(TARGET, "hi")
    assert (ack.result, ack.duplicate) == ("ok", True)
    tries = receiver.heard
    assert len({said["request_id"] for said in tries}) == 1
    assert [said["meta"]["retry_count"] for said in tries] == [0, 1]
    assert {said["content"] for said in tries} == {"hi"}


@pytest.mark.conforms("S2-5h")
@pytest.mark.parametrize("retries", [0, 1, 3])
async def test_patience_has_an_end(retries: int) -> None:
    receiver = Receiver(*[None] * 10)
    one, _ = sender(receiver, manners=Manners(timeout_s=0.02, retries=retries, backoff_s=0.001))
    with pytest.raises(GatewayUnreachableError, match="what became of it"):
        await one.interrupt(TARGET, request_id="r")
    assert len(receiver.heard) == retries + 1


@pytest.mark.conforms("S2-5h")
def test_the_usual_patience_is_two_seconds_and_one_retry() -> None:
    usual = Manners()
    assert (usual.timeout_s, usual.retries) == (2.0, 1)
    assert (usual.soft_bytes, usual.hard_bytes) == (64 << 10, 1 << 20)


async def test_a_timeout_is_told_when_nothing_better_comes() -> None:
    one, _ = sender(Receiver("timeout", "timeout"))
    assert (await one.stdin(TARGET, "hi")).result == "timeout"


@pytest.mark.parametrize("result", ["busy", "not_live", "not_found", "rejected", "internal_error"])
async def test_what_was_decided_is_not_asked_again(result: str) -> None:
    receiver = Receiver(result)
    one, _ = sender(receiver)
    assert (await one.stdin(TARGET, "hi")).result == result
    assert len(receiver.heard) == 1


async def test_somebody_who_does_not_want_us_is_not_asked_again() -> None:
    receiver = Receiver(NotAuthenticatedError())
    one, notes = sender(receiver)
    with pytest.raises(NotAuthenticatedError):
        await one.capabilities(TARGET)
    assert len(receiver.heard) == 1
    assert [note.outcome for note in notes] == ["sent", "failed"]


@pytest.mark.parametrize(
    "answer",
    [
        b"nonsense",
        b"{}",
        b'{"type":"control.stdin.ack","v":1,"request_id":"another","team":"t","session_id":"s",'
        b'"agent_id":"a","acked_at":"","result":"ok","duplicate":false}',
        b'{"type":"control.interrupt.ack","v":1,"request_id":"r","team":"t","session_id":"s",'
        b'"agent_id":"a","acked_at":"","result":"ok","duplicate":false}',
    ],
)
async def test_somebody_elses_acknowledgement_is_none(answer: bytes) -> None:
    one, _ = sender(Receiver(answer))
    with pytest.raises(RemoteProtocolError):
        await one.stdin(TARGET, "hi", request_id="r")


async def test_a_receiver_that_understood_nothing_says_so() -> None:
    one, _ = sender(Receiver(b'{"type":"control.error","v":1,"error":{"code":"c","message":"m"}}'))
    with pytest.raises(InvalidRequestError, match="m"):
        await one.stdin(TARGET, "hi")


@pytest.mark.conforms("S2-6a", "S2-6b")
async def test_long_content_is_warned_about_and_longer_content_put_into_a_file() -> None:
    warned: list[str] = []
    receiver, drawer = Receiver("ok", "ok", "ok"), Drawer()
    manners = Manners(soft_bytes=10, hard_bytes=20)
    one, _ = sender(receiver, manners=manners, warn=warned.append, shelf=drawer)
    await one.stdin(TARGET, "é" * 5)
    assert warned == []
    await one.stdin(TARGET, "é" * 6)
    assert len(warned) == 1
    await one.stdin(TARGET, "é" * 11)
    said = receiver.heard[-1]
    assert "content" not in said
    assert said["content_ref"]["size_bytes"] == 22
    assert said["meta"]["oversize_strategy"] == "content_ref"
    assert drawer.kept == {}, "it is not needed any more"


async def test_a_file_is_kept_while_it_may_be_needed() -> None:
    drawer = Drawer()
    one, _ = sender(
        Receiver("timeout"),
        manners=Manners(hard_bytes=1, soft_bytes=1, retries=0),
        shelf=drawer,
    )
    await one.stdin(TARGET, "long", request_id="r")
    assert drawer.kept == {"r": b"long"}


@pytest.mark.abuse(47)
async def test_abuse_47_there_is_no_file_for_another_machine() -> None:
    one, _ = sender(Receiver(), manners=Manners(hard_bytes=1))
    with pytest.raises(InvalidRequestError, match="another machine"):
        await one.stdin(TARGET, "long")
    one, _ = sender(Receiver(), shelf=Drawer())
    with pytest.raises(InvalidRequestError, match="at most"):
        await one.stdin(TARGET, "x" * (w.MAX_REF_BYTES + 1))


@pytest.mark.conforms("S2-7a", "S2-7b", "S2-7c")
async def test_a_sender_writes_down_what_it_did_but_not_what_it_said() -> None:
    one, notes = sender(Receiver(None, "rejected"))
    await one.stdin(TARGET, "a secret plan", request_id="r")
    told = [(note.event, note.outcome, note.result, note.duplicate, note.detail) for note in notes]
    assert told == [
        ("control.stdin.request", "sent", "", "", ""),
        ("control.stdin.request", "failed", "", "", ""),
        ("control.stdin.request", "sent", "", "", "retry 1"),
        ("control.stdin.ack", "acked", "rejected", "true", ""),
    ]
    assert notes[1].code == "gateway_unreachable"
    for note in notes:
        assert (note.request, note.team, note.session) == ("r", "red", "ses_1")
        assert (note.agent_id, note.sender) == ("claude:1", "lead")
    assert "secret plan" not in repr(notes)


@pytest.mark.conforms("S2-9b")
async def test_a_send_can_stand_in_for_another() -> None:
    receiver = Receiver()
    one, _ = sender(receiver)
    await one.stdin(TARGET, "hi", retry_of="r1", mode="queue", interrupt=True)
    await one.interrupt(TARGET, turn_id="trn_1", retry_of="r2")
    assert [said["retry_of"] for said in receiver.heard] == ["r1", "r2"]
    assert receiver.heard[1]["turn_id"] == "trn_1"


class Telling(Receiver):
    """Says how far it is, a few times, before it answers."""

    def __init__(self, *, times: int, every_s: float, of: str = "") -> None:
        super().__init__()
        self.times, self.every_s, self.of = times, every_s, of

    async def exchange(self, message: bytes, between: Between = lambda data: False) -> bytes:
        asked = w.decode_request(message)
        for number in range(self.times):
            await asyncio.sleep(self.every_s)
            told = w.StdinProgress(
                v=1,
                request_id=self.of or asked.request_id,
                team=asked.team,
                session_id=asked.session_id,
                agent_id=asked.agent_id,
                at="",
                stage="reading",
                bytes=number,
                total=self.times,
            )
            if not between(w.encode(told)):
                return w.encode(told)
        return await super().exchange(message)


@pytest.mark.conforms("S2-9d")
async def test_patience_begins_anew_with_each_thing_that_is_told() -> None:
    told: list[w.StdinProgress] = []
    receiver = Telling(times=6, every_s=0.1)
    manners = Manners(timeout_s=0.5, retries=0, hard_bytes=10)
    one, _ = sender(receiver, manners=manners, shelf=Drawer(), progress=told.append)
    assert (await one.stdin(TARGET, "x" * 11)).result == "ok"
    assert [each.bytes for each in told] == list(range(6))
    assert receiver.heard[0]["progress"] is True


async def test_progress_of_something_else_is_no_acknowledgement() -> None:
    receiver = Telling(times=1, every_s=0, of="other")
    manners = Manners(hard_bytes=10)
    one, _ = sender(receiver, manners=manners, shelf=Drawer(), progress=lambda told: None)
    with pytest.raises(RemoteProtocolError):
        await one.stdin(TARGET, "x" * 11)


async def test_nobody_asks_for_progress_who_does_not_want_it_or_says_little() -> None:
    receiver = Receiver()
    plain, _ = sender(receiver, manners=Manners(hard_bytes=10), shelf=Drawer())
    await plain.stdin(TARGET, "x" * 11)
    wants, _ = sender(receiver, progress=lambda told: None)
    await wants.stdin(TARGET, "short")
    assert all("progress" not in said for said in receiver.heard)
