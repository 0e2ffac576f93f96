"""Prompts that wait for a person: forwarded, taken back, answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.errors import InvalidRequestError
from flybridge.frontends.ipc.bodies import fields, text
from flybridge.frontends.ipc.wire import messages as w
from flybridge.model import events as ev
from flybridge.model.commands import AnswerPermission, AnswerQuestion, Place

ASK_TOOL = "AskUserQuestion"
DENIED = "User denied"
_PLACES: dict[str, Place] = {
    "session": "session",
    "localSettings": "local",
    "projectSettings": "project",
    "userSettings": "user",
}
Requested = ev.PermissionRequested | ev.QuestionRequested
Closed = ev.PermissionClosed | ev.QuestionClosed


class Prompts:
    """The open ones, oldest first."""

    def __init__(self) -> None:
        self.open: dict[str, Requested] = {}
        self._ours: set[str] = set()  # answered by us: nobody needs to hear that they are closed

    @property
    def waiting(self) -> bool:
        """Whether one is open that the front end has not answered."""
        return any(prompt not in self._ours for prompt in self.open)

    def remember(self, event: Requested | Closed) -> None:
        """Fold one without a word."""
        if isinstance(event, Requested):
            self.open[event.prompt] = event
        else:
            self.open.pop(event.prompt, None)

    def asked(self, event: Requested) -> w.ControlRequestForward:
        self.open[event.prompt] = event
        return forward(event)

    def closed(self, event: Closed) -> w.ControlRequestCancel | None:
        """What to say of the end of a prompt: nothing, if it is our own answer."""
        known = self.open.pop(event.prompt, None)
        if event.prompt in self._ours:
            self._ours.discard(event.prompt)
            return None
        return None if known is None else w.ControlRequestCancel(request_id=event.prompt)

    def clear(self) -> list[w.ControlRequestCancel]:
        gone = [w.ControlRequestCancel(request_id=one) for one in self.open]
        self.open.clear()
        self._ours.clear()
        return gone

    def reopen(self, prompt: str) -> None:
        """Our answer did not count after all."""
        self._ours.discard(prompt)

    # ---- answers -------------------------------------------------------------------------------

    def approve(self, said: w.ToolApproval) -> AnswerPermission | AnswerQuestion | None:
        """The command of an approval; None when nobody asks for it.

        Raises:
            InvalidRequestError: it does not fit what was asked.
        """
        known = self.open.get(said.request_id)
        if known is None:
            return None
        answer = (
            _permission(known, said)
            if isinstance(known, ev.PermissionRequested)
            else _approved_question(known, said)
        )
        self._ours.add(said.request_id)
        return answer

    def answer(self, said: w.QuestionAnswer) -> AnswerPermission | AnswerQuestion | None:
        """The command of an answer; None when nobody asks for it.

        Raises:
            InvalidRequestError: a permission was asked for, and no question.
        """
        known = self.open.get(said.request_id)
        if known is None:
            return None
        if not isinstance(known, ev.QuestionRequested):
            raise InvalidRequestError("question_answer: that request asks for a permission")
        self._ours.add(said.request_id)
        return AnswerQuestion(
            prompt=known.prompt, digest=known.digest, answers=chosen(known, said.answers)
        )


def forward(event: Requested) -> w.ControlRequestForward:
    item: str | UnsetType = str(event.item) or UNSET
    parent: str | UnsetType = str(event.parent) or UNSET
    if isinstance(event, ev.QuestionRequested):
        return w.ControlRequestForward(
            request_id=event.prompt,
            tool_name=ASK_TOOL,
            input=Raw(msgspec.json.encode({"questions": event.questions})),
            tool_use_id=item,
            is_question=True,
            parent_tool_use_id=parent,
        )
    return w.ControlRequestForward(
        request_id=event.prompt,
        tool_name=event.tool,
        input=event.input,
        decision_reason=event.reason or UNSET,
        permission_suggestions=event.suggestions or UNSET,
        blocked_path=blocked_path(event) or UNSET,
        tool_use_id=item,
        parent_tool_use_id=parent,
    )


def blocked_path(event: ev.PermissionRequested) -> str:
    return text(fields(event.detail).get("blocked_path", UNSET))


def _permission(known: ev.PermissionRequested, said: w.ToolApproval) -> AnswerPermission:
    decision: Literal["allow", "deny"] = "allow" if said.decision == "allow" else "deny"
    if decision == "deny":
        return AnswerPermission(
            prompt=known.prompt,
            digest=known.digest,
            decision="deny",
            message=said.message or DENIED,
        )
    remember, place = remembered(known.suggestions, said.updated_permissions)
    return AnswerPermission(
        prompt=known.prompt,
        digest=known.digest,
        decision="allow",
        updated_input=_object(said.updated_input),
        remember=remember,
        place=place,
    )


def _object(given: Raw | UnsetType) -> Raw | UnsetType:
    if given is UNSET or bytes(given) == b"null":
        return UNSET
    if not bytes(given).lstrip().startswith(b"{"):
        raise InvalidRequestError("tool_approval: updatedInput is an object")
    return given


def _approved_question(known: ev.QuestionRequested, said: w.ToolApproval) -> AnswerQuestion:
    """A front end may answer a question like any other tool: the answers are in its input."""
    given = fields(said.updated_input).get("answers", UNSET)
    if said.decision != "allow" or given is UNSET:
        return AnswerQuestion(prompt=known.prompt, digest=known.digest, declined=True)
    try:
        answers = msgspec.json.decode(given, type=dict[str, str | tuple[str, ...]])
    except (msgspec.MsgspecError, ValueError) as error:
        raise InvalidRequestError(f"tool_approval: bad answers: {error}") from error
    return AnswerQuestion(prompt=known.prompt, digest=known.digest, answers=chosen(known, answers))


def chosen(
    known: ev.QuestionRequested, answers: dict[str, str | tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Values as they are; several labels in one text are taken apart where all of them exist."""
    labels = _typed_labels(known) if known.asked else _labels(known.questions)
    return {
        question: (value if isinstance(value, tuple) else _split(value, labels.get(question, ())))
        for question, value in answers.items()
    }


