"""A prompt as a small screen shows it, and what a button says to it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.frontends.companion import rules
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.ids import PromptId
from flybridge.frontends.companion.wire.budget import DETAIL_BYTES, SCREEN_BYTES, TYPE_BYTES, fit

TELLING = ("command", "file_path", "pattern", "query", "url")
EDITS = {  # tools that change one file, and where they say which
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
    "Write": "file_path",
}
QUESTION = "Question"
NOT_HERE = "Answer it in the browser or the chat, not here: "
_decoder = msgspec.json.Decoder(dict[str, Any])


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """Something that waits for a person."""

    prompt: PromptId
    digest: str
    kind: Literal["permission", "question"] = "permission"
    tool: str
    detail: str = ""
    description: str = ""
    cut: bool = False  # not all of it can be on the screen
    rules: tuple[int, ...] = ()  # suggestions that a button may take up
    whole_tool: bool = False  # there are no suggestions, and the tool only reads
    edits: str = ""  # the file it would change, if that is all it does


def of_permission(event: e.PermissionRequested) -> Prompt:
    """A permission, by the first words that tell what it is about."""
    told = _fields(event.input)
    detail = _detail(told) if told is not None else "(cannot be read here)"
    described = _text(_fields(event.detail), "description") or _text(told, "description")
    too_long = fit(event.tool, TYPE_BYTES)[1] or _is_cut(detail)
    return Prompt(
        prompt=event.prompt,
        digest=event.digest,
        tool=event.tool,
        detail=detail[: DETAIL_BYTES + 1],
        description=described or event.reason,
        cut=too_long or told is None,
        rules=tuple(
            number
            for number, suggestion in enumerate(event.suggestions)
            if rules.is_usable(_fields(suggestion) or {}, event.tool)
        ),
        whole_tool=not event.suggestions and rules.covers_tool(event.tool),
        edits=_text(told, EDITS.get(event.tool, "")),
    )


def of_question(event: e.QuestionRequested) -> Prompt:
    """A question, which no button can answer."""
    try:
        asked = msgspec.json.decode(event.questions, type=list[dict[str, Any]])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        asked = []
    first = _text(asked[0], "question") if asked else ""
    return Prompt(
        prompt=event.prompt,
        digest=event.digest,
        kind="question",
        tool=QUESTION,
        detail=(NOT_HERE + first)[: DETAIL_BYTES + 1],
        cut=True,
    )


def answer(prompt: Prompt, press: Literal["yes", "always", "no"], device: str) -> c.Command:
    """Return the command that a button stands for.

    ``always`` accepts the agent's own rules, as far as a device may. Where the agent suggested
    nothing and ``prompt.whole_tool`` is set, the caller keeps a rule for the tool; otherwise
    ``always`` without a usable rule allows this once.
    """
    if press == "no":
        return c.AnswerPermission(
            prompt=prompt.prompt,
            digest=prompt.digest,
            decision="deny",
            message=f"Denied by user via {device}",
        )
    return c.AnswerPermission(
        prompt=prompt.prompt,
        digest=prompt.digest,
        decision="allow",
        remember=prompt.rules if press == "always" else (),
    )


def _detail(told: dict[str, Any]) -> str:
    for name in TELLING:
        if isinstance(told.get(name), str):
            return str(told[name])
    for value in told.values():
        if isinstance(value, str):
            return value
    return msgspec.json.encode(told).decode() if told else ""


def _is_cut(detail: str) -> bool:
    shown, cut = fit(detail, DETAIL_BYTES)
    return cut or len(shown.encode()) > SCREEN_BYTES


def _fields(raw: Raw | UnsetType) -> dict[str, Any] | None:
    if raw is UNSET:
        return None
    try:
        return _decoder.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _text(told: dict[str, Any] | None, name: str) -> str:
    value = (told or {}).get(name)
    return value if isinstance(value, str) else ""
