"""A session's log as something to look at: what was said, what runs, what waits for a person.

A pure fold of what :class:`~flybridge.client.session.Attachment` and ``Watch`` hand out, with
these rules:

- an event counts once: one whose number was seen is passed over, so replaying is harmless;
- a preview is counted in deltas: it is appended when it begins where the text ends, it replaces
  the text when it begins at 0, an older one is passed over, and one that begins later leaves a
  hole, which the next replacement or the end of the item closes;
- ``tool.started`` ends the preview of a tool's input: its output is counted from 0 again;
- the event that closes an item has its whole text, whatever was shown before.

So two transcripts that saw the same log are equal, wherever they came in.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import Raw, UnsetType

from flybridge.client.items import EventItem, Item, PreviewItem, Reset
from flybridge.model import events as ev
from flybridge.model.content import Content, Text
from flybridge.model.tools import NO_SUBJECT, ToolKind, ToolSubject
from flybridge.session.old_tools import kind_of

BlockKind: TypeAlias = Literal["input", "text", "thinking", "tool", "plan", "note", ""]


class Block(msgspec.Struct, kw_only=True):
    """One thing in the transcript, in the order they began.

    ``status`` of an item is ``open`` until it is closed, of an input how far it has come.
    """

    id: str
    kind: BlockKind
    name: str = ""
    parent: str = ""
    turn: str = ""
    status: str = "open"
    text: str = ""
    blob: str = ""  # where the whole text is, when it is too long for the log
    input: bytes = b""  # a tool's, as JSON: what it was allowed to run with
    asked: bytes = b""  # what the agent had asked instead, where a person changed it
    diffs: list[tuple[str, bytes]] = []  # path, patch
    tool: ToolKind | Literal[""] = ""  # the kind of a call
    subject: ToolSubject = NO_SUBJECT  # what a call is about; nothing where a person changed it
    have: int = 0  # deltas in ``text`` while it is open
    hole: bool = False  # deltas are missing from ``text``


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A permission or a question that waits for a person."""

    id: str
    kind: Literal["permission", "question"]
    digest: str
    body: bytes  # the tool's input, or the questions, as JSON
    tool: str = ""
    item: str = ""
    reason: str = ""
    tool_kind: ToolKind = "other"
    subject: ToolSubject = NO_SUBJECT


