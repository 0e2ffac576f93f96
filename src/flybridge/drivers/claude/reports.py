"""What the agent says of itself: who it is, its settings, its troubles, its counters."""

from __future__ import annotations

import hashlib
import zlib
from typing import Literal

import msgspec
from msgspec import UNSET, Raw

from flybridge.drivers.claude.memo import Memo
from flybridge.drivers.claude.sink import FIELD_BYTES, Sink
from flybridge.drivers.claude.translate import TEXT_CHARS, context_of
from flybridge.model import events as e
from flybridge.model.deliveries import Gauge
from flybridge.model.ids import ItemId
from flybridge.wire.claude import messages as w
from flybridge.wire.claude.decode import fields, number, text

_NAME = 256
_DAY_MS = 86_400_000
_FAR_S = 1e11
_MANY = 1_000_000
_TRUE = Raw(b"true")
_PER_TURN = ("uuid", "user_message_uuids")  # new in every init, and nothing about the agent


class Reports:
    def __init__(self, memo: Memo, sink: Sink, version: str) -> None:
        self._memo = memo
        self._sink = sink
        self._version = version

    def introduced(self, agent_session: str, model: str, mode: str, detail: Raw) -> None:
        """Pass on what the agent says of itself, unless it said just that the last time."""
        told = fields(detail)
        for name in _PER_TURN:
            told.pop(name, None)
        digest = hashlib.sha256(msgspec.json.encode(told)).hexdigest()[:16]
        if digest == self._memo.ready:
            return
        self._memo.ready = digest
        version = text(told.get("claude_code_version", UNSET)) or self._version
        self._sink.put(
            e.AgentReady(
                agent_session=agent_session[:_NAME],
                model=model[:_NAME],
                mode=mode[:_NAME],
                version=version[:_NAME],
                detail=self._sink.detail(detail),
            )
        )

    def model_is(self, model: str) -> None:
        if model and model != self._memo.model:
            self._memo.model = model
            self._sink.put(e.ModelChanged(model=model))

    def mode_is(self, mode: str) -> None:
        if mode and mode != self._memo.mode:
            self._memo.mode = mode
            self._sink.put(e.ModeChanged(mode=mode))

    def retried(self, retry: w.ApiRetry, now_ms: int) -> None:
        delay_ms = int(min(max(retry.retry_delay_ms, 0), _DAY_MS))
        self._sink.put(
            e.Retry(
                attempt=min(max(retry.attempt, 0), _MANY),
                at_ms=now_ms + delay_ms,
                reason=text(retry.error)[:_NAME],
            )
        )

    def limited(self, info: Raw) -> None:
        known = fields(info)
        resets_s = number(known.get("resetsAt", UNSET)) or 0
        self._sink.put(
            e.RateLimit(
                status=text(known.get("status", UNSET))[:_NAME],
                resets_ms=int(min(max(resets_s, 0), _FAR_S) * 1000),
                detail=self._sink.detail(info),
            )
        )

    def news(self, kind: str, subtype: str, line: bytes) -> bool:
        """What the CLI wants a person to read; False: it is something else."""
        if kind == "conversation_reset":
            self._sink.put(e.Notice(text="the agent begins a new conversation"))
        elif kind == "system" and subtype in ("informational", "notification"):
            told = fields(line)
            said = text(told.get("content", UNSET)) or text(told.get("text", UNSET))
            if not said or len(said) > TEXT_CHARS:
                return False
            self._sink.put(e.Notice(text=said, level=_level(told)))
        elif kind == "tool_use_summary":
            self._sink.put(e.Notice(text=_head(fields(line), "summary")))
        elif kind == "system" and subtype == "hook_response":
            self._hooked(fields(line))
        elif kind == "system" and subtype.startswith("model_refusal"):
            self._refused(fields(line))
        else:
            return kind == "system" and self.task(subtype, line)
        return True

    def _hooked(self, told: dict[str, Raw]) -> None:
        """A hook that went well says nothing to a person; one that blocks or fails does."""
        code = number(told.get("exit_code", UNSET))
        if code or text(told.get("outcome", UNSET)) not in ("", "success"):
            name = _head(told, "hook_name") or "a hook"
            said = _head(told, "stderr") or _head(told, "output")
            self._sink.put(e.Notice(text=f"{name}: {said or 'failed'}", level="warning"))

    def _refused(self, told: dict[str, Raw]) -> None:
        """The model would not answer; another one may have taken over for the session."""
        category = _head(told, "api_refusal_category") or "no reason given"
        said = text(told.get("content", UNSET))[:TEXT_CHARS] or f"the model refused: {category}"
        self._sink.put(e.Notice(text=said, level="warning"))
        if text(told.get("scope", UNSET)) == "session":
            self.model_is(_head(told, "fallback_model"))

    def task(self, subtype: str, line: bytes) -> bool:
        """A running command or sub-agent that the CLI counts as a task; False: no such news.

        One in the foreground has its tool call to show it. What goes on in the background is
        told when it begins and when it ends.
        """
        told = fields(line)
        if subtype == "task_started":
            if told.get("is_backgrounded") == _TRUE:
                self._sink.put(e.Notice(text=f"in the background: {_head(told, 'description')}"))
            return True
        if subtype == "task_notification":
            said = _head(told, "summary") or _head(told, "task_id")
            self._sink.put(e.Notice(text=f"{_head(told, 'status')}: {said}"))
            return True
        return subtype in ("task_progress", "task_updated", "background_tasks_changed")

    # ---- gauges --------------------------------------------------------------------------------

    def usage_is(self, parent: str, usage: w.MaybeRaw) -> None:
        """The main agent's tokens so far; a sub-agent has its own count."""
        if parent or usage is UNSET or len(bytes(usage)) > FIELD_BYTES:
            return
        checksum = zlib.crc32(bytes(usage))
        if checksum == self._memo.usage:
            return
        self._memo.usage = checksum
        self._sink.put(Gauge("usage", usage))
        given = context_of(usage)
        if given and given != self._memo.context:
            self._memo.context = given
            self._sink.put(Gauge("context", self.context()))

    def context(self) -> Raw:
        return Raw(b'{"tokens":%d,"window":%d}' % (self._memo.context, self._memo.window))

    def tool_seconds(self, item: ItemId, seconds: float) -> None:
        value = {"item": item, "seconds": seconds}
        self._sink.put(Gauge("tool_seconds", Raw(msgspec.json.encode(value))))


def _level(told: dict[str, Raw]) -> Literal["info", "warning"]:
    return "warning" if text(told.get("level", UNSET)) in ("warning", "error") else "info"


def _head(told: dict[str, Raw], name: str) -> str:
    return text(told.get(name, UNSET))[:_NAME]
