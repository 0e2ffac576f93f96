from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec

from flybridge.agents.claude.history import ClaudeHistory
from flybridge.agents.claude.records import ClaudeRecords
from flybridge.agents.history import KindHistory
from flybridge.frontends.http.routes.history import ConversationList, Places
from tests.harness.http_harness import Web
from tests.harness.kept_by_courier import CONFIG_ENV, CourierHistory

ONE = "0d4c6f5e-0000-4000-8000-00000000000a"
TWO = "0d4c6f5e-0000-4000-8000-00000000000b"


def write(web: Web, conversation: str, words: str, at_s: int, cwd: str = "/somewhere") -> Path:
    folder = web.claude / "projects" / "-somewhere"
    folder.mkdir(parents=True, exist_ok=True)
    line = {
        "type": "user",
        "uuid": conversation,
        "parentUuid": None,
        "sessionId": conversation,
        "cwd": cwd,
        "version": "2.1.38",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": words},
    }
    path = folder / f"{conversation}.jsonl"
    path.write_text(json.dumps(line) + "\n")
    os.utime(path, (at_s, at_s))
    return path


async def test_conversations_are_listed_the_newest_first(web: Web) -> None:
    write(web, ONE, "paint the boat", 1000)
    write(web, TWO, "scrub the deck", 2000, cwd="/elsewhere")
    got = await web.call("GET", "/history")
    found = msgspec.json.decode(got.body, type=ConversationList).conversations
    assert [(one.conversation, one.prompt) for one in found] == [
        (TWO, "scrub the deck"),
        (ONE, "paint the boat"),
    ]
    got = await web.call("GET", "/history?cwd=%2Fsomewhere")
    assert [one["conversation"] for one in got.json["conversations"]] == [ONE]
    got = await web.call("GET", "/history?before_ms=2000000")
    assert [one["conversation"] for one in got.json["conversations"]] == [ONE]
    got = await web.call("GET", "/history?limit=1")
    assert [one["conversation"] for one in got.json["conversations"]] == [TWO]


async def test_words_are_found_and_lead_to_their_session(web: Web) -> None:
    live = await web.open()
    await web.say(live, "hello", "k1")
    conversation = live.memory.state.agent_session
    write(web, conversation, "paint the boat", 1000)
    write(web, TWO, "paint the house", 2000, cwd="/elsewhere")
    got = await web.call("GET", "/history/search?words=PAINT%20the")
    found = msgspec.json.decode(got.body, type=Places)
    assert [(one.conversation, one.cwd, one.session) for one in found.hits] == [
        (TWO, "/elsewhere", ""),
        (conversation, "/somewhere", live.session),
    ]
    assert (await web.call("GET", "/history/search?words=%20")).status == 400


async def test_the_conversations_of_each_kind_of_agent_are_lists_of_their_own(
    web: Web, tmp_path: Path
) -> None:
    write(web, ONE, "paint the boat", 1000)
    records = ClaudeRecords(ClaudeHistory(tmp_path))  # which are empty
    web.histories["acme"] = KindHistory(history=records, agent="acme")
    for query, found in (("", [ONE]), ("&kind=claude", [ONE]), ("&kind=acme", [])):
        got = await web.call("GET", f"/history?limit=5{query}")
        assert [one["conversation"] for one in got.json["conversations"]] == found
        got = await web.call("GET", f"/history/search?words=paint{query}")
        assert [one["conversation"] for one in got.json["hits"]] == found
    for path in ("/history?kind=kayak", "/history/search?words=x&kind=kayak"):
        got = await web.call("GET", path)
        assert (got.status, got.code) == (422, "not_supported")


async def test_no_history_on_disk_is_an_empty_list(web: Web) -> None:
    assert (await web.call("GET", "/history")).json == {
        "conversations": [],
        "kinds": ["claude"],
        "unread": [],
    }


def deliver(web: Web, folder: Path, *parcels: tuple[str, str]) -> None:
    """Let the courier have had conversations; their times are 1 ms, 2 ms, …"""
    lines = [json.dumps({"id": id, "text": text, "cwd": "/c"}) + "\n" for id, text in parcels]
    (folder / "parcels").write_text("".join(lines))
    history = CourierHistory({CONFIG_ENV: str(folder)})
    web.histories["courier"] = KindHistory(history=history, agent="van")


async def test_conversations_of_every_kind_are_one_list(web: Web, tmp_path: Path) -> None:
    write(web, ONE, "paint the boat", 1000)
    write(web, TWO, "paint the house", 0)  # older than any parcel
    deliver(web, tmp_path, ("par-1", "paint"), ("par-2", "a letter"))
    got = (await web.call("GET", "/history?kind=")).json
    assert [(one["conversation"], one["kind"], one["agent"]) for one in got["conversations"]] == [
        (ONE, "claude", "claude"),
        ("par-2", "courier", "van"),
        ("par-1", "courier", "van"),
        (TWO, "claude", "claude"),
    ]
    assert (got["kinds"], got["unread"]) == (["claude", "courier"], [])
    seen, before = [], 0
    for _ in range(4):  # page by page
        got = (await web.call("GET", f"/history?kind=&limit=1&before_ms={before}")).json
        seen += [one["conversation"] for one in got["conversations"]]
        before = got["conversations"][-1]["modified_ms"]
        if not before:
            break
    assert seen == [ONE, "par-2", "par-1", TWO]
    got = (await web.call("GET", "/history?kind=&cwd=%2Fc")).json
    assert [one["conversation"] for one in got["conversations"]] == ["par-2", "par-1"]
    got = (await web.call("GET", "/history/search?kind=&words=paint")).json
    assert [(one["conversation"], one["agent"]) for one in got["hits"]] == [
        (ONE, "claude"),
        (TWO, "claude"),
        ("par-1", "van"),
    ]
    assert (got["files"], got["kinds"]) == (3, ["claude", "courier"])
    got = (await web.call("GET", "/history/search?kind=&words=paint&limit=2")).json
    assert [one["conversation"] for one in got["hits"]] == [ONE, "par-1"]  # one of each
    assert "1 places were found" in got["stopped"]


async def test_a_kind_whose_records_fail_hides_no_other(web: Web, tmp_path: Path) -> None:
    write(web, ONE, "paint the boat", 1000)
    deliver(web, tmp_path)
    (tmp_path / "parcels").write_text("no JSON")
    for path, name in (("?kind=", "conversations"), ("/search?words=p&kind=", "hits")):
        got = (await web.call("GET", f"/history{path}")).json
        assert [one["conversation"] for one in got[name]] == [ONE]
        assert (got["kinds"], got["unread"]) == (["claude"], ["courier"])
    assert (await web.call("GET", "/history?kind=courier")).status == 500


async def test_a_session_has_the_conversations_of_its_own_kind_only(
    web: Web, tmp_path: Path
) -> None:
    live = await web.open()
    await web.say(live, "hello", "k1")
    conversation = live.memory.state.agent_session
    write(web, conversation, "paint the boat", 1000)
    deliver(web, tmp_path, (conversation, "the same id"))
    got = (await web.call("GET", "/history?kind=")).json
    assert [(one["kind"], one["session"]) for one in got["conversations"]] == [
        ("claude", live.session),
        ("courier", ""),
    ]


async def test_an_import_is_the_desks_business(web: Web) -> None:
    got = await web.call("POST", f"/history/{ONE}/import", {"agent": "recorder"})
    assert (got.status, got.code) == (422, "not_supported")  # nobody reads them in this house
