from __future__ import annotations

import msgspec
import pytest

from flybridge.agents.claude.transcripts import conversation as h
from flybridge.agents.history import Summary
from tests.harness.claude_transcripts import SESSION, Writer, golden, line, talk


def kinds(lines: list[bytes]) -> list[str]:
    return [piece.kind for piece in h.read(lines).pieces]


def pieces(writer: Writer) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in h.read(writer.lines).pieces]


def test_a_talk_reads_as_it_went() -> None:
    found = h.read(talk().lines)
    assert [(one.kind, one.text) for one in found.pieces] == [
        ("prompt", "look around"),
        ("text", "I look."),
        ("call", ""),
        ("result", "a.txt"),
        ("text", "One file."),
        ("prompt", "thank you"),
        ("text", "Ahoy."),
    ]
    assert (found.prompts, found.calls, found.branches, found.leaf) == (2, 1, 0, "u7")
    call, result = found.pieces[2:4]
    assert (call.name, call.tool, bytes(call.input)) == ("Bash", "toolu_1", b'{"command":"ls"}')  # type: ignore[arg-type]
    assert (result.tool, result.failed) == ("toolu_1", False)


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
def test_what_both_real_programs_wrote_reads_the_same(version: str) -> None:
    found = kinds(golden(f"{version}-tools"))
    turn = ["prompt", "thinking", "text", "call", "result", "call", "result", "text"]
    calls = ["prompt", "call", "result", "call", "call", "result", "result", "text"]
    local = ["prompt", "output", "compacted", "summary", "prompt", "output"]
    assert found == turn + calls + local
    about = h.read(golden(f"{version}-tools")).about
    assert (about.cwd, about.version, about.branch) == ("/home/ada/boat", version, "master")
    assert about.prompt == "look around please"
    assert 0 < about.started_ms < about.ended_ms


def test_commands_of_the_program_itself_are_told_from_prompts() -> None:
    found = h.read(golden("2.1.38-tools")).pieces
    commands = [one.text for one in found if one.kind == "prompt"]
    assert commands == ["look around please", "and now edit", "/cost", "/compact"]
    outputs = [one.text for one in found if one.kind == "output"]
    assert outputs[0].startswith("Total cost:")
    assert outputs[1] == "Compacted"


def test_steering_and_interrupts_are_seen() -> None:
    assert kinds(golden("2.1.325-steered")) == [
        *["prompt", "call", "result", "steering", "text"],
        *["prompt", "call", "result", "interrupted"],
    ]
    assert kinds(golden("2.1.38-interrupted"))[-3:] == ["call", "result", "interrupted"]


def test_a_turn_that_no_person_began_is_a_note() -> None:
    assert kinds(golden("2.1.325-subagent")) == [
        *["prompt", "call", "result", "text"],
        *["note", "text"],
    ]
    assert kinds(golden("2.1.38-subagent")) == ["prompt", "call", "result", "text"]


def test_what_is_only_for_the_model_is_left_out() -> None:
    writer = Writer()
    writer.prompt("<system-reminder>x</system-reminder>", isMeta=True)
    writer.prompt("<local-command-caveat>x</local-command-caveat>")
    writer.put("progress", data={})
    writer.put("system", subtype="turn_duration", content="x")
    writer.agent({"type": "text", "text": h.FILLER})
    writer.put(
        "assistant",
        message={"id": "f", "model": h.SYNTHETIC, "content": [{"type": "text", "text": h.FILLER}]},
    )
    assert pieces(writer) == [("text", h.FILLER)]


def test_errors_pictures_and_what_nobody_knows_are_shown() -> None:
    writer = Writer()
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    writer.put(
        "user", message={"content": [{"type": "text", "text": "see"}, picture, {"type": "x"}]}
    )
    writer.agent({"type": "redacted_thinking", "data": "?"})
    writer.agent({"type": "of-next-year"})
    writer.say("API Error: 400", isApiErrorMessage=True)
    writer.put("system", subtype="api_error", content="overloaded")
    failed = {"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": True}
    writer.put("user", message={"content": [failed]})
    assert pieces(writer) == [
        ("prompt", "see\n[image/png]\n[x]"),
        ("thinking", ""),
        ("text", "[of-next-year]"),
        ("error", "API Error: 400"),
        ("error", "overloaded"),
        ("result", "no"),
    ]
    assert h.read(writer.lines).pieces[-1].failed


def test_long_texts_are_cut_and_say_so() -> None:
    writer = Writer()
    writer.prompt("x" * (h.TEXT_CHARS + 1))
    writer.call("t", "y" * h.INPUT_BYTES)
    prompt, call = h.read(writer.lines).pieces
    assert (len(prompt.text), prompt.cut) == (h.TEXT_CHARS, True)
    assert (call.cut, call.input) == (True, msgspec.UNSET)


def test_the_ends_of_a_file_tell_what_it_is() -> None:
    lines = talk().lines
    about = h.summarise(lines[:2], lines[-2:])
    assert about == Summary(
        session=SESSION,
        prompt="look around",
        cwd="/home/ada/boat",
        model="claude-x",
        version="2.1.38",
        branch="main",
        started_ms=1767225601000,
        ended_ms=1767225607000,
    )
    assert h.summarise(()) == Summary()


def test_the_model_is_known_before_the_first_answer() -> None:
    lines = golden("2.1.325-steered")
    assert h.summarise(lines[:6]).model == "claude-opus-5-5"
    assert h.summarise(lines[:4]).model == ""


def test_a_title_of_a_person_wins_over_any_other() -> None:
    given, made = line("custom-title", customTitle="mine"), line("ai-title", aiTitle="its")
    assert h.summarise([made]).title == "its"
    assert h.summarise([given, made]).title == "mine"
    assert h.summarise([made, given, line("custom-title", customTitle="newer")]).title == "newer"
    assert h.read([*talk().lines, given, made]).about.title == "mine"


@pytest.mark.parametrize("text", [None, "", "yesterday", "2026-99-99T00:00:00Z"])
def test_a_time_that_is_none_is_zero(text: str | None) -> None:
    assert h.millis(text) == 0


def test_an_empty_file_is_an_empty_conversation() -> None:
    found = h.read([])
    assert (found.pieces, found.leaf, found.about) == ([], "", Summary())
    assert h.read(golden("2.1.38-killed")).pieces == []
