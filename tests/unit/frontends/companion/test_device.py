"""One device: what it is shown and when, and which button counts for what."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.frontends.companion.board import Board
from flybridge.frontends.companion.device import (
    APART_MS,
    GUARD_MS,
    AutoEdit,
    DeviceAdapter,
    Ignored,
    Pressed,
    Spawn,
    Wish,
)
from flybridge.frontends.companion.slot import Slot
from flybridge.frontends.companion.wire.messages import MAX_FRAME_BYTES
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.content import Text
from flybridge.model.ids import ItemId, PromptId
from tests.unit.frontends.companion.logs import (
    BARE,
    FOLDER,
    MODE,
    RULE,
    asks,
    board_with,
    closed,
    ended,
    exited,
    outcome,
    raw,
    said,
    told,
    turn,
)


class Held:
    """A device in somebody's hand, with a clock that moves when it is told to."""

    def __init__(self, board: Board, slots: tuple[int, ...] = ()) -> None:
        self.now_ms = 10_000
        self.board = board
        self.adapter = DeviceAdapter(board, name="box", slots=frozenset(slots), prefix="dev:1")
        self.shown: list[dict[str, Any]] = []
        self.look()

    def look(self, after_ms: int = 0) -> list[dict[str, Any]]:
        """What comes in now."""
        self.now_ms += after_ms
        new = [told(one) for one in self.adapter.take(self.now_ms)]
        self.shown += new
        return new

    def happens(self, slot: Slot, *events: e.Event) -> list[dict[str, Any]]:
        for one in events:
            slot.apply(one)
        self.adapter.changed(slot.number)
        return self.look()

    def say(self, kind: str, **fields: Any) -> list[Wish]:
        return self.adapter.receive(json.dumps({"type": kind, **fields}).encode(), self.now_ms)

    def press(self, action: str, **more: Any) -> list[Wish]:
        return self.say("action", action=action, **more)


def pressed(wishes: list[Wish]) -> c.Command:
    [wish] = wishes
    assert isinstance(wish, Pressed), wish
    return wish.submit.command


def reason(wishes: list[Wish]) -> str:
    [wish] = wishes
    assert isinstance(wish, Ignored), wish
    return wish.reason


def waiting(*prompts: e.Event) -> tuple[Held, Slot]:
    board, slot = board_with(said(), turn(), *(prompts or (asks(),)))
    return Held(board), slot


# ---- what it is shown --------------------------------------------------------------------------


def test_a_device_that_comes_sees_each_slot_in_use_once_the_lowest_first() -> None:
    board, _ = board_with(number=2)
    board_with(number=0, board=board)
    _, gone = board_with(number=1, board=board)
    gone.apply(exited())
    assert [one["slot"] for one in Held(board).shown] == [0, 2]


def test_a_slot_that_is_not_for_this_device_is_not_there() -> None:
    board, _ = board_with()
    _, other = board_with(said(), turn(), asks(), number=1, board=board)
    held = Held(board, slots=(0,))
    assert [one["slot"] for one in held.shown] == [0]
    assert held.happens(other, closed()) == []
    assert "no slot" in reason(held.press("yes", slot=1))
    assert "no slot" in reason(held.press("yes", agent=other.name, slot=0))
    assert reason(held.say("spawn_request", slot=2)) == "there is no slot 2"


def test_at_most_two_statuses_come_in_a_second_and_the_last_one_is_never_lost() -> None:
    board, slot = board_with(said(), turn())
    held = Held(board)
    held.look(after_ms=APART_MS)
    times: list[int] = []
    for n in range(300):
        happened = held.happens(slot, e.TextDone(item=ItemId(f"i{n}"), text=f"text {n}"))
        times += [held.now_ms for _ in happened]
        times += [held.now_ms for _ in held.look(after_ms=10)]
    held.happens(slot, ended(), outcome())
    assert held.adapter.deadline_ms is not None
    held.look(after_ms=held.adapter.deadline_ms - held.now_ms)
    assert held.shown[-1]["state"] == "idle"
    assert held.adapter.deadline_ms is None
    assert len(times) in (6, 7), "three seconds"
    assert all(two - one >= APART_MS for one, two in itertools.pairwise(times))
    assert held.look(after_ms=3_600_000) == []


