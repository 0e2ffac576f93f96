from __future__ import annotations

from typing import Any

import pytest

from flybridge.cli.sessions.text import age, find_session, newest_in, session_lines, status_text
from flybridge.errors import InvalidRequestError, SessionNotFoundError


def row(session: str, **more: object) -> dict[str, Any]:
    return {
        "session": session,
        "agent": "demo",
        "cwd": "/a",
        "title": "",
        "changed_ms": 1,
        "status": "idle",
        "why": "nothing",
        "archived": False,
        **more,
    }


ROWS = [row("ses_abc1"), row("ses_abd2", cwd="/b", changed_ms=5), row("ses_x", changed_ms=9)]


@pytest.mark.parametrize(
    ("given", "found"), [("ses_abc1", "ses_abc1"), ("abd", "ses_abd2"), ("ses_x", "ses_x")]
)
def test_the_first_letters_of_an_id_do(given: str, found: str) -> None:
    assert find_session(ROWS, given) == found


def test_an_ambiguous_or_unknown_id_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="ses_abc1, ses_abd2"):
        find_session(ROWS, "ab")
    for given in ("", "zzz"):
        with pytest.raises(SessionNotFoundError):
            find_session(ROWS, given)


def test_a_whole_id_is_never_ambiguous() -> None:
    assert find_session([row("ses_a"), row("ses_ab")], "ses_a") == "ses_a"


def test_the_newest_of_a_directory_is_open() -> None:
    closed = row("ses_c", changed_ms=99, status="closed")
    assert newest_in([*ROWS, closed], "/a") == "ses_x"
    with pytest.raises(InvalidRequestError, match="leave out --last"):
        newest_in(ROWS, "/nowhere")


def test_the_list_is_newest_first_and_shows_first_words_for_titles() -> None:
    lines = session_lines(ROWS, heads={"ses_x": "hello\nthere"}, now_ms=60_009)
    assert [line.split()[0] for line in lines] == ["ID", "ses_x", "ses_abd2", "ses_abc1"]
    assert "hello ↵ there" in lines[1]
    assert lines[1].endswith("1 min ago")
    assert session_lines([]) == ["no sessions"]


def test_the_status_says_what_it_waits_for() -> None:
    assert status_text(row("s", status="running", why="permission")) == "needs you: permission"
    assert status_text(row("s", status="running", why="tool")) == "running: tool"
    assert status_text(row("s", status="running", why="model")) == "running"
    assert status_text(row("s", archived=True)) == "idle, archived"


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "now"), (30_000, "30 s ago"), (7_200_000, "2 h ago"), (2 * 86_400_000, "2 d ago")],
)
def test_ages_are_rough(ms: int, text: str) -> None:
    assert age(ms) == text
