"""One running Claude Code: its lines into facts, our commands into its lines."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import assert_never

import msgspec
from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.callbacks import notice_of, reply_to
from flybridge.agents.claude.driver.changes import PLAN_TOOL, Changes
from flybridge.agents.claude.driver.convert.words import readable, to_blocks
from flybridge.agents.claude.driver.items import MAX_NAME, Items
from flybridge.agents.claude.driver.memo import MAX_ECHOES, bound, restored
from flybridge.agents.claude.driver.messages import Speech
from flybridge.agents.claude.driver.names import message_of
from flybridge.agents.claude.driver.prompts import Prompts
from flybridge.agents.claude.driver.rejoin import Rejoin, last_id
from flybridge.agents.claude.driver.requests import Requests
from flybridge.agents.claude.driver.sink import Sink
from flybridge.agents.claude.driver.status import Reports
from flybridge.agents.claude.driver.system_messages import News
from flybridge.agents.claude.driver.turns import Turns
from flybridge.agents.claude.driver.versions import traits_of
from flybridge.agents.claude.wire import encode
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import decode, fields
from flybridge.errors import FlybridgeError, NotSupportedError
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.capabilities import Capabilities, LinkEnd, OpenSpec
from flybridge.model.content import Content
from flybridge.model.ids import IncarnationId, InputKey, ItemId, SessionId
from flybridge.session.ports import Output

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,16}")


class ClaudeDriver:
    """Speaks stream-json. Pure: what must survive a restart is in the memo."""

    deadline_ms: int | None = None

    def __init__(self, capabilities: Capabilities) -> None:
        self._capabilities = capabilities
        self._traits = traits_of(capabilities.version)
        self._sink = Sink()
        self.attach(SessionId(""), IncarnationId(""), OpenSpec(agent="", cwd=""), b"")

    def attach(
        self, session: SessionId, incarnation: IncarnationId, spec: OpenSpec, memo: bytes
    ) -> None:
        self._sink.session = session
        self._dials_in = spec.transport != "stdio"
        self._memo = restored(memo)
        self._life = _short(incarnation)
        self._changes = Changes(self._memo, self._sink)
        self._reports = Reports(self._memo, self._sink, self._capabilities.version)
        self._items = Items(self._memo, self._sink, self._life, self._changes, self._reports)
        self._news = News(self._sink, self._reports, self._changes)
        self._requests = Requests(
            self._memo, self._sink, self._life, spec, self._reports, self._traits
        )
        self._prompts = Prompts(
            self._memo, self._sink, self._life, self._items.item_of, self._traits.separator
        )
        self._turns = Turns(
            self._memo,
            self._sink,
            self._items,
            self._prompts,
            self._reports,
            resumed=spec.resume,
            begins_turns=self._traits.begins_turns,
        )
        self._speech = Speech(
            self._memo, self._sink, self._items, self._prompts, self._reports, self._turns
        )
        self._rejoin = Rejoin(self._memo, self._sink, self._requests, self._prompts, self._turns)
        self._set_clock()

    def _set_clock(self) -> None:
        times = (self._requests.deadline_ms, self._rejoin.deadline_ms)
        self.deadline_ms = min((one for one in times if one is not None), default=None)

    def memo(self, session: SessionId) -> bytes:
        return msgspec.json.encode(self._memo)

    def take(self) -> Output:
        return self._sink.take()

    def tick(self, now_ms: int) -> None:
        """Only what we have asked for waits, and not for ever."""
        self._requests.tick(now_ms)
        self._rejoin.tick(now_ms)
        self._set_clock()

    def query(self, session: SessionId, ref: str, name: str, params: Raw, now_ms: int) -> None:
        self._requests.queries.ask(ref, name, params, now_ms)
        self._set_clock()

    def connected(self, now_ms: int) -> None:
        """Say hello. The CLI reads messages from its start on: ``init`` comes only after one."""
        self._requests.hello()
        self._sink.put(f.AcceptsInput())
        self._set_clock()

    def rejoined(self, last: str, now_ms: int) -> bool:
        lost = not last or last != self._memo.last
        self._rejoin.rejoined(now_ms, lost=lost)
        self._set_clock()
        return lost

    def lost(self, end: LinkEnd, now_ms: int) -> None:
        self._items.end()
        self._prompts.end()
        self._turns.lost()
        self._memo.echoes.clear()
        self._memo.given.clear()
        self._requests.lost()
        self.deadline_ms = None

    # ---- commands -------------------------------------------------------------------------------

    def send(self, session: SessionId, command: c.Command, key: InputKey, now_ms: int) -> None:
        try:
            self._send(command, key)
        except FlybridgeError as error:
            self._sink.put(f.InputRejected(key=key, reason=str(error)))
        self._set_clock()

    def _send(self, command: c.Command, key: InputKey) -> None:
        match command:
            case c.SendInput(content=content):
                self._say(content, key)
            case c.AnswerPermission():
                self._prompts.answer_permission(command, key)
            case c.AnswerQuestion():
                self._prompts.answer_question(command, key)
            case c.Interrupt():
                self._memo.stopping = self._memo.turn
                self._requests.interrupt(key)
            case c.SetModel() | c.SetMode() | c.SetEffort() | c.SetFast() | c.SetThinking():
                self._requests.change(command, key)
            case c.StopTask(task=task):
                self._requests.stop_task(task, key)
            case c.Mcp():
                self._requests.mcp(command, key)
            case c.CancelQueued(key=waiting):
                self._requests.cancel(InputKey(waiting), key)
            case c.EditQueued() | c.Rename() | c.Archive():
                raise NotSupportedError(f"Claude Code takes no {type(command).__name__} from here")
            case c.Delete() | c.Close():
                raise NotSupportedError("Claude Code is not told of its end")
            case _:
                assert_never(command)

    def _say(self, content: Sequence[Content], key: InputKey) -> None:
        uuid = message_of(self._sink.session, key)
        data = encode.prompt(to_blocks(content), uuid=uuid)
        bound(self._memo.echoes, MAX_ECHOES)
        self._memo.echoes[uuid] = key
        self._sink.write(data, key, "drop")

    # ---- the agent's lines ----------------------------------------------------------------------

    def receive(self, messages: Sequence[bytes], now_ms: int) -> None:
        if self._dials_in:
            self._memo.last = last_id(messages) or self._memo.last
            self._rejoin.heard(messages)
            self._set_clock()
        live = self._items.live
        for line in messages:
            message = decode(line)
            if type(message) is w.StreamEvent:
                event = message.event
                if type(event) is w.BlockDelta and message.parent_tool_use_id is None:
                    delta = event.delta
                    parts = live.get(event.index)
                    piece = delta.text or delta.thinking or delta.partial_json
                    if parts is not None and piece:
                        parts.append(piece)
                        continue
            self._hear(message, line, now_ms)
        self._items.flush()

    def _hear(self, message: w.Message, line: bytes, now_ms: int) -> None:  # noqa: C901
        # One line per kind of message: long, but nothing to understand.
        match message:
            case w.StreamEvent():
                self._speech.streamed(message, line)
            case w.Assistant():
                self._speech.answered(message)
            case w.User():
                self._speech.in_the_users_name(message, line)
            case w.Result():
                self._turns.ended(message, line)
            case w.Init():
                self._init(message, line)
            case w.Status():
                self._status(message)
            case w.ApiRetry():
                self._reports.retried(message, now_ms)
            case w.CompactBoundary(compact_metadata=detail):
                self._reports.compacted(detail)
            case w.PermissionDenied(tool_name=name, tool_use_id=tool, message=why):
                self._items.denied(tool, name, why)
            case w.CanUseTool():
                self._can_use_tool(message, line)
            case w.OtherRequest():
                self._refuse(message)
            case w.Cancel(request_id=request):
                if not self._prompts.cancelled(request):
                    self._sink.unrecognised(line)
            case w.ControlResponse(response=response):
                self._response(response, line, now_ms)
            case w.CommandLifecycle():
                self._turns.lifecycle(message)
            case w.RateLimitEvent(rate_limit_info=info):
                self._reports.limited(info)
            case w.ToolProgress():
                item = self._items.item_of((message.parent_tool_use_id or "")[:MAX_NAME])
                self._reports.tool_seconds(item, message.elapsed_time_seconds)
            case w.KeepAlive():
                pass
            case w.Unknown(type=kind, subtype=subtype, parent=parent):
                if not self._news.told(kind, subtype, message.line):
                    self._sink.unrecognised(message.line, parent[:MAX_NAME])
            case w.Odd():
                self._sink.unrecognised(message.line)
            case _:
                assert_never(message)

    # ---- what is asked --------------------------------------------------------------------------

    def _can_use_tool(self, request: w.CanUseTool, line: bytes) -> None:
        if not self._prompts.asked(request):
            self._sink.unrecognised(line)
            return
        known = self._memo.tools.get(request.tool_use_id)
        parent = ItemId("") if known is None else known.parent
        if request.tool_name == PLAN_TOOL:
            self._changes.plan_in(PLAN_TOOL, fields(request.input), parent)

    def _refuse(self, request: w.OtherRequest) -> None:
        """Every request gets an answer, or the CLI waits for it for ever."""
        reply = reply_to(request)
        if reply is not None:
            self._memo.use_up(request.request_id)
            self._sink.write(reply)
        said = notice_of(request)
        if said:
            self._sink.put(e.Notice(text=said, level="warning"))
        else:
            self._sink.unrecognised(request.line)

    def _response(self, response: w.ResponseBody, line: bytes, now_ms: int) -> None:
        asked = self._memo.asked.get(response.request_id)
        if asked is not None and asked.kind == "rejoin":
            self._rejoin.answered(response)
        elif asked is not None and asked.kind == "interrupt":
            self._rejoin.interrupted(now_ms)
        if self._requests.answered(response):
            self._set_clock()
            return
        if self._prompts.echoed(response.request_id):
            return
        self._sink.unrecognised(line)

    # ---- what is told ---------------------------------------------------------------------------

    def _init(self, init: w.Init, line: bytes) -> None:
        self._turns.begin()
        told = Raw(readable(line))
        self._reports.introduced(init.session_id, init.model, init.permission_mode, told)
        if self._memo.model:
            self._reports.model_is(init.model)
        if self._memo.mode:
            self._reports.mode_is(init.permission_mode)
        self._memo.model = init.model or self._memo.model
        self._memo.mode = init.permission_mode or self._memo.mode

    def _status(self, status: w.Status) -> None:
        if status.status == "requesting":
            self._turns.ask_model()
        elif status.status == "compacting":
            self._sink.put(e.ContextCompacted(phase="started"))
        elif status.compact_error is not UNSET:
            detail = self._sink.detail(status.compact_error)
            self._sink.put(e.ContextCompacted(phase="failed", detail=detail))
        if status.permission_mode is not UNSET:
            self._reports.mode_is(status.permission_mode)


def _short(incarnation: IncarnationId) -> str:
    """A life's name inside ours: its own if that is short, else derived from it."""
    name = incarnation.removeprefix("inc_")
    if _PLAIN.fullmatch(name):
        return name
    return hashlib.sha256(incarnation.encode()).hexdigest()[:12]
