"""What we want of the CLI itself, beside the conversation, and what becomes of that."""

from __future__ import annotations

from typing import assert_never

import msgspec
from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.arguments import values_of
from flybridge.agents.claude.driver.convert.words import TEXT_CHARS
from flybridge.agents.claude.driver.memo import MAX_REQUESTS, Asked, Memo, RequestKind
from flybridge.agents.claude.driver.names import message_of
from flybridge.agents.claude.driver.queries import Queries, is_unknown
from flybridge.agents.claude.driver.sink import Sink
from flybridge.agents.claude.driver.status import Reports
from flybridge.agents.claude.driver.versions import Traits
from flybridge.agents.claude.options import BYPASS
from flybridge.agents.claude.wire import encode
from flybridge.agents.claude.wire import host_requests as h
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import blocks, fields, text
from flybridge.errors import NotSupportedError
from flybridge.model import commands as c
from flybridge.model.capabilities import OpenSpec
from flybridge.model.events import Notice
from flybridge.model.facts import InputConfirmed, InputRejected, InputUnanswered
from flybridge.model.ids import InputKey
from flybridge.model.tools import limited

WITHIN_MS = 60_000
CONNECT_MS = 150_000  # an MCP server may take its time to start, and the CLI waits for it
MAX_TOKENS = 10_000_000
MAX_URL = 4096
_NAME = 256
_TRUE = Raw(b"true")
# Told by initialize and, as something else under the same name, by init: kept apart, so that
# whoever lays one over the other loses nothing.
_TWICE = ("agents", "capabilities")


