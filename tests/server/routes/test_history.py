from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec

from flybridge.frontends.http.routes.history import ConversationList, Places
from tests.harness.http_harness import Web

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


async def test_no_history_on_disk_is_an_empty_list(web: Web) -> None:
    assert (await web.call("GET", "/history")).json == {"conversations": []}


async def test_an_import_is_the_desks_business(web: Web) -> None:
    got = await web.call("POST", f"/history/{ONE}/import", {"agent": "recorder"})
    assert (got.status, got.code) == (422, "not_supported")  # nobody reads them in this house
