from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from flybridge.listeners.http import sse
from flybridge.listeners.http.sse import HIGH_WATER, Frames, SseClient, framed
from flybridge.model.deliveries import Batch, Preview, Reply, Shown, View
from flybridge.model.ids import ItemId, SessionId
from flybridge.runtime.live_session import LiveSession
from tests.harness.agent_programs import steps
from tests.harness.event_stream import EventSource
from tests.harness.http_harness import Web, serving
from tests.harness.runtime_harness import EVERYTHING
from tests.harness.waiting import until

S = SessionId("ses_1")


def batch(first: int, *lines: bytes) -> Batch:
    return Batch(session=S, epoch=3, first_seq=first, count=len(lines), wire=b"\n".join(lines))


def test_each_event_is_a_frame_with_its_place() -> None:
    assert framed(batch(7, b'{"a":1}', b'{"a":2}')) == (
        b'id: 3:7\ndata: {"a":1}\n\nid: 3:8\ndata: {"a":2}\n\n'
    )


def test_a_cr_between_tokens_does_not_end_a_line() -> None:
    assert framed(batch(1, b'{"a":\r1}')) == b'id: 3:1\ndata: {"a": 1}\n\n'


def test_what_everybody_gets_is_framed_once() -> None:
    frames, one = Frames(), batch(1, b"{}")
    assert frames.of(one) is frames.of(one)
    assert frames.of(batch(2, b"{}")) != frames.of(one)


async def test_what_is_ready_is_one_chunk_and_what_is_shown_has_no_place() -> None:
    client = SseClient(EVERYTHING, Frames())
    client.reply(Reply(ref="", value=Raw(b'{"epoch":3,"head":1,"reset":false}')))
    client.batch(batch(1, b"{}"))
    client.shown(Shown(S, Preview(ItemId("i"), 0, 1, "x")), b'{"type":"preview"}')
    client.view(View(S, 1, Raw(b"{}")), b'{"type":"view"}')
    chunk = await client.take()
    assert chunk.count(b"\n\n") == 4
    assert chunk.count(b"id:") == 1
    assert b"id: \n" not in chunk


async def test_a_client_that_does_not_read_is_not_written_to() -> None:
    client = SseClient(EVERYTHING, Frames())
    assert client.writable
    client.batch(batch(1, b"x" * HIGH_WATER))
    assert not client.writable
    await client.take()
    assert client.writable
    client.end()
    assert not client.writable
    assert await client.take() == b""


async def history(web: Web) -> LiveSession:
    live = await web.open()
    text = steps(
        {"say": "one two three", "deltas": 5},
        {"tool": "Read", "input": {"file_path": "a"}, "ask": False, "result": "r"},
        {"say": "done", "deltas": 2},
    )
    assert (await web.say(live, text, "k1")).json["stage"] == "done"
    return live


async def test_cut_at_every_event_a_client_misses_nothing_and_gets_nothing_twice(web: Web) -> None:
    live = await history(web)
    head = live.memory.state.seq
    source = await EventSource.open(web, live.session)
    await source.until("view")
    whole = source.events()
    await source.close()
    assert [one["seq"] for one in whole] == list(range(1, head + 1))
    for seq in range(1, head + 1):
        source = await EventSource.open(web, live.session, last_id=f"1:{seq}")
        await source.until("view")
        assert source.events() == whole[seq:]
        assert source.last_id == f"1:{head}"  # what has no id has not blanked it
        await source.close()
    await until(lambda: len(web.app.api.streams) == 0)


async def test_cut_at_random_while_it_is_live(web: Web) -> None:
    """A client that hangs up again and again, in the middle of everything."""
    live = await web.open()
    text = steps(*({"say": f"part {n}", "deltas": 3} for n in range(15)))
    saying = asyncio.ensure_future(web.say(live, text, "k1"))
    seen: list[Any] = []
    last_id, cut = "", 1
    while not saying.done() or len(seen) < live.memory.state.seq:
        source = await EventSource.open(web, live.session, last_id=last_id)
        frame = await source.hear()
        while frame and frame.data["type"] != "view" and len(source.events()) < cut:
            frame = await source.hear()  # the view says that it has caught up
        last_id = source.last_id
        seen += source.events()
        cut = cut % 7 + 1
        await source.close()
    await saying
    assert [one["seq"] for one in seen] == list(range(1, len(seen) + 1))
    page = (await web.call("GET", f"/sessions/{live.session}/events")).json["events"]
    assert seen == page


