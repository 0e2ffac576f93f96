"""What the demo agent can say on its stdout: Claude's stream-json, one message per line."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

import msgspec

from flybridge.agents.demo.options import VERSION, Options

Json: TypeAlias = dict[str, Any]

CONTEXT_WINDOW = 8_000  # small, so that a newcomer sees it fill
MAX_OUTPUT_TOKENS = 32_000
TOOLS = (
    *("Task", "AskUserQuestion", "Bash", "Edit", "ExitPlanMode", "Read"),
    *("TaskCreate", "TaskUpdate", "TodoWrite", "Write"),
)
AGENTS = ("Explore", "general-purpose")


class Session(msgspec.Struct, kw_only=True):
    """What outlives a turn. Nothing of it is kept on disk."""

    id: str
    cwd: str
    model: str
    mode: str
    fast: bool = False
    commands: list[str] = msgspec.field(default_factory=list)
    rules: set[tuple[str, str]] = msgspec.field(default_factory=set)  # (tool, exact command)
    tasks: list[Json] = msgspec.field(default_factory=list)
    input_tokens: int = 0
    output_tokens: int = 0
    context: int = 0  # words said and heard since the last compaction
    cost_usd: float = 0.0  # imaginary, and only where a scene says so
    results: int = 0
    last_failed: bool = False


class Usage(msgspec.Struct):
    """Tokens of one turn. The demo counts words and calls them tokens."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached: int = 0  # what was in the context before

    def wire(self) -> Json:
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": self.cached,
            "service_tier": "standard",
        }


class Helper(msgspec.Struct, frozen=True):
    """A subagent: who it is, and the call that started it."""

    call_id: str
    id: str
    kind: str
    task: str

    def wire(self) -> Json:
        return {"agent_id": self.id, "subagent_type": self.kind, "task_description": self.task}


