from __future__ import annotations

import base64
import struct

from tests.harness.agent_host import Host, kind, shapes, spoken
from tests.harness.line_process import Json

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 3, 2)


def picture(text: str) -> Json:
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}
    blocks = [{"type": "text", "text": text}, {"type": "image", "source": source}]
    return {"type": "user", "message": {"role": "user", "content": blocks}}


def test_local_commands_have_their_own_envelope() -> None:
    with Host() as host:
        host.turn("hello")
        for command in ("/cost", "/context"):
            messages = host.turn(command)
            assert shapes(messages) == ["system/init", "assistant/text", "result"]
            _, said, result = messages
            assert said["message"]["model"] == "<synthetic>"
            assert spoken(messages) == result["result"] != ""
            assert said["local_command_source"].startswith("<local-command-stdout>")
            assert (result["num_turns"], result["stop_reason"]) == (0, None)
            assert result["local_command"] == command[1:]
            assert "terminal_reason" not in result


def test_the_context_fills_and_is_told() -> None:
    with Host() as host:
        host.turn("long")
        usage = host.turn("/context")[1]["context_usage"]
        assert 500 < usage["total_tokens"] < 900
        started = next(m for m in host.turn("think") if shapes([m]) == ["message_start"])
    cached = started["event"]["message"]["usage"]["cache_read_input_tokens"]
    assert cached == usage["total_tokens"]


def test_compaction_makes_room() -> None:
    with Host() as host:
        host.turn("long")
        messages = host.turn("/compact keep the numbers")
        after = host.turn("/context")[1]["context_usage"]["total_tokens"]
    assert shapes(messages) == [
        "system/status",
        "system/status",
        "system/init",
        "system/compact_boundary",
        "user/text",
        "replay",
        "result",
    ]
    assert [m.get("status") for m in messages[:2]] == ["compacting", None]
    boundary = messages[3]["compact_metadata"]
    assert boundary["trigger"] == "manual"
    assert boundary["pre_tokens"] > 500 > boundary["post_tokens"] == after
    assert messages[4]["isSynthetic"] is True
    assert messages[-1]["result"] == ""


def test_clear_is_another_conversation_in_the_same_process() -> None:
    with Host() as host:
        before = host.turn("price")[-1]
        messages = host.turn("/clear")
        after = host.turn("hello")
    assert shapes(messages) == [
        "conversation_reset",
        "system/background_tasks_changed",
        "system/init",
        "result",
    ]
    assert messages[-1]["session_id"] == after[0]["session_id"] != before["session_id"]
    assert (before["total_cost_usd"], messages[-1]["total_cost_usd"]) == (0.0421, 0.0)


def test_only_one_scene_pretends_to_cost_anything() -> None:
    with Host() as host:
        assert host.turn("hello")[-1]["total_cost_usd"] == 0
        assert host.turn("price")[-1]["total_cost_usd"] == 0.0421
        assert host.turn("price")[-1]["total_cost_usd"] == 0.0842
        assert "$0.0842 (imaginary)" in spoken(host.turn("/cost"))


def test_the_settings_are_told_as_they_are_now() -> None:
    with Host() as host:
        host.ask("set_permission_mode", mode="plan")
        assert "The mode is `plan`" in spoken(host.turn("mode"))


def test_a_picture_is_looked_at_whatever_is_said_with_it() -> None:
    with Host() as host:
        assert "none came with this message" in spoken(host.turn("image"))
        for text in ("image", "what is this?"):
            host.send(picture(text))
            assert "image/png, 3 x 2 pixels, 24 bytes" in spoken(host.until(kind("result")))


def test_an_interrupted_compaction_leaves_the_context_as_it_was() -> None:
    with Host(speed="5") as host:
        host.turn("hello")
        before = host.turn("/context")[1]["context_usage"]["total_tokens"]
        host.prompt("/compact")
        host.until(kind("system/status"))
        host.request("interrupt")
        assert host.until(kind("result"))[-1]["subtype"] == "error_during_execution"
        after = host.turn("/context")[1]["context_usage"]["total_tokens"]
    assert after - before <= 1  # the command itself
