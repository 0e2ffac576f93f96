"""Whoever saw the same log has the same transcript, wherever it came in."""

from __future__ import annotations

from typing import TypeAlias

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from flybridge.client.items import (
    Detached,
    EventItem,
    GaugeItem,
    Item,
    PreviewItem,
    Reset,
    ViewItem,
)
from flybridge.client.transcript import Block, Prompt, Transcript
from flybridge.model import events as ev
from flybridge.model.content import Image, Text
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId, TurnId

I = ItemId("itm_1")  # noqa: E741
P = PromptId("prm_1")
K = InputKey("uid:1:r")


def event(seq: int, what: ev.Event) -> EventItem:
    return EventItem(seq, 1000 + seq, what, msgspec.json.encode(what))


def fold(*items: Item) -> Transcript:
    transcript = Transcript()
    for item in items:
        transcript.apply(item)
    return transcript


def fold_events(*events: ev.Event) -> Transcript:
    return fold(*(event(seq, one) for seq, one in enumerate(events, 1)))


# ---- previews ------------------------------------------------------------------------------------

STARTED = event(1, ev.ItemStarted(item=I, kind="text", turn=TurnId("trn_1")))


def text_after(*previews: PreviewItem) -> tuple[str, int, bool]:
    block = fold(STARTED, *previews).blocks[I]
    return block.text, block.have, block.hole


def test_a_preview_is_appended_where_the_text_ends() -> None:
    assert text_after(PreviewItem(I, 0, 2, "He"), PreviewItem(I, 2, 3, "llo")) == (
        "Hello",
        3,
        False,
    )


def test_a_preview_from_0_replaces_even_what_was_longer() -> None:
    long = PreviewItem(I, 0, 9, "a long text")
    assert text_after(long, PreviewItem(I, 0, 2, "He")) == ("He", 2, False)
    assert text_after(long, PreviewItem(I, 0, 0, "")) == ("", 0, False)


def test_an_older_preview_is_passed_over() -> None:
    have = PreviewItem(I, 0, 5, "Hello")
    assert text_after(have, PreviewItem(I, 2, 4, "ll")) == ("Hello", 5, False)
    assert text_after(have, PreviewItem(I, 2, 5, "llo")) == ("Hello", 5, False)


def test_a_preview_that_begins_later_leaves_a_hole_until_a_replacement_comes() -> None:
    have, later = PreviewItem(I, 0, 2, "He"), PreviewItem(I, 4, 5, "o")
    assert text_after(have, later) == ("He", 2, True)
    assert text_after(have, later, PreviewItem(I, 2, 3, "l")) == ("He", 2, True)
    assert text_after(have, later, PreviewItem(I, 0, 5, "Hello")) == ("Hello", 5, False)
    overlapping = PreviewItem(I, 1, 3, "el")
    assert text_after(have, overlapping) == ("He", 2, True)


def test_the_event_that_closes_an_item_has_the_last_word() -> None:
    done = event(2, ev.TextDone(item=I, text="Hello", status="partial"))
    block = fold(STARTED, PreviewItem(I, 3, 4, "x"), done, PreviewItem(I, 0, 9, "late")).blocks[I]
    expected = Block(id=I, kind="text", turn="trn_1", status="partial", text="Hello")
    assert block == expected


def test_a_preview_of_an_item_whose_beginning_was_not_seen_is_kept() -> None:
    transcript = fold(PreviewItem(I, 0, 1, "x"))
    assert transcript.blocks[I].text == "x"
    transcript.apply(event(9, ev.ThinkingDone(item=I, text="xy", parent=ItemId("itm_0"))))
    block = transcript.blocks[I]
    assert (block.kind, block.text, block.parent) == ("thinking", "xy", "itm_0")


# ---- events --------------------------------------------------------------------------------------


def test_an_event_counts_once_and_what_is_left_out_is_known() -> None:
    one, two = event(1, ev.Notice(text="a")), event(2, ev.Notice(text="b"))
    assert fold(one, two, one, two) == fold(one, two)
    turn = event(1, ev.TurnEnded(turn=TurnId("trn_1"), cost_usd=0.5))
    assert fold(turn, two, turn) == fold(turn, two)
    assert fold(one, event(5, ev.Notice(text="e"))).missing == [(2, 4)]
    assert fold(event(40, ev.Notice(text="from the middle"))).missing == []