def test_what_looks_the_same_is_not_sent_again() -> None:
    board, slot = board_with()
    held = Held(board)
    assert held.happens(slot, e.ModeChanged(mode="plan")) == []
    assert held.look(after_ms=10_000) == []


def test_a_device_that_never_answers_is_sent_what_happens_an_hour_later() -> None:
    board, slot = board_with()
    held = Held(board)
    held.look(after_ms=3_600_000)
    assert held.happens(slot, said())[0]["message"] == "Processing prompt…"


def test_an_end_is_shown_to_who_knew_of_it_and_to_nobody_else() -> None:
    board, slot = board_with()
    held = Held(board)
    held.look(after_ms=APART_MS)
    assert held.happens(slot, exited())[0]["state"] == "done"
    later = Held(board)
    assert later.shown == []
    later.say("config")
    assert later.look(after_ms=APART_MS) == []


@given(st.lists(st.tuples(st.sampled_from(["Bash", "Write", "x" * 99]), st.text()), max_size=4))
def test_no_frame_is_too_large_whatever_is_asked(asked: list[tuple[str, str]]) -> None:
    huge = '\U0001f600\\"\n' * 250_000
    events = [asks(f"p{n}", tool=t, command=text or huge) for n, (t, text) in enumerate(asked)]
    board, slot = board_with(said(), turn(), *events, e.Error(code="x", text=huge))
    adapter = DeviceAdapter(board, name="box", slots=frozenset(), prefix="p")
    now_ms = 0
    for n in range(len(events) + 1):
        for payload in adapter.take(now_ms):
            assert len(payload) <= MAX_FRAME_BYTES
        slot.apply(closed(f"p{n}"))
        adapter.changed(0)
        now_ms += APART_MS


# ---- buttons -------------------------------------------------------------------------------------


def test_yes_allows_what_is_shown() -> None:
    held, _ = waiting()
    command = pressed(held.press("yes", slot=0))
    assert command == c.AnswerPermission(
        prompt=PromptId("prm_1"), digest="d-prm_1", decision="allow"
    )


def test_no_denies_in_the_name_of_the_device() -> None:
    held, _ = waiting()
    command = pressed(held.press("no"))
    assert isinstance(command, c.AnswerPermission)
    assert command.message == "Denied by user via box"


def always(*prompts: e.Event) -> Pressed:
    held, _ = waiting(*prompts)
    [wish] = held.press("always")
    assert isinstance(wish, Pressed)
    assert isinstance(wish.submit.command, c.AnswerPermission)
    assert wish.submit.command.decision == "allow"
    return wish


def test_always_takes_the_agents_rule_or_one_for_a_tool_that_reads() -> None:
    wish = always(asks(suggestions=(RULE,)))
    assert (wish.rule, wish.note) == ("", "")
    wish = always(asks(tool="WebFetch", url="https://example.org"))
    assert (wish.rule, wish.note) == ("WebFetch", "")


@pytest.mark.parametrize("tool", ["Bash", "Write", "Edit", "MultiEdit", "NotebookEdit", "Task"])
@pytest.mark.parametrize("suggestions", [(), (MODE,), (FOLDER, MODE), (7,), (BARE,)])
def test_c01_always_never_keeps_a_rule_for_all_that_a_tool_runs_or_writes(
    tool: str, suggestions: tuple[object, ...]
) -> None:
    wish = always(asks(tool=tool, suggestions=suggestions, file_path="/project/in.txt"))
    assert isinstance(wish.submit.command, c.AnswerPermission)
    assert (wish.rule, wish.submit.command.remember) == ("", ())
    assert f"No rule was kept for {tool}" in wish.note


