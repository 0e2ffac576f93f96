"""One slot: a session's log, folded to what fits on a small screen."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Raw

from flybridge.frontends.companion.prompts import Prompt, of_permission, of_question
from flybridge.frontends.companion.wire.messages import AgentStatus, State
from flybridge.model import events as e
from flybridge.model.ids import InputKey, ItemId, PromptId, SessionId, TurnId
from flybridge.session.idling import PUT_AWAY

WINDOW = 200_000  # tokens, until the agent says otherwise
PROCESSING = "Processing prompt…"
INTERRUPTING = "Interrupting…"
COMPACTING = "Compacting context…"
ERROR = "Error"
NO_LOGIN = "the agent could not log in"
MAX_TOOLS = 256


class Face(msgspec.Struct, frozen=True, kw_only=True):
    """What a slot shows, and the prompt that it shows."""

    status: AgentStatus
    prompt: Prompt | None = None


class _Context(msgspec.Struct):
    tokens: int | None = None
    window: int = 0


class _Seconds(msgspec.Struct):
    item: str
    seconds: float


class Slot:
    """A session in a slot. Fed with its log from the start, it says what to show.

    ``auto_edit`` and ``rules`` name the device by whose word edits inside the project, or whole
    tools, need no button; a prompt they cover is ``held`` until it is decided or revealed.
    """

    def __init__(self, number: int, name: str, session: SessionId, cwd: str) -> None:
        self.number = number
        self.name = name
        self.session = session
        self.cwd = cwd
        self.active = False
        self.ended = False
        self.turn = TurnId("")
        self.auto_edit = ""
        self.rules: dict[str, str] = {}
        self.prompts: dict[PromptId, Prompt] = {}
        self.held: set[PromptId] = set()
        self.trying: set[PromptId] = set()  # of those, what is being decided
        self._state: State = "idle"
        self._message = ""
        self._error = ""
        self._percent = 0
        self._compacting = False
        self._inputs: set[InputKey] = set()
        self._tools: dict[ItemId, str] = {}
        self._past = False
        self._resting = False

    # ---- what it shows -------------------------------------------------------------------------

    @property
    def prompt(self) -> Prompt | None:
        """The oldest prompt that waits for a button."""
        return next((one for key, one in self.prompts.items() if key not in self.held), None)

    @property
    def busy(self) -> bool:
        """Whether there is anything to interrupt."""
        return bool(self.turn or self._inputs or self.prompts)

    def face(self) -> Face:
        prompt = self.prompt
        state, message = self._state, self._message
        kind: str | msgspec.UnsetType = UNSET
        detail: str | msgspec.UnsetType = UNSET
        described: str | msgspec.UnsetType = UNSET
        if prompt is not None:
            state, kind, detail = "waiting", prompt.tool, prompt.detail
            described, message = prompt.description, f"{prompt.tool}: {prompt.detail}"
        elif state == "error":
            kind, detail, message = ERROR, self._error, self._error
        elif self._compacting:
            state, message = "working", COMPACTING
        status = AgentStatus(
            agent=self.name,
            state=state,
            message=message,
            context_percent=self._percent,
            prompt_tool_type=kind,
            prompt_tool_detail=detail,
            prompt_description=described,
            auto_edit=bool(self.auto_edit),
            slot=self.number,
            active=self.active,
        )
        return Face(status=status, prompt=prompt)

    # ---- what happened -------------------------------------------------------------------------

    def apply(self, event: e.Event) -> None:  # noqa: C901
        # One line per kind of event: long, but nothing to understand.
        if isinstance(event, e.History):
            self._past = event.phase == "started"
        if self._past:
            return
        match event:
            case e.AgentConnected():
                self._connected(adopted=event.adopted)
            case e.AgentExited():
                self._exited(asked=event.asked)
            case e.InputAccepted():
                self._accepted(event)
            case e.InputOutcome(key=key):
                self._inputs.discard(key)
                self._settle()
            case e.TurnStarted(turn=turn):
                self._turn_started(turn)
            case e.TurnEnded():
                self._turn_ended(event)
            case e.PermissionRequested(prompt=prompt):
                self._asked(prompt, of_permission(event))
            case e.QuestionRequested(prompt=prompt):
                self.prompts[prompt] = of_question(event)
            case e.PermissionClosed(prompt=prompt) | e.QuestionClosed(prompt=prompt):
                self.prompts.pop(prompt, None)
                self.held.discard(prompt)
                self.trying.discard(prompt)
            case (
                e.ItemStarted(kind="tool", item=item, name=name)
                | e.ToolStarted(item=item, name=name)
            ):
                self._tool(item, name)
            case e.ToolResult(item=item):
                self._tools.pop(item, None)
            case e.TextDone(text=text, parent="") if text:
                self._work(text.strip())
            case e.ContextCompacted(phase=phase):
                self._compacting = phase == "started"
            case e.Retry(attempt=attempt, reason=reason):
                self._work(f"Retry {attempt}: {reason}")
            case e.Error(text=text):
                self._failed(text)
            case e.Notice(level="warning", text=text) if text.startswith(NO_LOGIN):
                self._failed(text)
            case e.Notice(text=text) if text.startswith(PUT_AWAY):
                self._resting = True
            case _:
                pass

    def gauge(self, name: str, value: Raw) -> None:
        """A reading between the events."""
        try:
            if name == "context":
                self._context(msgspec.json.decode(value, type=_Context))
            elif name == "tool_seconds":
                told = msgspec.json.decode(value, type=_Seconds)
                tool = self._tools.get(ItemId(told.item), "tool")
                self._work(f"Running: {tool} ({int(told.seconds)}s)")
        except (msgspec.MsgspecError, ValueError):
            pass  # a reading nobody here can read

    def reveal(self, prompt: PromptId) -> None:
        """It is not to be decided without a button after all."""
        self.held.discard(prompt)

    def _asked(self, key: PromptId, prompt: Prompt) -> None:
        self.prompts[key] = prompt
        if prompt.tool in self.rules or (self.auto_edit and prompt.edits):
            self.held.add(key)

    def _connected(self, *, adopted: bool) -> None:
        self.active, self.ended, self._resting = True, False, False
        if not adopted and not self._inputs:
            self._state, self._message = "idle", ""

    def _exited(self, *, asked: bool) -> None:
        """The process is gone; one that was only put away comes back with the next prompt."""
        self.turn, self._compacting = TurnId(""), False
        self.prompts.clear()
        self.held.clear()
        self.trying.clear()
        self.rules.clear()
        self._tools.clear()
        self._inputs.clear()
        if asked and self._resting:
            self._state, self._message = "idle", ""
            return
        self.active, self.ended, self.auto_edit = False, True, ""
        self._state, self._message, self._error = "done", "", ""

    def _accepted(self, event: e.InputAccepted) -> None:
        if event.kind == "message":
            self._inputs.add(event.key)
            self._state, self._message, self._error = "working", PROCESSING, ""
        elif event.kind == "interrupt" and self.busy:
            self._work(INTERRUPTING)

    def _turn_started(self, turn: TurnId) -> None:
        self.turn = turn
        if self._state == "error" and self._inputs:  # of a prompt that came while one failed
            self._state, self._message, self._error = "working", PROCESSING, ""
        self._work(self._message)

    def _turn_ended(self, event: e.TurnEnded) -> None:
        self.turn, self._compacting = TurnId(""), False
        self._tools.clear()
        if "context" in event.gauges:
            self.gauge("context", event.gauges["context"])
        if event.reason == "error":
            self._failed(self._error or event.message or "the turn failed")
        self._settle()

    def _settle(self) -> None:
        if self._state == "working" and not self.turn:
            if self._inputs:
                self._message = PROCESSING
            else:
                self._state, self._message = "idle", ""

    def _tool(self, item: ItemId, name: str) -> None:
        if len(self._tools) < MAX_TOOLS:
            self._tools[item] = name
        self._work(f"Running: {name}")

    def _work(self, message: str) -> None:
        """Something goes on; an error stays until the next prompt."""
        if self._state not in ("error", "done") and (self.turn or self._inputs):
            self._state, self._message = "working", message

    def _failed(self, text: str) -> None:
        if self._state != "done":
            self._state, self._error = "error", text

    def _context(self, told: _Context) -> None:
        if told.tokens is not None:
            part = 100 * max(told.tokens, 0) // (told.window or WINDOW)
            self._percent = min(part, 100)
