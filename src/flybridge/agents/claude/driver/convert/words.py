"""Between Claude's words and ours. Functions only: whatever has to be remembered is elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.memo import BlockKind
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import block, blocks, fields, kind, mend, number, text
from flybridge.errors import NotSupportedError
from flybridge.model.commands import Place
from flybridge.model.content import Content, Document, Image, Text
from flybridge.model.tools import limited

Reason: TypeAlias = Literal["done", "interrupted", "error", "limit"]

# What is dropped on purpose, and why. Everything not listed is kept as Unrecognised.
NOISE: Mapping[tuple[str, str], str] = {
    ("keep_alive", ""): "says only that the link lives",
    ("system", "thinking_tokens"): "an estimate with every delta; usage has the number",
    ("system", "session_state_changed"): "init, prompts and result say the same, in more detail",
    ("system", "session_title_changed"): "the agent's own name for it; ours is the session's title",
    ("system", "control_request_progress"): "the answer itself will come",
    ("system", "hook_started"): "hook_response says what came of it",
    ("system", "hook_progress"): "hook_response says what came of it",
    ("system", "task_progress"): "its tool call, or its end, says more",
    ("system", "task_updated"): "its end is told by task_notification",
    ("active_goal", ""): "only for a remote front end of the agent's own",
    ("autocompact_state", ""): "only for a remote front end of the agent's own",
    ("prompt_suggestion", ""): "what a person might say next; nobody asked for it",
    ("transcript_mirror", ""): "the agent's own record, which it also keeps on disk",
    ("stream_event", "ping"): "says only that the model's API lives",
    ("stream_event", "message_stop"): "every block has had its own end",
    ("delta", "signature_delta"): "a proof for the API, nothing to show",
    ("delta", "citations_delta"): "the complete block has them again",
    ("delta", "text_delta"): "a piece of nothing",
    ("delta", "thinking_delta"): "a piece of nothing",
    ("delta", "input_json_delta"): "a piece of nothing",
    ("command_lifecycle", "queued"): "the input is written; started is what proves that it runs",
    ("command_lifecycle", "completed"): "result ends the turn, and with it the input",
    ("status", "requesting"): "evidence of a turn and nothing more",
    ("user", "replay"): "an echo of an input whose first echo was taken already",
    ("user", "interrupted"): "a note to the model; the turn's end says why it ended",
    ("user", "subagent prompt"): "stands in the input of the call that started the sub-agent",
    ("control_response", "again"): "2.1.38 answers set_permission_mode twice",
}

INTERRUPTED = "[Request interrupted by user"
TEXT_CHARS = 8192
MAX_DENIALS = 64
MAX_MODEL = 256
OPEN_KINDS: Mapping[type, BlockKind] = {
    w.TextBlock: "text",
    w.ThinkingBlock: "thinking",
    w.RedactedThinkingBlock: "redacted",
    w.ToolUseBlock: "tool",
    w.ServerToolUseBlock: "tool",
}
SYNTHETIC = "<synthetic>"  # the CLI's own words in the model's place
_LIMITS = ("max_turns", "budget_exhausted")
# What an older version leaves unsaid, beside the subtype.
_LIMIT_WORDS: Mapping[str, str] = {
    "error_max_turns": "the limit of turns is reached",
    "error_max_budget_usd": "the budget is spent",
    "error_max_structured_output_retries": "no answer had the form that was asked for",
}
# Requests of the CLI's that only a host gets which declared hooks, servers or dialogs.


# ---- what the CLI says ---------------------------------------------------------------------------


def reason_of(result: w.Result, *, stopping: bool) -> Reason:
    """Why a turn ended. After our own interrupt, error_during_execution is no error."""
    terminal = text(result.terminal_reason)
    if result.subtype.startswith("error_max") or terminal in _LIMITS:
        return "limit"
    if terminal.startswith("aborted"):
        return "interrupted"
    if result.subtype == "success" and not result.is_error:
        return "done"
    if result.subtype == "error_during_execution" and stopping:
        return "interrupted"
    return "error"


def message_of(result: w.Result, reason: Reason, *, spoke: bool) -> str:
    """What a person should read about the end: errors, or words that stand nowhere else."""
    if reason == "done" and spoke:
        return ""
    if reason == "interrupted":
        return ""
    said = text(result.result) or "; ".join(errors_of(result))
    return limited(said, TEXT_CHARS) or _LIMIT_WORDS.get(result.subtype, "")


def has_own_origin(result: w.Result) -> bool:
    """Whether the CLI says that no person's input began this turn."""
    origin = {} if result.origin is UNSET else fields(result.origin)
    return text(origin.get("kind", UNSET)) not in ("", "human")