class Speaker:
    """Writes messages, each as one flushed line, stamped with the session and a fresh uuid.

    A host that closed our stdout does not end us: like the CLI, we carry on unheard.
    """

    def __init__(self, session: Session, options: Options, *, fd: int = 1) -> None:
        self.session = session
        self.options = options
        self._fd = fd

    def write(self, message: Json) -> None:
        self._put(msgspec.json.encode(message) + b"\n")

    def noise(self, text: str) -> None:
        """A line that is no message, as careless programs print them."""
        self._put(text.encode() + b"\n")

    def _put(self, line: bytes) -> None:
        data = memoryview(line)
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError:
            self._fd = os.open(os.devnull, os.O_WRONLY)

    def say(self, message: Json, *, uuid_: str = "") -> None:
        self.write({**message, "session_id": self.session.id, "uuid": uuid_ or str(uuid.uuid4())})

    # ---- about the turn ----------------------------------------------------------------------

    def init(self) -> None:
        self.say(
            {
                "type": "system",
                "subtype": "init",
                "cwd": self.session.cwd,
                "tools": TOOLS,
                "mcp_servers": [],
                "model": self.session.model,
                "permissionMode": self.session.mode,
                "slash_commands": self.session.commands,
                "apiKeySource": "none",
                "claude_code_version": VERSION,
                "output_style": "default",
                "agents": AGENTS,
                "skills": [],
                "plugins": [],
            }
        )

    def requesting(self) -> None:
        if self.options.partial:
            self.say({"type": "system", "subtype": "status", "status": "requesting"})

    def mode_changed(self) -> None:
        mode = self.session.mode
        self.say({"type": "system", "subtype": "status", "status": None, "permissionMode": mode})

    def state(self, state: str) -> None:
        if self.options.state_events:
            self.say({"type": "system", "subtype": "session_state_changed", "state": state})

    def lifecycle(self, command: str, state: str) -> None:
        if command:
            self.say({"type": "command_lifecycle", "command_uuid": command, "state": state})

    def replay(self, content: object, uuid_: str) -> None:
        if self.options.replay:
            self.user(content, uuid_=uuid_, isReplay=True)

    def user(
        self, content: object, *, uuid_: str = "", by: Helper | None = None, **more: object
    ) -> None:
        head = {"type": "user", "message": {"role": "user", "content": content}}
        self.say({**head, **_parent(by), "timestamp": _now(), **more}, uuid_=uuid_)

    def result(self, usage: Usage, **more: object) -> None:
        """End the turn. ``more`` holds what differs between success, failure and interrupt."""
        session = self.session
        session.input_tokens += usage.input_tokens
        session.output_tokens += usage.output_tokens
        session.context += usage.input_tokens + usage.output_tokens
        session.last_failed = bool(more.get("is_error"))
        self.say(
            {
                "type": "result",
                "duration_api_ms": 0,
                "total_cost_usd": session.cost_usd,
                "usage": usage.wire(),
                "modelUsage": {session.model: self._model_usage()},
                "queued_turn_count": 0,
                "result_index": session.results,
                **more,
            }
        )
        session.results += 1

    def _model_usage(self) -> Json:
        return {
            "inputTokens": self.session.input_tokens,
            "outputTokens": self.session.output_tokens,
            "cacheReadInputTokens": 0,
            "cacheCreationInputTokens": 0,
            "webSearchRequests": 0,
            "costUSD": self.session.cost_usd,
            "contextWindow": CONTEXT_WINDOW,
            "maxOutputTokens": MAX_OUTPUT_TOKENS,
        }

    # ---- one message of the model -------------------------------------------------------------

    def event(self, message_id: str, event: Json) -> None:
        if self.options.partial:
            head = {"type": "stream_event", "event": event, "parent_tool_use_id": None}
            self.say({**head, "api_message_id": message_id})

    def message_start(self, message_id: str, usage: Usage) -> None:
        message = self._message(message_id, [], usage)
        self.event(message_id, {"type": "message_start", "message": message})

    def assistant(
        self, message_id: str, block: Json, usage: Usage, by: Helper | None = None
    ) -> None:
        self._assistant(self._message(message_id, [block], usage), by)

    def synthetic(self, text: str, **more: object) -> None:
        """The CLI's own words in the model's place: of a failure, or of a local command."""
        message = self._message(str(uuid.uuid4()), [{"type": "text", "text": text}], Usage())
        self._assistant({**message, "model": "<synthetic>"}, None, **more)

    def _assistant(self, message: Json, by: Helper | None, **more: object) -> None:
        head = {"type": "assistant", "message": message}
        self.say({**head, **_parent(by), "timestamp": _now(), **more})

    def _message(self, message_id: str, content: Sequence[Json], usage: Usage) -> Json:
        return {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": self.session.model,
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": Usage(usage.input_tokens, 1, usage.cached).wire(),
        }

    # ---- tools -------------------------------------------------------------------------------

    def tool_result(self, block: Json, detail: object, meta: Json, by: Helper | None) -> None:
        """A call's end. Of a subagent's calls the CLI gives no detail."""
        more: Json = {} if by else {"tool_use_result": detail}
        head = {"type": "tool_result", **block}
        meta = {"id": block["tool_use_id"], **meta}
        self.user([head], by=by, **more, tool_result_meta=[meta])

    def tool_progress(self, call_id: str, name: str, count: int, seconds: float) -> None:
        self.say(
            {
                "type": "tool_progress",
                "tool_use_id": f"{call_id}-heartbeat-{count}",
                "parent_tool_use_id": call_id,
                "tool_name": name,
                "elapsed_time_seconds": seconds,
                "heartbeat": True,
            }
        )

    # ---- control -----------------------------------------------------------------------------

    def answer(self, request_id: str, response: Json | None = None) -> None:
        body: Json = {"subtype": "success", "request_id": request_id}
        if response is not None:
            body["response"] = response
        self.write({"type": "control_response", "response": body})

    def refuse(self, request_id: str, error: str, code: str) -> None:
        body = {"subtype": "error", "request_id": request_id, "error": error, "error_code": code}
        self.write({"type": "control_response", "response": body})

    def cancel(self, request_id: str) -> None:
        self.write({"type": "control_cancel_request", "request_id": request_id})


def _parent(by: Helper | None) -> Json:
    return {"parent_tool_use_id": by.call_id, **by.wire()} if by else {"parent_tool_use_id": None}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
