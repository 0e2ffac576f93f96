"""What a scripted model says, and how its API puts that into events. Pure: nothing waits here.

A script is a list of answers, one for each request of a conversation. It stands in the prompt
itself, on a line of its own that begins with ``@@``, so a test needs no second channel, a
resumed conversation goes on where it was, and a sub-agent follows the script in its prompt::

    please look around
    @@ [{"tool": "Bash", "input": {"command": "ls"}}, {"say": "That is all."}]

An answer is one block, a list of blocks, or an object with ``blocks`` and what else is
special about it (:class:`Answer`). The newest script counts, and which of its answers is next
follows from the conversation alone: as many as there are assistant messages after the script.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

import msgspec

Json: TypeAlias = dict[str, Any]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=60)]

DEFAULT_TEXT = "ok"
SUMMARY = "<analysis>none</analysis>\n<summary>\nNothing worth telling.\n</summary>"
SIGNATURE = "c2NyaXB0ZWQ="
KINDS = ("say", "think", "redacted", "tool")
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
_LINE = re.compile(r"^@@ (?=\[)", re.MULTILINE)


class ScriptError(ValueError):
    """A script that cannot be played: the test's fault."""


class Block(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One block of an answer: exactly one of ``say``, ``think``, ``redacted``, ``tool``.

    ``deltas`` says in how many pieces it is streamed, ``pause_s`` how long to rest between
    them; ``hold`` names a file to wait for after ``hold_after`` pieces (all of them, when it
    is left out), while the block is open.
    """

    say: str | None = None
    think: str | None = None
    redacted: str | None = None
    tool: str | None = None
    input: Json = {}  # of a tool
    id: str = ""  # of a tool's call; made up when empty
    raw: str | None = None  # a tool's input exactly as it is to be streamed, broken or not
    repeat: Count = 1  # of a text
    deltas: Count = 1
    pause_s: Seconds = 0
    hold: str = ""
    hold_after: int | None = None

    def __post_init__(self) -> None:
        if sum(getattr(self, kind) is not None for kind in KINDS) != 1:
            raise ValueError(f"a block has one of {', '.join(KINDS)}")


class Answer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one request gets. With ``status`` it is an error, else the blocks.

    ``wait_file`` and ``delay_s`` come before the first byte. ``fault`` ends the stream with an
    error event after the blocks, ``cut`` by hanging up. ``times``: only so many requests get
    the error, the fault or the cut; after that the blocks come whole.
    """

    blocks: tuple[Block, ...] = ()
    stop: str = ""  # stop_reason; follows from the blocks when empty
    stop_details: Json | None = None
    usage: Json = {}
    headers: dict[str, str] = {}
    wait_file: str = ""
    delay_s: Seconds = 0
    status: int = 0
    error: str = ""  # the error's type; follows from the status when empty
    message: str = "scripted"  # the error's text
    fault: str = ""  # the type of an error event inside the stream
    cut: bool = False
    times: Count | None = None

    def spared(self) -> Answer:
        """The same without its trouble."""
        return msgspec.structs.replace(self, status=0, fault="", cut=False)

    @property
    def stop_reason(self) -> str:
        calls = any(block.tool is not None for block in self.blocks)
        return self.stop or ("tool_use" if calls else "end_turn")


Script: TypeAlias = tuple[Answer, ...]


def parse(script: Sequence[object]) -> Script:
    """Read a script written as plain lists and objects.

    Raises:
        ScriptError: an entry is no answer.
    """
    return tuple(_answer(entry) for entry in script)


def _answer(entry: object) -> Answer:
    if isinstance(entry, dict) and any(kind in entry for kind in KINDS):
        entry = [entry]
    if isinstance(entry, list | tuple):
        entry = {"blocks": entry}
    try:
        return msgspec.convert(entry, Answer)
    except msgspec.ValidationError as error:
        raise ScriptError(f"{json.dumps(entry)[:200]}: {error}") from None


# ---- which answer -------------------------------------------------------------------------------


def texts(message: Mapping[str, Any]) -> list[str]:
    """The texts of one message of a conversation, block by block.

    Those of tool results too: an agent may put there what a person said meanwhile.
    """
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    found: list[str] = []
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and block.get("type") == "text":
            found.append(str(block.get("text", "")))
        elif isinstance(block, dict) and block.get("type") == "tool_result":
            found += texts(block)
    return found


def messages_of(request: Mapping[str, Any]) -> list[Json]:
    messages = request.get("messages")
    return [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []


class Found(msgspec.Struct, frozen=True):
    """A script, and which of its answers is next."""

    script: Script
    position: int
    prompt: str = ""  # the text it stands in

    @property
    def answer(self) -> Answer:
        if self.position < len(self.script):
            return self.script[self.position]
        return Answer(blocks=(Block(say=DEFAULT_TEXT),))


def find(request: Mapping[str, Any]) -> Found | None:
    """The newest script in a conversation: in the last text, where several were joined.

    Raises:
        ScriptError: that script cannot be read.
    """
    messages = messages_of(request)
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].get("role") == "assistant":
            continue  # what is new comes from the user, or from the system in between
        for text in reversed(texts(messages[at])):
            starts = list(_LINE.finditer(text))
            if starts:
                script = parse(_json_list(text[starts[-1].end() :]))
                return Found(script, _answered(messages[at + 1 :]), text)
    return None


def _answered(messages: Sequence[Json]) -> int:
    return sum(one.get("role") == "assistant" for one in messages)


def _json_list(source: str) -> list[object]:
    try:
        found, _ = json.JSONDecoder().raw_decode(source)
    except ValueError as error:
        raise ScriptError(f"not JSON: {error}: {source[:200]}") from None
    assert isinstance(found, list)  # it begins with a bracket
    return found


def is_helper(request: Mapping[str, Any]) -> bool:
    """Whether an agent asks on the side (a title, a summary, a probe), not in its turn."""
    if request.get("max_tokens") == 1:
        return True
    if not request.get("tools") and "haiku" in str(request.get("model")):
        return True
    return _wants_summary(request)


def _wants_summary(request: Mapping[str, Any]) -> bool:
    last = messages_of(request)[-1:]
    return any("detailed summary of" in text for one in last for text in texts(one))


def helper_answer(request: Mapping[str, Any]) -> Answer:
    """Something plain that every such request can live with."""
    if request.get("max_tokens") == 1:
        return Answer(blocks=(Block(say="#"),), stop="max_tokens")
    said = SUMMARY if _wants_summary(request) else '{"title": "Scripted"}'
    return Answer(blocks=(Block(say=said),))


# ---- how the API says it ------------------------------------------------------------------------


class Event(msgspec.Struct, frozen=True):
    """One server-sent event."""

    kind: str
    data: Json

    def encode(self) -> bytes:
        body = msgspec.json.encode({"type": self.kind, **self.data})
        return b"event: %s\ndata: %s\n\n" % (self.kind.encode(), body)


class Rest(msgspec.Struct, frozen=True):
    """A pause in the stream: so many seconds, or until a file exists."""

    seconds: float = 0
    path: str = ""


NewId: TypeAlias = Callable[[str], str]


def error_body(answer: Answer) -> Json:
    kind = answer.error or ERROR_TYPES.get(answer.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": answer.message}}


def head(answer: Answer, model: str, new_id: NewId) -> Json:
    """A message that has said nothing yet."""
    usage = {
        "input_tokens": 10,
        "output_tokens": 1,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "service_tier": "standard",
    }
    return {
        "id": new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage | answer.usage,
    }


def _tail(answer: Answer) -> Json:
    delta: Json = {"stop_reason": answer.stop_reason, "stop_sequence": None}
    if answer.stop_details is not None:
        delta["stop_details"] = answer.stop_details
    return delta


def _output_tokens(answer: Answer) -> int:
    return int(answer.usage.get("output_tokens", 12))


def whole(answer: Answer, model: str, new_id: NewId) -> Json:
    """The answer to a request that does not stream."""
    message = head(answer, model, new_id)
    message["content"] = [_complete(block, new_id) for block in answer.blocks]
    message["usage"]["output_tokens"] = _output_tokens(answer)
    return message | _tail(answer)


def _complete(block: Block, new_id: NewId) -> Json:
    if block.say is not None:
        return {"type": "text", "text": block.say * block.repeat}
    if block.think is not None:
        thought = block.think * block.repeat
        return {"type": "thinking", "thinking": thought, "signature": SIGNATURE}
    if block.redacted is not None:
        return {"type": "redacted_thinking", "data": block.redacted}
    return {
        "type": "tool_use",
        "id": block.id or new_id("toolu"),
        "name": block.tool,
        "input": block.input,
    }


def stream(answer: Answer, model: str, new_id: NewId) -> Iterator[Event | Rest]:
    """The answer as a stream, and where to rest in it. After a cut nothing more is to come."""
    yield Event("message_start", {"message": head(answer, model, new_id)})
    yield Event("ping", {})
    for index, block in enumerate(answer.blocks):
        yield from _block(index, block, new_id)
    if answer.cut:
        return
    if answer.fault:
        yield Event("error", {"error": {"type": answer.fault, "message": answer.message}})
        return
    usage = {"output_tokens": _output_tokens(answer)}
    yield Event("message_delta", {"delta": _tail(answer), "usage": usage})
    yield Event("message_stop", {})


def _block(index: int, block: Block, new_id: NewId) -> Iterator[Event | Rest]:
    start, pieces = _parts(_complete(block, new_id), block)
    yield Event("content_block_start", {"index": index, "content_block": start})
    held = len(pieces) if block.hold_after is None else min(block.hold_after, len(pieces))
    for at, piece in enumerate([*pieces, None]):
        if at == held and block.hold:
            yield Rest(path=block.hold)
        if piece is not None:
            yield Event("content_block_delta", {"index": index, "delta": piece})
            if block.pause_s:
                yield Rest(seconds=block.pause_s)
    yield Event("content_block_stop", {"index": index})


def _parts(complete: Json, block: Block) -> tuple[Json, list[Json]]:
    """How a block begins, and the deltas that make the rest of it."""
    match complete["type"]:
        case "text":
            pieces = cut(complete["text"], block.deltas)
            return complete | {"text": ""}, [{"type": "text_delta", "text": one} for one in pieces]
        case "thinking":
            pieces = cut(complete["thinking"], block.deltas)
            deltas = [{"type": "thinking_delta", "thinking": one} for one in pieces]
            proof = {"type": "signature_delta", "signature": SIGNATURE}
            return complete | {"thinking": "", "signature": ""}, [*deltas, proof]
        case "tool_use":
            given = json.dumps(block.input) if block.raw is None else block.raw
            pieces = cut(given, block.deltas)
            deltas = [{"type": "input_json_delta", "partial_json": one} for one in pieces]
            return complete | {"input": {}}, deltas
        case _:
            return complete, []


def cut(text: str, pieces: int) -> list[str]:
    """The text in so many pieces, as even as can be; fewer when it is shorter than that."""
    count = max(1, min(pieces, len(text)))
    bounds = [len(text) * at // count for at in range(count + 1)]
    return [text[a:b] for a, b in itertools.pairwise(bounds)]
