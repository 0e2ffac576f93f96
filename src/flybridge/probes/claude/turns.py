"""Probes of plain turns: words, their echo, what they cost, settings, slash commands."""

from __future__ import annotations

from msgspec import UNSET

from flybridge.agents.claude.wire.decode import fields
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.content import Text
from flybridge.model.deliveries import Answer, Preview
from flybridge.model.facts import InputEchoed, ItemClosed, ItemOpened, TurnOver
from flybridge.probes.claude.bench import Bench, value_of
from flybridge.probes.claude.conversation import Conversation, scripted
from flybridge.probes.claude.fields import kind_of

LONG = "Ahoy! " + "a wave and another wave, " * 40 + "⚓🚢 end"
HEADING = "Context Usage"
OTHER_COMMANDS = ("/cost", "/compact", "/flybridge-probe")
PLAIN_QUERIES = {"context", "mcp", "models", "plan", "settings", "usage"}  # they take no more
OTHER_MODEL = "claude-haiku-4-5-20251001"


def start(bench: Bench) -> str:
    talk = bench.talk
    talk.until(lambda: bool(talk.all(e.AgentReady)), "an answer to initialize")
    answers = [fields(one) for one in talk.lines if kind_of(fields(one)) == "control_response"]
    told = fields(fields(answers[0]["response"])["response"])
    return "tells " + ", ".join(one for one in ("agents", "commands", "models") if one in told)


def text(bench: Bench) -> str:
    talk = bench.talk
    talk.turn("text", {"say": LONG, "deltas": 50})
    closed = talk.all(ItemClosed)[-1]
    streamed = streamed_of(talk, closed.item)
    if (streamed if closed.text is None else closed.text) != LONG:
        return "closed as something else"
    return "streamed, closed as it was said" if streamed == LONG else "closed as it was said"


def streamed_of(talk: Conversation, item: str) -> str:
    """What previews have shown of an item."""
    whole = ""
    for one in talk.all(Preview):
        if one.item == item:
            whole = one.text if one.since == 0 else whole + one.text
    return whole


def echo(bench: Bench) -> str:
    talk = bench.talk
    key = talk.say("echo", {"say": "Heard."})
    talk.get(TurnOver)
    kinds = [type(one) for one in talk.out]
    named = [at for at, one in enumerate(talk.out) if isinstance(one, InputEchoed)]
    if not any(one.key == key for one in talk.all(InputEchoed)):
        return "not named back"
    first = kinds.index(ItemOpened) if ItemOpened in kinds else len(kinds)
    return f"named back {'before' if named[0] < first else 'after'} the answer began"


def repeat(bench: Bench) -> str:
    talk = bench.talk
    said = c.SendInput(content=(Text(scripted("repeat-this", {"say": "Once."})),))
    key = talk.send(said)
    talk.get(TurnOver)
    echoes = len(talk.all(InputEchoed))
    talk.send(said, key)
    talk.say("repeat-next", {"say": "Next."})
    talk.until(lambda: bench.api.count("repeat-next") > 0, "the next request")
    talk.get(TurnOver, 2)
    times = bench.api.count("repeat-this")
    if times != 1:
        return f"run {times} times"
    again = [one for one in talk.all(InputEchoed)[echoes:] if one.key == key]
    return "named back, not run again" if again else "not run again"


def usage(bench: Bench) -> str:
    over = bench.talk.turn("usage", {"say": "Counted."})
    told = fields(over.usage) if over.usage is not UNSET else {}
    context = value_of(over.gauges["context"]) if "context" in over.gauges else {}
    there = {
        "tokens": {"input_tokens", "output_tokens"} <= told.keys(),
        "cost": over.cost_usd > 0,
        "context window": bool(context.get("window")),
    }
    return "tells " + ", ".join(name for name, is_so in there.items() if is_so)


def model(bench: Bench) -> str:
    talk = bench.talk
    if refused := talk.settle(c.SetModel(model=OTHER_MODEL)):
        return f"refused: {refused}"
    talk.turn("model", {"say": "Another."})
    used = [one.body.get("model") for one in bench.api.turns][-1:]
    talk.settle(c.SetModel(model=""))
    return "answered, and used" if used == [OTHER_MODEL] else "answered, and not used"


def mode(bench: Bench) -> str:
    talk = bench.talk
    before = talk.spec.mode or "default"
    for one in ("acceptEdits", before):
        if refused := talk.settle(c.SetMode(mode=one)):
            return f"refused: {refused}"
    told = [one.mode for one in talk.all(e.ModeChanged)]
    return "answered, and told" if told[-2:] == ["acceptEdits", before] else "answered"


def queries(bench: Bench) -> str:
    talk = bench.talk
    names = sorted(bench.capabilities.queries & PLAIN_QUERIES)
    for name in names:
        talk.query(name)
    talk.until(lambda: len(talk.all(Answer)) >= len(names), "an answer to each query")
    answered = [one.ref for one in talk.all(Answer) if not one.error]
    return f"answers {', '.join(sorted(answered))}"


def slash(bench: Bench) -> str:
    """Run local commands: one that prints, one that compacts, one that does not exist."""
    talk = bench.talk
    talk.turn("/context")
    for name in OTHER_COMMANDS:
        talk.turn(name)
    if not any(HEADING in one.text for one in talk.all(e.Notice)):
        return "not shown"
    kinds = [kind_of(fields(one)) for one in talk.lines if HEADING.encode() in one]
    return f"shown, said {'in the name of the user' if kinds[0] == 'user' else 'as an answer'}"


def api_error(bench: Bench) -> str:
    talk = bench.talk
    over = talk.turn("api-error", {"status": 401, "message": "invalid x-api-key"})
    named = [one.code for one in talk.all(e.Error)]
    return f"ends the turn as {over.reason}, called {', '.join(named) or 'nothing'}"