class Transcript(msgspec.Struct, kw_only=True):
    """Begin with an empty one and :meth:`apply` every item; equal by value."""

    epoch: int = 0  # the attachment's, where somebody says so; a reset does
    last_seq: int = 0
    missing: list[tuple[int, int]] = []  # numbers that were left out, first and last
    agent: str = ""
    title: str = ""
    model: str = ""
    mode: str = ""
    closed: bool = False
    turn: str = ""  # the one that runs, else empty
    ended: str = ""  # how the last turn ended
    cost_usd: float = 0.0
    blocks: dict[str, Block] = {}
    prompts: dict[str, Prompt] = {}

    def apply(self, item: Item) -> None:
        """Fold one item in. Gauges and views are not part of a transcript."""
        match item:
            case EventItem():
                self._event(item)
            case PreviewItem():
                self._preview(item)
            case Reset(epoch=epoch):
                self._reset(epoch)
            case _:
                pass

    @property
    def text(self) -> str:
        """Everything the agent said at the top level, so far."""
        said = [b.text for b in self.blocks.values() if b.kind == "text" and not b.parent]
        return "\n".join(said)

    def _reset(self, epoch: int) -> None:
        fresh = Transcript(epoch=epoch)
        for name in self.__struct_fields__:
            setattr(self, name, getattr(fresh, name))

    def _event(self, item: EventItem) -> None:
        if item.seq <= self.last_seq:
            return
        if self.last_seq and item.seq > self.last_seq + 1:
            self.missing.append((self.last_seq + 1, item.seq - 1))
        self.last_seq = item.seq
        if item.event is None:
            raw = item.raw.decode(errors="replace")
            self._note(item.seq, "unknown", raw)
        else:
            self._fold(item.seq, item.event)

    def _preview(self, preview: PreviewItem) -> None:
        block = self.blocks.get(preview.item) or self._block(preview.item, "")
        if block.status != "open":
            return
        if preview.since == 0:
            block.text, block.have, block.hole = preview.text, preview.upto, False
        elif preview.since == block.have and not block.hole:
            block.text += preview.text
            block.have = preview.upto
        elif preview.upto > block.have:
            block.hole = True

    # ---- events ----------------------------------------------------------------------------

    def _fold(self, seq: int, event: ev.Event) -> None:
        match event:
            case (
                ev.ItemStarted()
                | ev.TextDone()
                | ev.ThinkingDone()
                | ev.ToolStarted()
                | ev.ToolResult()
                | ev.Diff()
            ):
                self._item(event)
            case (
                ev.InputAccepted()
                | ev.InputDispatched()
                | ev.InputWritten()
                | ev.InputConsumed()
                | ev.InputOutcome()
                | ev.InputRefused()
                | ev.QueueChanged()
            ):
                self._input(event)
            case (
                ev.PermissionRequested()
                | ev.PermissionClosed()
                | ev.QuestionRequested()
                | ev.QuestionClosed()
            ):
                self._prompt(event)
            case ev.TurnStarted(turn=turn):
                self.turn, self.ended = turn, ""
            case ev.TurnEnded(reason=reason, message=message, cost_usd=cost):
                self.turn, self.ended = "", reason
                self.cost_usd += cost
                if message:
                    self._note(seq, "turn.ended", message)
            case ev.SessionOpened() | ev.SessionChanged() | ev.SessionClosed() | ev.AgentReady():
                self._session(event)
            case ev.ModeChanged(mode=mode):
                self.mode = mode
            case ev.ModelChanged(model=model):
                self.model = model
            case _:
                self._remark(seq, event)

    def _session(
        self, event: ev.SessionOpened | ev.SessionChanged | ev.SessionClosed | ev.AgentReady
    ) -> None:
        match event:
            case ev.SessionOpened():
                self.agent, self.title = event.agent, event.title
                self.model, self.mode = event.model, event.mode
            case ev.SessionChanged(title=title):
                self.title = self.title if title is None else title
            case ev.SessionClosed():
                self.closed = True
            case ev.AgentReady():
                self.model = event.model or self.model
                self.mode = event.mode or self.mode

    def _item(
        self,
        event: ev.ItemStarted
        | ev.TextDone
        | ev.ThinkingDone
        | ev.ToolStarted
        | ev.ToolResult
        | ev.Diff,
    ) -> None:
        match event:
            case ev.ItemStarted():
                block = self._block(event.item, event.kind, event.parent)
                block.turn, block.name = event.turn, event.name
            case ev.TextDone():
                block = self._block(event.item, "text", event.parent)
                _close(block, event.status, event.text, event.blob)
            case ev.ThinkingDone():
                block = self._block(event.item, "thinking", event.parent)
                _close(block, event.status, event.text, event.blob)
            case ev.ToolStarted():
                block = self._block(event.item, "tool", event.parent)
                block.name, block.tool = event.name, kind_of(event.kind, event.name)
                if not block.asked:
                    block.input, block.subject = _bytes(event.input), event.subject
                block.text, block.have, block.hole = "", 0, False
            case ev.ToolResult():
                block = self._block(event.item, "tool", event.parent)
                _close(block, event.status, event.text, event.blob)
            case ev.Diff(item=item, path=path, patch=patch):
                block = self._block(item, "tool")
                block.diffs = [*block.diffs, (path, bytes(patch))]

    def _input(
        self,
        event: ev.InputAccepted
        | ev.InputDispatched
        | ev.InputWritten
        | ev.InputConsumed
        | ev.InputOutcome
        | ev.InputRefused
        | ev.QueueChanged,
    ) -> None:
        """Only what people said is shown; answers and settings show in what they change."""
        if isinstance(event, ev.InputAccepted) and event.kind == "message":
            block = self._block(event.key, "input")
            block.name, block.text, block.status = event.by, _plain(event.content), "accepted"
            return
        known = self.blocks.get(event.key)
        if known is None:
            return
        match event:
            case ev.InputDispatched():
                known.status = "dispatched"
            case ev.InputWritten():
                known.status = "written"
            case ev.InputConsumed(turn=turn):
                known.status, known.turn = "consumed", turn
            case ev.InputOutcome(outcome=outcome):
                known.status = outcome
            case ev.InputRefused():
                known.status = "refused"
            case ev.QueueChanged(content=content):
                known.text = _plain(content)

    def _prompt(
        self,
        event: ev.PermissionRequested
        | ev.PermissionClosed
        | ev.QuestionRequested
        | ev.QuestionClosed,
    ) -> None:
        match event:
            case ev.PermissionRequested():
                self.prompts[event.prompt] = Prompt(
                    id=event.prompt,
                    kind="permission",
                    digest=event.digest,
                    body=bytes(event.input),
                    tool=event.tool,
                    item=event.item,
                    reason=event.reason,
                    tool_kind=kind_of(event.kind, event.tool),
                    subject=event.subject,
                )
            case ev.QuestionRequested():
                self.prompts[event.prompt] = Prompt(
                    id=event.prompt,
                    kind="question",
                    digest=event.digest,
                    body=bytes(event.questions),
                    item=event.item,
                )
            case ev.PermissionClosed(prompt=prompt) | ev.QuestionClosed(prompt=prompt):
                asked = self.prompts.pop(prompt, None)
                if asked is not None and isinstance(event, ev.PermissionClosed):
                    self._allowed(asked, event)

    def _allowed(self, asked: Prompt, event: ev.PermissionClosed) -> None:
        """A call that was changed shows what was allowed, also if it is told only later."""
        if asked.item and (isinstance(event.input, Raw) or event.blob):
            block = self._block(asked.item, "tool")
            block.input, block.asked = _bytes(event.input), asked.body
            block.subject = NO_SUBJECT

    def _remark(self, seq: int, event: ev.Event) -> None:
        """What belongs to no item and is worth a line of its own."""
        match event:
            case ev.Plan(text=text):
                block = self._block(f"plan:{seq}", "plan", event.parent)
                _close(block, "complete", text, "")
            case ev.Notice(text=text):
                self._note(seq, "notice", text)
            case ev.Error(code=code, text=text):
                self._note(seq, "error", f"{code}: {text}")
            case ev.AlarmRaised(code=code, text=text):
                self._note(seq, "alarm", f"{code}: {text}")
            case ev.Gap(reason=reason):
                self._note(seq, "gap", reason)
            case ev.Unrecognised(text=text, blob=blob):
                self._note(seq, "unrecognised", text, blob)
            case ev.AgentExited(why=why, status=status, asked=False):
                self._note(seq, "agent.exited", f"{why}, status {status}")
            case ev.ContextCompacted(phase=phase):
                self._note(seq, "context.compacted", phase)
            case ev.History(phase=phase):
                self._note(seq, "history", phase)
            case _:
                pass

    def _note(self, seq: int, name: str, text: str, blob: str = "") -> None:
        block = self._block(f"note:{seq}", "note")
        block.name = name
        _close(block, "complete", text, blob)

    def _block(self, key: str, kind: BlockKind, parent: str = "") -> Block:
        """The block of an item; made where the log was joined after its beginning."""
        block = self.blocks.get(key)
        if block is None:
            block = self.blocks[key] = Block(id=key, kind=kind)
        block.kind = kind or block.kind
        block.parent = parent or block.parent
        return block


def _close(block: Block, status: str, text: str, blob: str) -> None:
    block.status, block.text, block.blob = status, text, blob
    block.have, block.hole = 0, False


def _bytes(raw: Raw | UnsetType) -> bytes:
    return bytes(raw) if isinstance(raw, Raw) else b""


def _plain(content: tuple[Content, ...]) -> str:
    return "\n".join(
        part.text if isinstance(part, Text) else f"[{part.media_type}]" for part in content
    )
