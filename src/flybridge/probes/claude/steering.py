"""Probes of what is said while a turn runs: interrupts, more prompts, strange requests."""

from __future__ import annotations

from flybridge.agents.claude.wire.decode import fields, text
from flybridge.model import commands as c
from flybridge.model.facts import (
    InputEchoed,
    InputRejected,
    ItemClosed,
    ItemOpened,
    PermissionAsked,
    TurnOver,
)
from flybridge.probes.claude.bench import Bench, waiting
from flybridge.probes.claude.conversation import LIFE
from flybridge.probes.claude.turns import streamed_of

STRANGE = f"fb-{LIFE.removeprefix('inc_')}-strange"  # an id the driver takes for its own


def interrupt(bench: Bench) -> str:
    talk = bench.talk
    never = str(bench.outside("never"))
    said = {"say": "half of it and the rest", "deltas": 4, "hold": never, "hold_after": 2}
    talk.say("interrupt", said)
    item = talk.get(ItemOpened).item
    talk.until(lambda: streamed_of(talk, item) == "half of it ", "the first words")
    if refused := talk.settle(c.Interrupt()):
        return f"refused: {refused}"
    over = talk.get(TurnOver)
    kept = [one.status for one in talk.all(ItemClosed)] == ["partial"]
    return f"ends the turn as {over.reason}, what was said is {'kept' if kept else 'closed'}"


def queue(bench: Bench) -> str:
    talk = bench.talk
    never = str(bench.outside("never"))
    talk.say("queue-first", {"say": "slow words", "hold": never, "hold_after": 0})
    talk.get(ItemOpened)
    waits = talk.say("queue-waits", {"say": "after all"})
    talk.settle(c.Interrupt())
    talk.until(
        lambda: (
            any(one.key == waits for one in talk.all(InputRejected)) or len(talk.all(TurnOver)) >= 2
        ),
        "what became of a prompt that waited",
    )
    talk.get(TurnOver)
    ran = bench.api.count("queue-waits")
    if len(talk.all(TurnOver)) >= 2:
        return "what waits runs next" if ran == 1 else f"what waits runs {ran} times"
    return "what waits is taken back" if ran == 0 else "what waits is taken back, and runs"


def steer(bench: Bench) -> str:
    talk = bench.talk
    mark, go = bench.file("busy"), bench.outside("go")
    talk.say("steer-tool", waiting(mark, go), {"say": "Waited."}, {"say": "More."})
    talk.decide(talk.prompt(PermissionAsked), "allow")
    talk.until(mark.exists, "a running tool")
    key = talk.say("steer-words: and hurry")
    go.touch()
    over = talk.get(TurnOver)
    heard = talk.get(InputEchoed, where=lambda one: one.key == key)
    within = talk.out.index(heard) < talk.out.index(over)  # both may come in one read
    if not within:
        talk.get(TurnOver, 2)
    times = bench.api.count("steer-words: and hurry")
    if times != 1:
        return f"heard {times} times"
    return "taken into the running turn" if within else "answered in a turn of its own"


def strange(bench: Bench) -> str:
    talk = bench.talk
    talk.write(
        b'{"type":"control_request","request_id":"%s","request":{"subtype":"flybridge_probe"}}'
        % STRANGE.encode()
    )
    refused = talk.settle(c.SetMode(mode="default"))  # what it answers later says that it lives
    answers = [fields(fields(one)["response"]) for one in talk.lines if STRANGE.encode() in one]
    if refused:
        return f"takes no more requests: {refused}"
    return f"answered with {text(answers[0]['subtype'])}" if answers else "not answered"
