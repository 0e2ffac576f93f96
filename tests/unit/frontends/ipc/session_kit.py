"""An adapter in a session, as the loop would have it, without a loop."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from msgspec import Raw

from flybridge.frontends.ipc.adapter import IpcAdapter
from flybridge.frontends.ipc.steps import Act, Step
from flybridge.model import events as ev
from flybridge.model.ids import IncarnationId, InputKey, ItemId, TurnId

Json: TypeAlias = dict[str, Any]
INIT = {
    "type": "system",
    "subtype": "init",
    "cwd": "/project",
    "tools": ["Read", "Bash"],
    "slash_commands": ["compact"],
    "mcp_servers": [{"name": "sea", "status": "connected"}],
    "agents": [],
    "apiKeySource": "none",
}
RESULT = {
    "subtype": "success",
    "total_cost_usd": 0.5,
    "num_turns": 1,
    "duration_ms": 20,
    "duration_api_ms": 10,
    "usage": {"input_tokens": 3},
    "modelUsage": {"m": {"contextWindow": 10}},
    "permission_denials": [],
}


def raw(value: object) -> Raw:
    return Raw(json.dumps(value).encode())


def ready(session: str = "conv-1", mode: str = "acceptEdits", **more: object) -> ev.AgentReady:
    return ev.AgentReady(
        agent_session=session,
        model="m",
        mode=mode,
        version="9.9.9",
        commands={"compact": "local", "review": "prompt"},
        detail=raw({**INIT, **more}),
    )


class Kit:
    """Greeted and in a session whose agent lives."""

    def __init__(self, *, live: bool = True, **more: Any) -> None:
        ids = itertools.count(1)
        self.adapter = IpcAdapter(new_id=lambda: f"id-{next(ids)}", cwd="/project", **more)
        self._turns = itertools.count(1)
        if live:
            self.say({"type": "protocol_init", "version": 1})
            self.adapter.opened("")
            self.apply(
                ev.AgentStarted(incarnation=IncarnationId("inc")),
                ev.AgentConnected(incarnation=IncarnationId("inc")),
            )
            self.lines()

    def say(self, *messages: Json) -> list[Step]:
        data = b"".join(json.dumps(one).encode() + b"\n" for one in messages)
        return self.adapter.receive(data)

    def lines(self) -> list[Json]:
        return [json.loads(line) for line in self.adapter.take().splitlines()]

    def apply(self, *events: ev.Event) -> list[Step]:
        return [step for one in events for step in self.adapter.apply(one)]

    def message(self, text: str = "hello") -> InputKey:
        """Something is said, and the gateway takes it; its key."""
        (act,) = self.say({"type": "user_message", "text": text})
        assert isinstance(act, Act)
        key = InputKey(f"uid:1:{act.request}")
        content = getattr(act.command, "content", ())
        self.apply(
            ev.InputAccepted(key=key, kind="message", by="me", fingerprint="", content=content)
        )
        return key

    def begin(self, key: InputKey | None = None) -> TurnId:
        turn = TurnId(f"trn_{next(self._turns)}")
        self.apply(ev.TurnStarted(turn=turn), ready())
        if key is not None:
            self.apply(ev.InputConsumed(key=key, turn=turn))
        return turn

    def text(self, item: str, pieces: Sequence[str], parent: str = "") -> None:
        name = ItemId(item)
        self.apply(ev.ItemStarted(item=name, kind="text", parent=ItemId(parent)))
        for index, piece in enumerate(pieces):
            self.adapter.preview(item, index, index + 1, piece)
        self.apply(ev.TextDone(item=name, text="".join(pieces), parent=ItemId(parent)))

    def end(self, turn: TurnId, key: InputKey | None = None, **more: Any) -> None:
        detail = raw(RESULT | more.pop("result", {}))
        self.apply(ev.TurnEnded(turn=turn, **{"detail": detail, **more}))
        if key is not None:
            self.apply(ev.InputOutcome(key=key, outcome="done"))


def types(messages: Sequence[Json]) -> list[str]:
    return [str(one["type"]) for one in messages]
