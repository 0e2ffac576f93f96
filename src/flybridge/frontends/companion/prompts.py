"""A prompt as a small screen shows it, and what a button says to it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.frontends.companion import rules
from flybridge.frontends.companion.wire.budget import DETAIL_BYTES, SCREEN_BYTES, TYPE_BYTES, fit
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.ids import PromptId
from flybridge.model.tools import CUT, ToolKind, headline
from flybridge.session.old_tools import kind_of

# What a call does comes first: a person who allows a search must see its pattern, not its place.
DECISIVE = ("command", "file_path", "pattern", "query", "url")
DESCRIBED: frozenset[ToolKind] = frozenset({"execute", "edit", "read", "search", "fetch"})
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
    rules: tuple[int, ...] = ()  # offers that a button may accept
    whole_tool: bool = False  # there are no offers, and the tool only reads
    edits: str = ""  # the file it would change, if that is all it does


def of_permission(event: e.PermissionRequested) -> Prompt:
    """Show a permission by what the call is used on."""
    told, kind, subject = _fields(event.input), kind_of(event.kind, event.tool), event.subject
    detail = _used_on(event, told) if told is not None else "(cannot be read here)"
    described = _text(_fields(event.detail), "description") or _text(told, "description")
    if kind == "execute":
        described = described or subject.title
    too_long = fit(event.tool, TYPE_BYTES)[1] or _is_cut(detail)
    return Prompt(
        prompt=event.prompt,
        digest=event.digest,
        tool=event.tool,
        detail=detail[: DETAIL_BYTES + 1],
        description=described or event.reason,
        cut=too_long or told is None,
        rules=tuple(
            index for index, offer in enumerate(event.offers) if rules.is_usable(offer, event.tool)
        ),
        whole_tool=not (event.offers or event.suggestions) and rules.covers_tool(kind),
        # a prompt from before calls had a subject names no file: it is asked about
        edits=subject.paths[0] if kind == "edit" and len(subject.paths) == 1 else "",
    )


def of_question(event: e.QuestionRequested) -> Prompt:
    """A question, which no button can answer."""
    first = event.asked[0].text if event.asked else _untyped(event.questions)
    return Prompt(
        prompt=event.prompt,
        digest=event.digest,
        kind="question",
        tool=QUESTION,
        detail=(NOT_HERE + first)[: DETAIL_BYTES + 1],
        cut=True,
    )


def _untyped(questions: Raw) -> str:
    """Return the first question of an event that was written before questions were typed."""
    try:
        asked = msgspec.json.decode(questions, type=list[dict[str, Any]])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return _text(asked[0], "question") if asked else ""


def answer(prompt: Prompt, press: Literal["yes", "always", "no"], device: str) -> c.Command:
    """Return the command that a button stands for.

    ``always`` accepts the agent's own rules, as far as a device may. Where the agent offered
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


def _used_on(event: e.PermissionRequested, told: dict[str, Any]) -> str:
    """Return what a call is used on, never less than all of it: a plan's title is not the plan."""
    subject = event.subject
    head = headline(event.kind, subject) if event.kind in DESCRIBED else ""
    parts = (subject.title, subject.command, subject.url)
    if head and not any(part.endswith(CUT) and part in head for part in parts):
        return head
    whole = _detail(told)
    return f"{whole} in {', '.join(subject.paths)}" if _is_search_in_places(event) else whole


def _is_search_in_places(event: e.PermissionRequested) -> bool:
    return event.kind == "search" and bool(event.subject.paths)


def _detail(told: dict[str, Any]) -> str:
    for name in DECISIVE:
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
