"""Claude's tasks, questions, limits and diffs as structs of the model. Bounded; never raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.memo import Task
from flybridge.agents.claude.wire.decode import blocks, fields, number, text
from flybridge.model.diffs import MAX_HUNKS, DiffHunk
from flybridge.model.limits import MAX_LIMITS, SCOPE_CHARS, UsageLimit
from flybridge.model.questions import (
    MAX_OPTIONS,
    MAX_QUESTIONS,
    OPTION_CHARS,
    QUESTION_CHARS,
    PromptQuestion,
    QuestionOption,
)
from flybridge.model.tasks import MAX_LINKS, MAX_TASKS, TEXT_CHARS, AgentTask, BackgroundTask
from flybridge.model.tools import limited

LimitStatus: TypeAlias = Literal["ok", "warning", "reached", "unknown"]
_STATUS: Mapping[str, LimitStatus] = {
    "allowed": "ok",
    "allowed_warning": "warning",
    "rejected": "reached",
}
_RUNS: Mapping[str, str] = {"local_bash": "execute", "local_agent": "agent"}
_FAR_S = 2**40


class _Hunk(msgspec.Struct, rename="camel"):
    lines: tuple[str, ...]
    old_start: int = 0
    old_lines: int = 0
    new_start: int = 0
    new_lines: int = 0


_hunks = msgspec.json.Decoder(tuple[_Hunk, ...])
_TRUE = Raw(b"true")


def tasks_of(tasks: Sequence[Task]) -> tuple[AgentTask, ...]:
    """Return the agent's list of tasks."""
    return tuple(
        AgentTask(
            id=task.id,
            text=limited(task.content, TEXT_CHARS),
            status=task.status or "pending",
            active_text=limited(task.active, TEXT_CHARS),
            owner=task.owner,
            blocks=tuple(task.blocks[:MAX_LINKS]),
            blocked_by=tuple(task.blocked_by[:MAX_LINKS]),
        )
        for task in tasks[:MAX_TASKS]
    )


def background_of(tasks: Sequence[Raw]) -> tuple[BackgroundTask, ...]:
    """Return what runs in the background; an entry without an id is left out."""
    known = [fields(raw) for raw in tasks[:MAX_TASKS]]
    return tuple(_background(task) for task in known if _word(task, "task_id", "id"))


def _background(task: Mapping[str, Raw]) -> BackgroundTask:
    kind = _word(task, "task_type", "type")
    return BackgroundTask(
        id=_word(task, "task_id", "id"),
        kind=_RUNS.get(kind, kind),
        title=_word(task, "description", "command"),
        status=_word(task, "status") or "running",
    )


def questions_of(raw: Raw) -> tuple[PromptQuestion, ...]:
    """Return the questions of a prompt; none if any of them is not whole within the limits.

    The answers are filed under the texts, so a text that is cut could not be answered.
    """
    asked = blocks(raw) or []
    questions = [_question(fields(one)) for one in asked]
    if len(asked) > MAX_QUESTIONS or None in questions:
        return ()
    return tuple(question for question in questions if question is not None)


def _question(asked: Mapping[str, Raw]) -> PromptQuestion | None:
    said = text(asked.get("question", UNSET))
    options = blocks(asked["options"]) if "options" in asked else []
    labels = [_option(option) for option in options or []]
    fits = len(said) <= QUESTION_CHARS and len(labels) <= MAX_OPTIONS
    if not said or not fits or options is None or None in labels:
        return None
    return PromptQuestion(
        text=said,
        header=limited(text(asked.get("header", UNSET)), OPTION_CHARS),
        options=tuple(label for label in labels if label is not None),
        multi=asked.get("multiSelect") == _TRUE,
    )


def _option(raw: Raw) -> QuestionOption | None:
    known = fields(raw)
    label = text(known.get("label", UNSET))
    if not label or len(label) > OPTION_CHARS:
        return None
    about = text(known.get("description", UNSET))
    return QuestionOption(label=label, description=limited(about, OPTION_CHARS))


def limits_of(info: Raw) -> tuple[UsageLimit, ...]:
    """Return the limits of a rate limit message: the one it is about first."""
    known = fields(info)
    main = _limit(_word(known, "rateLimitType"), known)
    windows = fields(known["unifiedWindows"]) if "unifiedWindows" in known else {}
    others = [
        _limit(scope, fields(raw))
        for scope, raw in list(windows.items())[:MAX_LIMITS]
        if scope[:SCOPE_CHARS] != main.scope
    ]
    return (main, *others)


def _limit(scope: str, known: Mapping[str, Raw]) -> UsageLimit:
    used = number(known.get("utilization", UNSET))
    resets_s = number(known.get("resetsAt", UNSET)) or 0
    return UsageLimit(
        scope=scope[:SCOPE_CHARS],
        status=_STATUS.get(_word(known, "status"), "unknown"),
        used=used if used is not None and used >= 0 else None,
        resets_ms=int(min(max(resets_s, 0), _FAR_S) * 1000),
    )


def hunks_of(patch: Raw) -> tuple[DiffHunk, ...]:
    """Return the hunks of a patch; none if any of them cannot be read, or if they are too many.

    A part of them could pass for the whole; the patch itself has them all.
    """
    try:
        hunks = _hunks.decode(patch)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ()
    if len(hunks) > MAX_HUNKS:
        return ()
    return tuple(
        DiffHunk(
            old_start=hunk.old_start,
            old_lines=hunk.old_lines,
            new_start=hunk.new_start,
            new_lines=hunk.new_lines,
            lines=hunk.lines,
        )
        for hunk in hunks
    )


def _word(known: Mapping[str, Raw], *names: str) -> str:
    found = (text(known.get(name, UNSET)) for name in names)
    return limited(next((said for said in found if said), ""), TEXT_CHARS)
