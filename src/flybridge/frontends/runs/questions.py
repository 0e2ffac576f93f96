"""What a run asks: questions out of prompts and markers, and whether an answer is one."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from flybridge.frontends.runs.markers import Asked
from flybridge.frontends.runs.wire.messages import Option, Question
from flybridge.model import events as e
from flybridge.model.commands import AnswerPermission, AnswerQuestion
from flybridge.model.ids import PromptId
from flybridge.session.secrets import SHORTEST

MAX_TEXT = 16_000
MAX_SUBJECT = 200
SEVERAL = "choose one or several of the options"
ONE = "choose one of the options"
NEEDED = "an answer is required"
TOO_SHORT = f"a secret has {SHORTEST} characters or more: a shorter one could not be hidden"
YES = frozenset({"allow", "yes", "y", "true"})
NO = frozenset({"deny", "no", "n", "false"})


class Open(msgspec.Struct, frozen=True, kw_only=True):
    """A question that waits. All of one ``group`` are answered together."""

    question: Question
    group: str  # the prompt, or the place of the text that holds the marker
    source: Literal["permission", "question", "marker"]
    key: str  # the question's own words: what its answer is filed under
    since_ms: int
    digest: str = ""
    several: bool = False
    subject: str = ""  # of a permission: what it is required for


class _Choice(msgspec.Struct, frozen=True, rename="camel"):
    question: str = ""
    header: str = ""
    multi_select: bool = False
    options: tuple[Option, ...] = ()
    key: str = ""  # of its answer, where that is not the text


# ---- asking --------------------------------------------------------------------------------------


def of_permission(event: e.PermissionRequested, at_ms: int) -> Open:
    question = Question(
        question_id=event.prompt,
        kind="confirm",
        text=_what_would_run(event),
        options=(Option(label="allow"), Option(label="deny")),
        validation=ONE,
    )
    return Open(
        question=question,
        group=event.prompt,
        source="permission",
        key="",
        since_ms=at_ms,
        digest=event.digest,
        subject=subject_of(event),
    )


def subject_of(event: e.PermissionRequested) -> str:
    """Return what a permission is required for, as the end of "required to ..."."""
    command: object = event.subject.command
    if not event.kind:  # written before calls had a subject
        given = parsed(event.input)
        command = given.get("command") if isinstance(given, dict) else None
    if not isinstance(command, str) or not command:
        return f"use {event.tool}"
    return f"run `{command[:MAX_SUBJECT]}`"


def unanswerable(asked: Open) -> str:
    """Say that a run has to ask something and that nobody is there to answer."""
    if asked.source == "permission":
        return f"Permission required to {asked.subject}, and this run is not interactive."
    asks = asked.question.text[:MAX_SUBJECT]
    return f"The agent asks a question, and this run is not interactive: {asks}"


def _what_would_run(event: e.PermissionRequested) -> str:
    given = parsed(event.input)
    rows = [f"May {event.tool} run?"]
    if isinstance(given, dict):
        rows += [f"{name}: {_words(value)}" for name, value in given.items()]
    else:
        rows.append(_words(given))
    if event.reason:
        rows.append(f"({event.reason})")
    return "\n".join(rows)[:MAX_TEXT]


def _words(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def of_prompt(event: e.QuestionRequested, at_ms: int) -> list[Open]:
    """One question for each of the prompt's. One that cannot be read is asked for in words."""
    asked = _typed(event) or _untyped(event)
    return [
        Open(
            question=Question(
                question_id=f"{event.prompt}.{n}",
                kind="select" if one.options else "text",
                text=one.question[:MAX_TEXT],
                options=one.options,
                validation=_taken(one.options, one.multi_select),
            ),
            group=event.prompt,
            source="question",
            key=one.key or one.question,
            since_ms=at_ms,
            digest=event.digest,
            several=one.multi_select,
        )
        for n, one in enumerate(asked, start=1)
    ]


def _typed(event: e.QuestionRequested) -> tuple[_Choice, ...]:
    return tuple(
        _Choice(
            question=asked.text,
            options=tuple(
                Option(label=option.label, description=option.description)
                for option in asked.options
            ),
            multi_select=asked.multi,
            key=asked.key,
        )
        for asked in event.asked
    )


