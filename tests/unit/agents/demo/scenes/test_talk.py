from __future__ import annotations

from flybridge.agents.demo.scenes.talk import FLOOD, SHOWCASE
from tests.harness.agent_host import Host, kind, shapes, spoken


def test_the_showcase_has_what_a_front_end_must_show() -> None:
    for mark in ("# ", "- ", "1. ", "> ", "|:--", "```python", "```javascript", "**", "---"):
        assert mark in SHOWCASE
    with Host() as host:
        assert spoken(host.turn("markdown")) == SHOWCASE


def test_a_hidden_thought_is_a_block_without_words() -> None:
    with Host() as host:
        messages = host.turn("hidden")
    (hidden,) = [m for m in messages if shapes([m]) == ["assistant/redacted_thinking"]]
    assert set(hidden["message"]["content"][0]) == {"type", "data"}


def test_the_long_answer_is_long() -> None:
    with Host() as host:
        assert 500 < len(spoken(host.turn("long")).split()) < 800


def test_a_flood_is_a_message_for_every_letter() -> None:
    with Host() as host:
        messages = host.turn("flood")
    deltas = [
        m["event"]["delta"]["text"]
        for m in messages
        if m["type"] == "stream_event" and m["event"]["type"] == "content_block_delta"
    ]
    letters = [one for one in deltas if len(one) == 1]
    assert len(letters) == FLOOD
    assert "".join(letters) in spoken(messages)


def test_a_flood_can_be_interrupted() -> None:
    with Host() as host:
        host.prompt("flood")
        host.until(lambda m: m.get("event", {}).get("delta", {}).get("text") == "7")
        host.request("interrupt")
        end = host.until(kind("result"))[-1]
    assert end["terminal_reason"] in ("aborted_streaming", "completed")


def test_counting_can_be_stopped() -> None:
    with Host(speed="20") as host:
        host.prompt("count")
        host.until(kind("text_delta"))
        host.request("interrupt")
        messages = host.until(kind("result"))
    assert messages[-1]["terminal_reason"] == "aborted_streaming"
    assert "Nobody stopped me" not in spoken(messages)


def test_thinking_can_be_about_something() -> None:
    with Host() as host:
        messages = host.turn("think about knots")
    thought = next(m for m in messages if shapes([m]) == ["assistant/thinking"])
    assert "about knots" in thought["message"]["content"][0]["thinking"]
