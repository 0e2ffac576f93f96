"""What became of what was said: a fold of the log, by input and by turn. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from flybridge.client.transcript import Block, Transcript
from flybridge.model import events as ev


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool the agent used: with what, and what came of it."""

    name: str
    input: Any = None
    status: str = ""
    output: str = ""
    blob: str = ""  # where all of the output is, when it is too long for the log
    parent: str = ""  # the call of the sub-agent that used it


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent did about one input.

    ``outcome`` is the input's: ``done``, or why it was not done. ``reason`` is why the turn
    ended, and empty when there was none.
    """

    id: str
    text: str
    outcome: str
    reason: str = ""
    message: str = ""  # of the agent, where it failed
    calls: tuple[ToolCall, ...] = ()
    cost_usd: float = 0.0
    usage: dict[str, Any] = {}

    @property
    def ok(self) -> bool:
        """Whether the agent had it, and came to an end by itself."""
        return self.outcome == "done" and self.reason == "done"


class Fate(msgspec.Struct):
    """How far an input has come."""

    attempt: int = 0
    turn: str = ""
    outcome: str = ""  # empty while it is under way


class Turns:
    """Begin with an empty one and :meth:`apply` every event."""

    def __init__(self) -> None:
        self._fates: dict[str, Fate] = {}
        self._ended: dict[str, ev.TurnEnded] = {}
        self._last = ""

    def apply(self, event: ev.Event) -> None:
        match event:
            case ev.InputAccepted(key=key, attempt=attempt, kind="message"):
                self._fates[key] = Fate(attempt=attempt)
                self._last = ""  # whatever turn ended before cannot be its own
            case ev.InputConsumed(key=key, turn=turn) if key in self._fates:
                self._fates[key].turn = turn
            case ev.InputOutcome(key=key, outcome=outcome) if key in self._fates:
                fate = self._fates[key]
                fate.outcome = outcome
                if outcome in ("done", "observed"):
                    fate.turn = fate.turn or self._last
            case ev.TurnEnded(turn=turn):
                self._ended[turn], self._last = event, turn
            case _:
                pass

    def fate(self, key: str) -> Fate:
        """How far it has come; all is empty where nothing is known of it."""
        return self._fates.get(key, Fate())

    def attempts(self, request: str) -> Fate:
        """The same, by the request id alone: before anybody told its key."""
        suffix = f":{request}"
        return next((f for key, f in self._fates.items() if key.endswith(suffix)), Fate())

    @staticmethod
    def long_texts(fate: Fate, transcript: Transcript) -> set[str]:
        """The blobs that hold what the agent said, where it was too long for the log."""
        said = _said(_blocks(fate, transcript))
        return {block.blob for block in said if block.blob}

    def turn(self, fate: Fate, transcript: Transcript, whole: Mapping[str, str]) -> Turn:
        """What an input led to; ``whole``: the texts of :meth:`long_texts`."""
        blocks = _blocks(fate, transcript)
        ended = self._ended.get(fate.turn)
        return Turn(
            id=fate.turn,
            text="\n".join(whole.get(one.blob, one.text) for one in _said(blocks)),
            outcome=fate.outcome,
            reason=ended.reason if ended else "",
            message=ended.message if ended else "",
            calls=tuple(_call(one) for one in blocks if one.kind == "tool"),
            cost_usd=ended.cost_usd if ended else 0.0,
            usage=_object(ended.usage) if ended and isinstance(ended.usage, Raw) else {},
        )


def _blocks(fate: Fate, transcript: Transcript) -> list[Block]:
    return [one for one in transcript.blocks.values() if fate.turn and one.turn == fate.turn]


def _said(blocks: list[Block]) -> list[Block]:
    return [one for one in blocks if one.kind == "text" and not one.parent]


def _call(block: Block) -> ToolCall:
    return ToolCall(
        name=block.name,
        input=_json(block.input),
        status=block.status,
        output=block.text,
        blob=block.blob,
        parent=block.parent,
    )


def _json(raw: bytes | Raw) -> Any:
    try:
        return msgspec.json.decode(raw) if bytes(raw) else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _object(raw: Raw) -> dict[str, Any]:
    found = _json(raw)
    return found if isinstance(found, dict) else {}
