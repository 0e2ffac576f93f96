"""An old conversation in our own words, so that a resumed session can show its past."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET

from flybridge.drivers.claude.history import Conversation, Piece
from flybridge.model import events as ev
from flybridge.model.content import Text
from flybridge.model.ids import InputKey, ItemId, TurnId

BY = "past"
MAX_EVENTS = 20_000
Reason: TypeAlias = Literal["done", "interrupted", "error", "agent_exited"]
Timed: TypeAlias = tuple[int, ev.Event]


def to_events(conversation: Conversation, max_events: int = MAX_EVENTS) -> list[ev.Event]:
    """The conversation as events: whole turns, everything closed, the newest if there are many."""
    return [event for _, event in to_timed(conversation, max_events)]


def to_timed(conversation: Conversation, max_events: int = MAX_EVENTS) -> list[Timed]:
    """The same, each with the time it happened, in milliseconds."""
    teller = _Teller()
    for piece in conversation.pieces:
        teller.tell(piece)
    teller.end_turn("agent_exited" if teller.is_cut_off else "done")
    turns = [turn for turn in teller.turns if turn]
    left_out, count = 0, sum(map(len, turns))
    while count > max_events and left_out < len(turns) - 1:
        count -= len(turns[left_out])
        left_out += 1
    events = [one for turn in turns[left_out:] for one in turn]
    if left_out:
        at_ms = events[0][0]
        events.insert(0, (at_ms, ev.Notice(text=f"{left_out} earlier turns are not shown here")))
    return events


class _Open(msgspec.Struct):
    """A turn that goes on."""

    turn: TurnId
    inputs: list[InputKey] = []
    tools: dict[str, ItemId] = {}
    answered: bool = False
    reason: Reason = "done"


class _Teller:
    """Takes the pieces in their order; ``turns`` has the events of each turn."""

    def __init__(self) -> None:
        self.turns: list[list[Timed]] = [[]]
        self._open: _Open | None = None
        self._names: dict[str, int] = {}
        self._count = 0
        self._at_ms = 0

    @property
    def is_cut_off(self) -> bool:
        """Whether the last turn has no end of its own."""
        return self._open is not None and bool(self._open.tools or not self._open.answered)

    def tell(self, piece: Piece) -> None:
        self._at_ms = piece.at_ms or self._at_ms
        match piece.kind:
            case "prompt":
                self._prompt(piece)
            case "steering":
                self._steer(piece)
            case "text" | "thinking":
                self._say(piece)
            case "call":
                self._call(piece)
            case "result":
                self._return(piece)
            case "note":
                self.end_turn()
                self._turn()
                self._put(ev.Notice(text=piece.text))
            case "output":
                self._turn().answered = True
                self._put(ev.Notice(text=piece.text))
            case "compacted":
                self._put(ev.ContextCompacted(phase="done"))
            case "interrupted":
                self._turn().reason = "interrupted"
                self.end_turn()
            case "error":
                self._turn().reason = "error"
                self._turn().answered = True
                self._put(ev.Error(code="api", text=piece.text))
            case "summary":
                pass  # what it sums up stands above

    def end_turn(self, reason: Reason = "done") -> None:
        """Close the turn and everything in it; nothing happens if none is open."""
        turn = self._open
        if turn is None:
            return
        for item in turn.tools.values():
            self._put(ev.ToolResult(item=item, status="partial"))
        ended: Reason = turn.reason if turn.reason != "done" else reason
        for key in turn.inputs:
            self._put(ev.InputOutcome(key=key, outcome="done" if ended == "done" else "observed"))
        self._put(ev.TurnEnded(turn=turn.turn, reason=ended))
        self._open = None
        self.turns.append([])

    def _put(self, event: ev.Event) -> None:
        self.turns[-1].append((self._at_ms, event))

    def _turn(self) -> _Open:
        if self._open is None:
            self._count += 1
            self._open = _Open(turn=TurnId(f"past_{self._count}"))
            self._put(ev.TurnStarted(turn=self._open.turn))
        return self._open

    def _accept(self, piece: Piece) -> InputKey:
        key = InputKey(self._new(f"{BY}:{piece.uuid}"))
        content = (Text(piece.text),)
        self._put(ev.InputAccepted(key=key, kind="message", by=BY, fingerprint="", content=content))
        return key

    def _prompt(self, piece: Piece) -> None:
        self.end_turn()
        key = self._accept(piece)
        turn = self._turn()
        turn.inputs.append(key)
        self._put(ev.InputConsumed(key=key, turn=turn.turn))

    def _steer(self, piece: Piece) -> None:
        turn = self._turn()
        key = self._accept(piece)
        turn.inputs.append(key)
        self._put(ev.InputConsumed(key=key, turn=turn.turn))

    def _say(self, piece: Piece) -> None:
        turn = self._turn()
        item = self._item(f"{BY}_{piece.uuid}")
        kind: ev.ItemKind = "text" if piece.kind == "text" else "thinking"
        self._put(ev.ItemStarted(item=item, kind=kind, turn=turn.turn))
        status: ev.ItemStatus = "partial" if piece.cut else "complete"
        if kind == "text":
            turn.answered = True
            self._put(ev.TextDone(item=item, text=piece.text, status=status))
        else:
            redacted = not piece.text
            self._put(ev.ThinkingDone(item=item, text=piece.text, status=status, redacted=redacted))

    def _call(self, piece: Piece) -> None:
        turn = self._turn()
        item = self._item(piece.tool or f"{BY}_{piece.uuid}")
        turn.tools[piece.tool] = item
        turn.answered = False
        self._put(ev.ItemStarted(item=item, kind="tool", turn=turn.turn, name=piece.name))
        self._put(ev.ToolStarted(item=item, name=piece.name, input=piece.input))

    def _return(self, piece: Piece) -> None:
        turn = self._turn()
        item = turn.tools.pop(piece.tool, None)
        if item is None:
            item = self._item(piece.tool or f"{BY}_{piece.uuid}")
            self._put(ev.ItemStarted(item=item, kind="tool", turn=turn.turn))
        status: Literal["ok", "error"] = "error" if piece.failed else "ok"
        self._put(ev.ToolResult(item=item, status=status, text=piece.text, detail=UNSET))

    def _item(self, wanted: str) -> ItemId:
        return ItemId(self._new(wanted))

    def _new(self, wanted: str) -> str:
        """This name, or one like it that nothing else has."""
        number = self._names[wanted] = self._names.get(wanted, 0) + 1
        return wanted if number == 1 else self._new(f"{wanted}~{number}")
