"""What happens in one session: its log, its stream, its commands, and what is shown of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Raw

from flybridge.errors import InvalidRequestError
from flybridge.frontends.http.routes.sessions import OneSession
from flybridge.listeners.http.problems import HttpError
from flybridge.listeners.http.route import API, Answered, Body, Call, Name, Params, Route
from flybridge.model import commands as c
from flybridge.model.deliveries import Reply, Stage
from flybridge.model.ids import SessionId
from flybridge.model.requests import Attach, Submit
from flybridge.runtime.methods.file_search import MAX_SHOWN, FoundFiles
from flybridge.runtime.methods.panels import PanelName
from flybridge.runtime.methods.sessions import MAX_PAGE_BYTES

Until: TypeAlias = Literal["accepted", "written", "observed", "done"]
Count = Annotated[int, Meta(ge=0, le=2**53 - 1)]
MAX_CURSOR = 40


class Page(Params, kw_only=True):
    session: Name
    after: Count = 0
    max_bytes: Annotated[int, Meta(ge=1, le=MAX_PAGE_BYTES)] = 256 * 1024


class Stream(Params, kw_only=True):
    """Where to begin: ``after`` is a seq, or ``epoch:seq`` as in the id of a frame. The header
    ``Last-Event-ID`` wins: it is what a browser sends by itself when it comes back."""

    session: Name
    after: Annotated[str, Meta(max_length=MAX_CURSOR)] = ""
    last: Count = 0  # at most that many of the newest events; 0: all
    previews: bool = True


class View(Params, kw_only=True):
    session: Name
    name: PanelName


class Query(Params, kw_only=True):
    session: Name
    name: Name
    params: Annotated[str, Meta(max_length=4096)] = "{}"  # a JSON object, for those that need it


class Files(Params, kw_only=True):
    session: Name
    query: Annotated[str, Meta(max_length=256)] = ""
    limit: Annotated[int, Meta(ge=1, le=MAX_SHOWN)] = 20


class NewCommand(Body, kw_only=True):
    """A command, and how far it has to have come before the answer."""

    command: c.Command
    request: str = ""  # or the header Idempotency-Key
    until: Until = "written"
    wait_ms: Annotated[int, Meta(ge=0, le=600_000)] = 2000


class EventPage(msgspec.Struct, kw_only=True):
    """Events as the native protocol writes them, oldest first."""

    events: list[Raw]
    head: int
    epoch: int


class Outcome(msgspec.Struct, kw_only=True):
    """How far a command has come. ``duplicate``: it was sent before; this is its outcome."""

    key: str
    outcome: str
    stage: str
    duplicate: bool
    error: str = ""


async def page(call: Call) -> object:
    wanted: Page = call.params
    return await call.ask(
        "page", session=wanted.session, after=wanted.after, max_bytes=wanted.max_bytes
    )


async def stream(call: Call) -> Answered:
    wanted: Stream = call.params
    returning = call.head.one(b"last-event-id").decode("ascii", "replace")
    epoch, after = cursor_of(returning or wanted.after)
    request = Attach(
        ref="sse",
        session=SessionId(wanted.session),
        epoch=epoch,
        after=after,
        last=wanted.last,
        previews=wanted.previews,
    )
    streams = call.api.streams
    client = await streams.attach(call.caller, request)
    return Answered(
        headers={"content-type": "text/event-stream", "x-accel-buffering": "no"},
        stream=lambda send, receive: streams.run(client, send, receive),
        dropped=lambda: streams.drop(client),
    )


def cursor_of(text: str) -> tuple[int, int]:
    """(epoch, seq) of a place in a log; epoch 0 is whichever there is.

    Raises:
        InvalidRequestError: it is none.
    """
    if not text:
        return 0, 0
    epoch, colon, seq = text.rpartition(":")
    numbers = [epoch, seq] if colon else ["0", seq]
    if any(not (one.isascii() and one.isdecimal() and len(one) < 16) for one in numbers):
        raise InvalidRequestError("a place in a log is written epoch:seq")
    return int(numbers[0]), int(numbers[1])


async def command(call: Call) -> Answered:
    body: NewCommand = call.body
    wanted = Submit(
        ref="",
        session=SessionId(call.params.session),
        command=body.command,
        request=call.request_id(body.request),
        until=Stage[body.until.upper()],
        wait_ms=body.wait_ms,
    )
    outcome = outcome_of(await call.api.desk.submit(call.caller, wanted))
    if outcome.error and outcome.error != "in_progress":
        raise HttpError(409, outcome.error, f"its outcome is {outcome.outcome}")
    return Answered(
        status=202 if outcome.error else 200,
        headers={"content-type": "application/json"},
        body=msgspec.json.encode(outcome),
    )


def outcome_of(reply: Reply) -> Outcome:
    told: dict[str, Any] = msgspec.json.decode(reply.value) if reply.value else {}
    return Outcome(
        key=told.get("key", ""),
        outcome=told.get("outcome", ""),
        stage=reply.stage.name.lower() if reply.stage else "",
        duplicate=reply.duplicate,
        error=reply.error,
    )


async def view(call: Call) -> object:
    return await call.ask("panel", session=call.params.session, name=call.params.name)


async def query(call: Call) -> object:
    wanted: Query = call.params
    try:
        params = msgspec.json.decode(wanted.params, type=dict[str, Raw])
    except (msgspec.MsgspecError, RecursionError):
        raise InvalidRequestError("params is a JSON object") from None
    return await call.ask("query", session=wanted.session, name=wanted.name, params=params)


async def files(call: Call) -> object:
    wanted: Files = call.params
    return await call.ask("files", session=wanted.session, query=wanted.query, limit=wanted.limit)


_SESSION = f"{API}/sessions/{{session}}"
ROUTES = (
    Route(
        method="GET",
        path=f"{_SESSION}/events",
        scope="view",
        handler=page,
        params=Page,
        result=EventPage,
        summary="Read a part of a session's log",
    ),
    Route(
        method="GET",
        path=f"{_SESSION}/stream",
        scope="view",
        handler=stream,
        params=Stream,
        result=str,
        media_type="text/event-stream",
        summary="Follow a session by server-sent events",
    ),
    Route(
        method="POST",
        path=f"{_SESSION}/commands",
        scope="view",  # and then whatever the command needs
        handler=command,
        params=OneSession,
        body=NewCommand,
        result=Outcome,
        or_status=(202,),
        summary="Carry out a command once; each kind needs its own scope",
    ),
    Route(
        method="GET",
        path=f"{_SESSION}/views/{{name}}",
        scope="view",
        handler=view,
        params=View,
        result=dict[str, Raw],
        summary="What is shown beside the transcript, by its name",
    ),
    Route(
        method="GET",
        path=f"{_SESSION}/query/{{name}}",
        scope="view",
        handler=query,
        params=Query,
        result=Any,
        summary="Ask the agent something beside the conversation",
    ),
    Route(
        method="GET",
        path=f"{_SESSION}/files",
        scope="input",
        handler=files,
        params=Files,
        result=FoundFiles,
        summary="Find files of the session's directory by a few letters",
    ),
)
