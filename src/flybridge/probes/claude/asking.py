"""Probes of everything a person is asked about: tools, questions, plans."""

from __future__ import annotations

import re
from pathlib import Path

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.facts import (
    PermissionAsked,
    PromptWithdrawn,
    QuestionAsked,
    ToolCalled,
    ToolReturned,
    TurnOver,
)
from flybridge.probes.claude.bench import Bench, bash, value_of
from flybridge.probes.claude.conversation import scripted

PLAN = "# Sail\n1. Hoist"
WHY = "not on my boat"
QUESTIONS = [
    {
        "question": "Which colour?",
        "header": "Colour",
        "multiSelect": False,
        "options": [{"label": one, "description": one} for one in ("Red", "Blue")],
    },
    {
        "question": "Which fruits?",
        "header": "Fruits",
        "multiSelect": True,
        "options": [{"label": one, "description": one} for one in ("Apple", "Pear", "Plum")],
    },
]


def _asked(bench: Bench, prompt: str, made: Path) -> PermissionAsked | None:
    """Have the model touch a file; None when it was done without asking."""
    talk = bench.talk
    talk.say(prompt, bash(f"touch {made}"), {"say": "Done."})
    talk.until(lambda: bool(talk.all(PermissionAsked, ToolReturned, TurnOver)), "a prompt")
    asked = talk.all(PermissionAsked)
    if asked:
        return asked[0]
    talk.get(TurnOver)
    return None


def _not_asked(made: Path) -> str:
    return "ran without asking" if made.exists() else "neither asked nor ran"


def allow(bench: Bench) -> str:
    made = bench.file("allowed")
    asked = _asked(bench, "tool-allow", made)
    if asked is None or made.exists():
        return _not_asked(made)
    bench.talk.decide(asked, "allow")
    bench.talk.get(TurnOver)
    status = [one.status for one in bench.talk.all(ToolReturned)]
    return "asked, then ran" if made.exists() and status == ["ok"] else "asked, and did not run"


def deny(bench: Bench) -> str:
    made = bench.file("denied")
    asked = _asked(bench, "tool-deny", made)
    if asked is None:
        return _not_asked(made)
    bench.talk.decide(asked, "deny", message=WHY)
    bench.talk.get(TurnOver)
    if made.exists():
        return "ran although it was denied"
    told = str(bench.results("tool-deny"))
    return f"did not run, the model heard {'why' if WHY in told else 'nothing'}"


def edit(bench: Bench) -> str:
    theirs, ours = bench.file("theirs"), bench.file("ours")
    asked = _asked(bench, "tool-edit", theirs)
    if asked is None:
        return _not_asked(theirs)
    bench.talk.decide(asked, "allow", updated={"command": f"touch {ours}"})
    bench.talk.get(TurnOver)
    if theirs.exists():
        return "ran as it was, not as edited"
    return "ran as edited" if ours.exists() else "did not run"


def several(bench: Bench) -> str:
    talk = bench.talk
    files = [bench.outside(name) for name in ("one", "two", "three")]
    for one in files:
        one.write_text(f"the words of {one.name}")
    reads = [{"tool": "Read", "input": {"file_path": str(one)}} for one in files]
    talk.say("tool-several", reads, {"say": "Read."})
    talk.prompt(PermissionAsked)
    at_once = talk.is_seen(lambda: len(talk.all(PermissionAsked)) >= len(files), 1.5)
    answered = 0
    while answered < len(files):
        talk.until(lambda: len(talk.all(PermissionAsked)) > answered, "a permission prompt")  # noqa: B023
        for asked in reversed(talk.all(PermissionAsked)[answered:]):
            talk.decide(asked, "allow")
            answered += 1
    talk.get(TurnOver)
    told = str(bench.results("tool-several"))
    if not all(f"the words of {one.name}" in told for one in files):
        return "some were not read"
    return "all open at once" if at_once else "one after the other"


