"""The events of a session, as the front end hears of them."""

from __future__ import annotations

from collections.abc import Callable

from flybridge.frontends.ipc.bodies import Blobs
from flybridge.frontends.ipc.messages import DIED, Speech, Write
from flybridge.frontends.ipc.metadata import About
from flybridge.frontends.ipc.numbers import Message, Numbers
from flybridge.frontends.ipc.prompts import Prompts
from flybridge.frontends.ipc.wire import messages as w
from flybridge.model import commands as c
from flybridge.model import events as ev
from flybridge.model.content import Content
from flybridge.model.ids import TurnId

LOST = "The conversation to go on with is lost: a new one begins"
_STDERR = 500
_TRIES = 2
_DEATHS = frozenset({"exit", "keeper_died", "socket", "reboot"})  # why an input came to its end


class Events:
    """Follows one session after the other; numbers and messages are the process's own."""

    def __init__(self, write: Write, *, cwd: str, new_id: Callable[[], str]) -> None:
        self._write = write
        self._new_id = new_id
        self._cwd = cwd
        self.numbers = Numbers()
        self.prompts = Prompts()
        self.pending: dict[str, Message] = {}  # ours, and not done with
        self.settings: dict[str, str] = {}  # ours, and not confirmed: what they are about
        self.stopping: bool  # an interrupt was asked for in this turn
        self.announced = ""
        self.reset()

    def reset(self) -> None:
        """Another session: whatever was open in the last one is over."""
        for one in self.prompts.clear():
            self._write(one)
        if hasattr(self, "speech"):
            self._abandon()
        self.about = About(self._cwd)
        self.speech = Speech(self._write, self.about, self.numbers, self._new_id)
        self.phase = "starting"
        self.stopping = False
        self.ending = False  # we ended the agent: that is no accident
        self.spoke = False  # the agent has a record of this conversation
        self._lost = self._past = self._dead = False
        self._running = False  # a turn that had begun before we came
        self._unsaid = ""  # an error that may be part of a bigger one
        self._content: dict[str, tuple[Content, ...]] = {}
        self._again: list[tuple[c.Command, str]] = []

    def _abandon(self) -> None:
        turn = self.speech.turn
        if turn is not None:
            cut = ev.TurnEnded(turn=TurnId(""), reason="agent_exited")
            self.speech.end(cut, stopped=False, asked=True)
        for request, one in self.pending.items():
            taken = one.consumed or request in self._content  # by the session that is left
            if taken or (turn is not None and one is turn.message):
                self.speech.complete(one, "error")
        self.pending = {key: one for key, one in self.pending.items() if not one.closed}

    def leave(self) -> None:
        """Close what is open, also messages that no session has taken."""
        self.reset()
        for one in self.pending.values():
            self.speech.complete(one, "error")
        self.pending.clear()

    def announce(self, session: str, *, always: bool = False) -> None:
        """Write ``session_init`` if the conversation's name changed, or ``always``."""
        if session and (always or session != self.announced):
            self.announced = session
            self._write(w.SessionInit(session_id=session))

    def expect(self) -> Message:
        """A message is about to be sent: its id is its request's."""
        one = Message(self._new_id(), self.numbers.draw())
        self.pending[one.msg_id] = one
        return one

    def interrupt(self) -> None:
        """Note that the front end asked to stop what it has asked for so far."""
        self.stopping = bool(self.pending) or self.speech.turn is not None
        for message in self.pending.values():
            message.stopped = True

    # ---- before ----------------------------------------------------------------------------------

    def remember(self, event: ev.Event, blobs: Blobs) -> None:
        match event:
            case ev.AgentReady():
                self.about.ready(event, blobs)
            case ev.PermissionRequested() | ev.QuestionRequested():
                self.prompts.remember(event)
            case ev.PermissionClosed() | ev.QuestionClosed():
                self.prompts.remember(event)
            case ev.ModeChanged(mode=mode):
                self.about.mode = mode
            case ev.ModelChanged(model=model):
                self.about.model = model
            case ev.ToolStarted(item=item, name=name):
                self.speech.tools[item] = name
            case ev.ToolResult(item=item):
                self.speech.tools.pop(item, None)
            case ev.History(phase=phase):
                self._past = phase == "started"
            case ev.TurnStarted():
                self.spoke = self._running = True
            case ev.TurnEnded():
                self._running = False
            case ev.AgentStarted() | ev.AgentConnected() | ev.AgentExited():
                self._life(event)
            case _:
                pass

    def forward_open(self) -> None:
        """Take part in what runs, and say what waits for a person."""
        if self._running:
            self.speech.begin(None)
        for one in list(self.prompts.open.values()):
            self._write(self.prompts.asked(one))

    # ---- now -------------------------------------------------------------------------------------

    def apply(self, event: ev.Event, blobs: Blobs) -> None:  # noqa: C901
        # One line per kind of event: long, but nothing to understand.
        speech = self.speech
        if self._past and not isinstance(event, ev.History):
            return  # said before this process: the front end did not ask for it
        self._say_error(event)
        match event:
            case ev.History(phase=phase):
                self._past, self.spoke = phase == "started", True
            case ev.AgentStarted() | ev.AgentConnected() | ev.AgentExited():
                self._life(event)
                self._died(event)
            case ev.AgentReady():
                self._ready(event, blobs)
            case ev.ConversationLost():
                self._lost = self._dead = True
                speech.fail(LOST)
            case ev.TurnStarted():
                self.spoke = True
                speech.begin(self._next())
            case ev.TurnEnded():
                self._turn_ended(event)
            case ev.ItemStarted():
                speech.started(event)
            case ev.TextDone():
                speech.said(event, blobs)
            case ev.ThinkingDone():
                speech.thought(event, blobs)
            case ev.ToolStarted():
                speech.called(event, blobs)
            case ev.ToolResult():
                speech.returned(event, blobs)
            case ev.PermissionRequested() | ev.QuestionRequested():
                speech.introduce()
                self._write(self.prompts.asked(event))
            case ev.PermissionClosed() | ev.QuestionClosed():
                cancel = self.prompts.closed(event)
                if cancel is not None:
                    self._write(cancel)
            case ev.ContextCompacted(phase="done"):
                speech.introduce()
                self._write(w.CompactBoundary())
            case ev.ModeChanged(mode=mode):
                self.about.mode = mode
            case ev.ModelChanged(model=model):
                self.about.model = model
            case ev.Notice(command=True, text=text, level=level) if speech.turn is not None:
                (speech.fail if level == "warning" else speech.printed)(text)
            case ev.Error(text=text):
                self._error(text)
            case ev.AlarmRaised(text=text, advice=advice):
                speech.fail(f"Alarm: {text} {advice}".rstrip())
            case ev.Gap(reason=reason):
                speech.fail(f"Output of the agent was lost: {reason}")
            case _:
                self._input(event)

    def _ready(self, event: ev.AgentReady, blobs: Blobs) -> None:
        self.about.ready(event, blobs)
        self.announce(event.agent_session)
        self.speech.introduce()

    def _error(self, text: str) -> None:
        """The agent's own words about a failure."""
        if self.speech.turn is not None:
            self.speech.fail(text)
        else:
            self._unsaid = text

    def _say_error(self, event: ev.Event) -> None:
        """An error without a turn waits for the next event: a lost conversation is said once."""
        text, self._unsaid = self._unsaid, ""
        if text and not isinstance(event, ev.ConversationLost):
            self._dead = True  # it could not start: its end is no news
            self.speech.fail(text)

    # ---- the agent's process ---------------------------------------------------------------------

    def _life(self, event: ev.AgentStarted | ev.AgentConnected | ev.AgentExited) -> None:
        match event:
            case ev.AgentStarted():
                self.phase, self._lost, self._dead = "starting", False, False
            case ev.AgentConnected():
                self.phase = "live"
            case ev.AgentExited():
                self.phase = "none"

    def _died(self, event: ev.Event) -> None:
        """An accident is told of once: here, or where it ended a turn."""
        if not isinstance(event, ev.AgentExited) or event.asked or self.ending or self._dead:
            return
        tail = event.stderr_tail.strip()[-_STDERR:]
        if event.why == "not_started":
            self.speech.fail(f"The agent could not be started{_behind(tail)}")
        else:
            self.speech.fail(f"{DIED}: {_how(event)}{_behind(tail)}")

    # ---- turns and messages ----------------------------------------------------------------------

    def _next(self) -> Message | None:
        """The oldest message that no turn has taken."""
        return next((one for one in self.pending.values() if not one.consumed), None)

    def _turn_ended(self, event: ev.TurnEnded) -> None:
        if event.reason == "agent_exited":
            self._dead = True  # the turn's end says so
        self.speech.end(event, stopped=self.stopping, asked=self.ending)
        self.stopping = False

    def _input(self, event: ev.Event) -> None:
        match event:
            case ev.InputAccepted(key=key, content=content):
                if request_of(key) in self.pending:
                    self._content[request_of(key)] = content
            case ev.InputConsumed(key=key, turn=turn) if turn:
                self._consumed(self.pending.get(request_of(key)))
            case ev.InputOutcome(key=key):
                self._outcome(request_of(key), event)
            case _:
                pass

    def _consumed(self, one: Message | None) -> None:
        turn = self.speech.turn
        if turn is None:
            return
        if one is None:  # somebody else's: then it is not the turn of ours that waits
            if not turn.spoke and not turn.message.consumed:
                self.speech.begin(None).introduced = turn.introduced
            return
        taken, one.consumed = one.consumed, True
        if turn.message is one or taken:
            return
        if turn.spoke or turn.message.consumed:
            turn.merged.append(one)
        else:
            turn.message = one

    def _outcome(self, request: str, event: ev.InputOutcome) -> None:
        if request in self.settings:
            self._settled(request, event)
            return
        one = self.pending.get(request)
        if one is None:
            return
        content = self._content.pop(request, ())
        if self._may_try_again(one, event) and content:
            one.tries, one.consumed, one.closed = one.tries + 1, False, False
            self._again.append((c.SendInput(content=content), f"{request}.{one.tries}"))
            self.pending[f"{request}.{one.tries}"] = self.pending.pop(request)
            return
        del self.pending[request]
        if one.closed:
            return
        self._close(one, event)
        if self.speech.turn is None and not any(left.stopped for left in self.pending.values()):
            self.stopping = False  # no turn is left that the interrupt could end

    def _close(self, one: Message, event: ev.InputOutcome) -> None:
        """Close a message that no turn has closed."""
        good = event.outcome in ("done", "observed")
        if one.stopped and not good and event.reason in _DEATHS:
            self._dead = True  # the front end asked for the stop: it is not told as an accident
            self.speech.cancel(one)
            return
        if not good and not (one.stopped and event.outcome == "cancelled"):
            self.speech.fail(f"The message was not carried out: {event.reason or event.outcome}")
        self.speech.complete(one, "success" if good else "error")

    def _may_try_again(self, one: Message, event: ev.InputOutcome) -> bool:
        """An agent that found no conversation has carried out nothing."""
        return self._lost and one.tries < _TRIES and event.outcome not in ("done", "observed")

    def _settled(self, request: str, event: ev.InputOutcome) -> None:
        what = self.settings.pop(request)
        if event.outcome != "done" and not self.ending:
            self.speech.fail(f"{what}: {event.reason or event.outcome}")

    def refused(self, request: str, why: str) -> None:
        """The gateway did not take it."""
        one = self.pending.pop(request, None)
        what = self.settings.pop(request, "")
        self._write(w.Error(message=f"{what}: {why}" if what else why))
        if one is not None:
            self.speech.complete(one, "error")

    def unanswered(self, request: str) -> None:
        what = self.settings.pop(request, "")
        if what:
            self._write(w.Error(message=f"{what}: the agent did not answer"))

    def take_again(self) -> list[tuple[c.Command, str]]:
        """Messages that are to be sent once more, under another request id."""
        again, self._again = self._again, []
        return again


def request_of(key: str) -> str:
    """The request id in an input's key."""
    return key.rpartition(":")[2]


def _how(event: ev.AgentExited) -> str:
    if event.why != "exit":
        return event.why.replace("_", " ")
    return f"signal {-event.status}" if event.status < 0 else f"status {event.status}"


def _behind(tail: str) -> str:
    return f": {tail}" if tail else ""
