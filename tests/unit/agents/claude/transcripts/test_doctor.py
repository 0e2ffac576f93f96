from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.agents.claude.transcripts import doctor as d
from flybridge.agents.claude.wire import transcript as t
from flybridge.agents.history import Finding, worst
from flybridge.wire.lines import CutLine
from tests.harness.claude_transcripts import GOLDEN, Writer, golden, line, talk

HOME = "-home-ada-boat"


def found_in(lines: list[bytes], *, ended: bool = True, folder: str = HOME) -> list[Finding]:
    """All that is wrong, but for a last prompt without answer: many of these end with one."""
    found = d.diagnose(lines, ended=ended, folder=folder)
    return [one for one in found if one.code != "no_answer"]


def codes(lines: list[bytes], *, ended: bool = True, folder: str = HOME) -> list[str]:
    return [one.code for one in found_in(lines, ended=ended, folder=folder)]


def one(lines: list[bytes], *, ended: bool = True, folder: str = HOME) -> Finding:
    (found,) = found_in(lines, ended=ended, folder=folder)
    return found


def effects(found: Finding) -> tuple[str, str]:
    return found.effect[d.OLD], found.effect[d.NEW]


def mended(lines: list[bytes], *, ended: bool = True) -> list[bytes]:
    return list(d.repair(lines, ended=ended).lines)


def test_a_sound_transcript_has_nothing() -> None:
    assert codes(talk().lines) == []
    assert d.repair(talk().lines) == d.Repaired(lines=tuple(talk().lines))
    assert worst([]) == "harmless"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: path.stem)
def test_what_the_real_programs_wrote_is_sound_but_for_what_is_known(path: object) -> None:
    name = path.stem  # type: ignore[attr-defined]
    known = {
        "2.1.38-tools": ["parallel_calls"],
        "2.1.325-tools": ["parallel_calls"],
        "2.1.38-killed": ["no_user_line"],
        "2.1.38-agent": ["no_user_line"],
    }
    assert codes(golden(name)) == known.get(name, [])
    assert list(d.repair(golden(name)).lines) == golden(name)


def test_nothing_to_resume() -> None:
    empty = one([])
    assert (empty.code, effects(empty), empty.repair) == ("empty", ("stops", "stops"), "")
    killed = one(golden("2.1.38-killed"))
    assert (killed.code, effects(killed)) == ("no_user_line", ("stops", "stops"))


def test_a_prompt_that_was_only_queued_is_told() -> None:
    found = one([line("queue-operation", operation="enqueue", content="sail to Brest")])
    assert "'sail to Brest'" in found.text


def test_an_attachment_alone_resumes_only_the_newer_version() -> None:
    writer = Writer()
    writer.put("attachment", attachment={"type": "date"})
    assert effects(one(writer.lines)) == ("stops", "forgets")


def test_a_cut_last_line_is_left_out() -> None:
    lines = talk().lines
    cut = [*lines[:-1], lines[-1][:40]]
    found = one(cut, ended=False)
    assert (found.code, effects(found)) == ("cut_last_line", ("harmless", "harmless"))
    assert mended(cut, ended=False) == lines[:-1]


def test_a_missing_last_newline_is_added() -> None:
    found = one(talk().lines, ended=False)
    assert (found.code, effects(found)) == ("no_last_newline", ("forgets", "harmless"))
    again = d.repair(talk().lines, ended=False)
    assert again.done == ("ended the last line",)
    assert list(again.lines) == talk().lines


def test_lines_that_grew_together_are_taken_apart() -> None:
    lines = talk().lines
    glued = [*lines[:5], lines[5] + lines[6], lines[7]]
    assert codes(glued) == ["glued_lines", "missing_parent"]
    assert mended(glued) == lines


def test_a_line_nobody_can_read_is_left_out() -> None:
    lines = talk().lines
    noisy = [*lines[:4], b"@@ noise", *lines[4:]]
    found = one(noisy)
    assert (found.code, found.line, effects(found)) == ("not_json", 5, ("harmless", "harmless"))
    assert mended(noisy) == lines


def test_a_line_too_long_to_read_is_not_thrown_away() -> None:
    lines = [*talk().lines, CutLine(b'{"type":')]
    assert one(lines).repair == ""
    assert d.repair([*lines, b"noise"]) == d.Repaired(lines=(*lines, b"noise"))


def test_a_missing_parent_is_found_and_the_line_hung_on_the_one_before() -> None:
    lines = talk().lines
    torn = [*lines[:5], *lines[6:]]
    found = one(torn)
    assert (found.code, found.line, effects(found)) == (
        "missing_parent",
        6,
        ("forgets", "harmless"),
    )
    assert mended(torn) == [*torn[:5], t.with_parent(torn[5], "u4"), torn[6]]


def test_a_ring_is_opened_at_its_first_line() -> None:
    writer = talk()
    writer.lines[1] = t.with_parent(writer.lines[1], "u5")
    found = one(writer.lines)
    assert (found.code, found.line) == ("loop", 2)
    assert mended(writer.lines) == talk().lines


