from __future__ import annotations

import asyncio
import base64
import json
import subprocess
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from flybridge.errors import InvalidRequestError
from flybridge.frontends.http.routes.session_io import EventPage, Outcome, cursor_of
from flybridge.model import events as e
from flybridge.runtime.methods.panels import PanelName
from flybridge.testing import recorder
from tests.harness.agent_programs import steps
from tests.harness.event_stream import EventSource
from tests.harness.http_harness import Web


async def test_what_was_said_is_in_the_log_page_by_page(web: Web) -> None:
    live = await web.open()
    assert (await web.say(live, "hello", "k1")).json["stage"] == "done"
    path = f"/sessions/{live.session}/events"
    whole = msgspec.json.decode((await web.call("GET", path)).body, type=EventPage)
    events = [json.loads(bytes(one)) for one in whole.events]
    assert [one["seq"] for one in events] == list(range(1, whole.head + 1))
    pages: list[Any] = []
    while len(pages) < whole.head:
        got = await web.call("GET", f"{path}?after={len(pages)}&max_bytes=1")
        pages += got.json["events"]
    assert pages == events


async def test_a_command_is_carried_out_once(web: Web) -> None:
    live = await web.open()
    first = await web.say(live, "hello", "k1")
    again = await web.say(live, "hello", "k1")
    assert msgspec.json.decode(first.body, type=Outcome).duplicate is False
    assert msgspec.json.decode(again.body, type=Outcome).duplicate is True
    assert len(recorder.executed(web.house.record)) == 1


async def test_a_command_that_is_not_done_in_time_is_under_way(web: Web) -> None:
    live = await web.open()
    gate = web.house.folder / "go"
    text = steps({"wait_file": str(gate)})
    body = {
        "command": {"type": "send_input", "content": [{"type": "text", "text": text}]},
        "until": "done",
        "wait_ms": 100,
    }
    path = f"/sessions/{live.session}/commands"
    got = await web.call("POST", path, body, key="k1")
    assert (got.status, got.json["error"]) == (202, "in_progress")
    gate.touch()
    got = await web.call("POST", path, {**body, "wait_ms": 20_000}, key="k1")
    assert (got.status, got.json["stage"]) == (200, "done")


async def test_an_outcome_that_is_no_success_says_so(web: Web) -> None:
    live = await web.open()
    gate = web.house.folder / "go"
    busy = asyncio.ensure_future(web.say(live, steps({"wait_file": str(gate)}), "k1"))
    await web.house.saw(e.TurnStarted)
    body = {
        "command": {
            "type": "send_input",
            "content": [{"type": "text", "text": "later"}],
            "mode": "queue",
            "deadline_ms": web.house.services.now_ms() + 100,
        },
        "until": "done",
        "wait_ms": 20_000,
    }
    got = await web.call("POST", f"/sessions/{live.session}/commands", body, key="k2")
    assert (got.status, got.code) == (409, "expired")
    gate.touch()
    await busy


async def test_a_picture_that_was_uploaded_goes_to_the_agent(web: Web) -> None:
    live = await web.open()
    data = b"\x89PNG not really"
    headers = {"content-type": "application/octet-stream"}
    digest = (await web.call("POST", "/blobs", data, headers=headers)).json["digest"]
    content = [{"type": "image", "media_type": "image/png", "blob": digest}]
    body = {
        "command": {"type": "send_input", "content": content},
        "until": "done",
        "wait_ms": 20_000,
    }
    path = f"/sessions/{live.session}/commands"
    assert (await web.call("POST", path, body, key="k1")).status == 200
    told = b"".join(recorder.lines(web.house.record))
    assert base64.b64encode(data) in told
    content[0]["blob"] = "0" * 64
    got = await web.call("POST", path, body, key="k2")
    assert (got.status, got.code) == (400, "invalid_request")


@pytest.mark.parametrize("name", get_args(PanelName))
async def test_every_view_can_be_seen(web: Web, name: str) -> None:
    live = await web.open()
    await web.say(live, "hello", "k1")
    got = await web.call("GET", f"/sessions/{live.session}/views/{name}")
    assert got.status == 200, got
    assert isinstance(got.json, dict)


async def test_a_view_that_does_not_exist_is_said_to(web: Web) -> None:
    live = await web.open()
    assert (await web.call("GET", f"/sessions/{live.session}/views/nonsense")).status == 400


async def test_an_agent_that_does_not_run_answers_no_query(web: Web) -> None:
    live = await web.open()
    await web.say(live, "hello", "k1")
    await web.call("POST", f"/sessions/{live.session}/stop", {})
    path = f"/sessions/{live.session}/query"
    assert (await web.call("GET", f"{path}/context")).code == "busy"
    assert (await web.call("GET", f"{path}/context?params=%5B%5D")).status == 400


@pytest.mark.needs("git")
async def test_files_are_found_below_the_sessions_directory(web: Web, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").touch()
    (tmp_path / "out.log").touch()
    (tmp_path / ".gitignore").write_text("*.log\n")
    command = ["git", "init", "-q", str(tmp_path)]
    await asyncio.to_thread(subprocess.run, command, check=True, timeout=20)
    live = await web.open(cwd=str(tmp_path))
    got = await web.call("GET", f"/sessions/{live.session}/files?query=main")
    assert got.json == {"files": [{"path": "src/main.py", "kind": "file"}], "truncated": False}
    got = await web.call("GET", f"/sessions/{live.session}/files?query=log")
    assert got.json["files"] == []


async def test_a_stream_begins_where_it_is_told_to(web: Web) -> None:
    live = await web.open()
    await web.say(live, "hello", "k1")
    head = live.memory.state.seq
    source = await EventSource.open(web, live.session, f"?after={head - 2}")
    assert source.status == 200
    assert "content-type: text/event-stream" in source.head
    first = await source.hear()
    assert first is not None
    assert first.data == {"type": "attached", "epoch": 1, "head": head, "reset": False}
    frames = [await source.hear(), await source.hear()]
    assert [one.id for one in frames if one] == [f"1:{head - 1}", f"1:{head}"]
    await source.close()


async def test_only_the_newest_events_are_streamed_where_that_is_wanted(web: Web) -> None:
    live = await web.open()
    await web.say(live, "hello", "k1")
    source = await EventSource.open(web, live.session, "?last=3&previews=false")
    await source.until("view")
    head = live.memory.state.seq
    assert [one["seq"] for one in source.events()] == [head - 2, head - 1, head]
    await source.close()


async def test_the_head_of_a_stream_can_be_asked_for(web: Web) -> None:
    live = await web.open()
    got = await web.call("HEAD", f"/sessions/{live.session}/stream")
    assert (got.status, got.body) == (200, b"")
    assert len(web.app.api.streams) == 0


@pytest.mark.parametrize(
    ("text", "place"), [("", (0, 0)), ("7", (0, 7)), ("2:7", (2, 7)), ("0:0", (0, 0))]
)
def test_a_place_in_a_log(text: str, place: tuple[int, int]) -> None:
    assert cursor_of(text) == place


@pytest.mark.parametrize("text", ["x", "1:", ":1", "1:2:3", "-1", "1:-1", "٣", "1" * 17, " 1"])
def test_a_wrong_place_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequestError):
        cursor_of(text)
