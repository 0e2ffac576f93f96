from __future__ import annotations

import json

import pytest
from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.convert import words as t
from flybridge.agents.claude.wire import messages as w
from flybridge.errors import NotSupportedError
from flybridge.model.content import Document, Image, Text
from tests.harness.claude_cli import (
    block_start,
    event,
    hear,
    line,
    message_start,
    response,
    user,
)
from tests.harness.claude_recordings import attached


def quiet_delta(kind: str) -> bytes:
    return event({"type": "content_block_delta", "index": 0, "delta": {"type": kind}})


NOISE = {
    ("keep_alive", ""): line(type="keep_alive"),
    ("system", "thinking_tokens"): line(type="system", subtype="thinking_tokens"),
    ("system", "session_state_changed"): line(
        type="system", subtype="session_state_changed", state="idle"
    ),
    ("system", "session_title_changed"): line(type="system", subtype="session_title_changed"),
    ("system", "control_request_progress"): line(
        type="system", subtype="control_request_progress", request_id="r"
    ),
    ("system", "hook_started"): line(type="system", subtype="hook_started", hook_name="Stop"),
    ("system", "hook_progress"): line(type="system", subtype="hook_progress", stdout="x"),
    ("system", "task_progress"): line(type="system", subtype="task_progress", task_id="t"),
    ("system", "task_updated"): line(type="system", subtype="task_updated", task_id="t"),
    ("system", "background_tasks_changed"): line(
        type="system", subtype="background_tasks_changed", tasks=[]
    ),
    ("active_goal", ""): line(type="active_goal", value=None),
    ("autocompact_state", ""): line(type="autocompact_state", value={"enabled": True}),
    ("prompt_suggestion", ""): line(type="prompt_suggestion", suggestion="Hoist it."),
    ("transcript_mirror", ""): line(type="transcript_mirror", filePath="/f", entries=[]),
    ("stream_event", "ping"): event({"type": "ping"}),
    ("stream_event", "message_stop"): event({"type": "message_stop"}),
    ("delta", "signature_delta"): quiet_delta("signature_delta"),
    ("delta", "citations_delta"): quiet_delta("citations_delta"),
    ("delta", "text_delta"): quiet_delta("text_delta"),
    ("delta", "thinking_delta"): quiet_delta("thinking_delta"),
    ("delta", "input_json_delta"): quiet_delta("input_json_delta"),
    ("command_lifecycle", "queued"): line(
        type="command_lifecycle", command_uuid="u", state="queued"
    ),
    ("command_lifecycle", "completed"): line(
        type="command_lifecycle", command_uuid="u", state="completed"
    ),
    ("status", "requesting"): line(type="system", subtype="status", status="requesting"),
    ("user", "replay"): user("hi", isReplay=True, uuid="u"),
    ("user", "interrupted"): user([{"type": "text", "text": "[Request interrupted by user]"}]),
    ("user", "subagent prompt"): user("do it", parent_tool_use_id="agent"),
    ("control_response", "again"): response("fb-kit-1"),
}


@pytest.mark.parametrize("kind", list(t.NOISE), ids=str)
def test_noise_is_listed_and_makes_no_facts(kind: tuple[str, str]) -> None:
    driver = attached()
    hear(driver, message_start(), block_start({"type": "text", "text": ""}))
    assert hear(driver, NOISE[kind]) == []


def test_everything_else_is_kept() -> None:
    driver = attached()
    hear(driver, message_start(), block_start({"type": "text", "text": ""}))
    for said in (
        quiet_delta("hologram_delta"),
        line(type="hologram"),
        line(type="system", subtype="hologram"),
        event({"type": "hologram"}),
        user("made up"),
        b"noise on stdout",
    ):
        (fact,) = hear(driver, said)
        assert getattr(fact, "text", "") == said.decode()


def test_content_becomes_the_apis_blocks() -> None:
    content = (
        Text("hi"),
        Image(media_type="image/png", data="QUJD"),
        Document(media_type="application/pdf", data="QUJD", title="t"),
        Document(media_type="application/pdf", data="QUJD"),
    )
    text, image, titled, untitled = t.to_blocks(content)
    assert text == w.TextBlock("hi")
    assert isinstance(image, w.ImageBlock)
    assert image.source == w.Source(type="base64", media_type="image/png", data="QUJD")
    assert isinstance(titled, w.DocumentBlock)
    assert isinstance(untitled, w.DocumentBlock)
    assert (titled.title, untitled.title) == ("t", UNSET)


def test_a_picture_without_its_bytes_cannot_be_sent() -> None:
    with pytest.raises(NotSupportedError):
        t.to_blocks((Image(media_type="image/png", blob="abc"),))


def test_the_window_is_our_models_or_the_biggest() -> None:
    usage = Raw(b'{"a":{"contextWindow":200},"b":{"contextWindow":1000},"c":{}}')
    assert t.window_of(usage, "a") == 200
    assert t.window_of(usage, "z") == 1000
    assert t.window_of(UNSET, "a") == 0
    assert t.window_of(Raw(b"{}"), "a") == 0


@pytest.mark.parametrize(
    ("meta", "rejected"),
    [
        (b'[{"id":"t1","permission_decision":{"decision":"reject"}}]', True),
        (b'[{"id":"t1","permission_decision":{"decision":"accept"}}]', False),
        (b'[{"id":"t2","permission_decision":{"decision":"reject"}}]', False),
        (b'[{"id":"t1"},7]', False),
        (b'"x"', False),
    ],
)
def test_whether_the_cli_says_that_a_call_was_rejected(meta: bytes, rejected: bool) -> None:
    assert t.was_rejected(Raw(meta), "t1") is rejected


def test_a_line_is_read_as_it_was_understood() -> None:
    assert t.readable(b'{"a":1}') == b'{"a":1}'
    assert json.loads(t.readable(b'{"a":"\\ud83d"}')) == {"a": "\ufffd"}
    assert t.readable(b"noise") == b"{}"
