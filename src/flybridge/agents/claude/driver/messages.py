"""What is said: by the model, by its tools, and by the CLI in the user's name."""

from __future__ import annotations

from typing import Literal, assert_never

from msgspec import UNSET

from flybridge.agents.claude.driver.convert.words import (
    INTERRUPTED,
    NOISE,
    SYNTHETIC,
    TEXT_CHARS,
    first_text,
    is_made_up,
    texts,
    tool_text,
    was_rejected,
    was_ruled,
)
from flybridge.agents.claude.driver.items import MAX_NAME, Items
from flybridge.agents.claude.driver.memo import Memo
from flybridge.agents.claude.driver.prompts import Prompts
from flybridge.agents.claude.driver.sink import Sink
from flybridge.agents.claude.driver.slash import LOCAL_OUTPUT, context_in, failed, untagged
from flybridge.agents.claude.driver.status import Reports
from flybridge.agents.claude.driver.turns import Turns
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import block, blocks, delta_kind, fields, number, text
from flybridge.model import events as e
from flybridge.model.tools import limited

UNASKED = "Tool permission request failed:"  # what a call comes back with that nobody could allow


class Speech:
    def __init__(
        self,
        memo: Memo,
        sink: Sink,
        items: Items,
        prompts: Prompts,
        reports: Reports,
        turns: Turns,
    ) -> None:
        self._memo = memo
        self._sink = sink
        self._items = items
        self._prompts = prompts
        self._reports = reports
        self._turns = turns

    def streamed(self, message: w.StreamEvent, line: bytes) -> None:
        parent = (message.parent_tool_use_id or "")[:MAX_NAME]
        match message.event:
            case w.BlockDelta(index=index, delta=delta):
                piece = delta.text or delta.thinking or delta.partial_json
                known = self._items.block_grew(parent, index, piece)
                if not known or (not piece and ("delta", delta_kind(line)) not in NOISE):
                    self._sink.unrecognised(line, parent)
            case w.BlockStart() as event:
                self._evidence(parent)
                self._items.block_started(parent, event, line)
            case w.BlockStop(index=index):
                self._items.block_stopped(parent, index)
            case w.MessageStart(message=head):
                self._evidence(parent)
                self._items.message_started(parent, head.id)
                self._reports.usage_is(parent, head.usage)
            case w.MessageDelta(usage=usage):
                self._reports.usage_is(parent, usage)
            case w.MessageStop() | w.Ping():
                pass
            case _:
                assert_never(message.event)

    def _evidence(self, parent: str) -> None:
        """A sub-agent may speak while no turn runs: only the main agent makes turns."""
        if not parent:
            self._turns.ask_model()

    def answered(self, message: w.Assistant) -> None:
        parent = (message.parent_tool_use_id or "")[:MAX_NAME]
        code = text(message.error)
        if message.message.model != SYNTHETIC:
            self._evidence(parent)
        elif not parent:
            self._turns.begin()
        if not code and not parent and self._is_printed(message):
            self._ran(message)
            return
        for raw in message.message.content:
            part = block(raw) if code else None
            if isinstance(part, w.TextBlock):  # the CLI's words about a failure, not the model's
                said = limited(part.text, TEXT_CHARS)
                self._sink.put(e.Error(code=code[:MAX_NAME], text=said))
            else:
                self._items.completed(message, raw)
        if message.message.model != SYNTHETIC:
            self._reports.usage_is(parent, message.message.usage)

    def in_the_users_name(self, message: w.User, line: bytes) -> None:
        if (
            message.uuid is not UNSET
            and message.is_replay is True
            and self._turns.echoed(message.uuid)
        ):
            return
        parts = blocks(message.message.content)
        results = [one for raw in parts or [] if isinstance(one := block(raw), w.ToolResultBlock)]
        if results:
            self._tool_results(message, results, line)
            return
        said = text(message.message.content) or first_text(parts or [])
        parent = (message.parent_tool_use_id or "")[:MAX_NAME]
        if message.is_replay is True:
            if said.startswith(LOCAL_OUTPUT):
                self._printed(untagged(said), bad=failed(said))
                self._count(said)
        elif is_made_up(message) and said and not parent:
            self._tell(said)
        elif not said.startswith(INTERRUPTED) and not parent:
            self._sink.unrecognised(line, parent)

    def _is_printed(self, message: w.Assistant) -> bool:
        """Return whether a slash command of the CLI's own printed this in the model's name.

        Up to 2.1.299 or so only the made-up name of the model tells; the same name stands on
        other words of the CLI's in a turn that has asked the model.
        """
        if message.local_command_source is not UNSET:
            return True
        return message.message.model == SYNTHETIC and not self._memo.asked_model

    def _ran(self, message: w.Assistant) -> None:
        """Show what a slash command printed; once, though a compaction may repeat the message."""
        name = text(message.uuid)
        if name and not self._memo.note_printed(name):
            return
        outcome = message.local_command_outcome
        ended = "" if outcome is UNSET else text(fields(outcome).get("kind", UNSET))
        bad = bool(ended) or failed(text(message.local_command_source))
        for raw in message.message.content:
            if not isinstance(block(raw), w.TextBlock):
                self._sink.unrecognised(raw)
        said = "\n".join(texts(message.message.content))
        self._printed(said, bad=bad)
        if message.context_usage is UNSET:
            self._count(said)
        counted = {} if message.context_usage is UNSET else fields(message.context_usage)
        used = number(counted.get("total_tokens", UNSET))
        window = number(counted.get("raw_max_tokens", UNSET))
        if used is not None and used >= 0 and window:
            self._reports.context_is(int(used), int(max(window, 0)))

    def _count(self, said: str) -> None:
        """What /context counted, where it is said in words only."""
        counted = context_in(said)
        if counted is not None:
            self._reports.context_is(*counted)

    def _printed(self, said: str, *, bad: bool) -> None:
        """What a slash command printed: in the user's name, or in the model's where it is newer."""
        if said:
            self._memo.spoke = True  # the turn's result repeats it
            self._tell(said, "warning" if bad else "info", command=True)

    def _tell(
        self, said: str, level: Literal["info", "warning"] = "info", *, command: bool = False
    ) -> None:
        if len(said) > TEXT_CHARS:
            self._items.printed(said, "command" if command else "")
        else:
            self._sink.put(e.Notice(text=said, level=level, command=command))

    def _tool_results(self, message: w.User, results: list[w.ToolResultBlock], line: bytes) -> None:
        parent = (message.parent_tool_use_id or "")[:MAX_NAME]
        for one in results:
            rejected = was_rejected(message.tool_result_meta, one.tool_use_id)
            unasked = one.is_error is True and tool_text(one.content).startswith(UNASKED)
            ruled = was_ruled(message.tool_result_meta, one.tool_use_id)
            ran = not (rejected or unasked or ruled)
            self._prompts.tool_returned(one.tool_use_id, ran=ran)
            if rejected:
                self._items.denied(one.tool_use_id)
            detail = message.tool_use_result if len(results) == 1 else UNSET
            if not self._items.returned(one, parent, detail, rejected=rejected, ruled=ruled):
                self._sink.unrecognised(line, parent)
