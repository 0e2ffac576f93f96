"""Lines of the files in which Claude Code keeps its conversations. ``read_line`` never raises.

A file is append-only, one JSON object per line. Every line with a ``uuid`` is a node of one
tree, whatever its type: an attachment or a type of next year may well be the parent of the
next message. Lines without one say something about the session as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, ValidationError, field

from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import BROKEN, CUT, block, blocks, fields, mend, text
from flybridge.wire.lines import CutLine

SAID = ("user", "assistant")
MAX_FOLDER = 200  # a longer folder name is cut, and a hash added
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NOT_ALPHANUMERIC = re.compile(r"[^a-zA-Z0-9]")


class Node(Struct, frozen=True, kw_only=True):
    """A line of the tree. ``message`` is there for user and assistant, and not always then."""

    type: str
    uuid: str
    parent: str | None = field(name="parentUuid", default=None)
    logical_parent: str | None = field(name="logicalParentUuid", default=None)
    session: str | None = field(name="sessionId", default=None)
    cwd: str | None = None
    version: str | None = None
    branch: str | None = field(name="gitBranch", default=None)
    timestamp: str | None = None
    subtype: str | None = None
    is_sidechain: bool | None = field(name="isSidechain", default=None)
    is_meta: bool | None = field(name="isMeta", default=None)
    is_summary: bool | None = field(name="isCompactSummary", default=None)
    is_api_error: bool | None = field(name="isApiErrorMessage", default=None)
    turn_origin: w.MaybeRaw = field(name="turnOrigin", default=UNSET)
    message: w.MaybeRaw = UNSET
    content: w.MaybeRaw = UNSET  # what a system line says
    attachment: w.MaybeRaw = UNSET
    result: w.MaybeRaw = field(name="toolUseResult", default=UNSET)


class Title(Struct, frozen=True, kw_only=True):
    """A name for the session. ``given``: by a person."""

    text: str
    given: bool


class LastPrompt(Struct, frozen=True, kw_only=True):
    """Newer versions: where the conversation stood when this was written."""

    prompt: str
    leaf: str


class Queued(Struct, frozen=True, kw_only=True):
    """An input that waits, or waited; only newer versions write down what it says."""

    operation: str
    text: str


class Other(Struct, frozen=True, kw_only=True):
    """A line about something nobody here reads, or of a type not known."""

    type: str
    session: str = ""


class Odd(Struct, frozen=True, kw_only=True):
    """A line that is none: ``reason`` says why."""

    reason: str


Line: TypeAlias = Node | Title | LastPrompt | Queued | Other | Odd


class Body(Struct, frozen=True, kw_only=True):
    """The message of a user or assistant line; ``content`` is text, or a list of blocks."""

    content: Raw
    id: str | None = None
    model: str | None = None
    usage: w.MaybeRaw = UNSET


class _Loose(Struct, frozen=True, kw_only=True):
    type: str
    session: str | None = field(name="sessionId", default=None)
    operation: w.MaybeRaw = UNSET
    content: w.MaybeRaw = UNSET
    custom_title: w.MaybeRaw = field(name="customTitle", default=UNSET)
    ai_title: w.MaybeRaw = field(name="aiTitle", default=UNSET)
    summary: w.MaybeRaw = UNSET
    last_prompt: w.MaybeRaw = field(name="lastPrompt", default=UNSET)
    leaf: w.MaybeRaw = field(name="leafUuid", default=UNSET)


_node = msgspec.json.Decoder(Node)
_loose = msgspec.json.Decoder(_Loose)
_body = msgspec.json.Decoder(Body)


def read_line(line: bytes) -> Line:
    """Read one line of a transcript, without its newline."""
    if isinstance(line, CutLine):
        return Odd(reason=CUT)
    try:
        line.decode()
    except UnicodeDecodeError:
        return Odd(reason="not UTF-8")
    try:
        return _node.decode(line)
    except ValidationError:
        return _read_loose(line)
    except BROKEN:
        mended = mend(line)  # half an emoji is JSON to everybody but msgspec
        if mended is None or mended == line:
            return Odd(reason="not JSON")
        return read_line(mended)


def _read_loose(line: bytes) -> Line:
    try:
        loose = _loose.decode(line)
    except (ValidationError, *BROKEN):
        return Odd(reason="no line of a transcript")
    match loose.type:
        case "custom-title":
            return Title(text=text(loose.custom_title), given=True)
        case "ai-title":
            return Title(text=text(loose.ai_title), given=False)
        case "summary":
            return Title(text=text(loose.summary), given=False)
        case "last-prompt":
            return LastPrompt(prompt=text(loose.last_prompt), leaf=text(loose.leaf))
        case "queue-operation":
            return Queued(operation=text(loose.operation), text=text(loose.content))
        case kind:
            return Other(type=kind, session=loose.session or "")


def body(node: Node) -> Body | None:
    """The message of a line that says something, or None when it has none that can be read."""
    if node.type not in SAID or node.message is UNSET:
        return None
    try:
        return _body.decode(node.message)
    except BROKEN:
        return None


def parts(content: Raw) -> list[Raw]:
    """The blocks of a content; a plain text counts as one."""
    found = blocks(content)
    if found is not None:
        return found
    said = text(content)
    return [Raw(msgspec.json.encode(w.TextBlock(said)))] if said else []


def steered(node: Node) -> str:
    """What a person said while a turn ran: newer versions keep that in an attachment."""
    if node.type != "attachment" or node.attachment is UNSET:
        return ""
    given = fields(node.attachment)
    if text(given.get("type", UNSET)) != "queued_command":
        return ""
    prompt = given.get("prompt", UNSET)
    return text(prompt) or "\n".join(_texts_in(prompt))


def model_named(node: Node) -> str:
    """The model a newer version says it begins with: it does so long before the first answer."""
    if node.type != "attachment" or node.attachment is UNSET:
        return ""
    identity = fields(node.attachment).get("identity", UNSET)
    return "" if identity is UNSET else text(fields(identity).get("modelId", UNSET))


def texts(node: Node) -> Iterator[tuple[str, str]]:
    """Everything a person would look for in a line: (who said it, the words)."""
    if words := steered(node):
        yield "user", words
    if node.type == "system" and (said := text(node.content)):
        yield "system", said
    message = body(node)
    for raw in parts(message.content) if message else ():
        match block(raw):
            case w.TextBlock(text=said):
                yield node.type, said
            case w.ThinkingBlock(thinking=said):
                yield "thinking", said
            case w.ToolUseBlock(name=name, input=given):
                yield "tool", f"{name} {' '.join(_strings(given))}"
            case w.ToolResultBlock(content=given) if given is not UNSET:
                yield "result", text(given) or "\n".join(_texts_in(given))
            case _:
                pass


def _texts_in(content: w.MaybeRaw) -> list[str]:
    found = [] if content is UNSET else blocks(content) or []
    return [one.text for raw in found if isinstance(one := block(raw), w.TextBlock)]


def _strings(given: w.MaybeRaw) -> list[str]:
    return [] if given is UNSET else [text(value) for value in fields(given).values()]


def unglue(line: bytes) -> list[bytes]:
    """The objects of a line that holds several: a writer that missed a newline made it.

    Empty when the line is anything else. What cannot be read at its end is left out.
    """
    try:
        rest = line.decode()
    except UnicodeDecodeError:
        return []
    found: list[bytes] = []
    decoder = json.JSONDecoder()
    while rest := rest.lstrip():
        try:
            value, end = decoder.raw_decode(rest)
        except (ValueError, RecursionError):
            break
        if not isinstance(value, dict) or "type" not in value:
            break
        found.append(rest[:end].encode("utf-8", "surrogatepass"))
        rest = rest[end:]
    return found if len(found) > 1 or (found and rest) else []


def with_parent(line: bytes, parent: str | None) -> bytes:
    """The same line, hanging on another one; everything else as it was written."""
    known = fields(line) or fields(mend(line) or b"{}")
    known["parentUuid"] = Raw(msgspec.json.encode(parent))
    return msgspec.json.encode(known)


def is_session_id(given: str) -> bool:
    """Whether this may be the name of a transcript, and is safe as part of a path."""
    return _UUID.fullmatch(given) is not None


def folder_for(cwd: str) -> str:
    """The project folder of a directory; cut names have a hash behind this."""
    units = cwd.encode("utf-16-le", "surrogatepass")
    plain = "".join(
        chr(int.from_bytes(units[at : at + 2], "little")) for at in range(0, len(units), 2)
    )
    return _NOT_ALPHANUMERIC.sub("-", plain)[:MAX_FOLDER]


def is_folder_of(folder: str, cwd: str) -> bool:
    """Whether transcripts of this directory belong into this project folder."""
    wanted = folder_for(cwd)
    if folder == wanted:
        return True
    start, dash, digest = folder.rpartition("-")
    return len(wanted) == MAX_FOLDER and start == wanted and bool(dash) and digest.isalnum()