def withdraw(bench: Bench) -> str:
    made = bench.file("withdrawn")
    asked = _asked(bench, "tool-withdraw", made)
    if asked is None:
        return _not_asked(made)
    talk = bench.talk
    if refused := talk.settle(c.Interrupt()):
        return f"refused: {refused}"
    over = talk.get(TurnOver)
    if over.reason != "interrupted" or made.exists():
        return f"ends the turn as {over.reason}"
    cancelled = any(b"control_cancel_request" in one for one in talk.lines)
    closed = any(one.prompt == asked.prompt for one in talk.all(PromptWithdrawn))
    return "taken back by name" if cancelled else "taken back" if closed else "left open"


def question(bench: Bench) -> str:
    talk = bench.talk
    ask = {"tool": "AskUserQuestion", "input": {"questions": QUESTIONS}}
    talk.say("question", ask, {"say": "Thanks."})
    asked = talk.prompt(QuestionAsked)
    answers = {"Which colour?": ("Blue",), "Which fruits?": ("Apple", "Plum")}
    talk.send(c.AnswerQuestion(prompt=asked.prompt, digest="", answers=answers))
    talk.get(TurnOver)
    told = "".join(str(one.get("content")) for one in bench.results("question"))
    heard = [re.search(rf'"{re.escape(one)}"="([^"]*)"', told) for one in answers]
    return "heard as " + "; ".join(one[1] if one else "nothing" for one in heard)


def plan(bench: Bench) -> str:
    talk = bench.talk
    if refused := talk.settle(c.SetMode(mode="plan")):
        return f"refused: {refused}"
    talk.say("plan", {"tool": "ExitPlanMode", "input": {"plan": PLAN}}, {"say": "Going."})
    asked = talk.prompt(PermissionAsked)
    talk.decide(asked, "allow")
    talk.get(TurnOver)
    talk.turn("plan-after", {"say": "Gone."})
    shown = [one.text for one in talk.all(e.Plan)] == [PLAN]
    modes = [one.mode for one in talk.all(e.ModeChanged)]
    return f"{'shown' if shown else 'not shown'}, then in mode {modes[-1] if modes else 'unknown'}"


def diff(bench: Bench) -> str:
    talk = bench.talk
    made = bench.file("sails")
    write = {"tool": "Write", "input": {"file_path": str(made), "content": "one\ntwo\n"}}
    given = {"file_path": str(made), "old_string": "two", "new_string": "three"}
    if refused := talk.settle(c.SetMode(mode="acceptEdits")):
        return f"refused: {refused}"
    talk.turn("diff", write, {"tool": "Edit", "input": given}, {"say": "Changed."})
    talk.settle(c.SetMode(mode="default"))
    lines = [
        line for one in talk.all(e.Diff) for part in value_of(one.patch) for line in part["lines"]
    ]
    if made.read_text() != "one\nthree\n":
        return "not written"
    return "shown line by line" if lines[-3:] == [" one", "-two", "+three"] else "not shown"


def subagent(bench: Bench) -> str:
    talk = bench.talk
    made = bench.file("below")
    task = scripted("subagent-inner", bash(f"touch {made}"), {"say": "Below."})
    given = {"description": "look below", "prompt": task, "subagent_type": "general-purpose"}
    if not talk.init:
        talk.turn("subagent-before", {"say": "Ready."})
    tool = "Task" if b'"Task"' in talk.init else "Agent"  # newer ones take both names
    call = {"tool": tool, "input": given}
    turns = len(talk.all(TurnOver))
    talk.say("subagent", call, {"say": "Sent."}, {"say": "Came back."})
    asked = talk.get(PermissionAsked)
    over_first = talk.is_seen(lambda: len(talk.all(TurnOver)) > turns, 1.0)
    talk.decide(asked, "allow")
    inner = talk.get(ToolReturned, where=lambda one: one.item == asked.item)
    outer = talk.all(ToolCalled)[0]
    talk.get(TurnOver, turns + 1 + over_first)
    if inner.parent != outer.item or asked.parent != outer.item:
        return "its calls stand alone"
    return f"shown below its call, {'beside' if over_first else 'within'} the turn"