def _typed_labels(known: ev.QuestionRequested) -> dict[str, tuple[str, ...]]:
    return {
        asked.key: tuple(option.label for option in asked.options)
        for asked in known.asked
        if asked.multi
    }


def _labels(questions: Raw) -> dict[str, tuple[str, ...]]:
    """The labels of every question that takes several."""
    try:
        known = msgspec.json.decode(questions, type=list[dict[str, Any]])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return {}
    return {
        str(one.get("question")): tuple(
            str(option.get("label")) for option in one.get("options") or () if option
        )
        for one in known
        if one.get("multiSelect") is True
    }


def _split(value: str, labels: Sequence[str]) -> tuple[str, ...]:
    if value in labels:
        return (value,)
    parts = tuple(part.strip() for part in value.split(","))
    return parts if labels and all(part in labels for part in parts) else (value,)


def remembered(suggestions: Sequence[Raw], wanted: Sequence[Raw]) -> tuple[tuple[int, ...], Place]:
    """Which suggestions are accepted, and where they are to hold.

    Raises:
        InvalidRequestError: something that nobody suggested, or several places at once.
    """
    offered = [_rule(one) for one in suggestions]
    indices: list[int] = []
    places: set[Place] = set()
    for raw in wanted:
        rule = _rule(raw)
        if not rule or rule not in offered:
            raise InvalidRequestError("tool_approval: only what was suggested can be accepted")
        indices.append(offered.index(rule))
        places.add(_PLACES.get(_destination(raw), "session"))
    if len(places) > 1:
        raise InvalidRequestError("tool_approval: updatedPermissions name several destinations")
    return tuple(dict.fromkeys(indices)), places.pop() if places else "session"


def _rule(raw: Raw) -> dict[str, Any]:
    """What a suggestion says, wherever it is to hold."""
    try:
        rule = msgspec.json.decode(raw, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return {}
    rule.pop("destination", None)
    return rule


def _destination(raw: Raw) -> str:
    return text(fields(raw).get("destination", UNSET))