def errors_of(result: w.Result) -> list[str]:
    if result.errors is UNSET:
        return []
    return [one for raw in blocks(result.errors) or [] if (one := text(raw))]


def denials_of(result: w.Result) -> list[tuple[str, str]]:
    """The calls that were not allowed to run in this turn, as (id, name of the tool)."""
    if result.permission_denials is UNSET:
        return []
    told = [fields(one) for one in (blocks(result.permission_denials) or [])[:MAX_DENIALS]]
    named = [(text(one.get("tool_use_id", UNSET)), one.get("tool_name", UNSET)) for one in told]
    return [(tool, text(name)) for tool, name in named if tool]


def readable(line: bytes) -> bytes:
    """The line as it was understood: mended, if it had to be."""
    return line if fields(line) else mend(line) or b"{}"


def spent_since(result: w.Result) -> float:
    """What was spent since the last result, where the CLI says so; else nothing."""
    if result.model_usage_since_last_result is UNSET:
        return 0.0
    models = fields(result.model_usage_since_last_result).values()
    return sum(max(0.0, number(fields(raw).get("costUSD", UNSET)) or 0.0) for raw in models)


def tool_text(content: w.MaybeRaw) -> str:
    """What a tool returned, as text: a string, or its text blocks."""
    if content is UNSET:
        return ""
    if memoryview(content)[0] == ord('"'):  # mostly; trying a list first would cost an exception
        return text(content)
    parts = blocks(content)
    if parts is None:
        return text(content)
    return "\n".join(_part_text(raw) for raw in parts)


def _part_text(raw: Raw) -> str:
    part = block(raw)
    if isinstance(part, w.TextBlock):
        return part.text
    known = fields(raw)
    found = [one for name in ("title", "url") if (one := text(known.get(name, UNSET)))]
    return " ".join(found) or f"[{kind(raw) or 'unknown'}]"


def server_result(part: w.ServerToolResultBlock) -> w.ToolResultBlock:
    """What a tool of the API's own returned, in the form of all other results."""
    known = {} if part.content is UNSET else fields(part.content)
    if not known:
        return w.ToolResultBlock(tool_use_id=part.tool_use_id, content=part.content)
    code = text(known.get("error_code", UNSET))
    said = Raw(msgspec.json.encode(code)) if code else Raw(b"[%s]" % bytes(part.content or b""))
    return w.ToolResultBlock(tool_use_id=part.tool_use_id, content=said, is_error=bool(code))


def was_rejected(meta: w.MaybeRaw, tool: str) -> bool:
    """Whether the CLI itself says that this call was not allowed to run."""
    if meta is UNSET:
        return False
    for raw in blocks(meta) or []:
        known = fields(raw)
        if text(known.get("id", UNSET)) == tool and "permission_decision" in known:
            decision = fields(known["permission_decision"]).get("decision", UNSET)
            return text(decision) == "reject"
    return False


def was_ruled(meta: w.MaybeRaw, tool: str) -> bool:
    """Return whether the CLI says that a rule, a mode or a hook of its own let this call run."""
    for raw in (blocks(meta) or []) if meta is not UNSET else []:
        known = fields(raw)
        if text(known.get("id", UNSET)) == tool and "permission_decision" in known:
            decided = fields(known["permission_decision"])
            accepted = text(decided.get("decision", UNSET)) == "accept"
            return accepted and text(decided.get("source", UNSET)) in ("config", "hook")
    return False


