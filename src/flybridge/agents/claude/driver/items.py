"""Texts, thoughts and tool calls: opened, shown while they grow, closed exactly once."""

from __future__ import annotations

import zlib
from typing import Literal

from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.changes import Changes
from flybridge.agents.claude.driver.convert.tools import Given, describe_fields
from flybridge.agents.claude.driver.convert.words import (
    OPEN_KINDS,
    SYNTHETIC,
    fell_back,
    server_result,
    tool_text,
)
from flybridge.agents.claude.driver.memo import (
    MAX_AGENTS,
    MAX_BLOCKS,
    MAX_STREAMS,
    MAX_TOOLS,
    BlockKind,
    Memo,
    OpenBlock,
    OpenTool,
    Stream,
    bound,
)
from flybridge.agents.claude.driver.sink import Sink
from flybridge.agents.claude.driver.status import Reports
from flybridge.agents.claude.driver.tasks import kept_input
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import block, fallback, fields
from flybridge.agents.claude.wire.decode import text as text_of
from flybridge.model.deliveries import Preview
from flybridge.model.events import Notice, PermissionAuto
from flybridge.model.facts import ItemClosed, ItemOpened, ToolCalled, ToolReturned
from flybridge.model.ids import ItemId
from flybridge.model.kinds import ItemStatus
from flybridge.model.tools import limited

MAX_NAME = 256
MAX_INDEX = 1_000_000
AGENT_TOOLS = ("Task", "Agent")