def test_a_reset_forgets_everything() -> None:
    assert fold(STARTED, PreviewItem(I, 0, 1, "x"), Reset(3)) == Transcript(epoch=3)


def test_gauges_views_and_the_end_change_nothing() -> None:
    extra = (GaugeItem("usage", b"1"), ViewItem(1, b"{}"), Detached("x"))
    assert fold(STARTED, *extra) == fold(STARTED)


def test_turns_begin_and_end() -> None:
    running = fold_events(ev.TurnStarted(turn=TurnId("trn_1")))
    assert (running.turn, running.ended) == ("trn_1", "")
    ended = fold_events(
        ev.TurnStarted(turn=TurnId("trn_1")),
        ev.TurnEnded(turn=TurnId("trn_1"), reason="error", message="overloaded", cost_usd=0.5),
    )
    assert (ended.turn, ended.ended, ended.cost_usd) == ("", "error", 0.5)
    assert [block.text for block in ended.blocks.values()] == ["overloaded"]


def test_a_tool_shows_its_input_then_its_output_then_its_result() -> None:
    started = event(1, ev.ItemStarted(item=I, kind="tool", name="Bash"))
    typing = PreviewItem(I, 0, 3, '{"comm')
    transcript = fold(started, typing)
    assert transcript.blocks[I].text == '{"comm'
    transcript.apply(event(2, ev.ToolStarted(item=I, name="Bash", input=Raw(b'{"command":"ls"}'))))
    assert transcript.blocks[I].text == ""
    transcript.apply(PreviewItem(I, 0, 1, "a.py"))
    assert transcript.blocks[I].text == "a.py"
    transcript.apply(event(3, ev.Diff(item=I, path="a.py", patch=Raw(b"[]"))))
    transcript.apply(event(4, ev.ToolResult(item=I, text="a.py b.py", blob="ff")))
    assert transcript.blocks[I] == Block(
        id=I,
        kind="tool",
        name="Bash",
        tool="execute",
        status="ok",
        text="a.py b.py",
        blob="ff",
        input=b'{"command":"ls"}',
        diffs=[("a.py", b"[]")],
    )


def test_an_input_shows_how_far_it_has_come() -> None:
    content = (Text("look"), Image(media_type="image/png", blob="ff"))
    accepted = ev.InputAccepted(key=K, kind="message", by="uid:1", fingerprint="f", content=content)
    steps: list[tuple[ev.Event, str]] = [
        (accepted, "accepted"),
        (ev.InputDispatched(key=K, incarnation=IncarnationId("inc_1")), "dispatched"),
        (ev.InputWritten(key=K), "written"),
        (ev.InputConsumed(key=K, turn=TurnId("trn_1")), "consumed"),
        (ev.InputOutcome(key=K, outcome="done"), "done"),
    ]
    for upto in range(1, len(steps) + 1):
        block = fold_events(*(one for one, _ in steps[:upto])).blocks[K]
        assert (block.kind, block.text, block.name) == ("input", "look\n[image/png]", "uid:1")
        assert block.status == steps[upto - 1][1]
    edited = fold_events(accepted, ev.QueueChanged(key=K, content=(Text("see"),)))
    assert edited.blocks[K].text == "see"
    assert fold_events(accepted, ev.InputRefused(key=K)).blocks[K].status == "refused"


def test_answers_and_settings_are_no_blocks_of_their_own() -> None:
    answer = ev.InputAccepted(key=K, kind="answer", by="uid:1", fingerprint="f", choice="allow")
    assert fold_events(answer, ev.InputWritten(key=K)).blocks == {}


def test_prompts_are_open_until_they_are_closed() -> None:
    asked = ev.PermissionRequested(
        prompt=P, tool="Bash", input=Raw(b'{"c":1}'), digest="d", item=I, reason="writes"
    )
    question = ev.QuestionRequested(prompt=PromptId("prm_2"), questions=Raw(b"[]"), digest="e")
    transcript = fold_events(asked, question)
    assert transcript.prompts[P] == Prompt(
        id=P,
        kind="permission",
        digest="d",
        body=b'{"c":1}',
        tool="Bash",
        item=I,
        reason="writes",
        tool_kind="execute",
    )
    assert transcript.prompts["prm_2"].kind == "question"
    transcript.apply(event(3, ev.PermissionClosed(prompt=P, how="allowed")))
    transcript.apply(event(4, ev.QuestionClosed(prompt=PromptId("prm_2"), how="declined")))
    transcript.apply(event(5, ev.PermissionClosed(prompt=PromptId("prm_9"), how="expired")))
    assert transcript.prompts == {}