def window_of(model_usage: w.MaybeRaw, model: str) -> int:
    """How many tokens the model takes; the biggest of all when ours is not listed."""
    if model_usage is UNSET:
        return 0
    windows = {
        name: int(number(fields(raw).get("contextWindow", UNSET)) or 0)
        for name, raw in fields(model_usage).items()
    }
    return windows.get(model) or max(windows.values(), default=0)


def is_made_up(message: w.User) -> bool:
    """Whether the CLI speaks to the model in the user's name: go on, or a summary."""
    return message.is_synthetic is True or message.is_replay is False


def fell_back(models: tuple[str, str]) -> str:
    """Say that another model took over an answer; a name that is missing is left out."""
    first, second = (one[:MAX_MODEL] for one in models)
    return f"{first or 'the model'} declined to answer; {second or 'another model'} answers instead"


def first_text(parts: Sequence[Raw]) -> str:
    part = block(parts[0]) if parts else None
    return part.text if isinstance(part, w.TextBlock) else ""


def texts(content: Sequence[Raw]) -> list[str]:
    return [part.text for raw in content if isinstance(part := block(raw), w.TextBlock)]


# ---- what people say -----------------------------------------------------------------------------


def to_blocks(
    content: Sequence[Content],
) -> list[w.TextBlock | w.ImageBlock | w.DocumentBlock]:
    """Put what a person hands over into the API's blocks.

    Raises:
        NotSupportedError: a picture or document whose bytes are not here.
    """
    return [_to_block(one) for one in content]


def _to_block(one: Content) -> w.TextBlock | w.ImageBlock | w.DocumentBlock:
    if isinstance(one, Text):
        return w.TextBlock(one.text)
    if not one.data:
        raise NotSupportedError(f"the {one.media_type} to send is not there")
    if isinstance(one, Image):
        return w.ImageBlock(_source(one))
    return w.DocumentBlock(_source(one), title=one.title or UNSET)


def _source(one: Image | Document) -> w.Source:
    return w.Source(type="base64", media_type=one.media_type, data=one.data)


_DESTINATIONS = {
    "session": Raw(b'"session"'),
    "local": Raw(b'"localSettings"'),
    "project": Raw(b'"projectSettings"'),
    "user": Raw(b'"userSettings"'),
}


def updated_permissions(
    suggestions: Sequence[Raw], remember: Sequence[int], place: Place = "session"
) -> tuple[list[Raw], list[int]]:
    """What to remember, where somebody wants it to hold; and which choices were left out.

    Left to itself the CLI would write a rule into the project's settings, where it holds for
    other sessions too. Nobody gets all permissions bypassed by a suggestion.
    """
    chosen: list[Raw] = []
    left_out: list[int] = []
    for index in remember:
        known = fields(suggestions[index]) if 0 <= index < len(suggestions) else {}
        if not known or text(known.get("mode", UNSET)) == "bypassPermissions":
            left_out.append(index)
            continue
        known["destination"] = _DESTINATIONS[place]
        chosen.append(Raw(msgspec.json.encode(known)))
    return chosen, left_out


def answered_input(asked: Raw, answers: Mapping[str, Sequence[str]], *, separator: str) -> Raw:
    """The input of AskUserQuestion with its answers, keyed by the full question."""
    known = fields(asked)
    known["answers"] = Raw(
        msgspec.json.encode({one: _answer(labels, separator) for one, labels in answers.items()})
    )
    return Raw(msgspec.json.encode(known))


def _answer(labels: Sequence[str], separator: str) -> str | list[str]:
    if len(labels) > 1 and any("," in label for label in labels):
        return list(labels)  # joined, nobody could take it apart again
    return separator.join(labels)