@pytest.mark.parametrize("tool", ["WebFetch", "Read", "mcp__files__write"])
def test_c01_suggestions_that_cannot_be_kept_are_not_replaced_by_a_wider_rule(tool: str) -> None:
    wish = always(asks(tool=tool, suggestions=(MODE,), url="u"))
    assert (wish.rule, wish.note != "") == ("", True)


def test_c01_a_tool_nobody_knows_is_allowed_once() -> None:
    wish = always(asks(tool="mcp__files__write", path="/etc/passwd"))
    assert (wish.rule, wish.note != "") == ("", True)


def test_c01_that_no_rule_was_kept_is_on_the_screen_for_a_while() -> None:
    held, slot = waiting(asks(suggestions=(MODE,)))
    [wish] = held.press("always")
    assert isinstance(wish, Pressed)
    held.adapter.note(0, wish.note, held.now_ms)
    held.happens(slot, closed())
    [shown] = held.look(after_ms=APART_MS)
    assert (shown["state"], shown["promptToolType"]) == ("working", "Allowed once")
    assert "No rule was kept for Bash" in shown["promptToolDetail"]
    assert reason(held.press("yes")) == "nothing waits for an answer"
    [idle] = held.happens(slot, ended(), outcome()) or held.look(after_ms=APART_MS)
    assert (idle["state"], idle["promptToolType"]) == ("idle", "Allowed once")
    assert held.adapter.deadline_ms is not None
    [later] = held.look(after_ms=held.adapter.deadline_ms - held.now_ms)
    assert "promptToolType" not in later
    assert held.adapter.deadline_ms is None


def test_c01_the_next_prompt_takes_the_place_of_the_note() -> None:
    held, slot = waiting(asks(suggestions=(MODE,)))
    held.adapter.note(0, "a note", held.now_ms)
    held.happens(slot, closed(), asks("prm_2", command="another"))
    [shown] = held.look(after_ms=APART_MS)
    assert (shown["state"], shown["promptToolDetail"]) == ("waiting", "another")
    held.happens(slot, closed("prm_2"))
    [shown] = held.look(after_ms=APART_MS)
    assert "promptToolType" not in shown


def test_always_is_refused_where_the_text_was_cut() -> None:
    held, _ = waiting(asks(command="x" * 541))
    assert "not all of it" in reason(held.press("always"))
    assert held.look(after_ms=APART_MS)[0]["state"] == "waiting", "it is shown again"
    assert isinstance(pressed(held.press("yes")), c.AnswerPermission)


def test_a_press_with_nothing_pending_does_nothing() -> None:
    held, slot = waiting()
    held.happens(slot, closed())
    assert reason(held.press("yes")) == "nothing waits for an answer"


def test_a_prompt_that_was_never_sent_is_not_answered_but_sent() -> None:
    board, slot = board_with(said(), turn())
    held = Held(board)
    held.happens(slot, asks())  # within the same half second: it is not on the screen yet
    assert "does not show" in reason(held.press("yes"))
    assert held.look(after_ms=APART_MS)[0]["promptToolDetail"] == "rm -f zz.txt"
    assert isinstance(pressed(held.press("yes")), c.AnswerPermission)


def test_a_prompt_replaced_while_the_button_is_pressed_is_not_answered_but_sent_again() -> None:
    held, slot = waiting()
    held.look(after_ms=2000)
    [new] = held.happens(slot, closed(), asks("prm_2", command="rm -rf /"))
    assert new["promptToolDetail"] == "rm -rf /"
    assert "a moment ago" in reason(held.press("yes"))
    held.look(after_ms=GUARD_MS - 1)
    assert "a moment ago" in reason(held.press("yes"))
    again = held.look(after_ms=APART_MS)
    assert again[-1]["promptToolDetail"] == "rm -rf /"
    command = pressed(held.press("yes"))
    assert isinstance(command, c.AnswerPermission)
    assert command.prompt == "prm_2"


def test_a_second_press_does_not_hit_the_next_of_several_prompts() -> None:
    held, slot = waiting(asks("prm_1"), asks("prm_2", command="two"))
    held.look(after_ms=2000)
    assert isinstance(pressed(held.press("yes")), c.AnswerPermission)
    held.happens(slot, closed("prm_1"))
    assert "a moment ago" in reason(held.press("yes"))


