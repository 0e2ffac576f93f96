"""Control requests: what a host may ask of the process itself, answered at once."""

from __future__ import annotations

import os
from typing import Protocol

from flybridge.agents.demo.options import MODES, VERSION, resolve_model
from flybridge.agents.demo.script import SCENES
from flybridge.agents.demo.stream import AGENTS, CONTEXT_WINDOW, Json, Speaker

MODELS = (
    ("default", "flybridge-demo", "Demo", "Streams at the pace of a reader"),
    ("flybridge-demo-fast", "flybridge-demo-fast", "Demo, fast", "Streams without waiting"),
)


class Process(Protocol):
    """What the requests concern: the turn that runs, and what waits behind it."""

    @property
    def running(self) -> bool: ...
    @property
    def prompts(self) -> list[Json]: ...
    @property
    def waiting(self) -> list[str]: ...
    def drop(self, only: str | None = None) -> list[str]: ...
    def stop(self) -> None: ...
    def stop_job(self, job: str | None = None) -> None: ...


class Controls:
    def __init__(self, speaker: Speaker, process: Process) -> None:
        self._speaker = speaker
        self._session = speaker.session
        self._process = process

    def answer(self, request: Json, request_id: str) -> None:
        """Every request gets exactly one answer."""
        match request.get("subtype"):
            case "initialize":
                self._speaker.answer(request_id, self._introduction())
            case "interrupt":
                self._interrupt(request_id, drop=request.get("cancel_queued") is True)
            case "set_model":
                self._set_model(request_id, str(request.get("model") or ""))
            case "set_permission_mode":
                self._set_mode(request_id, str(request.get("mode")))
            case "set_max_thinking_tokens":
                self._speaker.answer(request_id)
            case "apply_flag_settings":
                self._apply(request.get("settings"))
                self._speaker.answer(request_id, {})
            case "mcp_status":
                self._speaker.answer(request_id, {"mcpServers": []})
            case "stop_task":
                self._process.stop_job(str(request.get("task_id")))
                self._speaker.answer(request_id, {})
            case "cancel_async_message":
                gone = self._process.drop(str(request.get("message_uuid")))
                self._speaker.answer(request_id, {"cancelled": bool(gone)})
            case "get_context_usage":
                self._speaker.answer(request_id, context_usage(self._session.context))
            case other:
                text = f"Unsupported control request subtype: {other}"
                self._speaker.refuse(request_id, text, "unsupported_request")

    def _introduction(self) -> Json:
        commands = [
            {"name": scene.name, "description": scene.about, "argumentHint": scene.hint}
            for scene in SCENES
        ]
        models = [
            {"value": value, "resolvedModel": model, "displayName": name, "description": about}
            for value, model, name, about in MODELS
        ]
        return {
            "commands": commands,
            "agents": [{"name": name, "description": "Imaginary"} for name in AGENTS],
            "output_style": "default",
            "available_output_styles": ["default"],
            "models": models,
            "account": {"email": "demo", "tokenSource": "none", "apiProvider": "demo"},
            "pid": os.getpid(),
            "claude_code_version": VERSION,
            "current_permission_mode": self._session.mode,
            "fast_mode_state": "on" if self._session.fast else "off",
            "session_state": "running" if self._process.running else "idle",
            "pending_permission_requests": self._process.prompts,
        }

    def _apply(self, settings: object) -> None:
        """The demo is as fast as its model is; the switch is there to be tried."""
        if isinstance(settings, dict) and isinstance(settings.get("fastMode"), bool):
            self._session.fast = settings["fastMode"]

    def _interrupt(self, request_id: str, *, drop: bool) -> None:
        receipt: Json = {"still_queued": self._process.waiting}
        if drop:
            receipt = {"still_queued": [], "cancelled": self._process.drop()}
        if self._process.running:
            self._process.stop()
        else:
            self._process.stop_job()  # like the CLI: at rest it ends what runs in the background
        self._speaker.answer(request_id, receipt)

    def _set_model(self, request_id: str, name: str) -> None:
        self._session.model = resolve_model(name)
        text = f"Set model to `{self._session.model}`"
        self._speaker.replay(f"<local-command-stdout>{text}</local-command-stdout>", "")
        self._speaker.answer(request_id, {"model": self._session.model})

    def _set_mode(self, request_id: str, mode: str) -> None:
        if mode not in MODES:
            text = f"Cannot set permission mode: must be one of {', '.join(MODES)}"
            self._speaker.refuse(request_id, text, "invalid_mode")
        elif mode == "bypassPermissions" and not self._speaker.options.may_bypass:
            text = "This session was not launched with the right to bypass permissions"
            self._speaker.refuse(request_id, text, "bypass_not_launched")
        else:
            self._session.mode = mode
            self._speaker.answer(request_id, {"mode": mode})
            self._speaker.mode_changed()


def context_usage(used: int) -> Json:
    """How full the context is, by category."""
    free = max(CONTEXT_WINDOW - used, 0)
    return {
        "categories": [
            {"id": "messages", "name": "Messages", "tokens": used, "kind": "used"},
            {"id": "free_space", "name": "Free space", "tokens": free, "kind": "free"},
        ],
        "totalTokens": used,
        "maxTokens": CONTEXT_WINDOW,
        "rawMaxTokens": CONTEXT_WINDOW,
        "percentage": round(100 * used / CONTEXT_WINDOW),
    }
