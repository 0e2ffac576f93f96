"""From the lines of a transcript to the conversation they hold. Pure: the lines come from outside.

A conversation is the way from the last leaf of the tree up to its root. Two things are not on
that way and still belong to it: calls that ran in parallel hang side by side, so the way passes
one of them only; and a compaction begins a new root, which names the old leaf.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

import msgspec
from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.convert.words import INTERRUPTED, fell_back, tool_text
from flybridge.agents.claude.transcripts.tree import Tree
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire import transcript as t
from flybridge.agents.claude.wire.decode import block, fallback, fields, text
from flybridge.agents.history import ConversationText, Piece, PieceKind, Summary

TEXT_CHARS = 16_000  # of one piece; who wants all of it has the file
INPUT_BYTES = 16_000
HEAD_CHARS = 200
SYNTHETIC = "<synthetic>"
FILLER = "No response requested."  # what the CLI answers itself with when a turn was cut off
_TAGGED = re.compile(r"<(local-command-stdout|local-command-stderr)>(.*?)</\1>", re.DOTALL)
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_CAVEAT = "<local-command-caveat>"


def read(lines: Iterable[bytes], *, whole: bool = False) -> ConversationText:
    """The conversation in these lines, whatever state they are in; ``whole``: no text is cut."""
    return converse(Tree(lines), whole=whole)


def converse(tree: Tree, *, whole: bool = False) -> ConversationText:
    way = tree.way()
    pieces = [piece for node in way for piece in pieces_of(node)]
    pieces = pieces if whole else [_cut(one) for one in pieces]
    return ConversationText(
        about=_about((*tree.titles, *way)),
        pieces=pieces,
        leaf=tree.leaf.uuid if tree.leaf else "",
        prompts=sum(one.kind in ("prompt", "steering") for one in pieces),
        calls=sum(one.kind == "call" for one in pieces),
        branches=len(tree.branches()),
    )


def summarise(head: Sequence[bytes], tail: Sequence[bytes] = ()) -> Summary:
    """What the first and the last lines of a transcript tell."""
    return _about(t.read_line(line) for part in (head, tail) for line in part)


def _about(lines: Iterable[t.Line]) -> Summary:
    about = Summary()
    given = False
    for line in lines:
        if isinstance(line, t.Title) and line.text and (line.given or not given):
            about.title, given = line.text[:HEAD_CHARS], line.given
        elif isinstance(line, t.Node) and not line.is_sidechain:
            _add(about, line)
    return about


def _add(about: Summary, node: t.Node) -> None:
    about.session = about.session or node.session or ""
    about.cwd = about.cwd or node.cwd or ""
    about.version = node.version or about.version
    about.branch = node.branch or about.branch
    at_ms = millis(node.timestamp)
    about.started_ms = about.started_ms or at_ms
    about.ended_ms = max(about.ended_ms, at_ms)
    message = t.body(node)
    if message and message.model and message.model != SYNTHETIC:
        about.model = message.model
    elif not about.model:
        about.model = t.model_named(node)
    if node.type == "user" and not about.prompt:
        prompts = (one.text for one in pieces_of(node) if one.kind == "prompt")
        about.prompt = next(prompts, "")[:HEAD_CHARS]


def millis(timestamp: str | None) -> int:
    """A time as the CLI writes it, in milliseconds; 0 when it is none."""
    try:
        return int(datetime.fromisoformat(timestamp or "").timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0


# ---- one line ------------------------------------------------------------------------------------


def pieces_of(node: t.Node) -> list[Piece]:
    """What a line adds to the conversation; nothing for those that are only for the model."""
    at_ms = millis(node.timestamp)
    return [msgspec.structs.replace(one, at_ms=at_ms, uuid=node.uuid) for one in _pieces(node)]


def _pieces(node: t.Node) -> Iterator[Piece]:
    match node.type:
        case "user" if not node.is_meta:
            yield from _of_user(node)
        case "assistant":
            yield from _of_assistant(node)
        case "system":
            yield from _of_system(node)
        case "attachment":
            if words := t.steered(node):
                yield _said("steering", words)
        case _:
            pass


def _cut(piece: Piece) -> Piece:
    """The same, short enough to be looked at."""
    big = isinstance(piece.input, Raw) and len(bytes(piece.input)) > INPUT_BYTES
    if not big and len(piece.text) <= TEXT_CHARS:
        return piece
    given = UNSET if big else piece.input
    return msgspec.structs.replace(piece, text=piece.text[:TEXT_CHARS], input=given, cut=True)


def _said(kind: PieceKind, words: str) -> Piece:
    return Piece(kind=kind, text=words)


def _of_user(node: t.Node) -> Iterator[Piece]:
    message = t.body(node)
    if message is None:
        return
    words: list[str] = []
    for raw in t.parts(message.content):
        match block(raw):
            case w.ToolResultBlock() as result:
                returned = _said("result", tool_text(result.content))
                failed = result.is_error is True
                yield msgspec.structs.replace(returned, tool=result.tool_use_id, failed=failed)
            case w.TextBlock(text=said):
                words.append(said)
            case w.ImageBlock(source=source) | w.DocumentBlock(source=source):
                words.append(f"[{source.media_type}]")
            case _:
                words.append(f"[{text(fields(raw).get('type', UNSET)) or 'unknown'}]")
    if words:
        yield from _of_words(node, "\n".join(words))


def _of_words(node: t.Node, words: str) -> Iterator[Piece]:
    origin = text(node.turn_origin)
    if node.is_summary:
        yield _said("summary", words)
    elif words.startswith(INTERRUPTED):
        yield Piece(kind="interrupted")
    elif command := _COMMAND.search(words):
        arguments = _ARGUMENTS.search(words)
        yield _said("prompt", f"{command[1]} {arguments[1] if arguments else ''}".strip())
    elif output := _TAGGED.search(words):
        yield _said("output", output[2].strip())
    elif words.startswith("<task-notification>") or "notification" in origin:
        yield _said("note", words)
    elif not words.startswith(_CAVEAT):
        yield _said("prompt", words)


def _of_assistant(node: t.Node) -> Iterator[Piece]:
    message = t.body(node)
    for raw in t.parts(message.content) if message else ():
        match block(raw):
            case w.TextBlock(text=said):
                if not (said == FILLER and message and message.model == SYNTHETIC):
                    yield _said("error" if node.is_api_error else "text", said)
            case w.ThinkingBlock(thinking=said):
                yield _said("thinking", said)
            case w.RedactedThinkingBlock():
                yield Piece(kind="thinking")
            case w.ToolUseBlock() as call:
                yield Piece(kind="call", tool=call.id, name=call.name, input=call.input)
            case _ if models := fallback(raw):
                yield _said("note", fell_back(models))
            case _:
                yield _said("text", f"[{text(fields(raw).get('type', UNSET)) or 'unknown'}]")


def _of_system(node: t.Node) -> Iterator[Piece]:
    said = text(node.content)
    match node.subtype:
        case "compact_boundary":
            yield Piece(kind="compacted")
        case "local_command":
            output = _TAGGED.search(said)
            yield _said("output", (output[2] if output else said).strip())
        case "api_error" if said:
            yield _said("error", said)
        case _:
            pass  # the CLI's own book-keeping