def test_a_prompt_with_another_input_under_the_same_id_is_another_prompt() -> None:
    held, slot = waiting()
    slot.apply(asks("prm_1", command="another"))
    assert "does not show" in reason(held.press("yes"))


def test_a_question_cannot_be_answered_from_a_device() -> None:
    asked = e.QuestionRequested(prompt=PromptId("q"), questions=raw([]), digest="d")
    held, _ = waiting(asked)
    assert "cannot be answered" in reason(held.press("yes"))
    assert "cannot be answered" in reason(held.press("no"))


def test_escape_interrupts_the_turn_that_runs_and_nothing_else() -> None:
    held, slot = waiting()
    assert pressed(held.press("escape")) == c.Interrupt(turn=slot.turn)
    for event in (closed(), ended(), outcome()):
        slot.apply(event)
    assert reason(held.press("escape")) == "there is nothing to interrupt"


def test_the_same_press_has_the_same_name_and_a_prompt_a_new_one() -> None:
    held, _ = waiting()
    names = []
    for _n in range(2):
        [wish] = held.press("yes")
        assert isinstance(wish, Pressed)
        names.append(wish.submit.request)
    assert names[0] == names[1]
    [one], [two] = held.say("command", command="a"), held.say("command", command="a")
    assert isinstance(one, Pressed)
    assert isinstance(two, Pressed)
    assert one.submit.request != two.submit.request


# ---- the rest ------------------------------------------------------------------------------------


def test_a_command_is_a_prompt_for_the_slot_that_is_meant() -> None:
    board, _ = board_with()
    _, second = board_with(number=1, board=board)
    held = Held(board)
    [wish] = held.say("command", command=" hello ", agent=second.name, slot=0)
    assert isinstance(wish, Pressed)
    assert wish.submit.session == second.session
    assert wish.submit.command == c.SendInput(content=(Text(" hello "),))


def test_the_word_spawn_wants_an_agent_in_any_slot() -> None:
    held = Held(Board())
    assert held.say("command", command="spawn", slot=0) == [Spawn(None)]
    assert held.say("spawn_request", slot=3) == [Spawn(3)]


@pytest.mark.parametrize("slot", [4, -1, 2**40, "1", None, 1.5, True])
def test_an_agent_in_no_slot_is_refused_with_a_result(slot: object) -> None:
    held = Held(Board())
    reason(held.say("spawn_request", slot=slot))
    [result] = held.look()
    assert (result["success"], result["error"]) == (False, "Spawn failed")


def test_nobody_hears_what_is_said_to_an_empty_slot() -> None:
    held = Held(Board())
    for kind, more in (("action", {"action": "yes"}), ("command", {"command": "hello"})):
        assert reason(held.say(kind, **more)) == "nobody is in slot 0"
    assert held.look() == []


def test_switching_auto_edit_is_answered_even_if_nothing_changes() -> None:
    board, _ = board_with()
    held = Held(board)
    assert held.say("config", autoEdit=True) == [AutoEdit(True)]
    assert held.look(after_ms=APART_MS)[0]["autoEdit"] is False, "the value in force"
    assert held.say("config") == []
    assert held.look(after_ms=APART_MS)[0]["autoEdit"] is False


def test_results_come_before_statuses() -> None:
    board, _ = board_with()
    held = Held(board)
    held.look(after_ms=APART_MS)
    held.adapter.spawned(1)
    board_with(number=1, board=board)
    held.adapter.changed(1)
    assert [one["type"] for one in held.look()] == ["spawn_result", "agent_status"]


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_no_noise_is_ever_an_answer(data: bytes) -> None:
    held, _ = waiting()
    assert all(isinstance(one, Ignored) for one in held.adapter.receive(data, held.now_ms))


def test_who_is_known_need_not_say_so() -> None:
    held = Held(Board())
    assert "known" in reason(held.say("auth", token="x"))
