"""What we ask of the CLI itself, beside the conversation, and what it answers."""

from __future__ import annotations

from typing import assert_never

import msgspec
from msgspec import UNSET, Raw

from flybridge.drivers.claude.arguments import BYPASS
from flybridge.drivers.claude.memo import MAX_REQUESTS, Asked, Memo, RequestKind, bound
from flybridge.drivers.claude.reports import Reports
from flybridge.drivers.claude.sink import Sink
from flybridge.drivers.claude.translate import TEXT_CHARS
from flybridge.drivers.claude.versions import Traits
from flybridge.errors import NotSupportedError
from flybridge.model import commands as c
from flybridge.model.capabilities import OpenSpec
from flybridge.model.deliveries import Answer
from flybridge.model.events import Notice
from flybridge.model.facts import InputConfirmed, InputRejected
from flybridge.model.ids import InputKey
from flybridge.wire.claude import encode
from flybridge.wire.claude import host_requests as h
from flybridge.wire.claude import messages as w
from flybridge.wire.claude.decode import blocks, fields, text

QUERY_MS = 10_000
MAX_TOKENS = 10_000_000


class Requests:
    """Control requests of ours. Their ids are counted, so that a restart repeats none."""

    def __init__(
        self,
        memo: Memo,
        sink: Sink,
        life: str,
        spec: OpenSpec,
        reports: Reports,
        traits: Traits,
    ) -> None:
        self._memo = memo
        self._sink = sink
        self._prefix = f"fb-{life}-"
        self._spec = spec
        self._reports = reports
        self._traits = traits
        # Whoever asked is gone after a restart, so none of this is in the memo.
        self._queries: dict[str, str] = {}  # request id → ref
        self._due_ms: dict[str, int] = {}  # request id → when it is given up

    def _name(self) -> str:
        self._memo.requests += 1
        return f"{self._prefix}{self._memo.requests}"

    def ask(
        self,
        kind: RequestKind,
        request: h.HostRequest,
        key: InputKey | None = None,
        value: str = "",
    ) -> None:
        name = f"{self._prefix}{self._memo.requests + 1}"
        data = encode.control_request(name, request)
        self._memo.requests += 1
        bound(self._memo.asked, MAX_REQUESTS)
        self._memo.asked[name] = Asked(kind=kind, key=key or InputKey(""), value=value)
        self._sink.write(data, key, "drop" if kind == "interrupt" else "send")

    # ---- settings ------------------------------------------------------------------------------

    def interrupt(self, key: InputKey) -> None:
        self.ask("interrupt", h.Interrupt(self._traits.cancels_queue or UNSET), key)

    def set_mode(self, mode: str, key: InputKey) -> None:
        """Raises NotSupportedError: the old CLI would switch off all permissions for anybody."""
        options = self._spec.options
        allowed = options.allow_bypass or options.skip_permissions or self._spec.mode == BYPASS
        if mode == BYPASS and not allowed:
            raise NotSupportedError(f"the session was not opened with {BYPASS}")
        if mode not in self._traits.modes:
            raise NotSupportedError(f"this version has no mode {mode[:64]!r}")
        self.ask("mode", h.SetPermissionMode(mode), key, mode)

    def set_effort(self, effort: str, key: InputKey) -> None:
        if "set_effort" not in self._traits.commands or effort not in self._traits.efforts:
            raise NotSupportedError(f"this version cannot change the effort to {effort[:64]!r}")
        settings = Raw(msgspec.json.encode({"effortLevel": effort}))
        self.ask("setting", h.ApplyFlagSettings(settings), key)

    def set_thinking(self, tokens: int, key: InputKey) -> None:
        """0 is no thinking; a negative number gives the choice back to the CLI."""
        if tokens > MAX_TOKENS:
            raise NotSupportedError(f"{tokens} are too many tokens to think with")
        self.ask("setting", h.SetMaxThinkingTokens(None if tokens < 0 else tokens), key)

    def stop_task(self, task: str, key: InputKey) -> None:
        if "stop_task" not in self._traits.commands:
            raise NotSupportedError("this version never says whether it stopped a task")
        self.ask("setting", h.StopTask(task), key)

    def mcp(self, command: c.Mcp, key: InputKey) -> None:
        if command.action == "login":
            raise NotSupportedError("Claude Code logs in to a server only in its own terminal")
        if command.action == "reconnect":
            self.ask("setting", h.McpReconnect(command.server), key)
        else:
            self.ask("setting", h.McpToggle(command.server, command.action == "enable"), key)

    # ---- queries -------------------------------------------------------------------------------

    def query(self, ref: str, name: str) -> None:
        """Ask; the answer comes as it comes, or ``timeout`` once QUERY_MS have passed."""
        request = self._traits.queries.get(name)
        if request is None:
            self._sink.put(Answer(ref, error="not_supported"))
        elif len(self._queries) >= MAX_REQUESTS:
            self._sink.put(Answer(ref, error="busy"))
        else:
            asked = self._name()
            self._queries[asked] = ref
            self._sink.write(encode.control_request(asked, request), on_restart="drop")

    @property
    def deadline_ms(self) -> int | None:
        """When to call tick: at once where a query has no time yet, for a query tells none."""
        if len(self._due_ms) < len(self._queries):
            return 0
        return min(self._due_ms.values(), default=None)

    def tick(self, now_ms: int) -> None:
        for asked in list(self._queries):
            if self._due_ms.setdefault(asked, now_ms + QUERY_MS) <= now_ms:
                self._give_up(asked, "timeout")

    def lost(self) -> None:
        for asked in list(self._queries):
            self._give_up(asked, "agent_exited")

    def _give_up(self, asked: str, error: str) -> None:
        self._due_ms.pop(asked, None)
        self._sink.put(Answer(self._queries.pop(asked), error=error))

    def _queried(self, response: w.ResponseBody) -> None:
        self._due_ms.pop(response.request_id, None)
        ref = self._queries.pop(response.request_id)
        if response.subtype == "success":
            self._sink.put(Answer(ref, value=_answer(response)))
        else:
            self._sink.put(Answer(ref, error=text(response.error)[:TEXT_CHARS] or "refused"))

    # ---- answers -------------------------------------------------------------------------------

    def answered(self, response: w.ResponseBody) -> bool:
        """Take an answer; False when the request was none of ours."""
        if response.request_id in self._queries:
            self._queried(response)
            return True
        asked = self._memo.asked.pop(response.request_id, None)
        if asked is None:  # 2.1.38 answers a change of mode twice
            return response.request_id.startswith(self._prefix)
        if response.subtype == "success":
            self._obeyed(asked, _answer(response))
            return True
        reason = text(response.error)[:TEXT_CHARS] or "refused"
        if asked.key:
            self._sink.put(InputRejected(key=asked.key, reason=reason))
        else:
            self._sink.put(Notice(text=f"{asked.kind}: {reason}", level="warning"))
        return True

    def _obeyed(self, asked: Asked, response: Raw) -> None:
        said = fields(response)
        match asked.kind:
            case "initialize":
                mode = text(said.get("current_permission_mode", UNSET)) or self._spec.mode
                said.pop("account", None)  # whose log-in it is belongs in no journal
                detail = Raw(msgspec.json.encode(said))
                self._reports.introduced(_named(self._spec), self._spec.model, mode, detail)
                return
            case "model":
                self._reports.model_is(text(said.get("model", UNSET)) or asked.value)
            case "mode":
                self._reports.mode_is(text(said.get("mode", UNSET)) or asked.value)
            case "interrupt":
                self._taken_back(said.get("cancelled"))
            case "setting":
                pass
            case _:
                assert_never(asked.kind)
        self._sink.put(InputConfirmed(key=asked.key))

    def _taken_back(self, cancelled: Raw | None) -> None:
        """Inputs that waited for the turn which was interrupted: they will not run."""
        for raw in (blocks(cancelled) or []) if cancelled is not None else []:
            key = self._memo.echoes.pop(text(raw), None)
            if key is not None:
                self._sink.put(InputRejected(key=key, reason="cancelled"))


def _named(spec: OpenSpec) -> str:
    """The id of the conversation, where it was ours to choose; else init will tell it."""
    if spec.fork:
        return spec.fork_session
    return "" if spec.continue_latest or spec.from_pr else spec.agent_session


def _answer(response: w.ResponseBody) -> Raw:
    return Raw(b"{}") if response.response is UNSET else response.response
