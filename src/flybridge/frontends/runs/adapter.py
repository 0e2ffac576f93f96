"""One run and the script that drives it: lines in, wishes out; a log in, lines out. Pure.

The loop around it reads lines, carries out what ``wants`` gives, hands over what the session
says, and writes what ``take`` gives. It is over when ``terminal`` is there and was written.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from flybridge.errors import RemoteProtocolError
from flybridge.frontends.runs import questions
from flybridge.frontends.runs.ending import reason_of
from flybridge.frontends.runs.ids import PASSING, Place, message_id
from flybridge.frontends.runs.questions import Open
from flybridge.frontends.runs.translate import PROMPT, RunLog
from flybridge.frontends.runs.wire import messages as w
from flybridge.model.commands import AnswerPermission, AnswerQuestion, Close, SendInput
from flybridge.model.content import Text
from flybridge.model.events import Event
from flybridge.wire.lines import CutLine, LineSplitter

CLOSE = "run.end"  # the request id of the one command that ends a run early
MAX_EARLY = 1000  # answers that came before the log was told
LOST = "the script ended before it had said its prompt"


class OpenRun(msgspec.Struct, frozen=True):
    """Begin: open the session, then say :func:`prompt_of`."""

    start: w.Start


class Tell(msgspec.Struct, frozen=True, kw_only=True):
    """Carry out a command, once per ``request``. ``group``: the questions it answers."""

    request: str
    command: SendInput | AnswerPermission | AnswerQuestion | Close
    group: str = ""


Want: TypeAlias = OpenRun | Tell


def prompt_of(start: w.Start) -> Tell:
    """The first input: what it is about, then what is to be done."""
    parts = [f"{name}:\n{text}" for name, text in start.context.items()]
    text = "\n\n".join([*parts, start.prompt])
    return Tell(request=PROMPT, command=SendInput(content=(Text(text),)))


class RunAdapter:
    """``telling``: 8 hex digits that are new each time. ``after``: a frame that is known already.

    Nothing is decided before ``caught_up`` is set: what the log says comes first.
    """

    def __init__(self, run: str, *, telling: str, after: Place | None = None) -> None:
        self.run = run
        self.log = RunLog(run)
        self.begun = False
        self.caught_up = False
        self.terminal: w.Terminal | None = None  # written, or about to be
        self.warnings: list[str] = []
        self.attach_key = ""  # told with the start, and in no other telling
        self._telling = telling
        self._after = after or Place(0, -1)
        self._lines = LineSplitter(max_line=w.MAX_LINE_BYTES)
        self._eof = False
        self._out: list[bytes] = []
        self._wants: list[Want] = []
        self._answers: dict[str, tuple[str, ...]] = {}
        self._sent: set[str] = set()  # groups and requests that are on their way
        self._early: list[w.Input] = []
        self.ending = False  # the session is to be closed, or was
        self._passed = 0
        self._deltas: dict[str, int] = {}

    def take(self) -> list[bytes]:
        """Lines to write, each with its newline."""
        out, self._out = self._out, []
        return out

    def wants(self) -> list[Want]:
        wants, self._wants = self._wants, []
        return wants

    # ---- what the script says ------------------------------------------------------------------

    def receive(self, data: bytes, now_ms: int) -> None:
        """Take what was read; ``b""``: there will be no more."""
        if data:
            lines = self._lines.receive(data)
        else:
            lines = [self._lines.rest] if self._lines.pending else []
            self._eof = True
        for line in lines:
            if line.strip() and self.terminal is None:
                self._line(line, now_ms)
        if self._eof and not self.begun:
            self.fail("protocol_error", "the input ended before a run.start came", now_ms)
        self.act(now_ms)

    def _line(self, line: bytes, now_ms: int) -> None:
        try:
            if isinstance(line, CutLine):
                raise RemoteProtocolError(f"a line is longer than {w.MAX_LINE_BYTES} bytes")
            run, said = w.decode(line)
        except RemoteProtocolError as error:
            self._bad(error, now_ms)
            return
        match said:
            case w.Start() if not self.begun:
                self.begun = True
                self.run = self.log.run = run or self.run
                self._wants.append(OpenRun(said))
            case w.Start():
                self.warnings.append("a second run.start was passed over")
            case _ if not self.begun:
                self.fail("protocol_error", "the first frame must be a run.start", now_ms)
            case w.Input() if not self.caught_up and len(self._early) < MAX_EARLY:
                self._early.append(said)  # its question may be in the log
            case w.Input():
                self.answer(said, now_ms)
            case w.Cancel(reason=reason):
                self.end(w.Cancelled(reason=reason))

    def _bad(self, error: RemoteProtocolError, now_ms: int) -> None:
        """The first frame must be right; later ones are passed over."""
        if self.begun:
            self.warnings.append(f"a line was passed over: {error}")
        elif isinstance(error, w.UnsupportedVersionError):
            self.fail("unsupported_version", str(error), now_ms)
        else:
            self.fail("protocol_error", str(error), now_ms)

    def answer(self, said: w.Input, now_ms: int) -> None:
        """Take an answer that is one; ask again where it is none."""
        asked = self.log.open.get(said.question_id)
        if asked is None or said.question_id in self._answers or asked.group in self._sent:
            self.warnings.append(f"no question {said.question_id[:80]!r} waits for an answer")
            return
        checked = questions.check(asked, said.value)
        if isinstance(checked, str):
            self._pass(msgspec.structs.replace(asked.question, validation=checked), now_ms)
        else:
            self._answers[said.question_id] = checked

    # ---- what the session says -----------------------------------------------------------------

    def event(self, seq: int, at_ms: int, event: Event | None) -> None:
        """Take in the next event of the log, its long texts put back in."""
        self._passed = 0
        for n, frame in enumerate(self.log.apply(seq, at_ms, event)):
            if self.terminal is not None:
                return  # a run that could not be recorded has ended without its log
            if isinstance(frame.payload, w.Terminal):
                self.terminal = frame.payload
            if Place(seq, n) > self._after:
                self._put(frame)

    def begin(self, started: w.Started, now_ms: int) -> None:
        """Say at once that the run exists; its log will begin with the same frame."""
        self._after = Place(1, 0)
        id_ = message_id(self.run, self._after)
        self._put(w.Frame(id=id_, at_ms=now_ms, run=self.run, payload=started))

    def preview(self, item: str, since: int, upto: int, text: str, now_ms: int) -> None:
        """More of a text that grows: told where it was asked for, and only once."""
        known = self._deltas.get(item, 0)
        is_new = since == known or (since == 0 and known == 0)
        started = self.log.started
        wanted = started is not None and started.config.stream and self.log.is_growing(item)
        if is_new and text and wanted:
            self._deltas[item] = upto
            self._pass(w.Progress(kind="text_delta", content=text), now_ms)

    def _pass(self, payload: w.Outbound, now_ms: int) -> None:
        """A frame that is not in the log, and is not told again."""
        if self.terminal is None:
            place = Place(self.log.seq, PASSING + self._passed % PASSING)
            self._passed += 1
            id_ = message_id(self.run, place, self._telling)
            self._put(w.Frame(id=id_, at_ms=now_ms, run=self.run, payload=payload))

    def _put(self, frame: w.Frame) -> None:
        if isinstance(frame.payload, w.Started) and self.attach_key:
            told = msgspec.structs.replace(frame.payload, attach_key=self.attach_key)
            frame = msgspec.structs.replace(frame, payload=told)
        self._out.append(w.encode(frame))

    # ---- what follows from it ------------------------------------------------------------------

    def act(self, now_ms: int) -> None:
        """Hand over what is complete, and end what cannot go on."""
        if not self.caught_up or self.terminal is not None or self.ending:
            return
        early, self._early = self._early, []
        for said in early:
            self.answer(said, now_ms)
        if not self.log.prompted and PROMPT not in self._sent:
            self.end(w.Failed(code="internal_error", message=LOST))
            return
        if lost := self.log.undelivered:
            again = f"{lost.request} {self.log.seq}"
            if again not in self._sent:
                self._sent.add(again)
                command = SendInput(content=lost.content)
                self._wants.append(Tell(request=lost.request, command=command))
        self.expire(now_ms)

    def expire(self, now_ms: int) -> None:
        """Only what the clock makes happen, and what is complete by it."""
        if self.terminal is not None or self.ending:
            return
        self._out_of_time(now_ms)
        for group in dict.fromkeys(one.group for one in self.log.open.values()):
            self._hand_over(group)

    def said_prompt(self) -> None:
        """The loop is about to say the prompt itself."""
        self._sent.add(PROMPT)

    def _out_of_time(self, now_ms: int) -> None:
        started = self.log.started
        if started and started.config.timeout_s is not None and now_ms >= self._deadline():
            text = f"Timed out after {started.config.timeout_s:g} s."
            self.end(w.Failed(code="timeout", message=text))
        for name, asked in self.log.open.items():
            if name not in self._answers and asked.group not in self._sent:
                self._unanswered(name, asked, now_ms)

    def _unanswered(self, name: str, asked: Open, now_ms: int) -> None:
        """Nobody answers any more: what was to be taken then, or nothing."""
        question = asked.question
        late = question.timeout_s is not None and now_ms >= _due(asked)
        if not late and not self._eof:
            return
        if question.default:
            checked = questions.check(asked, question.default)
            self._answers[name] = checked if isinstance(checked, tuple) else (question.default,)
        elif not question.required:
            self._answers[name] = ("",)
        elif late:
            self.end(w.Failed(code="timeout", message=f"nobody answered: {question.text[:200]}"))
        else:
            self.end(w.Failed(code="protocol_error", message=questions.unanswerable(asked)))

    def _hand_over(self, group: str) -> None:
        waiting = [one for one in self.log.open.values() if one.group == group]
        names = [one.question.question_id for one in waiting]
        if group in self._sent or not all(name in self._answers for name in names):
            return
        if waiting[0].source != "marker":
            command: SendInput | AnswerPermission | AnswerQuestion
            command = questions.command_of(waiting, self._answers)
        elif self.log.idle:
            said = Text(questions.words_of(waiting, self._answers))
            secret = any(one.question.kind == "secret" for one in waiting)
            command = SendInput(content=(said,), secret=secret)
        else:
            return  # the turn that asked is not over
        self._sent.add(group)
        self._wants.append(Tell(request=f"run.answer.{group}", command=command, group=group))

    def refused(self, told: Tell, reason: str) -> None:
        """A command came to nothing: what it was to answer waits again."""
        self.warnings.append(reason)
        self._sent.discard(told.group)
        for name, asked in self.log.open.items():
            if asked.group == told.group:
                self._answers.pop(name, None)

    @property
    def deadline_ms(self) -> int | None:
        """When ``act`` is worth calling although nothing happened."""
        if not self.caught_up or self.terminal is not None or self.ending:
            return None
        due = [
            _due(one)
            for name, one in self.log.open.items()
            if one.question.timeout_s is not None
            and name not in self._answers
            and one.group not in self._sent
        ]
        if self.log.started and self.log.started.config.timeout_s is not None:
            due.append(self._deadline())
        return min(due, default=None)

    def _deadline(self) -> int:
        timeout_s = self.log.started.config.timeout_s if self.log.started else None
        return self.log.started_ms + int((timeout_s or 0) * 1000)

    # ---- the end -------------------------------------------------------------------------------

    def end(self, end: w.Failed | w.Cancelled) -> None:
        """Close the session, once; what its log then says is the end of the run."""
        if not self.ending and self.terminal is None:
            self.ending = True
            self._wants.append(Tell(request=CLOSE, command=Close(reason=reason_of(end))))

    def disown(self, run: str) -> None:
        """Use another run's id from here on: what follows is not about the run that was named."""
        self.run = self.log.run = run

    def fail(self, code: w.Code, message: str, now_ms: int) -> None:
        """The end of a run that has no log, or none that can be written."""
        self._finish(w.Failed(code=code, message=message), now_ms)

    def cancel(self, reason: str, now_ms: int) -> None:
        """End a run that has not begun."""
        self._finish(w.Cancelled(reason=reason), now_ms)

    def _finish(self, end: w.Failed | w.Cancelled, now_ms: int) -> None:
        if self.terminal is None:
            self._pass(end, now_ms)
            self.terminal = end


def _due(asked: Open) -> int:
    return asked.since_ms + int((asked.question.timeout_s or 0) * 1000)
