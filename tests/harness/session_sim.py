"""A session without a runtime: commands and facts in, a log out, folded as it grows."""

from __future__ import annotations

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.capabilities import Capabilities, Mode, OpenSpec
from flybridge.model.content import Text
from flybridge.model.deliveries import Preview
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId, SessionId
from flybridge.session.absorb import absorb
from flybridge.session.decide import Context, decide, open_session
from flybridge.session.drafts import Drafts
from flybridge.session.effects import Decision, Effect
from flybridge.session.evolve import evolve
from flybridge.session.state import State, encode_state
from flybridge.session.waiting import expire

SES = SessionId("ses_1")


def say(text: str = "hi", **more: object) -> c.SendInput:
    return c.SendInput(content=(Text(text),), **more)  # type: ignore[arg-type]


CAPABILITIES = Capabilities(
    agent="demo",
    commands=frozenset({"set_model", "set_mode", "set_effort", "set_fast"}),
    at_start=frozenset({"set_effort", "set_fast"}),
    efforts=frozenset({"low", "high"}),
)


MODES = (  # of an agent whose default mode is called "default"
    Mode("plan", -1, plans=True),
    Mode("default", 0),
    Mode("acceptEdits", 1),
    Mode("bypassPermissions", 2),
)

ACCEPT_MS = 80_000  # how long messages wait for an agent that does not say that it takes any


class Sim:
    """One session's state, its log, and what it asked the outside to do."""

    def __init__(self) -> None:
        self.state = State(session=SES)
        self.drafts = Drafts()
        self.log: list[e.Event] = []
        self.effects: list[Effect] = []
        self.now = 1000
        self._requests = 0

    def opened(self, spec: OpenSpec | None = None) -> Sim:
        usual = OpenSpec(agent="demo", cwd="/tmp", title="t", labels={"a": "b"})
        self._take(open_session(spec or usual, self.context("r0")))
        return self

    def up(self, spec: OpenSpec | None = None) -> Sim:
        self.opened(spec)
        self.fact(f.LinkUp(incarnation=self.state.incarnation))
        self.effects.clear()
        return self

    def context(self, request: str, *, by: str = "me", attempt: int = 1) -> Context:
        return Context(
            now_ms=self.now,
            principal=by,
            request=request,
            attempt=attempt,
            incarnation=IncarnationId(f"inc_{self.state.lives + 1}"),
            capabilities=CAPABILITIES,
        )

    def do(self, command: c.Command, *, by: str = "me", request: str = "", **more: int) -> InputKey:
        self._requests += 1
        request = request or f"r{self._requests}"
        context = self.context(request, by=by, attempt=more.get("attempt", 1))
        self._take(decide(self.state, command, context))
        accepted = [one for one in self.log if isinstance(one, e.InputAccepted)]
        return accepted[-1].key

    def fact(self, *facts: f.Fact) -> None:
        for fact in facts:
            self._take(absorb(self.state, fact, self.drafts.text, MODES))

    def stream(self, item: str, since: int, upto: int, text: str) -> None:
        self.drafts.apply(Preview(ItemId(item), since, upto, text))

    def expire(self, now: int) -> None:
        self.now = now
        self._take(expire(self.state, now, ACCEPT_MS))

    def tags(self, after: int = 0) -> list[str]:
        return [str(one.__struct_config__.tag) for one in self.log[after:]]

    def fold(self, upto: int | None = None) -> State:
        state = State(session=SES)
        for seq, event in enumerate(self.log[:upto], 1):
            evolve(state, event, seq, self.now)
        return state

    def _take(self, decision: Decision) -> None:
        for event in decision.events:
            self.log.append(event)
            evolve(self.state, event, len(self.log), self.now)
        self.effects += decision.effects


def turn(sim: Sim, *facts: f.Fact) -> None:
    sim.fact(f.TurnBegan(), *facts, f.TurnOver())


def ask(sim: Sim, prompt: str = "prm_1", **more: object) -> e.PermissionRequested:
    """Let the agent ask for permission; returns the event."""
    import msgspec

    given = {"tool": "Bash", "item": ItemId("tool_1"), **more}
    sim.fact(
        f.PermissionAsked(
            prompt=PromptId(prompt),
            input=msgspec.Raw(b'{"command":"ls"}'),
            **given,  # type: ignore[arg-type]
        )
    )
    found = sim.log[-1]
    assert isinstance(found, e.PermissionRequested)
    return found


def encoded(state: State) -> bytes:
    return encode_state(state)
