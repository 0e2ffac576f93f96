"""What the agent says of itself: who it is, its settings, its troubles, its counters."""

from __future__ import annotations

import hashlib
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from flybridge.agents.claude.driver.convert.shapes import limits_of
from flybridge.agents.claude.driver.memo import Memo
from flybridge.agents.claude.driver.sink import FIELD_BYTES, Sink
from flybridge.agents.claude.driver.slash import categories, terminal_only
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import blocks, fields, number, text
from flybridge.model import events as e
from flybridge.model.deliveries import Gauge
from flybridge.model.ids import ItemId
from flybridge.model.tools import limited

_NAME = 256
_DAY_MS = 86_400_000
_FAR_S = 1e11
_MANY = 1_000_000
GIVEN = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
TOKENS = (*GIVEN, "output_tokens")
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
        self._memo.terminal = terminal_only(told) or self._memo.terminal
        version = text(told.get("claude_code_version", UNSET)) or self._version
        self._sink.put(
            e.AgentReady(
                agent_session=agent_session[:_NAME],
                model=model[:_NAME],
                mode=mode[:_NAME],
                version=version[:_NAME],
                commands=categories(told),
                detail=self._sink.detail(detail),
            )
        )

    def commands_are(self, commands: Raw) -> bool:
        """Pass on the new list of slash commands; return whether it is a list at all.

        The agent sends it when commands, skills or plugins come or go while it runs.
        """
        told = {"commands": commands}
        listed = categories(told)
        if blocks(commands) is None:
            return False
        terminal = dict.fromkeys(set(self._memo.terminal) & listed.keys(), "ui")
        detail = told | {"slash_commands": Raw(msgspec.json.encode(list(listed)))}
        self._sink.put(
            e.AgentReady(
                version=self._version[:_NAME],
                commands=listed | terminal,
                detail=self._sink.detail(Raw(msgspec.json.encode(detail))),
            )
        )
        return True

    def model_is(self, model: str) -> None:
        if model and model != self._memo.model:
            self._memo.model = model
            self._sink.put(e.ModelChanged(model=model))

    def fell_back(self, said: str) -> None:
        """Keep the news that another model took over; the CLI itself may have more to say."""
        if not self._memo.fallback_told:
            self._memo.fallback = said

    def fallback_told(self) -> None:
        """Note that the CLI itself said in this turn that another model took over."""
        self._memo.fallback, self._memo.fallback_told = "", True

    def end_turn(self) -> None:
        """Say what the CLI left unsaid about the model of this turn."""
        if self._memo.fallback:
            self._sink.put(e.Notice(text=self._memo.fallback, level="warning"))
        self._memo.fallback, self._memo.fallback_told = "", False

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
                reason=limited(text(retry.error), _NAME),
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
                limits=limits_of(info),
            )
        )

    # ---- gauges --------------------------------------------------------------------------------

    def usage_is(self, parent: str, usage: w.MaybeRaw) -> None:
        """The main agent's tokens in this answer; a sub-agent has its own count.

        The end of a stream tells only what has changed, so the numbers are added to those
        of its start.
        """
        if parent or usage is UNSET or len(bytes(usage)) > FIELD_BYTES:
            return
        whole = _tokens_in(usage)
        if "input_tokens" not in whole:
            whole = self._memo.counted | whole
        if whole != self._memo.counted:
            self._memo.counted = whole
            self._sink.put(Gauge("usage", Raw(msgspec.json.encode(whole))))
        given = sum(whole.get(one, 0) for one in GIVEN)
        if given:
            self.context_is(given)

    def context_is(self, tokens: int | None, window: int = 0) -> None:
        """How full the model's memory is; None: not known until the next answer."""
        before = (self._memo.context, self._memo.window)
        self._memo.context, self._memo.window = tokens, window or self._memo.window
        if before != (self._memo.context, self._memo.window):
            self._sink.put(Gauge("context", self.context()))

    def compacted(self, metadata: w.MaybeRaw) -> None:
        """Newer versions say what is left; of an older one it is not known."""
        self._sink.put(e.ContextCompacted(phase="done", detail=self._sink.detail(metadata)))
        known = {} if metadata is UNSET else fields(metadata)
        left = number(known.get("post_tokens", UNSET))
        self.context_is(None if left is None or left < 0 else int(left))

    def context(self) -> Raw:
        value = {"tokens": self._memo.context, "window": self._memo.window}
        return Raw(msgspec.json.encode(value))

    def tool_seconds(self, item: ItemId, seconds: float) -> None:
        value = {"item": item, "seconds": seconds}
        self._sink.put(Gauge("tool_seconds", Raw(msgspec.json.encode(value))))


_Count = Annotated[int, Meta(ge=0, le=2**53)]


class _Usage(msgspec.Struct):
    """The counts of an answer, as they always come."""

    input_tokens: _Count | UnsetType = UNSET
    output_tokens: _Count | UnsetType = UNSET
    cache_creation_input_tokens: _Count | UnsetType = UNSET
    cache_read_input_tokens: _Count | UnsetType = UNSET


_usage = msgspec.json.Decoder(_Usage)


def _tokens_in(usage: Raw) -> dict[str, int]:
    """The counts that are told; one by one only where they are not what they always are."""
    try:
        found = _usage.decode(usage)
        return {one: n for one in TOKENS if (n := getattr(found, one)) is not UNSET}
    except (msgspec.DecodeError, ValueError, RecursionError):
        known = fields(usage)
        told = {one: int(value) for one in TOKENS if (value := number(known.get(one, UNSET)))}
        return {one: 0 for one in TOKENS if one in known} | told
