"""An old conversation in our own words, so that a session that goes on with it shows its past."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec
from msgspec import Raw

from flybridge.agents.claude.driver.convert.tools import describe
from flybridge.agents.claude.driver.sink import Sink
from flybridge.agents.history import ConversationText, Piece, PieceKind
from flybridge.model import events as ev
from flybridge.model.content import Text
from flybridge.model.ids import InputKey, ItemId, TurnId
from flybridge.model.kinds import ItemKind
from flybridge.session.ports import BLOB_BYTES, Past

BY = "past"
MAX_EVENTS = 4000
MAX_BYTES = 2 << 20  # in the log; longer texts are blobs
NOTE_CHARS = 8000
LONG_CHARS = BLOB_BYTES // 4  # of a prompt
EVENT_BYTES = 150  # of an event without its text
Reason: TypeAlias = Literal["done", "interrupted", "error", "agent_exited"]
Timed: TypeAlias = tuple[int, ev.Event]
_BEGIN: frozenset[PieceKind] = frozenset({"prompt", "note"})  # a turn
_EVENTS: dict[PieceKind, int] = {  # that a piece becomes, at most, with the ends of what it begins
    "prompt": 5,
    "steering": 5,
    "text": 2,
    "thinking": 2,
    "call": 3,
    "result": 2,
    "output": 1,
    "summary": 0,
    "compacted": 1,
    "interrupted": 4,
    "error": 1,
    "note": 3,
}
_FRAME = 10  # both ends of the history, a notice, and the prompt of a turn that is cut


def to_past(
    conversation: ConversationText,
    name: str,
    *,
    source: str = "",
    unread_bytes: int = 0,
    max_events: int = MAX_EVENTS,
    max_bytes: int = MAX_BYTES,
) -> Past:
    """The conversation with this id as events: everything closed, the newest if there are many.

    ``source`` is the file it comes from; so much at its beginning was not even read.
    """
    pieces = conversation.pieces
    start = _start(pieces, max_events - _FRAME, max_bytes)
    teller = _Teller()
    for piece in [*_opening(pieces, start), *pieces[start:]]:
        teller.tell(piece)
    teller.end_turn("agent_exited" if teller.is_cut_off else "done")
    left_out = sum(one.kind in _BEGIN for one in pieces[:start])
    began = ev.History(
        phase="started", conversation=name, source=source, turns=teller.count, left_out=left_out
    )
    said = _left_out(left_out, unread_bytes, bool(start), source)
    return Past(
        conversation=name,
        cwd=conversation.about.cwd,
        title=conversation.about.title,
        events=(
            (0, began),
            *[(0, one) for one in said],
            *teller.events,
            (0, msgspec.structs.replace(began, phase="done")),
        ),
        blobs=teller.blobs(),
    )


def _start(pieces: Sequence[Piece], max_events: int, max_bytes: int) -> int:
    """Where to begin, so that the rest is not too much: with a turn, if one begins there."""
    at = len(pieces)
    while at:
        count = _EVENTS[pieces[at - 1].kind]
        max_events -= count
        max_bytes -= count * EVENT_BYTES + _size(pieces[at - 1])
        if min(max_events, max_bytes) < 0:
            break
        at -= 1
    if not at:
        return 0
    turns = (n for n in range(at, len(pieces)) if pieces[n].kind in _BEGIN)
    return next(turns, at)


def _opening(pieces: Sequence[Piece], start: int) -> list[Piece]:
    """What began the turn that is shown from its middle on."""
    if not start or start == len(pieces) or pieces[start].kind in _BEGIN:
        return []
    return [one for one in reversed(pieces[:start]) if one.kind == "prompt"][:1]


def _size(piece: Piece) -> int:
    """How much of it will stand in the log; of what is too long only the beginning does."""
    given = len(bytes(piece.input)) if isinstance(piece.input, Raw) else 0
    sizes = (len(msgspec.json.encode(piece.text)), given)
    return sum(size if size <= BLOB_BYTES else LONG_CHARS for size in sizes)


def _left_out(turns: int, unread_bytes: int, is_cut: bool, source: str) -> list[ev.Notice]:
    if not (is_cut or unread_bytes):
        return []
    what = f"{turns} earlier turns" if turns else "what was said earlier"
    if unread_bytes:
        what = f"the first {unread_bytes / 1e6:.0f} MB" + (f" and {what}" if turns else "")
    where = f"; all of it is in {source}" if source else ""
    return [ev.Notice(text=f"not shown here: {what}{where}")]


class _Open(msgspec.Struct):
    """A turn that goes on."""

    turn: TurnId
    inputs: list[InputKey] = []
    tools: dict[str, ItemId] = {}
    answered: bool = False
    reason: Reason = "done"


class _Teller:
    """Takes the pieces in their order. Texts too long for the log become blobs, as live ones do."""

    def __init__(self) -> None:
        self.events: list[Timed] = []
        self.count = 0  # of turns
        self._open: _Open | None = None
        self._names: dict[str, int] = {}
        self._at_ms = 0
        self._sink = Sink()

    def blobs(self) -> dict[str, bytes]:
        return self._sink.take().blobs

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
                self._put(ev.Notice(text=_short(piece.text, NOTE_CHARS)))
            case "output":
                self._turn().answered = True
                self._put(ev.Notice(text=_short(piece.text, NOTE_CHARS)))
            case "compacted":
                self._put(ev.ContextCompacted(phase="done"))
            case "interrupted":
                self._turn().reason = "interrupted"
                self.end_turn()
            case "error":
                self._turn().reason = "error"
                self._turn().answered = True
                self._put(ev.Error(code="api", text=_short(piece.text, NOTE_CHARS)))
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

    def _put(self, event: ev.Event) -> None:
        self.events.append((self._at_ms, event))

    def _turn(self) -> _Open:
        if self._open is None:
            self.count += 1
            self._open = _Open(turn=TurnId(f"past_{self.count}"))
            self._put(ev.TurnStarted(turn=self._open.turn))
        return self._open

    def _accept(self, piece: Piece) -> InputKey:
        key = InputKey(self._new(f"{BY}:{piece.uuid}"))
        content = (Text(_short(piece.text, LONG_CHARS)),)
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
        kind: ItemKind = "text" if piece.kind == "text" else "thinking"
        self._put(ev.ItemStarted(item=item, kind=kind, turn=turn.turn))
        text, blob = self._sink.text(piece.text)
        if kind == "text":
            turn.answered = True
            self._put(ev.TextDone(item=item, text=text, blob=blob))
        else:
            self._put(ev.ThinkingDone(item=item, text=text, redacted=not text, blob=blob))

    def _call(self, piece: Piece) -> None:
        turn = self._turn()
        if again := turn.tools.pop(piece.tool, None):
            self._put(ev.ToolResult(item=again, status="partial"))
        item = self._item(piece.tool or f"{BY}_{piece.uuid}")
        turn.tools[piece.tool] = item
        turn.answered = False
        self._put(ev.ItemStarted(item=item, kind="tool", turn=turn.turn, name=piece.name))
        kind, subject = describe(piece.name, piece.input)
        given, blob = self._sink.body(piece.input)
        self._put(
            ev.ToolStarted(
                item=item, name=piece.name, input=given, blob=blob, kind=kind, subject=subject
            )
        )

    def _return(self, piece: Piece) -> None:
        turn = self._turn()
        item = turn.tools.pop(piece.tool, None)
        if item is None:
            item = self._item(piece.tool or f"{BY}_{piece.uuid}")
            self._put(ev.ItemStarted(item=item, kind="tool", turn=turn.turn))
        status: Literal["ok", "error"] = "error" if piece.failed else "ok"
        text, blob = self._sink.text(piece.text)
        self._put(ev.ToolResult(item=item, status=status, text=text, blob=blob))

    def _item(self, wanted: str) -> ItemId:
        return ItemId(self._new(wanted))

    def _new(self, wanted: str) -> str:
        """This name, or one like it that nothing else has."""
        number = self._names[wanted] = self._names.get(wanted, 0) + 1
        return wanted if number == 1 else self._new(f"{wanted}~{number}")


def _short(text: str, chars: int) -> str:
    more = len(text) - chars
    return text if more <= 0 else f"{text[:chars]} … and {more} more characters"