def test_a_call_that_was_changed_has_what_was_allowed_and_what_was_asked() -> None:
    called = ev.ToolStarted(item=I, name="Bash", input=Raw(b'{"c":1}'))
    asked = ev.PermissionRequested(prompt=P, tool="Bash", input=Raw(b'{"c":1}'), digest="d", item=I)
    closed = ev.PermissionClosed(prompt=P, how="allowed", edited=True, input=Raw(b'{"c":2}'))
    for after in (fold_events(called, asked, closed), fold_events(asked, closed, called)):
        assert (after.blocks[I].input, after.blocks[I].asked) == (b'{"c":2}', b'{"c":1}')
    for same in (ev.PermissionClosed(prompt=P, how="allowed", edited=True), called):
        block = fold_events(called, asked, same).blocks[I]
        assert (block.input, block.asked) == (b'{"c":1}', b"")
    long = ev.PermissionClosed(prompt=P, how="allowed", edited=True, blob="ff")
    assert fold_events(called, asked, long).blocks[I].input == b""


def test_the_session_and_its_settings_are_followed() -> None:
    transcript = fold_events(
        ev.SessionOpened(agent="demo", cwd="/p", title="First", model="m1", mode="ask"),
        ev.SessionChanged(archived=True),
        ev.SessionChanged(title="Second"),
        ev.AgentReady(model="m2"),
        ev.ModeChanged(mode="plan"),
        ev.ModelChanged(model="m3"),
        ev.SessionClosed(),
    )
    seen = (transcript.agent, transcript.title, transcript.model, transcript.mode)
    assert seen == ("demo", "Second", "m3", "plan")
    assert transcript.closed


@pytest.mark.parametrize(
    ("what", "name", "text"),
    [
        (ev.Notice(text="n"), "notice", "n"),
        (ev.Error(code="c", text="t"), "error", "c: t"),
        (ev.Gap(reason="keeper died"), "gap", "keeper died"),
        (ev.AlarmRaised(code="c", text="It ran."), "alarm", "c: It ran."),
        (ev.Unrecognised(source="claude", text="??"), "unrecognised", "??"),
        (ev.ContextCompacted(), "context.compacted", "done"),
        (ev.History(phase="started"), "history", "started"),
        (
            ev.AgentExited(incarnation=IncarnationId("inc_1"), why="exit", status=9),
            "agent.exited",
            "exit, status 9",
        ),
        (ev.Plan(text="first, second"), "", "first, second"),
    ],
)
def test_what_belongs_to_no_item_has_a_line_of_its_own(
    what: ev.Event, name: str, text: str
) -> None:
    [block] = fold_events(what).blocks.values()
    assert (block.name, block.text, block.status) == (name, text, "complete")


def test_what_nobody_knows_is_shown_raw_and_what_says_nothing_is_not_shown() -> None:
    [block] = fold(EventItem(1, 1, None, b'{"type":"some.day"}')).blocks.values()
    assert (block.name, block.text) == ("unknown", '{"type":"some.day"}')
    ended = ev.AgentExited(incarnation=IncarnationId("inc_1"), why="exit", asked=True)
    assert fold_events(ended, ev.Retry(attempt=1)).blocks == {}


def test_the_text_is_what_the_agent_said_at_the_top_level() -> None:
    transcript = fold_events(
        ev.TextDone(item=I, text="one"),
        ev.ThinkingDone(item=ItemId("itm_2"), text="hm"),
        ev.TextDone(item=ItemId("itm_3"), text="a subagent", parent=I),
        ev.TextDone(item=ItemId("itm_4"), text="two"),
    )
    assert transcript.text == "one\ntwo"


# ---- anywhere ------------------------------------------------------------------------------------

Delta: TypeAlias = tuple[ItemId, str]
Timeline: TypeAlias = list[ev.Event | Delta]


