"""List and search the conversations agents had on this machine, with us or without.

They are more than any session: whoever looks here sees what was said in every project. So it
takes the right to open sessions, which comes with a login and never with a token in a file.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from flybridge.agents.history import FoundPlace, FoundPlaces, KeptConversation, KindHistory
from flybridge.errors import InvalidRequestError, NotSupportedError
from flybridge.listeners.http.route import API, Body, Call, Name, Params, Route
from flybridge.model.agent_kinds import DEFAULT_KIND, KINDS_OF_0_1
from flybridge.runtime.methods.listing import Listed

MAX_LISTED = 200
SEARCH_BYTES = 1 << 30
# of the agents that had them; "": of every kind that has any
Kind: TypeAlias = Annotated[str, Meta(max_length=100)]
_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")


class Listing(Params, kw_only=True):
    kind: Kind = DEFAULT_KIND
    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED)] = 50
    before_ms: Annotated[int, Meta(ge=0, le=2**53)] = 0  # 0: the newest
    cwd: Annotated[str, Meta(max_length=4096)] = ""


class Search(Params, kw_only=True):
    kind: Kind = DEFAULT_KIND
    words: Annotated[str, Meta(min_length=1, max_length=500)]
    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED)] = 50


class OneConversation(Params, kw_only=True):
    conversation: Name


class Import(Body, kw_only=True):
    agent: str = DEFAULT_KIND
    title: Annotated[str, Meta(max_length=500)] = ""
    archived: bool = True


class Conversation(KeptConversation, kw_only=True):
    """One conversation; ``session`` is the session that goes on with it, if there is one."""

    session: str = ""
    kind: str = ""  # of the agent that had it
    agent: str = ""  # the configured agent that can go on with it


class ConversationList(msgspec.Struct, kw_only=True):
    conversations: list[Conversation]
    kinds: list[str] = []  # that were listed
    unread: list[str] = []  # kinds whose records could not be read


class Place(FoundPlace, kw_only=True):
    """Where something was said, and the session that goes on with that conversation."""

    session: str = ""
    kind: str = ""  # of the agent that had the conversation
    agent: str = ""  # the configured agent that can go on with it


class Places(msgspec.Struct, kw_only=True):
    hits: list[Place]
    files: int
    stopped: str
    kinds: list[str] = []  # that were searched
    unread: list[str] = []  # kinds whose records could not be read


class ImportedSession(msgspec.Struct, kw_only=True):
    session: str
    conversation: str
    known: bool = False
    title: str = ""
    cwd: str = ""
    turns: int = 0
    left_out: int = 0


async def list_history(call: Call) -> ConversationList:
    wanted = call.params
    listed, unread = await _of_each(
        call,
        lambda kept: kept.history.newest(
            limit=wanted.limit, before_ms=wanted.before_ms, cwd=wanted.cwd
        ),
    )
    sessions = await _sessions(call)
    conversations = [
        Conversation(
            **msgspec.structs.asdict(kept),
            session=sessions.of(kind, kept.conversation),
            kind=kind,
            agent=call.api.histories[kind].agent,
        )
        for kind, found in listed.items()
        for kept in found
    ]
    if len(listed) > 1:  # each is sorted already
        conversations.sort(key=lambda one: one.modified_ms, reverse=True)
    return ConversationList(
        conversations=conversations[: wanted.limit], kinds=list(listed), unread=unread
    )


async def search_history(call: Call) -> Places:
    wanted, share = call.params, max(1, len(_histories(call)))

    def search(kept: KindHistory) -> FoundPlaces:
        # an equal part for each kind: many places of one must not hide those of another
        limit = -(-wanted.limit // share)
        return kept.history.search(wanted.words, limit=limit, max_bytes=SEARCH_BYTES // share)

    async with call.api.searching:  # one at a time reads as fast as the disk can
        found, unread = await _of_each(call, search)
    sessions = await _sessions(call)
    hits = [
        Place(
            **msgspec.structs.asdict(place),
            session=sessions.of(kind, place.conversation),
            kind=kind,
            agent=call.api.histories[kind].agent,
        )
        for kind, places in found.items()
        for place in places.places
    ]
    stopped = dict.fromkeys(places.stopped for places in found.values() if places.stopped)
    return Places(
        hits=hits[: wanted.limit],
        files=sum(places.files for places in found.values()),
        stopped="; ".join(stopped),
        kinds=list(found),
        unread=unread,
    )


async def import_conversation(call: Call) -> Any:
    body: Import = call.body
    return await call.ask(
        "import",
        conversation=call.params.conversation,
        agent=body.agent,
        title=body.title,
        archived=body.archived,
    )


def _histories(call: Call) -> Mapping[str, KindHistory]:
    """Return what the caller asks for: one kind, or all of them."""
    known, kind = call.api.histories, call.params.kind
    if not kind:
        return known
    if kind not in known:
        raise NotSupportedError(f"no conversations of agents of the kind {kind!r} here")
    return {kind: known[kind]}


async def _of_each(
    call: Call, read: Callable[[KindHistory], _Result]
) -> tuple[dict[str, _Result], list[str]]:
    """Read the records of the wanted kinds; return the results, and the kinds that failed.

    A kind that fails hides no other. If it was asked for by name, its error is the answer.
    """
    found: dict[str, _Result] = {}
    unread: list[str] = []
    for kind, kept in _histories(call).items():
        try:
            found[kind] = await asyncio.to_thread(read, kept)
        except InvalidRequestError:
            raise
        except Exception as error:  # may be somebody else's code
            if call.params.kind:
                raise
            _log.error("conversations of %s: %s: %s", kind, type(error).__name__, error)
            unread.append(kind)
    return found, unread


class _Sessions:
    """Find the session of a conversation, among those the caller may know of."""

    def __init__(self, listed: Iterable[Listed]) -> None:
        self._sessions = {
            (one.kind, one.conversation): one.session for one in listed if one.conversation
        }

    def of(self, kind: str, conversation: str) -> str:
        """Return the session that has a conversation; "" if there is none."""
        session = self._sessions.get((kind, conversation), "")
        if not session and kind in KINDS_OF_0_1:  # whose sessions recorded no kind
            session = self._sessions.get(("", conversation), "")
        return session


async def _sessions(call: Call) -> _Sessions:
    return _Sessions((await call.ask("list"))["sessions"])


ROUTES = (
    Route(
        method="GET",
        path=f"{API}/history",
        scope="spawn",
        handler=list_history,
        params=Listing,
        result=ConversationList,
        summary="Conversations of one kind of agent or of all on this machine, the newest first",
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