class Items:
    """``live`` holds the deltas of the main answer's open blocks that were not shown yet."""

    def __init__(
        self, memo: Memo, sink: Sink, life: str, changes: Changes, reports: Reports
    ) -> None:
        self._changes = changes
        self._reports = reports
        self._memo = memo
        self._sink = sink
        self._life = life  # makes our item ids unique among all lives of a session
        self._waiting: dict[str, dict[int, list[str]]] = {"": {}}
        for parent, stream in memo.streams.items():
            self._waiting[parent] = {index: [] for index in stream.blocks}
        self.live = self._waiting[""]

    # ---- growing -------------------------------------------------------------------------------

    def message_started(self, parent: str, message: str) -> None:
        """A new answer. A half one before it will never be finished: it was given up."""
        if parent not in self._memo.streams and len(self._memo.streams) >= MAX_STREAMS:
            self._drop_stream(next(name for name in self._memo.streams if name), "discarded")
        self._drop_stream(parent, "discarded")
        self._memo.streams[parent] = Stream(message=message[:MAX_NAME])
        self._waiting.setdefault(parent, {})

    def block_started(self, parent: str, event: w.BlockStart, line: bytes) -> None:
        if parent not in self._memo.streams:  # its start was lost in noise
            self.message_started(parent, "")
        stream = self._memo.streams[parent]
        if len(stream.blocks) >= MAX_BLOCKS or not 0 <= event.index <= MAX_INDEX:
            self._sink.unrecognised(line, parent)
            return
        if event.index in stream.blocks:  # the agent's fault: the first one ends here
            self._close_block(parent, event.index, "discarded")
        part = block(event.content_block)
        opened = OpenBlock(kind=OPEN_KINDS.get(type(part), "other"))
        first = ""
        if isinstance(part, (w.ToolUseBlock, w.ServerToolUseBlock)):
            opened.tool = part.id
            opened.item = self._tool_item(part.id)
            if not opened.item:
                self._sink.unrecognised(line, parent)
                opened = OpenBlock(kind="other")
            else:
                self._open(opened.item, "tool", parent, part.name)
        elif isinstance(part, w.TextBlock | w.ThinkingBlock | w.RedactedThinkingBlock):
            opened.item = self._next_item()
            self._open(opened.item, "text" if opened.kind == "text" else "thinking", parent)
            first = getattr(part, "text", "") or getattr(part, "thinking", "")
        stream.blocks[event.index] = opened
        self._waiting[parent][event.index] = [first] if first else []

    def block_grew(self, parent: str, index: int, piece: str) -> bool:
        """Add a piece; False when there is no such block."""
        parts = self._waiting.get(parent, {}).get(index)
        if parts is None:
            return False
        if piece:
            parts.append(piece)
        return True

    def block_stopped(self, parent: str, index: int) -> None:
        """The complete block comes first as a rule: then there is nothing left to note."""
        stream = self._memo.streams.get(parent)
        if stream is not None and index in stream.blocks:
            stream.blocks[index].stopped = True

    def flush(self) -> None:
        """Show what has grown: one preview for each item."""
        for parent, waiting in self._waiting.items():
            for index, parts in waiting.items():
                if parts:
                    self._show(self._memo.streams[parent].blocks[index], parts)

    def _show(self, opened: OpenBlock, parts: list[str]) -> None:
        since, opened.count = opened.count, opened.count + len(parts)
        if opened.item:
            self._sink.put(Preview(opened.item, since, opened.count, "".join(parts)))
        parts.clear()

    # ---- complete ------------------------------------------------------------------------------

    def completed(self, message: w.Assistant, raw: Raw) -> None:
        """A whole block arrived: it replaces what was streamed of it."""
        parent = (message.parent_tool_use_id or "")[:MAX_NAME]
        self._overtake(message, parent)
        part = block(raw)
        if isinstance(part, w.ToolUseBlock | w.ServerToolUseBlock):
            self._called(parent, part, raw, text_of(message.subagent_type))
        elif isinstance(part, w.TextBlock):
            self._said(message, parent, "text", part.text)
        elif isinstance(part, w.ThinkingBlock):
            self._said(message, parent, "thinking", part.thinking)
        elif isinstance(part, w.RedactedThinkingBlock):
            self._said(message, parent, "redacted", "")
        elif isinstance(part, w.ServerToolResultBlock):
            self._forget_other(parent)
            if not self.returned(server_result(part), parent, UNSET, rejected=False):
                self._sink.unrecognised(raw, parent)
        elif models := fallback(raw):
            self._forget_other(parent)
            self._reports.fell_back(fell_back(models))
        else:
            self._forget_other(parent)
            self._sink.unrecognised(raw, parent)

    def _overtake(self, message: w.Assistant, parent: str) -> None:
        """A whole answer under another id, without a start of its own.

        After a stream that broke, 2.1.38 asks again without streaming: the half answer
        before this one was given up.
        """
        stream, name = self._memo.streams.get(parent), message.message.id[:MAX_NAME]
        if stream is None or not stream.message or message.message.model == SYNTHETIC:
            return
        if name and name != stream.message:
            self._drop_stream(parent, "discarded")

    def _said(self, message: w.Assistant, parent: str, kind: BlockKind, text: str) -> None:
        index = self._streamed(parent, message.message.id, kind)
        if kind == "text" and self._is_repeated(message, parent, text) and index is None:
            return
        status: ItemStatus = "complete"
        if message.aborted is True or (self._memo.halted and index is not None):
            status = "partial" if text else "discarded"
        head, blob = self._sink.text(text)
        if index is None:
            item = self._next_item()
            self._open(item, "text" if kind == "text" else "thinking", parent)
        else:
            item = self._release(parent, index).item
        self._sink.put(
            ItemClosed(item=item, status=status, text=head, redacted=kind == "redacted", blob=blob)
        )

    def _is_repeated(self, message: w.Assistant, parent: str, text: str) -> bool:
        """The same words, under another id, right after the first time.

        2.1.38 says a text twice whose stream broke after its end. Only an answer that was
        not streamed knows already why it stopped, so a model that repeats itself is heard.
        """
        if parent or not text:
            return False
        before, place = self._memo.said, self._memo.said_in
        name = message.message.id[:MAX_NAME]
        self._memo.said, self._memo.said_in = zlib.crc32(text.encode("utf-8", "replace")), name
        whole = message.message.stop_reason is not None
        return whole and place not in ("", name) and before == self._memo.said

    def printed(self, text: str, name: str = "") -> None:
        """A text of the CLI's own that is too long for a notice."""
        head, blob = self._sink.text(text)
        item = self._next_item()
        self._open(item, "text", "", name)
        self._sink.put(ItemClosed(item=item, text=head, blob=blob))

    def _streamed(self, parent: str, message: str, kind: BlockKind) -> int | None:
        """The first open block of this kind of this very message."""
        stream = self._memo.streams.get(parent)
        if stream is None or stream.message not in ("", message[:MAX_NAME]):
            return None
        found = (index for index, one in stream.blocks.items() if one.kind == kind)
        return next(found, None)

    def _called(
        self, parent: str, call: w.ToolUseBlock | w.ServerToolUseBlock, raw: Raw, agent: str
    ) -> None:
        self._memo.said_in = ""
        stream = self._memo.streams.get(parent)
        blocks = stream.blocks.items() if stream is not None else ()
        index = next((i for i, one in blocks if one.tool == call.id), None)
        if index is not None:
            item = self._release(parent, index).item
        else:
            item = self._tool_item(call.id)
            if not item:
                self._sink.unrecognised(raw, parent)
                return
            self._open(item, "tool", parent, call.name)
        if len(self._memo.tools) >= MAX_TOOLS:
            self._end_tool(next(iter(self._memo.tools)), "partial")
        above = self.item_of(parent)
        kept = kept_input(call.name, call.input)
        self._memo.tools[call.id] = OpenTool(item=item, parent=above, name=call.name, given=kept)
        given: Given = {} if call.input is UNSET else fields(call.input)
        self._note_agents(item, call.name, given, above, agent)
        kind, subject = describe_fields(call.name, given, call.input or b"")
        body, blob = self._sink.body(call.input)
        self._sink.put(
            ToolCalled(
                item=item,
                name=call.name,
                input=body,
                parent=above,
                blob=blob,
                kind=kind,
                subject=subject,
            )
        )
        self._changes.plan_in(call.name, given, above)

    def _note_agents(
        self, item: ItemId, name: str, given: Given, above: ItemId, agent: str
    ) -> None:
        """Note which agent this call starts, and which made it: prompts name the agent."""
        if name in AGENT_TOOLS and given:
            kind = text_of(given.get("subagent_type", UNSET))
            bound(self._memo.agents, MAX_AGENTS)
            kind = kind or text_of(given.get("description", UNSET)) or name
            self._memo.agents[item] = limited(kind, MAX_NAME)
        if above and agent:
            bound(self._memo.agents, MAX_AGENTS)
            self._memo.agents[above] = agent[:MAX_NAME]

    def returned(
        self,
        result: w.ToolResultBlock,
        parent: str,
        detail: w.MaybeRaw,
        *,
        rejected: bool,
        ruled: bool = False,
    ) -> bool:
        """A tool's result; False when that call had its result before."""
        tool = result.tool_use_id
        self._memo.said_in = ""
        known = self._memo.tools.pop(tool, None)
        if known is None:
            item = ItemId("") if self._memo.is_used_up(tool) else self._tool_item(tool)
            if not item:
                return False
            known = OpenTool(item=item, parent=self.item_of(parent))
            self._open(item, "tool", parent)
        failed = result.is_error is True
        text, blob = self._sink.text(tool_text(result.content))
        self._memo.use_up(tool)
        self._sink.put(
            ToolReturned(
                item=known.item,
                status=("denied" if known.denied or rejected else "error") if failed else "ok",
                text=text,
                parent=known.parent,
                detail=self._sink.detail(detail),
                blob=blob,
                ruled=ruled,
            )
        )
        if not failed:
            self._changes.made_by(known, detail)
        return True

    def denied(self, tool: str, name: str = "", why: str = "") -> None:
        """The CLI let a call not run. Told once, and not at all when it was our own answer."""
        known = self._memo.tools.get(tool)
        if known is not None:
            ours, known.denied = known.denied, True
            if ours:
                return
        if self._memo.tell_denial(tool):
            self._sink.put(
                PermissionAuto(
                    tool=name or (known.name if known else ""),
                    decision="deny",
                    rule=limited(why, MAX_NAME),
                    item=self.item_of(tool[:MAX_NAME]),
                )
            )

    # ---- over ----------------------------------------------------------------------------------

    def end_turn(self) -> None:
        """Close what the turn leaves open; a background agent's calls go on without it."""
        self._drop_stream("", "partial")
        closing = {""}
        for tool, one in list(self._memo.tools.items()):  # parents come before their children
            if one.parent in closing:
                closing.add(one.item)
                self._drop_stream(tool, "partial")
                self._end_tool(tool, "partial")

    def end(self) -> None:
        """Close everything: the agent is gone."""
        for parent in list(self._memo.streams):
            self._drop_stream(parent, "partial")
        for tool in list(self._memo.tools):
            self._end_tool(tool, "partial")

    def item_of(self, tool: str) -> ItemId:
        """Our name for a call of the agent's."""
        known = self._memo.tools.get(tool)
        return ItemId(tool) if known is None else known.item

    def _drop_stream(self, parent: str, status: Literal["partial", "discarded"]) -> None:
        stream = self._memo.streams.get(parent)
        if stream is None:
            return
        for index in list(stream.blocks):
            self._close_block(parent, index, status)
        del self._memo.streams[parent]
        if parent:
            del self._waiting[parent]

    def _close_block(
        self, parent: str, index: int, status: Literal["partial", "discarded"]
    ) -> None:
        gone = self._release(parent, index)
        if gone.kind == "tool":  # it was never called
            self._memo.use_up(gone.tool)
            self._sink.put(ToolReturned(item=gone.item, status=status, parent=self.item_of(parent)))
        elif gone.kind != "other":
            hidden = gone.kind == "redacted"
            whole: ItemStatus = "complete" if gone.stopped else status
            if not gone.count and not hidden:  # nothing of it was ever there
                whole = "discarded"
            self._sink.put(ItemClosed(item=gone.item, status=whole, redacted=hidden))

    def _release(self, parent: str, index: int) -> OpenBlock:
        """Show the last of a block and stop following it."""
        gone = self._memo.streams[parent].blocks.pop(index)
        parts = self._waiting[parent].pop(index)
        if parts:
            self._show(gone, parts)
        return gone

    def _forget_other(self, parent: str) -> None:
        stream = self._memo.streams.get(parent, Stream())
        index = next((i for i, one in stream.blocks.items() if one.kind == "other"), None)
        if index is not None:
            self._release(parent, index)

    def _end_tool(self, tool: str, status: Literal["partial"]) -> None:
        gone = self._memo.tools.pop(tool)
        self._memo.use_up(tool)
        self._sink.put(ToolReturned(item=gone.item, status=status, parent=gone.parent))

    # ---- names ---------------------------------------------------------------------------------

    def _open(
        self,
        item: ItemId,
        kind: Literal["text", "thinking", "tool"],
        parent: str,
        name: str = "",
    ) -> None:
        if kind == "text" and not parent:
            self._memo.spoke = True
        self._sink.put(ItemOpened(item=item, kind=kind, name=name, parent=self.item_of(parent)))

    def _next_item(self) -> ItemId:
        self._memo.items += 1
        return ItemId(f"itm_{self._life}_{self._memo.items}")

    def _tool_item(self, tool: str) -> ItemId:
        """A name for a new call: the agent's own, unless it was used; "" if it is in use."""
        if not tool or len(tool) > MAX_NAME or tool in self._memo.tools or self._streams(tool):
            return ItemId("")
        if not self._memo.is_used_up(tool) and not tool.startswith("itm_"):
            return ItemId(tool)
        self._memo.items += 1
        self._sink.put(Notice(text=f"the agent used the tool id {tool} again", level="warning"))
        return ItemId(f"{tool}~{self._life}_{self._memo.items}")

    def _streams(self, tool: str) -> bool:
        streams = self._memo.streams.values()
        return any(one.tool == tool for stream in streams for one in stream.blocks.values())
