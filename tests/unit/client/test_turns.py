from __future__ import annotations

from msgspec import Raw

from flybridge.client.items import EventItem
from flybridge.client.transcript import Transcript
from flybridge.client.turns import Fate, ToolCall, Turn, Turns
from flybridge.model import events as ev
from flybridge.model.ids import InputKey, ItemId, TurnId
from flybridge.model.kinds import Outcome

KEY = "uid:1:r1"


class Log:
    def __init__(self, *events: ev.Event) -> None:
        self.transcript, self.turns = Transcript(), Turns()
        self.seq = 0
        self.add(*events)

    def add(self, *events: ev.Event) -> None:
        for event in events:
            self.seq += 1
            self.transcript.apply(EventItem(self.seq, 0, event, b""))
            self.turns.apply(event)

    def turn(self, key: str = KEY, whole: dict[str, str] | None = None) -> Turn:
        return self.turns.turn(self.turns.fate(key), self.transcript, whole or {})


def accepted(key: str = KEY, attempt: int = 1) -> ev.InputAccepted:
    return ev.InputAccepted(
        key=InputKey(key), kind="message", by="uid:1", fingerprint="f", attempt=attempt
    )


def consumed(turn: str, key: str = KEY) -> ev.InputConsumed:
    return ev.InputConsumed(key=InputKey(key), turn=TurnId(turn))


def outcome(how: Outcome, key: str = KEY) -> ev.InputOutcome:
    return ev.InputOutcome(key=InputKey(key), outcome=how)


def said(item: str, text: str, turn: str = "trn_1", parent: str = "") -> list[ev.Event]:
    started = ev.ItemStarted(
        item=ItemId(item), kind="text", turn=TurnId(turn), parent=ItemId(parent)
    )
    return [started, ev.TextDone(item=ItemId(item), text=text, parent=ItemId(parent))]


def used(item: str, turn: str = "trn_1") -> list[ev.Event]:
    return [
        ev.ItemStarted(item=ItemId(item), kind="tool", turn=TurnId(turn), name="Bash"),
        ev.ToolStarted(item=ItemId(item), name="Bash", input=Raw(b'{"command":"ls"}')),
        ev.ToolResult(item=ItemId(item), text="boat"),
    ]


def ended(turn: str = "trn_1", cost: float = 0.25) -> ev.TurnEnded:
    return ev.TurnEnded(turn=TurnId(turn), cost_usd=cost, usage=Raw(b'{"tokens":7}'))


def test_a_turn_holds_what_was_said_and_done_in_it() -> None:
    log = Log(
        *said("itm_0", "before", "trn_0"),
        ended("trn_0", 9.0),
        accepted(),
        consumed("trn_1"),
        *said("itm_1", "one"),
        *used("itm_2"),
        *said("itm_3", "of a subagent", parent="itm_2"),
        *said("itm_4", "two"),
        ended(),
        outcome("done"),
        *said("itm_5", "after", "trn_2"),
    )
    assert log.turn() == Turn(
        id="trn_1",
        text="one\ntwo",
        outcome="done",
        reason="done",
        calls=(ToolCall(name="Bash", input={"command": "ls"}, status="ok", output="boat"),),
        cost_usd=0.25,
        usage={"tokens": 7},
    )
    assert log.turn().ok


def test_an_input_that_was_not_told_its_turn_belongs_to_the_one_that_ended_with_it() -> None:
    log = Log(ended("trn_0"), accepted(), consumed(""), *said("i", "hi"), ended(), outcome("done"))
    assert log.turn().text == "hi"
    lost = Log(ended("trn_0"), accepted(), consumed(""), outcome("observed"))
    assert lost.turn() == Turn(id="", text="", outcome="observed")
    assert not lost.turn().ok


def test_a_second_attempt_begins_anew() -> None:
    log = Log(accepted(), outcome("not_delivered"))
    assert log.turns.fate(KEY) == Fate(attempt=1, outcome="not_delivered")
    assert log.turns.attempts("r1").attempt == 1
    log.add(accepted(attempt=2))
    assert log.turns.fate(KEY) == Fate(attempt=2)


def test_what_nobody_knows_of_is_empty() -> None:
    assert Turns().fate("k") == Fate()
    assert Log(accepted()).turns.attempts("other") == Fate()
    log = Log(consumed("trn_1"), outcome("done"))  # of something said before we came
    assert log.turns.fate(KEY) == Fate()


def test_a_turn_that_ended_badly_says_so() -> None:
    bad = ev.TurnEnded(turn=TurnId("trn_1"), reason="error", message="no key")
    log = Log(accepted(), consumed("trn_1"), bad, outcome("done"))
    assert (log.turn().ok, log.turn().message) == (False, "no key")


def test_a_text_too_long_for_the_log_is_whole() -> None:
    long = ev.TextDone(item=ItemId("i"), text="head", blob="b1")
    log = Log(accepted(), consumed("trn_1"), *said("i", "")[:1], long, ended(), outcome("done"))
    fate = log.turns.fate(KEY)
    assert log.turns.long_texts(fate, log.transcript) == {"b1"}
    assert log.turn(whole={"b1": "head and all the rest"}).text == "head and all the rest"


def test_an_input_that_cannot_be_read_is_none() -> None:
    broken = ev.ToolStarted(item=ItemId("i"), name="X", input=Raw(b"{"))
    start = ev.ItemStarted(item=ItemId("i"), kind="tool", turn=TurnId("trn_1"))
    log = Log(accepted(), consumed("trn_1"), start, broken, ended(), outcome("done"))
    assert log.turn().calls[0].input is None
