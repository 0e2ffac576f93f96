"""Conversations Claude Code had on this machine, with us or without.

They are more than any session: whoever looks here sees what was said in every project. So it
takes the right to open sessions, which comes with a login and never with a token in a file.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from flybridge.agents.claude.transcripts.conversation import Summary, summarise
from flybridge.errors import NotSupportedError, StorageError
from flybridge.runtime.methods.listing import Listed
from flybridge.listeners.http.route import API, Body, Call, Name, Params, Route
from flybridge.agents.claude.history import MAX_HEAD_BYTES, ClaudeHistory, Transcript
from flybridge.agents.claude.search import Hit
from flybridge.agents.claude.search import search as find_words

MAX_LISTED = 200
SEARCH_BYTES = 1 << 30


class Listing(Params, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED)] = 50
    before_ms: Annotated[int, Meta(ge=0, le=2**53)] = 0  # 0: the newest
    cwd: Annotated[str, Meta(max_length=4096)] = ""


class Search(Params, kw_only=True):
    words: Annotated[str, Meta(min_length=1, max_length=500)]
    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED)] = 50


class OneConversation(Params, kw_only=True):
    conversation: Name


class Import(Body, kw_only=True):
    agent: str = "claude"
    title: Annotated[str, Meta(max_length=500)] = ""
    archived: bool = True


class Conversation(msgspec.Struct, kw_only=True):
    """One conversation; ``session`` is the session that goes on with it, if there is one."""

    conversation: str
    title: str
    prompt: str
    cwd: str
    model: str
    branch: str
    started_ms: int
    modified_ms: int
    size: int
    session: str = ""


class ConversationList(msgspec.Struct, kw_only=True):
    conversations: list[Conversation]


class Place(msgspec.Struct, kw_only=True):
    """Where something was said."""

    conversation: str
    uuid: str
    at: str
    who: str
    excerpt: str
    cwd: str = ""
    session: str = ""


class Places(msgspec.Struct, kw_only=True):
    hits: list[Place]
    files: int
    stopped: str


class ImportedSession(msgspec.Struct, kw_only=True):
    session: str
    conversation: str
    known: bool = False
    title: str = ""
    cwd: str = ""
    turns: int = 0
    left_out: int = 0


async def list_history(call: Call) -> ConversationList:
    history = _history(call)
    found = await asyncio.to_thread(_listed, history, call.params)
    sessions = await _sessions(call)
    for one in found:
        one.session = sessions.get(one.conversation, "")
    return ConversationList(conversations=found)


async def search_history(call: Call) -> Places:
    history, wanted = _history(call), call.params
    async with call.api.searching:  # one at a time reads as fast as the disk can
        found = await asyncio.to_thread(
            lambda: find_words(
                history,
                history.newest(),
                wanted.words,
                max_hits=wanted.limit,
                max_bytes=SEARCH_BYTES,
            )
        )
        folders = await asyncio.to_thread(_folders, history, found.hits)
    sessions = await _sessions(call)
    hits = [
        Place(
            conversation=hit.transcript.session,
            uuid=hit.uuid,
            at=hit.at,
            who=hit.who,
            excerpt=hit.excerpt,
            cwd=folders[hit.transcript.session],
            session=sessions.get(hit.transcript.session, ""),
        )
        for hit in found.hits
    ]
    return Places(hits=hits, files=found.files, stopped=found.stopped)


async def import_conversation(call: Call) -> Any:
    body: Import = call.body
    return await call.ask(
        "import",
        conversation=call.params.conversation,
        agent=body.agent,
        title=body.title,
        archived=body.archived,
    )


def _history(call: Call) -> ClaudeHistory:
    if call.api.history is None:
        raise NotSupportedError("no conversations are read here")
    return call.api.history


async def _sessions(call: Call) -> dict[str, str]:
    """Which session has which conversation, among those the caller may know of."""
    found: list[Listed] = (await call.ask("list"))["sessions"]
    return {one.conversation: one.session for one in found if one.conversation}


def _listed(history: ClaudeHistory, wanted: Listing) -> list[Conversation]:
    found: list[Conversation] = []
    folders = {wanted.cwd, _resolved(wanted.cwd)}  # the agent records where a link leads
    for transcript in history.newest():
        if wanted.before_ms and transcript.modified_ms >= wanted.before_ms:
            continue
        about = _about(history, transcript)
        if not wanted.cwd or about.cwd in folders:
            found.append(_conversation(transcript, about))
        if len(found) >= wanted.limit:
            break
    return found


def _resolved(folder: str) -> str:
    try:
        return str(Path(folder).resolve())
    except (OSError, RuntimeError, ValueError):
        return folder


def _folders(history: ClaudeHistory, hits: list[Hit]) -> dict[str, str]:
    """Where each conversation took place: at most as many as were found are looked at."""
    found = {hit.transcript.session: hit.transcript for hit in hits}
    return {session: _about(history, one).cwd for session, one in found.items()}


def _about(history: ClaudeHistory, transcript: Transcript) -> Summary:
    try:
        ends = history.ends(transcript)
        about = summarise(ends.head, ends.tail)
        if not about.prompt and not ends.whole:  # a picture, or a long text, comes first
            ends = history.ends(transcript, MAX_HEAD_BYTES)
            about = summarise(ends.head, ends.tail)
    except StorageError:  # gone meanwhile, or not ours to read
        return Summary()
    return about


def _conversation(transcript: Transcript, about: Summary) -> Conversation:
    return Conversation(
        conversation=transcript.session,
        title=about.title,
        prompt=about.prompt,
        cwd=about.cwd,
        model=about.model,
        branch=about.branch,
        started_ms=about.started_ms,
        modified_ms=transcript.modified_ms,
        size=transcript.size,
    )


ROUTES = (
    Route(
        method="GET",
        path=f"{API}/history",
        scope="spawn",
        handler=list_history,
        params=Listing,
        result=ConversationList,
        summary="Conversations of Claude Code on this machine, the newest first",
    ),
    Route(
        method="GET",
        path=f"{API}/history/search",
        scope="spawn",
        handler=search_history,
        params=Search,
        result=Places,
        summary="Look for words in everything that was said and done",
    ),
    Route(
        method="POST",
        path=f"{API}/history/{{conversation}}/import",
        scope="spawn",
        handler=import_conversation,
        params=OneConversation,
        body=Import,
        result=ImportedSession,
        summary="Keep a conversation as a session, without starting an agent",
    ),
)
