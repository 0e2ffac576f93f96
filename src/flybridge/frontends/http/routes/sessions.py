"""Sessions: opened, listed, changed, gone on with, ended."""

from __future__ import annotations

import secrets
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from flybridge.errors import InvalidRequestError
from flybridge.listeners.http.route import API, Body, Call, Done, Name, Params, Route
from flybridge.model import commands as c
from flybridge.model.capabilities import Options, Transport
from flybridge.model.deliveries import Stage
from flybridge.model.ids import SessionId
from flybridge.model.requests import Submit
from flybridge.runtime.methods.listing import Listed
from flybridge.session.views import SessionView

SETTLED_MS = 10_000
Title = Annotated[str, Meta(max_length=500)]


class OneSession(Params, kw_only=True):
    session: Name


class Listing(Params, kw_only=True):
    archived: bool | None = None
    agent: Annotated[str, Meta(max_length=256)] = ""
    label: Annotated[str, Meta(max_length=512)] = ""  # a name, or name=value


class NewSession(Body, kw_only=True):
    """A session to be opened. ``request`` may stand in the header ``Idempotency-Key``."""

    agent: str
    cwd: str
    request: str = ""
    title: Title = ""
    model: str = ""
    mode: str = ""
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    resume: str = ""
    fork: bool = False
    continue_latest: bool = False
    from_pr: str = ""
    effort: str = ""
    budget_usd: Annotated[float, Meta(ge=0, le=1e9)] = 0.0  # 0: no limit
    transport: Transport = "stdio"
    agent_options: dict[str, Any] = msgspec.field(default_factory=dict)  # see GET /agents
    configured: bool = True  # False: without what the configuration sets for the agent
    options: Options = Options()  # as 0.1 took them; accepted for one release
    folder: Literal["ask", "trust", "restrict"] = "ask"


class Branch(Body, kw_only=True):
    """How the new session differs from the one it goes on from."""

    request: str = ""
    title: Title = ""
    model: str = ""
    labels: dict[str, str] = msgspec.field(default_factory=dict)


class Change(Body, kw_only=True):
    """What is to be changed; what is left out stays."""

    title: Title | None = None
    archived: bool | None = None


class Opened(msgspec.Struct, kw_only=True):
    session: SessionId
    resumed: str = ""


class SessionList(msgspec.Struct, kw_only=True):
    sessions: list[Listed]


async def open_session(call: Call) -> object:
    body: NewSession = call.body
    fields = msgspec.structs.asdict(body)
    fields["request"] = call.request_id(body.request)
    return await call.ask("open", **fields)


async def list_sessions(call: Call) -> SessionList:
    wanted: Listing = call.params
    found: list[Listed] = (await call.ask("list"))["sessions"]
    return SessionList(sessions=[one for one in found if _is_wanted(one, wanted)])


def _is_wanted(one: Listed, wanted: Listing) -> bool:
    if wanted.archived is not None and one.archived != wanted.archived:
        return False
    if wanted.agent and one.agent != wanted.agent:
        return False
    name, has_value, value = wanted.label.partition("=")
    if not name:
        return True
    return one.labels.get(name) == value if has_value else name in one.labels


async def get_session(call: Call) -> object:
    return await call.ask("view", session=call.params.session)


async def change_session(call: Call) -> Any:
    body: Change = call.body
    changes: list[c.Command] = []
    if body.title is not None:
        changes.append(c.Rename(title=body.title))
    if body.archived is not None:
        changes.append(c.Archive(archived=body.archived))
    if not changes:
        raise InvalidRequestError("nothing is to be changed")
    key = call.request_id(otherwise=_fresh())
    for command in changes:
        await _carry_out(call, command, f"{key[:180]}:{command.__struct_config__.tag}")
    return await call.ask("view", session=call.params.session)


async def delete_session(call: Call) -> Done:
    await _carry_out(call, c.Delete(), call.request_id(otherwise=_fresh()))
    return Done()


async def stop_session(call: Call) -> Done:
    await call.ask("stop_agent", session=call.params.session)
    return Done()


async def resume_session(call: Call) -> object:
    return await _branch(call, "resume")


async def continue_session(call: Call) -> object:
    return await _branch(call, "continue")


async def fork_session(call: Call) -> object:
    return await _branch(call, "fork")


async def _branch(call: Call, how: Literal["resume", "continue", "fork"]) -> object:
    body: Branch = call.body
    fields = msgspec.structs.asdict(body)
    fields["request"] = call.request_id(body.request)
    return await call.ask(how, session=call.params.session, **fields)


async def _carry_out(call: Call, command: c.Command, request: str) -> None:
    wanted = Submit(
        ref="",
        session=SessionId(call.params.session),
        command=command,
        request=request,
        until=Stage.ACCEPTED,
        wait_ms=SETTLED_MS,
    )
    await call.api.desk.submit(call.caller, wanted)


def _fresh() -> str:
    return secrets.token_hex(16)


ROUTES = (
    Route(
        method="GET",
        path=f"{API}/sessions",
        scope="view",
        handler=list_sessions,
        params=Listing,
        result=SessionList,
        summary="List sessions, with their state and what they wait for",
    ),
    Route(
        method="POST",
        path=f"{API}/sessions",
        scope="spawn",
        handler=open_session,
        body=NewSession,
        result=Opened,
        status=201,
        summary="Open a session; the same request again gives the same session",
    ),
    Route(
        method="GET",
        path=f"{API}/sessions/{{session}}",
        scope="view",
        handler=get_session,
        params=OneSession,
        result=SessionView,
        summary="Look at one session",
    ),
    Route(
        method="PATCH",
        path=f"{API}/sessions/{{session}}",
        scope="input",
        handler=change_session,
        params=OneSession,
        body=Change,
        result=SessionView,
        summary="Rename a session, or put it into the archive or back",
    ),
    Route(
        method="DELETE",
        path=f"{API}/sessions/{{session}}",
        scope="spawn",
        handler=delete_session,
        params=OneSession,
        summary="End a session's agent and forget the session",
    ),
    Route(
        method="POST",
        path=f"{API}/sessions/{{session}}/stop",
        scope="interrupt",
        handler=stop_session,
        params=OneSession,
        summary="End a session's agent; its next input starts it again",
    ),
    Route(
        method="POST",
        path=f"{API}/sessions/{{session}}/resume",
        scope="spawn",
        handler=resume_session,
        params=OneSession,
        body=Branch,
        result=Opened,
        summary="Go on with a session: itself, or a new one if it is closed",
    ),
    Route(
        method="POST",
        path=f"{API}/sessions/{{session}}/continue",
        scope="spawn",
        handler=continue_session,
        params=OneSession,
        body=Branch,
        result=Opened,
        status=201,
        summary="Go on, in a new session, with what was last talked about in its directory",
    ),
    Route(
        method="POST",
        path=f"{API}/sessions/{{session}}/fork",
        scope="spawn",
        handler=fork_session,
        params=OneSession,
        body=Branch,
        result=Opened,
        status=201,
        summary="Go on with a copy of a session's conversation",
    ),
)
