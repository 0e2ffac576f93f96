from __future__ import annotations

from pathlib import Path

import pytest

from flybridge.agents.claude import history as claude_history
from flybridge.agents.claude.history import ClaudeHistory
from flybridge.agents.claude.search import Found, needle_of, search
from flybridge.errors import InvalidRequestError
from tests.harness.claude_transcripts import Writer, golden
from tests.unit.agents.claude.test_history import ONE, TWO, write


@pytest.fixture
def past(tmp_path: Path) -> ClaudeHistory:
    return ClaudeHistory(tmp_path / "claude")


def put(past: ClaudeHistory, session: str, writer: Writer, at: int = 1000) -> None:
    write(past, session, b"".join(line + b"\n" for line in writer.lines), at=at)


def look(past: ClaudeHistory, words: str, **more: int) -> Found:
    return search(past, past.newest(), words, **more)


def found(past: ClaudeHistory, words: str) -> list[tuple[str, str]]:
    return [(hit.who, hit.excerpt) for hit in look(past, words).hits]


def test_words_are_found_whoever_said_them(past: ClaudeHistory) -> None:
    writer = Writer()
    writer.prompt("Where is the Anchor?")
    writer.agent({"type": "thinking", "thinking": "an anchor is heavy"})
    writer.call("t", "find . -name anchor")
    writer.result("t", "./bow/anchor")
    writer.say("The anchor is at the bow.")
    put(past, ONE, writer)
    hits = look(past, "ANCHOR", per_session=9).hits
    assert [hit.who for hit in hits] == ["user", "thinking", "tool", "result", "assistant"]
    assert hits[0].excerpt == "Where is the Anchor?"
    assert (hits[0].uuid, hits[0].at[:10]) == ("u1", "2026-01-01")


@pytest.mark.parametrize(
    "words",
    ['say "ahoy"', "back\\slash", "two lines", "ÄNDERUNG", "änderung", "日本", "a/b", "ß und"],
)
def test_words_are_found_however_json_writes_them(past: ClaudeHistory, words: str) -> None:
    writer = Writer()
    writer.prompt('Say "Ahoy" to back\\slash, two lines, Änderung, 日本, a/b, ß und s')
    put(past, ONE, writer)
    assert len(found(past, words)) == 1
    assert found(past, words + "x") == []


def test_words_of_the_program_about_itself_do_not_count(past: ClaudeHistory) -> None:
    writer = Writer()
    writer.prompt("keel in a reminder", isMeta=True)
    writer.put("attachment", attachment={"type": "skill_listing", "content": "keel"})
    writer.put("keel", keel="keel")
    writer.lines.append(b'{"type":"api-request-shape","keel":"keel"}')
    writer.lines.append(b"keel, and no JSON")
    put(past, ONE, writer)
    assert found(past, "keel") == []


def test_the_newest_come_first_and_each_only_a_few_times(past: ClaudeHistory) -> None:
    for at, session in ((1000, ONE), (2000, TWO)):
        writer = Writer()
        for _ in range(9):
            writer.prompt("sail on")
        put(past, session, writer, at=at)
    hits = look(past, "sail").hits
    assert [hit.transcript.session for hit in hits] == [TWO] * 3 + [ONE] * 3


def test_it_stops_at_its_bounds_and_says_so(past: ClaudeHistory) -> None:
    writer = Writer()
    writer.prompt("sail on")
    put(past, ONE, writer)
    put(past, TWO, writer)
    assert look(past, "sail").stopped == ""
    few = look(past, "sail", max_hits=1)
    assert (len(few.hits), few.stopped) == (1, "1 places were found")
    size = past.newest()[0].size
    short = look(past, "sail", max_bytes=size)
    assert (short.files, short.bytes, short.stopped) == (1, size, f"{size} bytes were read")


def test_a_hit_in_a_line_longer_than_a_read_is_found(past: ClaudeHistory) -> None:
    writer = Writer()
    writer.prompt("x " * claude_history.CHUNK + "lighthouse")
    writer.prompt("after it, a lighthouse")
    put(past, ONE, writer)
    assert [one.excerpt[-10:] for one in look(past, "lighthouse").hits] == ["lighthouse"] * 2


def test_a_line_without_end_is_passed_over_and_counted(past: ClaudeHistory) -> None:
    writer = Writer()
    writer.prompt("buoy " * claude_history.CHUNK)
    writer.prompt("a buoy")
    writer.prompt("buoy " * claude_history.CHUNK)
    put(past, ONE, writer)
    done = look(past, "buoy", max_line=1000)
    assert [hit.excerpt for hit in done.hits] == ["a buoy"]
    assert done.skipped == 2


def test_a_last_line_without_newline_is_searched(past: ClaudeHistory) -> None:
    writer = Writer()
    writer.prompt("the mast")
    write(past, ONE, writer.lines[0])
    assert len(found(past, "mast")) == 1


def test_what_subagents_said_is_found_under_their_session(past: ClaudeHistory) -> None:
    put(past, ONE, Writer())
    folder = past.projects / "-a" / ONE / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a1.jsonl").write_bytes(b"\n".join(golden("2.1.38-agent")))
    (hit,) = look(past, "sub says three").hits
    assert (hit.transcript.session, hit.transcript.agent) == (ONE, "agent-a1")


def test_a_file_that_is_gone_is_passed_over(past: ClaudeHistory) -> None:
    put(past, ONE, Writer())
    (gone,) = past.newest()
    past.path(gone).unlink()
    assert search(past, [gone], "x").skipped == 1


def test_nothing_cannot_be_looked_for(past: ClaudeHistory) -> None:
    with pytest.raises(InvalidRequestError):
        look(past, "  ")


def test_the_needle_is_what_no_writer_escapes() -> None:
    assert needle_of('straße "x"') == b'e \\"x\\"'
    assert needle_of("日本") == b""
