"""Recordings of real agents, taken in as a live session would: driver, decisions, fold."""

from __future__ import annotations

import msgspec

from flybridge.agents.claude.driver.versions import MODES
from flybridge.errors import FlybridgeError
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.deliveries import Answer, Gauge, Preview
from flybridge.model.ids import IncarnationId, InputKey, SessionId
from flybridge.session.absorb import absorb
from flybridge.session.decide import Context, decide, open_session
from flybridge.session.drafts import Drafts
from flybridge.session.effects import Decision, Send
from flybridge.session.evolve import evolve
from flybridge.session.state import State
from flybridge.testing.drivers import INCARNATION, NOW_MS, SESSION, Connected, Heard, Told
from tests.harness.claude_recordings import driver_of, replay


class Recorded:
    """One recording. ``forge`` leaves out what the host answered: somebody else did."""

    def __init__(self, name: str, *, forge: bool = False) -> None:
        played = replay(name)
        spec = played.recording.spec()
        self.state = State(session=SessionId(SESSION))
        self.log: list[e.Event] = []
        self._drafts = Drafts()
        self._driver = driver_of(played.recording.version)
        self._driver.attach(SESSION, INCARNATION, spec, b"")
        self._driver.take()
        self._take(open_session(spec, self._context("open")))
        up = f.LinkUp(incarnation=self.state.incarnation)
        self._take(absorb(self.state, up, self._text, MODES))
        for step in played.conversation.steps:
            match step:
                case Connected():
                    self._driver.connected(NOW_MS)
                case Heard(line=line):
                    self._driver.receive([line], NOW_MS)
                case Told(command=command, key=key) if not (forge and _decides(command)):
                    self._do(command, key)
                case _:
                    pass
            self._drain()

    @property
    def alarms(self) -> list[e.AlarmRaised]:
        return [event for event in self.log if isinstance(event, e.AlarmRaised)]

    def _text(self, item: str) -> str:
        return ""

    def _context(self, request: str) -> Context:
        return Context(
            now_ms=NOW_MS,
            principal="test",
            request=request,
            incarnation=IncarnationId(INCARNATION),
        )

    def _do(self, command: c.Command, key: InputKey) -> None:
        if isinstance(command, c.AnswerPermission | c.AnswerQuestion):
            known = self.state.prompts.get(command.prompt)
            digest = known.digest if known else ""
            command = msgspec.structs.replace(command, digest=digest)
        try:
            self._take(decide(self.state, command, self._context(key.removeprefix("test:"))))
        except FlybridgeError:  # the recorded host tried it all the same
            self._driver.send(SESSION, command, key, NOW_MS)

    def _drain(self) -> None:
        for _, what in self._driver.take().out:
            if not isinstance(what, Preview | Gauge | Answer):
                self._take(absorb(self.state, what, self._text, MODES))

    def _take(self, decision: Decision) -> None:
        for event in decision.events:
            self.log.append(event)
            evolve(self.state, event, len(self.log), NOW_MS)
        for effect in decision.effects:
            if isinstance(effect, Send):
                self._driver.send(SESSION, effect.command, effect.key, NOW_MS)
                self._drain()


def _decides(command: c.Command) -> bool:
    if isinstance(command, c.AnswerPermission):
        return command.decision == "allow"
    return isinstance(command, c.AnswerQuestion | c.SetMode)