async def test_a_place_in_another_history_starts_anew(web: Web) -> None:
    live = await history(web)
    source = await EventSource.open(web, live.session, last_id="9:3")
    first = await source.hear()
    assert first is not None
    assert first.data["reset"] is True
    await source.until("view")
    assert source.events()[0]["seq"] == 1
    await source.close()


async def test_previews_come_with_the_stream(web: Web) -> None:
    live = await web.open()
    gate = web.house.folder / "go"
    source = await EventSource.open(web, live.session)
    text = steps({"say": "one two", "deltas": 2, "hold": str(gate)})
    await web.say(live, text, "k1", "written")
    frame = await source.until("preview")
    assert frame.data["text"]
    gate.touch()
    await source.until("turn.ended")
    await source.close()


@pytest.mark.parametrize("last_id", ["x", "1:x", "-1:1", "1:2:3"])
async def test_a_place_that_is_none_is_refused(web: Web, last_id: str) -> None:
    live = await web.open()
    source = await EventSource.open(web, live.session, last_id=last_id)
    assert source.status == 400
    await source.close()


async def test_a_session_that_is_not_there_has_no_stream(web: Web) -> None:
    source = await EventSource.open(web, "ses_none")
    assert source.status == 404
    await source.close()
    assert len(web.app.api.streams) == 0


async def test_silence_is_filled(short_tmp: Path) -> None:
    async with serving(short_tmp, keep_alive_s=0.02) as web:
        live = await web.open()
        source = await EventSource.open(web, live.session)
        hearing = asyncio.ensure_future(source.hear_for_ever())
        await until(lambda: source.comments >= 3)
        hearing.cancel()
        await source.close()
        await until(lambda: len(web.app.api.streams) == 0)


async def test_a_deleted_session_ends_its_streams(web: Web) -> None:
    live = await web.open()
    source = await EventSource.open(web, live.session)
    assert (await web.call("DELETE", f"/sessions/{live.session}")).status == 200
    await source.until("detached")
    assert await source.hear() is None
    await source.close()


async def test_a_client_that_never_reads_slows_nobody_and_costs_its_buffer(web: Web) -> None:
    live = await web.open()
    lazy = await EventSource.open(web, live.session)
    lazy.stop_reading()
    text = steps({"flood": 20 << 20, "line": 2000})
    assert (await web.say(live, text, "k1")).json["stage"] == "done"
    for client in web.app.api.streams._open:
        assert client._size < 2 * HIGH_WATER + (1 << 20)
    source = await EventSource.open(web, live.session)
    await source.until("turn.ended")
    await source.close()
    lazy.read_again()
    await lazy.until("turn.ended")  # it is behind, and misses no event
    assert [one["seq"] for one in lazy.events()] == list(range(1, len(lazy.events()) + 1))
    await lazy.close()


async def test_there_are_only_so_many_streams(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_PER_PRINCIPAL", 2)
    live = await web.open()
    some = [await EventSource.open(web, live.session) for _ in range(3)]
    assert [one.status for one in some] == [200, 200, 429]
    other = await EventSource.open(web, live.session, token=web.token("view"))
    assert other.status == 200
    for one in (*some, other):
        await one.close()
    await until(lambda: len(web.app.api.streams) == 0)
    assert not web.app.api.streams._by_principal


async def test_streams_end_when_the_gateway_does(web: Web) -> None:
    live = await web.open()
    source = await EventSource.open(web, live.session)
    await source.until("view")
    web.app.close()
    while await source.hear() is not None:
        pass
    await source.close()


def test_json_comes_out_as_it_went_in() -> None:
    line = json.dumps({"text": "é\u2028\x85 \r \n"}).encode()
    data = framed(batch(1, line)).partition(b"data: ")[2].strip()
    assert json.loads(data) == json.loads(line)
