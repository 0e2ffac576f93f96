from __future__ import annotations

import json
import os

from flybridge.agents.demo.options import parse_options
from flybridge.agents.demo.stream import Session, Speaker, Usage

SESSION = "11111111-2222-4333-8444-555555555555"


def speaker(fd: int, *flags: str) -> Speaker:
    session = Session(id=SESSION, cwd="/somewhere", model="m", mode="default")
    return Speaker(session, parse_options(flags, {}), fd=fd)


def test_each_message_is_one_stamped_line() -> None:
    read, write = os.pipe()
    voice = speaker(write)
    voice.init()
    voice.user("two\nlines")
    os.close(write)
    with os.fdopen(read) as pipe:
        init, user = [json.loads(line) for line in pipe]
    assert init["session_id"] == user["session_id"] == SESSION
    assert init["uuid"] != user["uuid"]
    assert user["message"]["content"] == "two\nlines"


def test_what_was_not_asked_for_is_not_said() -> None:
    read, write = os.pipe()
    voice = speaker(write)
    voice.requesting()
    voice.replay("text", "u1")
    voice.event("m1", {"type": "message_stop"})
    voice.state("idle")
    voice.lifecycle("", "queued")
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        assert pipe.read() == b""


def test_usage_is_per_turn_and_model_usage_grows() -> None:
    read, write = os.pipe()
    voice = speaker(write)
    voice.result(Usage(1, 10), subtype="success", is_error=True)
    voice.result(Usage(2, 20), subtype="success", is_error=False)
    os.close(write)
    with os.fdopen(read) as pipe:
        first, second = [json.loads(line) for line in pipe]
    assert (first["usage"]["output_tokens"], second["usage"]["output_tokens"]) == (10, 20)
    assert second["modelUsage"]["m"]["outputTokens"] == 30
    assert (first["result_index"], second["result_index"]) == (0, 1)
    assert second["total_cost_usd"] == 0
    assert not voice.session.last_failed


def test_a_host_that_left_does_not_end_us() -> None:
    read, write = os.pipe()
    os.close(read)
    voice = speaker(write)
    voice.init()
    voice.init()
    os.close(write)
