"""The handheld in a terminal: what it draws, and the exact JSON of its buttons."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from flybridge.cli.chat.keys import Key
from flybridge.cli.companion.screen import SLOTS, Screen


def status(**fields: Any) -> bytes:
    told = {
        "type": "agent_status",
        "agent": "claude",
        "state": "idle",
        "progress": -1,
        "message": "not drawn",
        "contextPercent": 25,
        "autoEdit": False,
        "slot": 0,
        "active": True,
    }
    return msgspec.json.encode({**told, **fields})


def shown(screen: Screen, width: int = 80) -> str:
    return "\n".join(screen.rows(width))


def typed(screen: Screen, text: str) -> bytes | None:
    for char in text:
        assert screen.press(Key("char", char)) is None
    return screen.press(Key("enter"))


def test_it_draws_what_the_real_screen_draws_and_nothing_else() -> None:
    screen = Screen()
    assert "nobody is here" in shown(screen)
    screen.receive(
        status(
            state="waiting",
            promptToolType="Bash",
            promptToolDetail="rm x\nrm y",
            promptDescription="not drawn either",
            autoEdit=True,
        )
    )
    seen = shown(screen)
    for text in ("[0 claude]", "WAITING", "25%", "auto-edit on", "Bash", "rm x ↵ rm y"):
        assert text in seen
    assert "not drawn" not in seen


def test_no_row_is_wider_than_the_terminal() -> None:
    screen = Screen()
    screen.receive(status(agent="\x1b[31m" * 20, promptToolType="T", promptToolDetail="x" * 2000))
    assert "\x1b" not in shown(screen)
    for width in (20, 40, 80):
        assert all(len(row) <= max(width, 20) for row in screen.rows(width))


def test_what_does_not_fit_its_buffers_is_lost() -> None:
    screen = Screen()
    screen.receive(status(agent="é" * 40, promptToolType="t" * 99, promptToolDetail="d" * 2000))
    held = screen.slots[0]
    assert held.agent == "é" * 15
    assert len(str(held.prompt_tool_type)) == 63
    assert len(str(held.prompt_tool_detail)) == 1023


@pytest.mark.parametrize(
    ("key", "sent"),
    [
        (Key("char", "a"), b'{"type":"action","action":"yes","slot":0}'),
        (Key("char", "x"), b'{"type":"action","action":"always","slot":0}'),
        (Key("char", "b"), b'{"type":"action","action":"no","slot":0}'),
        (Key("esc"), b'{"type":"action","action":"escape","slot":0}'),
        (Key("char", "e"), b'{"type":"config","autoEdit":true}'),
        (Key("char", "s"), b'{"type":"command","command":"spawn","slot":0}'),
        (Key("char", "?"), None),
        (Key("up"), None),
    ],
)
def test_a_button_says_what_the_newest_app_says(key: Key, sent: bytes | None) -> None:
    screen = Screen()
    screen.receive(status())
    said = screen.press(key)
    told = None if said is None else msgspec.json.decode(said)
    assert told == (None if sent is None else msgspec.json.decode(sent))


def test_the_slot_that_is_shown_is_the_slot_that_is_meant() -> None:
    screen = Screen()
    screen.press(Key("right"))
    assert screen.press(Key("char", "s")) == b'{"type":"spawn_request","slot":1}'
    screen.press(Key("left"))
    screen.press(Key("left"))
    assert screen.shown == SLOTS - 1
    screen.press(Key("char", "2"))
    assert typed_in(screen, "hello") == {"type": "command", "command": "hello", "slot": 2}


def typed_in(screen: Screen, text: str) -> Any:
    screen.press(Key("char", "i"))
    said = typed(screen, text)
    return None if said is None else msgspec.json.decode(said)


def test_what_is_typed_is_a_prompt_and_no_button() -> None:
    screen = Screen()
    assert typed_in(screen, "ab") == {"type": "command", "command": "ab", "slot": 0}
    screen.press(Key("char", "i"))
    screen.press(Key("char", "a"))
    assert "> a_" in shown(screen)
    screen.press(Key("backspace"))
    screen.press(Key("other"))
    assert screen.press(Key("enter")) is None, "nothing was typed"
    screen.press(Key("char", "i"))
    assert screen.press(Key("esc")) is None
    assert screen.typing is None


def test_results_and_nonsense_are_noted() -> None:
    screen = Screen()
    for payload, note in (
        (b'{"type":"spawn_result","slot":1,"success":true}', "agent in slot 1"),
        (
            b'{"type":"spawn_result","slot":0,"success":false,"error":"No free slots"}',
            "slot 0: No free slots",
        ),
        (b"{", "a frame that is none"),
    ):
        screen.receive(payload)
        assert note in shown(screen)


@pytest.mark.parametrize("key", [Key("char", "q"), Key("ctrl-c"), Key("ctrl-d")])
def test_it_can_be_put_down(key: Key) -> None:
    screen = Screen()
    screen.press(key)
    assert screen.over
