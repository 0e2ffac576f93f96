"""The IPC of one process: a front end's bytes in, steps out; a session's items in, lines out.

It does nothing itself. Whoever drives it carries out the steps of :meth:`IpcAdapter.receive` in
their order, tells it of the session it opened, hands over what the session sends, and writes
what :meth:`IpcAdapter.take` gives. Every line it gives is a message; warnings are kept apart.

The protocol was made for bridges to Claude Code and has Claude's shapes by definition: names of
modes, suggestions, the fields of ``system`` messages. They are what its clients read, and no part
of the gateway: agents of every kind can be used through it, as far as those shapes can tell them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flybridge.errors import InvalidRequestError, RemoteProtocolError
from flybridge.frontends.ipc.bodies import Blobs
from flybridge.frontends.ipc.content import to_content
from flybridge.frontends.ipc.events import Events
from flybridge.frontends.ipc.panels import Panels
from flybridge.frontends.ipc.steps import Act, Show, Start, Step, Stop, Switch
from flybridge.frontends.ipc.wire import lines
from flybridge.frontends.ipc.wire import messages as w
from flybridge.model import commands as c
from flybridge.model import events as ev
from flybridge.wire.lines import CutLine, LineSplitter

MAX_LINE = 64 * 2**20
STOP_TASK_MS = 2000
MAX_WARNINGS = 64
PENDING = {"fork": "pending-fork", "continue": "pending-continue", "new": w.PENDING}


class IpcAdapter:
    """``new_id`` makes ids that nobody else uses. ``mode`` is wanted from the start: where
    nobody has given it, an agent that has no such mode goes without a word.
    """

    def __init__(
        self,
        *,
        new_id: Callable[[], str],
        cwd: str = "",
        mode: str = "",
        mode_given: bool = True,
        model: str = "",
    ) -> None:
        self.greeted = False
        self.mode = mode  # wanted: of this session and of those that follow it
        self.model = model
        self._mode_given = mode_given
        self._new_id = new_id
        self._lines = LineSplitter(max_line=MAX_LINE)
        self._out: list[bytes] = []
        self._warnings: list[str] = []
        self.events = Events(self._write, cwd=cwd, new_id=new_id)
        self._panels = Panels(self.events)

    # ---- lines in ------------------------------------------------------------------------------

    def receive(self, data: bytes) -> list[Step]:
        """What the lines completed by ``data`` ask for."""
        steps: list[Step] = []
        for line in self._lines.receive(data):
            steps += self._line(line)
            if steps and isinstance(steps[-1], Stop):
                break
        return steps

    def ended(self) -> list[Step]:
        """The front end is gone: a line that it never finished is none."""
        if self._lines.rest.strip():
            self.fail("The input ended in the middle of a line")
        return [Stop(0)]

    def _line(self, line: bytes) -> list[Step]:
        if type(line) is CutLine:
            self.fail(f"A line is longer than {MAX_LINE} bytes")
            return []
        try:
            message = lines.read(line)
            if message is None:
                return []
            if isinstance(message, w.ProtocolInit):
                return self._init(message)
            if not self.greeted:
                raise RemoteProtocolError("protocol_init comes first")
            return self._asked(message)
        except (RemoteProtocolError, InvalidRequestError) as error:
            self.fail(str(error))
            return []

    def _init(self, message: w.ProtocolInit) -> list[Step]:
        if self.greeted:
            raise RemoteProtocolError("protocol_init comes once")
        if message.version != w.PROTOCOL_VERSION:
            self.fail(f"Unsupported protocol version: {message.version}", recoverable=False)
            return [Stop(1)]
        self.greeted = True
        self._write(w.ProtocolAck())
        return [Start()]

    def _asked(self, message: w.Inbound) -> list[Step]:
        match message:
            case w.UserMessage():
                return self._say(message)
            case w.ToolApproval() | w.QuestionAnswer():
                return self._decide(message)
            case w.Interrupt():
                self.events.interrupt()
                return [self._act(c.Interrupt())]
            case w.PermissionMode(mode=mode):
                return self._set_mode(mode)
            case w.ModelChange(model=model):
                if not model:
                    raise InvalidRequestError("model_change: no model")
                self.model = model
                return [self._set(c.SetModel(model=model), f"The model {model[:100]}")]
            case w.SessionCommand(command=command):
                return [Switch(command)]
            case w.StopTask(task_id=task):
                act = self._set(c.StopTask(task=task), f"Stopping the task {task[:100]}")
                return [Act(command=act.command, request=act.request, patience_ms=STOP_TASK_MS)]
            case w.ViewRequest(name=name):
                self._panels.check(name)
                return [Show(name)]
            case _:
                raise RemoteProtocolError("protocol_init comes once")

    def _act(self, command: c.Command) -> Act:
        return Act(command=command, request=self._new_id())

    def _set(self, command: c.Command, what: str) -> Act:
        act = Act(command=command, request=self._new_id(), setting=True)
        self.events.settings[act.request] = what
        return act

    def _say(self, message: w.UserMessage) -> list[Step]:
        content = to_content(message)
        one = self.events.expect()
        return [Act(command=c.SendInput(content=content), request=one.msg_id)]

    def _decide(self, message: w.ToolApproval | w.QuestionAnswer) -> list[Step]:
        prompts = self.events.prompts
        answer = (
            prompts.approve(message)
            if isinstance(message, w.ToolApproval)
            else prompts.answer(message)
        )
        if answer is None:
            self.warn(f"nobody asks for request_id {message.request_id[:100]!r}")
            return []
        return [self._act(answer)]

    def _set_mode(self, mode: str) -> list[Step]:
        if mode not in w.MODES:
            raise InvalidRequestError(f"Unknown permission mode: {mode[:60]}")
        return [self._set(c.SetMode(mode=mode), f"The permission mode {mode}")]

    # ---- the session ---------------------------------------------------------------------------

    def opened(self, conversation: str, *, to: str = "") -> list[Step]:
        """Announce a session; ``to`` names the session command that led to it.

        A session command is acknowledged by ``session_init`` alone, so that one is written even
        if the front end knows the name already. The session's agent has no permission mode of
        ours yet: the step that comes back sets it.
        """
        self.events.reset()
        self.events.announce(PENDING.get(to) or conversation or w.PENDING, always=bool(to))
        if not self.mode:
            return []
        command = c.SetMode(mode=self.mode)
        if not self._mode_given:
            return [Act(command=command, request=self._new_id(), setting=True, quiet=True)]
        return [self._set(command, f"The permission mode {self.mode}")]

    def remember(self, event: ev.Event, blobs: Blobs | None = None) -> None:
        """Something that happened in the session before: known, and not said again."""
        self.events.remember(event, blobs or {})

    def joined(self) -> None:
        """All that happened before is known: say what still waits for a person."""
        self.events.forward_open()

    def apply(self, event: ev.Event, blobs: Blobs | None = None) -> list[Step]:
        """One event of the session, with the blobs that it needs."""
        self.events.apply(event, blobs or {})
        self._panels.apply(event)
        steps: list[Step] = []
        for command, request in self.events.take_again():
            steps.append(Act(command=command, request=request))
        if isinstance(event, ev.ModeChanged):
            self.mode, self._mode_given = event.mode, True
        return steps

    def preview(self, item: str, since: int, upto: int, text: str) -> None:
        self.events.speech.grew(item, since, upto, text)

    def gauge(self, name: str, value: bytes) -> None:
        self._panels.gauge(name, value)

    # ---- what became of a step -----------------------------------------------------------------

    def refused(self, act: Act, why: str) -> None:
        """The gateway would not take a command: it left no trace."""
        command = act.command
        if isinstance(command, c.AnswerPermission | c.AnswerQuestion):
            self.events.prompts.reopen(command.prompt)
        self.events.refused(act.request, why)

    def unanswered(self, act: Act) -> None:
        """The agent never said whether it did it."""
        self.events.unanswered(act.request)

    def show(
        self,
        name: str,
        *,
        modes: Sequence[str] = (),
        sessions: Sequence[Mapping[str, Any]] = (),
        counted: Mapping[str, Any] | None = None,
    ) -> None:
        shown = self._panels.view(name, modes=modes, sessions=sessions, counted=counted)
        self._write(shown)

    def fail(self, message: str, *, recoverable: bool = True) -> None:
        self._write(w.Error(message=message, recoverable=recoverable))

    def warn(self, message: str) -> None:
        """For standard error."""
        if len(self._warnings) < MAX_WARNINGS:
            self._warnings.append(message)

    @property
    def busy(self) -> bool:
        """Whether a message of ours is not done with."""
        return bool(self.events.pending) or self.events.speech.turn is not None

    @property
    def unfinished(self) -> bool:
        """Whether a message of ours is not answered, and nobody has to be asked for that."""
        return bool(self.events.pending) and not self.events.prompts.waiting

    def leave(self) -> None:
        """Close every message and prompt that is open: nothing more will be said about them."""
        self.events.leave()

    # ---- lines out -----------------------------------------------------------------------------

    def _write(self, message: w.Outbound) -> None:
        self._out.append(lines.write(message))

    def take(self) -> bytes:
        """Whole lines, to be written to standard output."""
        data, self._out = b"".join(self._out), []
        return data

    def take_warnings(self) -> list[str]:
        said, self._warnings = self._warnings, []
        return said