def _untyped(event: e.QuestionRequested) -> tuple[_Choice, ...]:
    """Return the questions of an event that was written before they were typed."""
    try:
        found = msgspec.json.decode(event.questions, type=tuple[_Choice, ...])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return (_Choice(question="the agent asks something that cannot be shown"),)
    return tuple(msgspec.structs.replace(asked, key="") for asked in found)


def of_marker(asked: Asked, place: str, n: int, at_ms: int) -> Open:
    kind = asked.kind or ("text" if asked.free_text or not asked.options else "select")
    options = asked.options if kind in ("select", "confirm") else ()
    if kind == "confirm" and not options:
        options = (Option(label="yes"), Option(label="no"))
    return Open(
        question=Question(
            question_id=f"q_{place}.{n}",
            kind=kind,
            text=asked.question[:MAX_TEXT],
            options=options,
            default=asked.default,
            required=asked.required,
            timeout_s=asked.timeout_s,
            validation=_taken(options, asked.multi_select),
        ),
        group=place,
        source="marker",
        key=asked.question,
        since_ms=at_ms,
        several=asked.multi_select,
    )


def _taken(options: tuple[Option, ...], several: bool) -> str:
    if not options:
        return ""
    return SEVERAL if several else ONE


# ---- answering -----------------------------------------------------------------------------------


def check(asked: Open, value: str | tuple[str, ...] | bool) -> tuple[str, ...] | str:
    """The answer, or a sentence that says why it is none."""
    question = asked.question
    given = _values(value, several=asked.several)
    if not any(given):
        return NEEDED if question.required else ("",)
    if question.kind == "secret" and any(len(one.strip()) < SHORTEST for one in given):
        return TOO_SHORT
    labels = [one.label for one in question.options]
    if question.kind == "confirm":
        given = tuple(_confirmed(one, labels) for one in given)
    if not labels:
        return given if len(given) == 1 else (", ".join(given),)
    if not asked.several and len(given) != 1:
        return _said_of(ONE, labels)
    if not all(one in labels for one in given):
        return _said_of(SEVERAL if asked.several else ONE, labels)
    return given


def _said_of(rule: str, labels: list[str]) -> str:
    return f"{rule}: {', '.join(labels)}"


def _values(value: str | tuple[str, ...] | bool, *, several: bool) -> tuple[str, ...]:
    if isinstance(value, bool):
        return ("yes" if value else "no",)
    if isinstance(value, tuple):
        return value
    if not several:
        return (value,)
    if value.lstrip().startswith("["):
        try:
            return msgspec.json.decode(value, type=tuple[str, ...])
        except (msgspec.MsgspecError, ValueError, RecursionError):
            pass
    return tuple(part.strip() for part in value.split(","))


def _confirmed(given: str, labels: list[str]) -> str:
    """Whoever says yes to a permission allows it."""
    word = given.strip().casefold()
    if given in labels or len(labels) != 2:
        return given
    return labels[0] if word in YES else labels[1] if word in NO else given


def command_of(
    group: list[Open], answers: dict[str, tuple[str, ...]]
) -> AnswerPermission | AnswerQuestion:
    """What answers a prompt; ``answers`` by the ids of its questions."""
    first = group[0]
    if first.source == "permission":
        said = answers[first.question.question_id][0]
        return AnswerPermission(
            prompt=PromptId(first.group),
            digest=first.digest,
            decision="allow" if said == "allow" else "deny",
        )
    given = {one.key: answers[one.question.question_id] for one in group}
    return AnswerQuestion(prompt=PromptId(first.group), digest=first.digest, answers=given)


def words_of(group: list[Open], answers: dict[str, tuple[str, ...]]) -> str:
    """The next input of the session: the answer, or each below its question."""
    said = [(one, ", ".join(answers[one.question.question_id])) for one in group]
    if len(said) == 1:
        return said[0][1] or "(no answer)"
    return "\n\n".join(f"{one.key}\n{text or '(no answer)'}" for one, text in said)


def parsed(raw: Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return bytes(raw).decode(errors="replace")
