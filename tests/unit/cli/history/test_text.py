from __future__ import annotations

import pytest

from flybridge.agents.history import (
    ConversationText,
    Finding,
    FoundPlace,
    FoundPlaces,
    KeptConversation,
    Piece,
    Summary,
)
from flybridge.cli.history import text as tt

SESSION = "11111111-1111-4111-8111-111111111111"


def kept(
    *, title: str = "", prompt: str = "", cwd: str = "", model: str = "", problem: str = ""
) -> KeptConversation:
    return KeptConversation(
        conversation=SESSION,
        title=title,
        prompt=prompt,
        cwd=cwd,
        model=model,
        branch="",
        started_ms=0,
        modified_ms=1000,
        size=9,
        folder="-a",
        problem=problem,
    )


class Sheet:
    """Paper that keeps what was written on it."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str]] = []

    def write(self, text: str, style: str) -> None:
        self.rows.append((style, text))

    def line(self, text: str, style: str) -> None:
        self.rows.append((style, text))

    def gap(self) -> None:
        pass


def finding(code: str, old: str, new: str, repair: str = "") -> Finding:
    effect = {"2.1.38": old, "2.1.325": new}
    return Finding(code=code, text="It\nis.", effect=effect, repair=repair)  # type: ignore[arg-type]


def test_a_row_falls_back_on_the_prompt_and_the_folder() -> None:
    rows = [kept(prompt="hello\nthere")]
    line = tt.list_lines(rows, now_ms=61_000)[1]
    assert line.split() == ["11111111", "hello", "↵", "there", "-", "-a", "1", "min", "ago"]
    assert tt.list_lines([]) == ["no conversations"]


def test_a_row_that_cannot_be_read_shows_why() -> None:
    row = kept(problem="no room")
    assert "no room" in tt.list_lines([row])[1]
    assert tt.row_object(row)["title"] == "no room"


def test_a_table_fits_the_terminal() -> None:
    row = kept(title="t" * 90, cwd="/" + "d" * 90, model="m" * 40)
    assert all(len(line) <= 80 for line in tt.list_lines([row], width=80))


def test_an_object_of_the_list_has_everything() -> None:
    found = tt.row_object(kept(title="t"))
    assert found["session"] == SESSION
    assert (found["title"], found["folder"], found["size"]) == ("t", "-a", 9)


def test_a_search_says_how_far_it_looked() -> None:
    place = FoundPlace(
        conversation=SESSION, uuid="u", at="2026-01-01T", who="user", excerpt="x\x1by"
    )
    found = FoundPlaces(places=[place], files=2, skipped=1, stopped="9 bytes were read")
    assert tt.place_lines(found) == [
        "11111111  2026-01-01  user: x^[y",
        "1 lines or files could not be looked into",
        "there may be more: stopped after 9 bytes were read",
    ]
    assert tt.place_object(place)["who"] == "user"


@pytest.mark.parametrize(
    ("piece", "row"),
    [
        (Piece(kind="prompt", text="p"), ("input", "p")),
        (Piece(kind="steering", text="p"), ("input", "p")),
        (Piece(kind="text", text="t"), ("text", "t")),
        (Piece(kind="thinking", text="t"), ("thinking", "t")),
        (Piece(kind="thinking"), ("thinking", "(hidden)")),
        (Piece(kind="call", name="Bash"), ("tool", "Bash ")),
        (Piece(kind="result", text="a\nb\nc\nd"), ("result", "a\n… 3 more lines")),
        (Piece(kind="result", text="no", failed=True), ("failed", "no")),
        (Piece(kind="error", text="e"), ("error", "e")),
        (Piece(kind="output", text="o"), ("notice", "o")),
        (Piece(kind="note", text="n"), ("notice", "n")),
        (Piece(kind="interrupted"), ("notice", "interrupted")),
        (Piece(kind="compacted"), ("notice", "the conversation was compacted here")),
    ],
)
def test_each_kind_of_piece_has_its_look(piece: Piece, row: tuple[str, str]) -> None:
    sheet = Sheet()
    tt.write_conversation(sheet, ConversationText(about=Summary(), pieces=[piece]), lines=1)
    assert sheet.rows[1:] == [row]


def test_a_summary_is_not_told_again_and_other_ends_are_mentioned() -> None:
    sheet = Sheet()
    summary = Piece(kind="summary", text="s")
    found = ConversationText(about=Summary(title="t", cwd="/a"), pieces=[summary], branches=2)
    tt.write_conversation(sheet, found, lines=1)
    assert sheet.rows == [
        ("notice", "t · /a"),
        ("warning", "2 other ends of this conversation are not shown"),
    ]


def test_the_doctor_is_silent_about_the_sound() -> None:
    sound = tt.Examined(kept=kept())
    assert tt.examined_lines([sound]) == ["1 looked at, 0 would not resume"]


def test_the_doctor_gives_a_verdict_for_each_version() -> None:
    findings = [finding("x", "stops", "harmless", "mend it"), finding("y", "forgets", "not known")]
    sick = tt.Examined(
        kept=kept(), findings=findings, done=["this"], backup="/b", error="and\nthat"
    )
    assert tt.examined_lines([sick]) == [
        f"{SESSION}  2.1.38: does not resume, 2.1.325: not known",
        "  x: It ↵ is.",
        "    can be repaired: mend it",
        "  y: It ↵ is.",
        "  repaired: this",
        "  what it was before is in /b",
        "  and ↵ that",
        "1 looked at, 1 would not resume",
    ]
    assert tt.examined_object(sick)["effect"] == "stops"
