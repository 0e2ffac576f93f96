"""Probes of beginnings and ends: the end of input, resuming, forking, what is not there."""

from __future__ import annotations

from uuid import uuid4

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.content import Text
from flybridge.model.facts import InputEchoed
from flybridge.probes.claude.bench import ANCHOR, Bench
from flybridge.probes.claude.conversation import scripted


def end(bench: Bench) -> str:
    return f"ends with status {bench.past().status}"


def resume(bench: Bench) -> str:
    past = bench.past()
    bench.open(agent_session=past.agent_session, resume=True)
    return _remembers(bench, "resume", past.agent_session)


def _remembers(bench: Bench, prompt: str, wanted: str) -> str:
    talk = bench.talk
    talk.turn(prompt, {"say": "I remember."})
    ids = [one.agent_session for one in talk.all(e.AgentReady) if one.agent_session]
    heard = [text for one in bench.api.turns[-1:] for text in one.said()]
    knows = "knows" if ANCHOR in heard else "does not know"
    return f"{knows} what was said, {'same' if ids[-1:] == [wanted] else 'other'} id"


def repeat_resumed(bench: Bench) -> str:
    past = bench.past()
    talk = bench.talk
    if not talk.spec.resume:
        talk = bench.open(agent_session=past.agent_session, resume=True)
    said = c.SendInput(content=(Text(scripted(past.prompt, {"say": ANCHOR})),))
    talk.send(said, past.key)
    talk.turn("resumed-next", {"say": "Next."})
    times = bench.api.count(past.prompt)
    if times != 1:
        return f"run {times} times"
    again = any(one.key == past.key for one in talk.all(InputEchoed))
    return "named back, not run again" if again else "not run again"


def fork(bench: Bench) -> str:
    past = bench.past()
    other = str(uuid4())
    bench.open(agent_session=past.agent_session, resume=True, fork=True, fork_session=other)
    return _remembers(bench, "fork", other)


def lost(bench: Bench) -> str:
    talk = bench.open(agent_session=str(uuid4()), resume=True)
    talk.until(lambda: bool(talk.all(e.ConversationLost, e.Error)), "word of what is lost")
    status = talk.exit_status()
    bench.drop()
    said = "says that there is none" if talk.all(e.ConversationLost) else "says something else"
    return f"{said}, ends with status {status}"
