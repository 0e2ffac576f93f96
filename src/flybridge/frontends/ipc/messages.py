"""What the agent says and does, as messages: streamed, whole, and closed with its turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.frontends.ipc.bodies import Blobs, fields, text, whole_detail, whole_text
from flybridge.frontends.ipc.metadata import About
from flybridge.frontends.ipc.numbers import Growing, Message, Numbers, Turn
from flybridge.frontends.ipc.wire import messages as w
from flybridge.model import events as ev

REDACTED = "[redacted thinking]"
COMMAND = "command"  # the name of a text that a slash command printed
DIED = "The agent ended unexpectedly"
_ERROR = ("<tool_use_error>", "</tool_use_error>")
_IMAGE = "[image]"
_ZERO, _NOTHING = Raw(b"0"), Raw(b"{}")
Write = Callable[[w.Outbound], None]


class Speech:
    """One turn at a time. ``numbers`` and ``new_id`` name what nobody here asked for."""

    def __init__(
        self, write: Write, about: About, numbers: Numbers, new_id: Callable[[], str]
    ) -> None:
        self._write = write
        self._about = about
        self._numbers = numbers
        self._new_id = new_id
        self.turn: Turn | None = None
        self._last: Message | None = None  # of the turn before
        self.open: dict[str, Growing] = {}
        self.tools: dict[str, str] = {}  # calls that run → the tool's name

    # ---- turns ---------------------------------------------------------------------------------

    def begin(self, message: Message | None) -> Turn:
        """A turn begins, for this message or for nobody's."""
        if message is None:
            message = Message(self._new_id(), self._numbers.draw())
        self.turn = Turn(message)
        return self.turn

    def introduce(self) -> None:
        """The agent's metadata, once a turn and before anything else of it."""
        turn = self.turn
        if turn is not None and not turn.introduced:
            turn.introduced = True
            self._write(self._about.message())

    def _in_turn(self) -> Turn:
        turn = self.turn or self.begin(None)
        self.introduce()
        turn.spoke = True
        return turn

    def _owner(self, parent: str) -> Message:
        """Whose message this is: a sub-agent may go on when the turn that began it is over."""
        if parent and self.turn is None and self._last is not None:
            return self._last
        return self._in_turn().message

    def end(self, event: ev.TurnEnded, *, stopped: bool, asked: bool = False) -> None:
        """Write the end of the turn. ``stopped``: after an interrupt."""
        turn = self.turn or self.begin(None)
        result = fields(event.detail)
        self.introduce()
        if event.reason == "done" and event.message and not turn.texts:
            self.printed(event.message)
        if event.reason == "error" and not turn.failed and not stopped:
            self.fail(event.message or "The turn failed")
        if event.reason != "agent_exited":
            self._write(_cost(result))
        elif not turn.failed and not asked and not stopped:
            self.fail(DIED)
        cancelled = event.reason == "agent_exited" and stopped
        self._close(turn, event, result, cancelled=cancelled)

    def _close(
        self, turn: Turn, event: ev.TurnEnded, result: dict[str, Raw], *, cancelled: bool
    ) -> None:
        said, main = "".join(turn.texts), turn.message
        self.turn, self._last = None, main
        if cancelled:
            self.cancel(main, said)
        else:
            if said:
                self._write(
                    w.AssistantText(msg_id=main.msg_id, seq=self._numbers.draw(), text=said)
                )
            self.complete(
                main,
                "success" if event.reason == "done" else "error",
                subtype=text(result.get("subtype", UNSET)) or UNSET,
                denials=result.get("permission_denials", UNSET),
            )
        main.closed = True
        for one in turn.merged:
            how: Literal["success", "error"] = "success" if event.reason == "done" else "error"
            self.complete(one, how, merged_into=main.msg_id)

    def cancel(self, message: Message, said: str = "") -> None:
        """Close a message whose agent ended after an interrupt; ``said`` is its text so far."""
        cut = w.TurnCancelled(msg_id=message.msg_id, seq=message.seq)
        if said:
            cut = msgspec.structs.replace(cut, partial_result=said)
        message.closed = True
        self._write(cut)

    def complete(
        self,
        message: Message,
        result: Literal["success", "error"],
        *,
        subtype: str | UnsetType = UNSET,
        denials: Raw | UnsetType = UNSET,
        merged_into: str | UnsetType = UNSET,
    ) -> None:
        """Close a message, once."""
        if message.closed:
            return
        message.closed = True
        self._write(
            w.TurnComplete(
                msg_id=message.msg_id,
                seq=self._numbers.draw(),
                result=result,
                subtype=subtype,
                permission_denials=denials,
                merged_into=merged_into,
            )
        )

    def fail(self, message: str) -> None:
        """Say that something went wrong; whatever runs goes on or ends on its own."""
        if self.turn is not None:
            self.introduce()
            self.turn.failed = True
        self._write(w.Error(message=message))

    def printed(self, said: str) -> None:
        """What a slash command printed: whole, and no part of the answer."""
        turn = self._in_turn()
        self._write(
            w.AssistantText(
                msg_id=turn.message.msg_id,
                seq=turn.message.seq,
                text=said,
                source="slash_command",
            )
        )

    # ---- texts ---------------------------------------------------------------------------------

    def started(self, event: ev.ItemStarted) -> None:
        if event.kind == "tool":
            if not event.parent and event.name:
                self._tool(event.item, event.name, Raw(b"{}"), "")
            self.tools[event.item] = event.name
        else:
            self.open[event.item] = Growing(event.kind, event.parent, event.name)

    def grew(self, item: str, since: int, upto: int, piece: str) -> None:
        """More of an open text. What was missed comes with its end."""
        known = self.open.get(item)
        if known is None or known.parent:
            return
        if since == 0 and known.count:  # told anew from the start
            piece = piece[len(known.shown) :] if piece.startswith(known.shown) else ""
        elif since != known.count:
            return
        known.count = max(upto, known.count)
        self._piece(known, piece)

    def _piece(self, known: Growing, piece: str) -> None:
        if not piece:
            return
        known.shown += piece
        turn = self._in_turn()
        if known.kind == "thinking":
            self._write(
                w.ThinkingText(
                    msg_id=turn.message.msg_id,
                    seq=turn.message.seq,
                    text=piece,
                    is_partial=True,
                    status="partial",
                )
            )
            return
        self._write(
            w.AssistantText(
                msg_id=turn.message.msg_id,
                seq=turn.message.seq,
                rev=turn.rev,
                text=piece,
                is_partial=True,
                status="partial",
            )
        )
        turn.rev += 1

    def said(self, event: ev.TextDone, blobs: Blobs) -> None:
        known = self.open.pop(event.item, None) or Growing("text", event.parent)
        whole = whole_text(event.text, event.blob, blobs)
        if event.parent:
            self._said_below(event.parent, whole)
            return
        if event.status == "discarded":
            return
        if known.name == COMMAND:
            self.printed(whole)
            return
        if whole.startswith(known.shown):
            self._piece(known, whole[len(known.shown) :])
        if whole:
            self._in_turn().texts.append(whole)

    def _said_below(self, parent: str, whole: str) -> None:
        """A sub-agent's words have an id of their own: they must not replace the answer."""
        if whole:
            main = self._owner(parent)
            self._write(
                w.AssistantText(
                    msg_id=f"{main.msg_id}:{parent}",
                    seq=main.seq,
                    text=whole,
                    parent_tool_use_id=parent,
                )
            )

    def thought(self, event: ev.ThinkingDone, blobs: Blobs) -> None:
        known = self.open.pop(event.item, None) or Growing("thinking", event.parent)
        whole = whole_text(event.text, event.blob, blobs)
        if event.status == "discarded" or not (whole or event.redacted):
            return
        if not event.parent and whole.startswith(known.shown):
            self._piece(known, whole[len(known.shown) :])
        main = self._owner(event.parent)
        self._write(
            w.ThinkingText(
                msg_id=main.msg_id,
                seq=main.seq,
                text=whole or REDACTED,
                redacted=event.redacted or UNSET,
                parent_tool_use_id=event.parent or UNSET,
            )
        )

    # ---- tools ---------------------------------------------------------------------------------

    def called(self, event: ev.ToolStarted, blobs: Blobs) -> None:
        given = Raw(blobs[event.blob]) if event.blob in blobs else event.input
        self.tools[event.item] = event.name
        self._tool(event.item, event.name, Raw(b"{}") if given is UNSET else given, event.parent)

    def _tool(self, item: str, name: str, given: Raw, parent: str) -> None:
        main = self._owner(parent)
        self._write(
            w.ToolUse(
                msg_id=main.msg_id,
                seq=main.seq,
                tool_name=name,
                tool_use_id=item,
                input=given,
                parent_tool_use_id=parent or UNSET,
            )
        )

    def returned(self, event: ev.ToolResult, blobs: Blobs) -> None:
        name = self.tools.pop(event.item, "")
        if event.status == "discarded":
            return
        self._owner(event.parent)
        detail = whole_detail(event.detail, blobs)
        parent: str | UnsetType = event.parent or UNSET
        self._write(
            w.ToolResult(
                tool_use_id=event.item,
                output=_output(whole_text(event.text, event.blob, blobs), detail),
                is_error=event.status != "ok",
                parent_tool_use_id=parent,
            )
        )
        if detail is not UNSET and bytes(detail)[:1] in (b"{", b'"'):
            self._write(
                w.ToolUseStructured(
                    tool_use_id=event.item,
                    tool_name=name,
                    structured_result=detail,
                    parent_tool_use_id=parent,
                )
            )


def _cost(result: dict[str, Raw]) -> w.CostUpdate:
    return w.CostUpdate(
        total_cost_usd=result.get("total_cost_usd", _ZERO),
        num_turns=result.get("num_turns", _ZERO),
        duration_ms=result.get("duration_ms", _ZERO),
        duration_api_ms=result.get("duration_api_ms", _ZERO),
        usage=result.get("usage", _NOTHING),
        model_usage=result.get("modelUsage", _NOTHING),
    )


def _output(said: str, detail: Raw | UnsetType) -> str:
    """A result's text: without the tags of an error, and nothing for a picture."""
    head, tail = _ERROR
    bare = said.strip()
    if bare.startswith(head) and bare.endswith(tail):
        return bare[len(head) : -len(tail)]
    if bare == _IMAGE and detail is not UNSET and b'"image' in bytes(detail):
        return ""
    return said
