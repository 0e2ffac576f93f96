from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from flybridge.cli.export.log import Kind, event_json, export_to, new_file
from flybridge.client import Allow, EventItem, PermissionPrompt, connect
from flybridge.errors import InvalidRequestError
from tests.harness.terminal_home import FAST, Home

BIG = 100_000  # characters: too long for a row of the log


async def exported(home: Home, kind: Kind) -> list[bytes]:
    pieces: list[bytes] = []
    async with await connect(home.state, start=False) as client:
        size = await export_to(client, home.session(), pieces.append, kind=kind)
    assert size == len(b"".join(pieces))
    return pieces


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with pytest.raises(ZeroDivisionError), new_file(path) as write:
        assert write(b"half") // 0  # type: ignore[operator]
    assert list(tmp_path.iterdir()) == []
    with new_file(path) as write:
        write(b"whole")
        assert path.read_bytes() == b""  # its name is taken, and nothing of it can be read
    assert path.read_bytes() == b"whole"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_exists_is_replaced_only_by_force(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    path.chmod(0o644)
    with pytest.raises(InvalidRequestError, match="exists already"), new_file(path):
        pass
    with pytest.raises(ZeroDivisionError), new_file(path, force=True):
        raise ZeroDivisionError
    assert path.read_text() == "old"
    with new_file(path, force=True) as write:
        write(b"new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(InvalidRequestError, match="cannot write"), new_file(tmp_path / "no" / "x"):
        pass


def test_an_event_is_written_as_it_is_stored() -> None:
    raw = b'{"type":"new",  "x":1}'
    assert event_json(EventItem(3, 4, None, raw)) == b'{"seq":3,"at_ms":4,"event":%b}' % raw


async def test_json_has_every_event_byte_for_byte(home: Home) -> None:
    home.run("chat", "--agent", "demo", "--model", FAST, stdin="think")
    home.run("chat", "--last", stdin="long")
    stored: list[bytes] = []
    async with await connect(home.state, start=False) as client:
        page = await client.page(home.session(), 0, 10_000)
        stored = [event_json(item) for item in page.events]
        assert page.events[-1].seq == page.head
    assert await exported(home, "jsonl") == [one + b"\n" for one in stored]
    document = json.loads(b"".join(await exported(home, "json")))
    assert document["events"] == [json.loads(one) for one in stored]
    assert (document["format"], document["version"]) == ("flybridge.session", 1)
    assert document["info"]["agent"] == "demo"


async def test_text_that_is_too_long_for_the_log_is_fetched(home: Home) -> None:
    steps = [
        {"say": "word " * (BIG // 5) + "the end"},
        {"tool": "Bash", "input": {"command": "x" * BIG}},
    ]
    home.run("chat", "--agent", "recorder", stdin=f"@@ {json.dumps(steps)}")
    events = [one["event"] for one in home.events(home.session())]
    assert all(one["blob"] for one in events if one["type"] in ("text.done", "tool.started"))
    text = b"".join(await exported(home, "markdown")).decode()
    assert "word the end" in text
    assert "command: " + "x" * 1000 in text
    assert "more characters" in text

    async def change(prompt: PermissionPrompt) -> Allow:
        return Allow(input={"command": "y" * BIG})

    pieces: list[bytes] = []
    ask = {"tool": "Bash", "ask": True, "input": {"command": "ls"}}
    async with (
        await connect(home.state, start=False) as client,
        client.start(agent="recorder", cwd=home.work, on_permission=change) as session,
    ):
        await session.ask(f"@@ {json.dumps([ask])}")
        await export_to(client, session.id, pieces.append, kind="markdown")
    told = b"".join(pieces).decode().partition("with changes\n")[2]
    assert told.startswith("\n```text\ncommand: " + "y" * 1000)


async def test_a_log_of_many_pages_is_read_to_its_end(home: Home) -> None:
    steps = [{"say": f"number {n} " + "x" * 30_000} for n in range(40)]
    home.run("chat", "--agent", "recorder", stdin=f"@@ {json.dumps(steps)}")
    pieces = await exported(home, "jsonl")
    assert [json.loads(one)["seq"] for one in pieces] == list(range(1, len(pieces) + 1))
    text = b"".join(await exported(home, "markdown")).decode()
    assert all(f"number {n} x" in text for n in range(40))