class Requests:
    """Control requests of ours. Their ids are counted, so that a restart repeats none.

    Every one of them ends: with the CLI's answer, or without one when its time is over. An
    answer that comes after that is still heard, because the setting did change then.
    """

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
        self.queries = Queries(memo, sink, traits, self._new_name)
        # Not in the memo: whatever has no answer yet gets its time anew after a restart, for
        # the answer may be among what the keeper has kept meanwhile.
        self._due_ms: dict[str, int] = {}

    def _new_name(self) -> str:
        self._memo.requests += 1
        return f"{self._prefix}{self._memo.requests}"

    def ask(
        self,
        kind: RequestKind,
        request: h.HostRequest,
        key: InputKey | None = None,
        value: str = "",
        *,
        first: bool = True,
    ) -> None:
        """Write a request. ``first``: its line is the one that carries the input ``key``.

        Raises:
            NotSupportedError: the CLI has said that it does not know this one.
            LocalProtocolError: it cannot be written.
        """
        subtype = str(request.__struct_config__.tag)
        if subtype in self._memo.unsupported:
            raise NotSupportedError(f"this version does not know {subtype}")
        name = f"{self._prefix}{self._memo.requests + 1}"
        data = encode.control_request(name, request)
        self._memo.requests += 1
        self._make_room()
        self._memo.asked[name] = Asked(
            kind=kind, key=key or InputKey(""), value=value, subtype=subtype
        )
        carried = key if first else None
        self._sink.write(data, carried, "drop" if kind in ("interrupt", "rejoin") else "send")

    def _make_room(self) -> None:
        asked = self._memo.asked
        while len(asked) >= MAX_REQUESTS:
            oldest = next((name for name, one in asked.items() if one.late), next(iter(asked)))
            if not asked[oldest].late:
                self._give_up(oldest, "too much was asked after it")
            del asked[oldest]

    def hello(self) -> None:
        """The first words of a new life."""
        self.ask("initialize", h.Initialize())
        if values_of(self._spec).flag("fast") and self._traits.fast:
            self._set_fast(on=True, key=None)

    # ---- settings ------------------------------------------------------------------------------

    def interrupt(self, key: InputKey) -> None:
        self.ask("interrupt", h.Interrupt(self._traits.cancels_queue or UNSET), key)

    def change(
        self,
        command: c.SetModel | c.SetMode | c.SetEffort | c.SetFast | c.SetThinking,
        key: InputKey,
    ) -> None:
        """Ask for another setting.

        Raises:
            NotSupportedError: this version has no such setting, or not for this session.
        """
        match command:
            case c.SetModel(model=model):
                self.ask("model", h.SetModel(model or UNSET), key, model)
            case c.SetMode(mode=mode):
                self._set_mode(mode, key)
            case c.SetEffort(effort=effort):
                self._set_effort(effort, key)
            case c.SetFast(on=on):
                self._set_fast(on=on, key=key)
            case c.SetThinking(tokens=tokens):  # 0: none; a negative number: as the CLI likes
                if tokens > MAX_TOKENS:
                    raise NotSupportedError(f"{tokens} are too many tokens to think with")
                self.ask("setting", h.SetMaxThinkingTokens(None if tokens < 0 else tokens), key)
            case _:
                assert_never(command)

    def _set_mode(self, mode: str, key: InputKey) -> None:
        """The old CLI would switch off all permissions for anybody."""
        values, opened_so = values_of(self._spec), self._spec.mode == BYPASS
        allowed = opened_so or values.flag("allow_bypass") or values.flag("skip_permissions")
        if mode == BYPASS and not allowed:
            raise NotSupportedError(f"the session was not opened with {BYPASS}")
        if mode not in self._traits.modes:
            raise NotSupportedError(f"this version has no mode {mode[:64]!r}")
        self.ask("mode", h.SetPermissionMode(mode), key, mode)

    def _set_effort(self, effort: str, key: InputKey) -> None:
        if "set_effort" in self._traits.at_start:
            raise NotSupportedError("this version takes an effort only when it starts")
        if effort not in self._traits.efforts:
            raise NotSupportedError(f"this version has no effort {effort[:64]!r}")
        self.ask("setting", _flag("effortLevel", effort), key)

    def _set_fast(self, *, on: bool, key: InputKey | None) -> None:
        if not self._traits.fast:
            raise NotSupportedError("this version has a fast mode only in its own terminal")
        self.ask("fast", _flag("fastMode", on), key, "on" if on else "off")

    def stop_task(self, task: str, key: InputKey) -> None:
        if "stop_task" not in self._traits.commands:
            raise NotSupportedError("this version never says whether it stopped a task")
        self.ask("setting", h.StopTask(task), key)

    def cancel(self, waiting: InputKey, key: InputKey) -> None:
        """Take back an input that was handed over and has not begun."""
        if "cancel_queued" not in self._traits.commands:
            raise NotSupportedError("this version takes back nothing that it was handed")
        uuid = message_of(self._sink.session, waiting)
        self.ask("cancel", h.CancelAsyncMessage(uuid), key, uuid)

    def mcp(self, command: c.Mcp, key: InputKey) -> None:
        match command.action:
            case "reconnect":
                self.ask("setting", h.McpReconnect(command.server), key)
            case "enable" | "disable":
                enabled = command.action == "enable"
                self.ask("setting", h.McpToggle(command.server, enabled), key)
            case "login":
                if not self._traits.logs_in:
                    raise NotSupportedError("this version logs in only in its own terminal")
                self.ask("login", h.McpAuthenticate(command.server), key, command.server)
            case _:
                assert_never(command.action)

    # ---- time ----------------------------------------------------------------------------------

    @property
    def deadline_ms(self) -> int | None:
        """When to call tick: at once where something was asked for since it was called last."""
        waiting = [name for name, one in self._memo.asked.items() if not one.late]
        times = [self._due_ms.get(name, 0) for name in waiting]
        queries = self.queries.deadline_ms
        return min(times if queries is None else [*times, queries], default=None)

    def tick(self, now_ms: int) -> None:
        for name, one in list(self._memo.asked.items()):
            within = CONNECT_MS if one.subtype.startswith("mcp_") else WITHIN_MS
            if not one.late and self._due_ms.setdefault(name, now_ms + within) <= now_ms:
                self._give_up(name, f"no answer in {within // 1000} s")
        self.queries.tick(now_ms)

    def _give_up(self, name: str, why: str) -> None:
        self._due_ms.pop(name, None)
        one = self._memo.asked[name]
        if one.key:
            self._sink.put(InputUnanswered(key=one.key, reason=why))
        else:
            self._refused(one, why)
        one.key, one.late = InputKey(""), True

    def lost(self) -> None:
        """The process is gone; what became of inputs is for the session to say."""
        self._memo.asked.clear()
        self._due_ms.clear()
        self.queries.lost()

    # ---- answers -------------------------------------------------------------------------------

    def answered(self, response: w.ResponseBody) -> bool:
        """Take an answer; False when the request was none of ours."""
        if self.queries.answered(response):
            return True
        asked = self._memo.asked.pop(response.request_id, None)
        self._due_ms.pop(response.request_id, None)
        if asked is None:
            self._not_ours(response)
            return response.request_id.startswith(self._prefix)
        self._memo.use_up(response.request_id)
        if asked.kind == "rejoin":
            return True  # it says no, and more with it
        if response.subtype == "success":
            self._obeyed(asked, {} if response.response is UNSET else fields(response.response))
        elif is_unknown(self._memo, asked.subtype, response):
            self._refused(asked, f"this version does not know {asked.subtype}")
        else:
            self._refused(asked, limited(text(response.error), TEXT_CHARS) or "refused")
        return True

    def _not_ours(self, response: w.ResponseBody) -> None:
        """Hear what an answer to nobody says of the mode: somebody else may have set it.

        2.1.38 answers a change of mode twice; the second time says nothing new.
        """
        known = self._memo.is_used_up(response.request_id)
        if response.subtype == "success" and response.response is not UNSET and not known:
            self._reports.mode_is(text(fields(response.response).get("mode", UNSET))[:_NAME])

    def _refused(self, asked: Asked, reason: str) -> None:
        if asked.key:
            self._sink.put(InputRejected(key=asked.key, reason=reason))
        elif not asked.late and asked.kind != "rejoin":
            self._sink.put(Notice(text=f"{asked.kind}: {reason}", level="warning"))

    def _done(self, asked: Asked) -> None:
        if asked.key:
            self._sink.put(InputConfirmed(key=asked.key))

    def _obeyed(self, asked: Asked, said: dict[str, Raw]) -> None:
        match asked.kind:
            case "initialize":
                self._introduced(said)
                return
            case "fast":
                self._fast(asked, said)
                return
            case "login":
                self._log_in(asked, said)
                return
            case "cancel":
                self._cancelled(asked, said)
                return
            case "model":
                self._reports.model_is(text(said.get("model", UNSET)) or asked.value)
            case "mode":
                self._reports.mode_is(text(said.get("mode", UNSET)) or asked.value)
            case "interrupt":
                self._memo.halted = self._memo.stopping and "cancelled" not in said
                self._taken_back(said.get("cancelled"))
            case "setting" | "rejoin":
                pass
            case _:
                assert_never(asked.kind)
        self._done(asked)

    def _introduced(self, said: dict[str, Raw]) -> None:
        mode = text(said.get("current_permission_mode", UNSET)) or self._spec.mode
        said.pop("account", None)  # whose log-in it is belongs in no journal
        twice = {name: said.pop(name) for name in _TWICE if name in said}
        if twice:
            said["initialize"] = Raw(msgspec.json.encode(twice))
        detail = Raw(msgspec.json.encode(said))
        self._reports.introduced(_named(self._spec), self._spec.model, mode, detail)

    def _fast(self, asked: Asked, said: dict[str, Raw]) -> None:
        """The CLI takes the setting whether or not the model and the account have a fast mode;
        whether it is on stands in its answer to initialize, which may be asked for again."""
        if asked.value == "on" and "initialize" not in self._memo.unsupported:
            self.ask("fast", h.Initialize(), asked.key, "check", first=False)
            return
        state = text(said.get("fast_mode_state", UNSET))
        if asked.value == "check" and state != "on":
            why = limited(text(said.get("fast_mode_disabled_reason", UNSET)), TEXT_CHARS)
            self._refused(asked, f"fast mode is {state or 'off'}: {why or 'not with this model'}")
            # Left on, it would begin to cost as soon as somebody chooses another model.
            if "apply_flag_settings" not in self._memo.unsupported:
                self.ask("setting", _flag("fastMode", False))
            return
        self._done(asked)

    def _log_in(self, asked: Asked, said: dict[str, Raw]) -> None:
        url = text(said.get("authUrl", UNSET))
        if not url:
            self._done(asked)  # it needed nobody
        elif _is_address(url):
            # The address leads back to a port that the CLI listens on.
            where = " on the machine the agent runs on" if "callbackPort" in said else ""
            self._sink.put(Notice(text=f"log in to {asked.value[:_NAME]}{where}: {url}"))
            self._done(asked)
        else:
            self._refused(asked, "the agent names no address to log in at")

    def _cancelled(self, asked: Asked, said: dict[str, Raw]) -> None:
        if said.get("cancelled") != _TRUE:
            self._refused(asked, "it is not waiting any more")
            return
        self._take_back(asked.value)
        self._done(asked)

    def _taken_back(self, cancelled: Raw | None) -> None:
        """Inputs that waited for the turn which was interrupted: they will not run."""
        for raw in (blocks(cancelled) or []) if cancelled is not None else []:
            self._take_back(text(raw))

    def _take_back(self, uuid: str) -> None:
        key = self._memo.echoes.pop(uuid, None)
        if key is not None:
            self._sink.put(InputRejected(key=key, reason="cancelled"))


def _flag(name: str, value: object) -> h.ApplyFlagSettings:
    return h.ApplyFlagSettings(Raw(msgspec.json.encode({name: value})))


def _is_address(url: str) -> bool:
    """Whether a person may be sent there: nothing that runs, nothing that hides."""
    return (
        url.startswith(("https://", "http://"))
        and len(url) <= MAX_URL
        and url.isascii()
        and url.isprintable()
        and " " not in url
    )


def _named(spec: OpenSpec) -> str:
    """The id of the conversation, where it was ours to choose; else init will tell it."""
    if spec.fork:
        return spec.fork_session
    return "" if spec.continue_latest or spec.from_pr else spec.agent_session
