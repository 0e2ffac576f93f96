"""The operations that are killed at every step: each can be prepared, done, and done again."""

from __future__ import annotations

from typing import Protocol

from tests.crash.checker import GUARDED
from tests.crash.evidence import Client, Json, answer, interrupt, send_input

Request = tuple[str, Json]  # its id, and the command


class Operation(Protocol):
    """One request of a client. ``name`` makes everything it needs unique."""

    def prepare(self, client: Client, session: str, name: str) -> Request: ...


def warm(client: Client, session: str, name: str) -> None:
    """One whole turn: the agent runs, and every thread of the gateway is there."""
    reply = client.carry_out(session, f"{name}w", send_input(f"{name}w", {"say": "warm"}))
    assert reply.stage == "done", reply


class SendInput:
    """A message to an idle agent."""

    def __init__(self, pad: int = 0) -> None:
        self._pad = pad

    def prepare(self, client: Client, session: str, name: str) -> Request:
        steps: list[Json] = [{"say": f"answer to {name}", "deltas": 4}]
        return f"{name}i", send_input(f"{name}i", *steps, pad=self._pad)


class AnswerPermission:
    """A decision about a tool that waits for it."""

    def __init__(self, decision: str = "allow") -> None:
        self._decision = decision

    def prepare(self, client: Client, session: str, name: str) -> Request:
        tool: Json = {"tool": GUARDED, "ask": True, "input": {"command": name}}
        client.submit(session, f"{name}t", send_input(f"{name}t", tool, {"say": "after"}))
        prompts = client.transcripts[session].prompts
        client.until(lambda: prompts)
        prompt = next(iter(prompts.values()))
        return f"{name}a", answer(prompt.id, prompt.digest, self._decision)


class Interrupt:
    """The end of a turn that would go on for long."""

    def prepare(self, client: Client, session: str, name: str) -> Request:
        client.submit(session, f"{name}t", send_input(f"{name}t", {"say": "begun"}, {"stall": 50}))
        blocks = client.transcripts[session].blocks
        client.until(lambda: any(b.text == "begun" for b in list(blocks.values())[-1:]))
        return f"{name}x", interrupt(client.transcripts[session].turn)


EVERY: dict[str, Operation] = {
    "input": SendInput(),
    "allow": AnswerPermission(),
    "interrupt": Interrupt(),
    "deny": AnswerPermission("deny"),
    "input of 200 kB": SendInput(pad=200_000),
}