@st.composite
def timelines(draw: st.DrawFn) -> Timeline:
    """A valid session: items open, grow, and (mostly) close; prompts and notices in between."""
    timeline: Timeline = []
    open_items: dict[ItemId, str] = {}
    for number, (move, text) in enumerate(draw(st.lists(st.tuples(_moves, _texts), max_size=30))):
        some = ItemId(f"itm_{number}")
        if move == "notice":
            timeline.append(ev.Notice(text=text))
        elif move in ("text", "tool"):
            kind = "text" if move == "text" else "input"
            timeline.append(ev.ItemStarted(item=some, kind="tool" if move == "tool" else "text"))
            open_items[some] = kind
        elif open_items:
            item = list(open_items)[number % len(open_items)]
            if move == "delta":
                timeline.append((item, text))
            elif open_items[item] == "text":
                timeline.append(ev.TextDone(item=item, text=text))
                del open_items[item]
            elif open_items[item] == "input":
                timeline.append(ev.ToolStarted(item=item, name="Bash", input=Raw(b"{}")))
                open_items[item] = "output"
            else:
                timeline.append(ev.ToolResult(item=item, text=text))
                del open_items[item]
    return timeline


_moves = st.sampled_from(["delta"] * 6 + ["text", "tool", "next", "next", "notice"])
_texts = st.text("aé☂\n", max_size=3)


class Session:
    """What a gateway knows: the log, and the deltas of what is open."""

    def __init__(self) -> None:
        self.log: list[EventItem] = []
        self.texts: dict[str, list[str]] = {}

    def step(self, what: ev.Event | Delta) -> Item:
        if isinstance(what, tuple):
            deltas = self.texts.setdefault(what[0], [])
            deltas.append(what[1])
            return PreviewItem(what[0], len(deltas) - 1, len(deltas), what[1])
        if isinstance(what, ev.TextDone | ev.ToolStarted | ev.ToolResult):
            self.texts.pop(what.item, None)
        self.log.append(event(len(self.log) + 1, what))
        return self.log[-1]

    def attach(self, after: int) -> list[Item]:
        previews = [
            PreviewItem(item, 0, len(deltas), "".join(deltas))
            for item, deltas in self.texts.items()
        ]
        return [*self.log[after:], *previews]


def stayed(timeline: Timeline) -> Transcript:
    session = Session()
    return fold(*(session.step(what) for what in timeline))


@given(timeline=timelines(), cut=st.integers(0, 30))
def test_who_comes_in_at_any_moment_ends_with_the_same_transcript(
    timeline: Timeline, cut: int
) -> None:
    session = Session()
    for what in timeline[:cut]:
        session.step(what)
    late = fold(*session.attach(0), *(session.step(what) for what in timeline[cut:]))
    assert late == stayed(timeline)


@given(
    timeline=timelines(), lost=st.integers(0, 30), away=st.integers(0, 30), back=st.integers(0, 3)
)
def test_who_was_away_for_a_while_ends_with_the_same_transcript(
    timeline: Timeline, lost: int, away: int, back: int
) -> None:
    session, transcript = Session(), Transcript()
    for what in timeline[:lost]:
        transcript.apply(session.step(what))
    for what in timeline[lost : lost + away]:
        session.step(what)
    for item in session.attach(max(0, transcript.last_seq - back)):  # some of it once more
        transcript.apply(item)
    for what in timeline[lost + away :]:
        transcript.apply(session.step(what))
    assert transcript == stayed(timeline)


@given(timeline=timelines())
def test_merged_previews_give_the_same_text(timeline: Timeline) -> None:
    session, transcript = Session(), Transcript()
    held: dict[str, PreviewItem] = {}
    for item in [session.step(what) for what in timeline]:
        if isinstance(item, PreviewItem):
            before = held.get(item.item)
            since, text = (before.since, before.text) if before else (item.since, "")
            held[item.item] = PreviewItem(item.item, since, item.upto, text + item.text)
            continue
        for preview in held.values():  # before the event: a preview is never late
            transcript.apply(preview)
        held.clear()
        transcript.apply(item)
    for preview in held.values():
        transcript.apply(preview)
    assert transcript == stayed(timeline)


@given(timeline=timelines())
def test_losing_every_preview_changes_no_closed_item(timeline: Timeline) -> None:
    whole = stayed(timeline)
    session = Session()
    events = [item for what in timeline if isinstance(item := session.step(what), EventItem)]
    bare = fold(*events)
    assert list(bare.blocks) == list(whole.blocks)
    for block in whole.blocks.values():
        if block.status != "open":
            assert bare.blocks[block.id] == block
