"""Events of a slot's session, short to write."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import Raw

from flybridge.agents.claude.driver.convert.offers import offers_of
from flybridge.agents.claude.driver.convert.tools import describe
from flybridge.frontends.companion.board import Board
from flybridge.frontends.companion.slot import Slot
from flybridge.model import events as e
from flybridge.model.ids import IncarnationId, InputKey, PromptId, SessionId, TurnId

LIFE = IncarnationId("inc_1")
RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "rm -f:*"}],
    "behavior": "allow",
}
BARE = {**RULE, "rules": [{"toolName": "Bash"}]}
FOLDER = {"type": "addDirectories", "directories": ["/project"], "destination": "session"}
MODE = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


def raw(value: object) -> Raw:
    return Raw(msgspec.json.encode(value))


def connected() -> e.Event:
    return e.AgentConnected(incarnation=LIFE)


def exited(**more: Any) -> e.Event:
    return e.AgentExited(incarnation=LIFE, why="exit", **more)


def said(key: str = "k", kind: Any = "message") -> e.Event:
    return e.InputAccepted(key=InputKey(key), kind=kind, by="me", fingerprint="f")


def outcome(key: str = "k", how: Any = "done") -> e.Event:
    return e.InputOutcome(key=InputKey(key), outcome=how)


def turn(name: str = "trn_1") -> e.Event:
    return e.TurnStarted(turn=TurnId(name))


def ended(**more: Any) -> e.Event:
    return e.TurnEnded(turn=TurnId("trn_1"), **more)


def asks(
    prompt: str = "prm_1",
    tool: str = "Bash",
    *,
    suggestions: tuple[object, ...] = (),
    detail: object = None,
    **given: Any,
) -> e.PermissionRequested:
    body = raw(given or {"command": "rm -f zz.txt"})
    kind, subject = describe(tool, body)
    own = tuple(raw(suggestion) for suggestion in suggestions)
    return e.PermissionRequested(
        prompt=PromptId(prompt),
        tool=tool,
        kind=kind,
        subject=subject,
        input=body,
        digest=f"d-{prompt}",
        suggestions=own,
        offers=offers_of(own),
        detail=raw(detail or {}),
    )


def closed(prompt: str = "prm_1") -> e.Event:
    return e.PermissionClosed(prompt=PromptId(prompt), how="allowed")


def board_with(*events: e.Event, number: int = 0, board: Board | None = None) -> tuple[Board, Slot]:
    """A board with one slot in use, and what happened in it."""
    board = board or Board()
    slot = board.make(number, "claude", SessionId(f"ses_{number}"), "/project")
    board.put(slot)
    for one in (connected(), *events):
        slot.apply(one)
    return board, slot


def told(payload: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(payload)
    return found
