"""What an agent asks of a person, and what can be said to it. Pure.

An answer is bound to the prompt it was made for: to its id, and to the digest of all that was
asked about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.model.commands import AnswerPermission, AnswerQuestion, Place
from flybridge.model.events import PermissionRequested, QuestionRequested
from flybridge.model.ids import PromptId
from flybridge.model.offers import Offer
from flybridge.model.tools import NO_SUBJECT, ToolKind, ToolSubject
from flybridge.session.old_tools import kind_of


class PermissionPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """May this tool run with this input?"""

    id: str
    tool: str
    input: dict[str, Any]
    reason: str = ""
    digest: str = ""
    can_edit: bool = True
    agent: str = ""  # the kind of sub-agent that asks; "": the main agent
    suggestions: tuple[Any, ...] = ()  # deprecated: the agent's own form of ``offers``, by index
    offers: tuple[Offer, ...] = ()  # what can be accepted along with it, by index
    kind: ToolKind = "other"
    subject: ToolSubject = NO_SUBJECT  # what the call is about, in few words


class Option(msgspec.Struct, frozen=True):
    label: str = ""
    description: str = ""


class Question(msgspec.Struct, frozen=True, rename="camel"):
    question: str = ""
    header: str = ""
    multi_select: bool = False
    options: tuple[Option, ...] = ()
    id: str = ""  # what its answer is filed under; "": the text of the question


class QuestionPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """One question or several, each with suggested answers."""

    id: str
    questions: tuple[Question, ...]
    digest: str = ""
    agent: str = ""


class Allow(msgspec.Struct, frozen=True, kw_only=True):
    """``input`` changes what the tool gets; ``remember`` names offers by their index."""

    input: Mapping[str, Any] | None = None
    remember: tuple[int, ...] = ()
    place: Place = "session"


class Deny(msgspec.Struct, frozen=True):
    """``message`` tells the agent why; ``stop`` ends the turn.

    ``remember`` names offers of a denial by their index.
    """

    message: str = ""
    stop: bool = False
    remember: tuple[int, ...] = ()


class Answers(msgspec.Struct, frozen=True):
    """By the text of each question: one answer, or several; a label, or other words."""

    answers: Mapping[str, str | Sequence[str]]


class Decline(msgspec.Struct, frozen=True):
    """The questions are not answered; the agent is told so."""


Prompt: TypeAlias = PermissionPrompt | QuestionPrompt
Decision: TypeAlias = Allow | Deny | Answers | Decline


def to_prompt(event: PermissionRequested | QuestionRequested) -> Prompt:
    """What a callback is asked. What cannot be read of it is left out, and the digest is not."""
    if isinstance(event, QuestionRequested):
        return QuestionPrompt(
            id=event.prompt,
            questions=_typed(event) or _questions(event.questions),
            digest=event.digest,
            agent=event.agent,
        )
    given = _json(event.input)
    return PermissionPrompt(
        id=event.prompt,
        tool=event.tool,
        input=given if isinstance(given, dict) else {"": given},
        reason=event.reason,
        digest=event.digest,
        can_edit=event.can_edit,
        agent=event.agent,
        suggestions=tuple(_json(one) for one in event.suggestions),
        offers=event.offers,
        kind=kind_of(event.kind, event.tool),
        subject=event.subject,
    )


def _json(raw: Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _typed(event: QuestionRequested) -> tuple[Question, ...]:
    return tuple(
        Question(
            question=asked.text,
            header=asked.header,
            multi_select=asked.multi,
            options=tuple(Option(option.label, option.description) for option in asked.options),
            id=asked.id,
        )
        for asked in event.asked
    )


def _questions(raw: Raw) -> tuple[Question, ...]:
    try:
        return msgspec.json.decode(raw, type=tuple[Question, ...])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return ()


def to_command(prompt: Prompt, decision: Decision) -> AnswerPermission | AnswerQuestion:
    """The command that carries a decision.

    Raises:
        TypeError: a permission was answered like a question, or the other way round.
    """
    match prompt, decision:
        case PermissionPrompt(), Allow():
            edited: Raw | UnsetType = UNSET
            if decision.input is not None:
                edited = Raw(msgspec.json.encode(decision.input))
            return AnswerPermission(
                prompt=PromptId(prompt.id),
                digest=prompt.digest,
                decision="allow",
                updated_input=edited,
                remember=decision.remember,
                place=decision.place,
            )
        case PermissionPrompt(), Deny(message=message, stop=stop, remember=remember):
            return AnswerPermission(
                prompt=PromptId(prompt.id),
                digest=prompt.digest,
                decision="deny",
                message=message,
                stop=stop,
                remember=remember,
            )
        case QuestionPrompt(), Answers(answers=answers):
            given = {
                key: (one,) if isinstance(one, str) else tuple(one) for key, one in answers.items()
            }
            return AnswerQuestion(prompt=PromptId(prompt.id), digest=prompt.digest, answers=given)
        case QuestionPrompt(), Decline():
            return AnswerQuestion(prompt=PromptId(prompt.id), digest=prompt.digest, declined=True)
        case _:
            raise TypeError(f"{type(decision).__name__} is no answer to a {type(prompt).__name__}")