def test_a_line_without_message_stops_the_older_version_and_is_left_out() -> None:
    writer = Writer()
    writer.prompt("a")
    writer.put("assistant")
    writer.put("user", message={"role": "user"})
    writer.prompt("b")
    assert codes(writer.lines) == ["no_message", "no_message"]
    assert effects(d.diagnose(writer.lines)[0]) == ("stops", "harmless")
    first, second = mended(writer.lines)
    assert first == writer.lines[0]
    assert second == t.with_parent(writer.lines[3], "u1")


def test_a_repeated_line_goes_and_a_contradicting_one_stays() -> None:
    lines = talk().lines
    found = one([*lines, lines[3]])
    assert (found.code, effects(found)) == ("duplicate_uuid", ("harmless", "harmless"))
    assert mended([*lines, lines[3]]) == lines
    writer = talk()
    writer.prompt("other words", uuid="u7", parentUuid="u6")
    other = one(writer.lines)
    assert (effects(other), other.repair) == (("forgets", "forgets"), "")
    assert mended(writer.lines) == writer.lines


def test_a_call_without_result_is_told_and_nothing_is_made_up() -> None:
    writer = talk()
    writer.call("toolu_9")
    found = one(writer.lines)
    assert (found.code, effects(found), found.repair) == (
        "open_call",
        ("forgets", "harmless"),
        "",
    )
    writer.prompt("hello?")
    assert effects(one(writer.lines)) == ("forgets", "forgets")
    assert mended(writer.lines) == writer.lines


def test_a_result_without_call_is_told() -> None:
    writer = talk()
    writer.result("toolu_9")
    assert one(writer.lines).code == "result_without_call"


def test_two_ends_are_both_named() -> None:
    writer = talk()
    writer.at = "u5"
    writer.prompt("the other way")
    writer.say("Aye.")
    found = one(writer.lines)
    assert found.code == "two_ends"
    assert "goes on from u9" in found.text
    assert "u7 (2 lines, 'Ahoy.')" in found.text
    assert found.repair == ""


def test_a_clock_that_went_back_is_told() -> None:
    writer = talk()
    writer.say("late", timestamp="2020-01-01T00:00:00.000Z")
    found = one(writer.lines)
    assert (found.code, effects(found)) == ("clock", ("forgets", "harmless"))


def test_a_transcript_in_the_wrong_folder_stops_the_older_version() -> None:
    found = one(talk().lines, folder="-home-bob")
    assert (found.code, effects(found)) == ("wrong_folder", ("stops", "harmless"))
    assert "/home/ada/boat" in found.text


def test_a_conversation_that_moved_on_is_in_the_folder_where_it_began() -> None:
    writer = talk()
    writer.prompt("now here", cwd="/elsewhere")
    assert codes(writer.lines) == []


def test_a_last_prompt_without_answer_is_told() -> None:
    writer = talk()
    writer.prompt("are you there?")
    (found,) = d.diagnose(writer.lines, folder=HOME)
    assert (found.code, found.repair) == ("no_answer", "")
    assert "'are you there?'" in found.text
    assert effects(found) == ("harmless", "harmless")


@pytest.mark.parametrize("name", ["2.1.38-interrupted", "2.1.325-steered", "2.1.38-tools"])
def test_a_turn_that_ended_was_answered(name: str) -> None:
    assert "no_answer" not in [one.code for one in d.diagnose(golden(name), folder="")]


def test_one_in_use_is_told() -> None:
    (found,) = d.in_use([7, 8])
    assert (found.code, found.repair) == ("in_use", "")
    assert "process 7, 8" in found.text
    assert d.in_use([]) == []


def test_the_worst_comes_first_and_can_be_asked_for_by_version() -> None:
    writer = talk()
    writer.put("assistant")
    found = d.diagnose([*writer.lines, b"noise"], folder=HOME)
    assert [one.code for one in found] == ["no_message", "not_json"]
    assert (worst(found), worst(found, d.NEW)) == ("stops", "harmless")


@given(st.integers(0, 10_000), st.booleans())
def test_repairing_heals_whatever_can_be_and_only_once(seed: int, ended: bool) -> None:
    rng = random.Random(seed)
    writer = Writer()
    for number in range(rng.randint(0, 12)):
        writer.at = rng.choice([writer.at, f"u{rng.randint(1, 14)}", None])
        makers: list[Callable[[str], str]] = [writer.prompt, writer.say, writer.call, writer.result]
        rng.choice(makers)(f"w{number}") if rng.random() < 0.9 else writer.put("user")
    lines = list(writer.lines)
    for _ in range(rng.randint(0, 4)):
        at = rng.randint(0, len(lines))
        noise = rng.choice([b"noise", b'{"type":', lines[at - 1] if lines else b"x"])
        lines.insert(at, noise if rng.random() < 0.7 or not lines else lines[at - 1] + noise)
    healed = d.repair(lines, ended=ended).lines
    assert not [one for one in d.diagnose(healed) if one.repair]
    assert d.repair(healed) == d.Repaired(lines=healed)
    words = {said for raw in lines for said in said_in(raw)}
    assert {said for raw in healed for said in said_in(raw)} >= words


def said_in(raw: bytes) -> list[str]:
    node = t.read_line(raw)
    return [said for _, said in t.texts(node)] if isinstance(node, t.Node) else []
