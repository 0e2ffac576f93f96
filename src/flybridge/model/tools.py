"""Tool calls in terms that hold for every agent: what kind of call it is, and what it is about.

A driver fills both from its agent's own words. A front end chooses by ``kind`` how to show a
call and reads ``subject`` for its one line; the agent's own input stays beside them, whole.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

# execute runs a program. edit changes the files of ``subject.paths`` and does nothing else.
# read, search and fetch change nothing and run nothing. plan submits a plan: allowing the call
# approves it. task changes the list of things to do. agent starts a sub-agent. mcp calls a tool
# of an MCP server. A driver that is not sure says other.
ToolKind: TypeAlias = Literal[
    "execute", "edit", "read", "search", "fetch", "think", "agent", "plan", "task", "mcp", "other"
]

TITLE_CHARS = 256
COMMAND_CHARS = 2048
DIFF_CHARS = 2048
URL_CHARS = 2048
PATH_CHARS = 4096
MAX_PATHS = 16
# Fields of an input that say most about a call without a subject, in this order.
TELLING = (
    "subject",
    "command",
    "file_path",
    "path",
    "notebook_path",
    "pattern",
    "url",
    "query",
    "description",
    "prompt",
)
CUT = " …"  # ends a text that is longer than its limit


class ToolSubject(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a call is about, in few words: each field may be empty, and each has a limit.

    A text that was cut ends with a space and an ellipsis. ``paths`` names every file, or none
    when they are too many or too long: a part of them could pass for the whole.
    """

    title: str = ""  # in words: a description, a pattern, a query
    command: str = ""  # that it runs
    paths: tuple[str, ...] = ()  # of the files it reads or changes, or where it searches
    diff: str = ""  # the change it asks for: lines that begin with "+", "-", " " or "@@"
    url: str = ""  # that it fetches


NO_SUBJECT = ToolSubject()


def limited(text: str, limit: int) -> str:
    """Return the text, or its beginning with ``CUT`` when it is longer than ``limit``."""
    return text if len(text) <= limit else text[: limit - len(CUT)] + CUT


def limited_paths(*paths: str) -> tuple[str, ...]:
    """Return the paths that are not empty; none of them when they are too many or too long."""
    named = tuple(path for path in paths if path)
    fits = len(named) <= MAX_PATHS and all(len(path) <= PATH_CHARS for path in named)
    return named if fits else ()


def headline(kind: ToolKind | Literal[""], subject: ToolSubject) -> str:
    """Return what a call is used on: its command, address, pattern or files; else its title."""
    places = ", ".join(subject.paths)
    if kind == "search" and subject.title and places:
        return f"{subject.title} in {places}"
    if kind == "search":
        return subject.title or places
    return subject.command or subject.url or places or subject.title
