"""What can be asked of a session. Tags are wire-stable; every command has one outcome."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.model.content import Content
from flybridge.model.ids import PromptId, TurnId

Place: TypeAlias = Literal["session", "local", "project", "user"]


class SendInput(msgspec.Struct, frozen=True, kw_only=True, tag="send_input"):
    """Say something to the agent.

    ``auto`` hands it over as soon as the agent takes input, ``steer`` does so only while a
    turn runs, ``queue`` holds it until the running turn is over. ``secret``: it is written down
    nowhere, and what the agent repeats of it is hidden; it must be able to leave at once.
    """

    content: tuple[Content, ...]
    mode: Literal["auto", "steer", "queue"] = "auto"
    deadline_ms: int = 0  # not after this time on the gateway's clock; 0: whenever it can be
    secret: bool = False


class EditQueued(msgspec.Struct, frozen=True, kw_only=True, tag="edit_queued"):
    key: str
    content: tuple[Content, ...]


class CancelQueued(msgspec.Struct, frozen=True, kw_only=True, tag="cancel_queued"):
    key: str


class AnswerPermission(msgspec.Struct, frozen=True, kw_only=True, tag="answer_permission"):
    """Decide an open permission prompt.

    ``digest`` is the prompt's own, as it was shown: an answer cannot land on another input.
    ``updated_input`` changes what the tool gets; ``remember`` names offers that belong to this
    decision, by index, and ``place`` where they are to hold: beyond this session they need the
    right to administer.
    """

    prompt: PromptId
    digest: str
    decision: Literal["allow", "deny"]
    message: str = ""
    stop: bool = False  # deny and end the turn
    updated_input: Raw | UnsetType = UNSET
    remember: tuple[int, ...] = ()
    place: Place = "session"


class AnswerQuestion(msgspec.Struct, frozen=True, kw_only=True, tag="answer_question"):
    prompt: PromptId
    digest: str
    answers: dict[str, tuple[str, ...]] = {}
    declined: bool = False


class Interrupt(msgspec.Struct, frozen=True, kw_only=True, tag="interrupt"):
    """Stop a turn: the named one, or the one that runs now. ``hard`` ends the process."""

    turn: TurnId = TurnId("")
    hard: bool = False


class SetModel(msgspec.Struct, frozen=True, kw_only=True, tag="set_model"):
    model: str


class SetMode(msgspec.Struct, frozen=True, kw_only=True, tag="set_mode"):
    mode: str


class SetEffort(msgspec.Struct, frozen=True, kw_only=True, tag="set_effort"):
    effort: str


class SetFast(msgspec.Struct, frozen=True, kw_only=True, tag="set_fast"):
    """Quicker answers for more money, where the agent has that."""

    on: bool


class SetThinking(msgspec.Struct, frozen=True, kw_only=True, tag="set_thinking"):
    tokens: int


class StopTask(msgspec.Struct, frozen=True, kw_only=True, tag="stop_task"):
    task: str


class Mcp(msgspec.Struct, frozen=True, kw_only=True, tag="mcp"):
    server: str
    action: Literal["reconnect", "enable", "disable", "login"]


class Rename(msgspec.Struct, frozen=True, kw_only=True, tag="rename"):
    title: str


class Archive(msgspec.Struct, frozen=True, kw_only=True, tag="archive"):
    archived: bool = True


class Delete(msgspec.Struct, frozen=True, kw_only=True, tag="delete"):
    """End the agent, then forget the session: journal, blobs and all."""


class Close(msgspec.Struct, frozen=True, kw_only=True, tag="close"):
    """End the agent and take no more input. The log stays, and says the ``reason``."""

    reason: Annotated[str, msgspec.Meta(max_length=1000)] = ""


Command: TypeAlias = (
    SendInput
    | EditQueued
    | CancelQueued
    | AnswerPermission
    | AnswerQuestion
    | Interrupt
    | SetModel
    | SetMode
    | SetEffort
    | SetFast
    | SetThinking
    | StopTask
    | Mcp
    | Rename
    | Archive
    | Delete
    | Close
)
