"""Who comes in, with what, and what they did: logins, tokens, the audit log."""

from __future__ import annotations

import asyncio
from collections import deque
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from flybridge.auth.authority import FILE_SCOPES
from flybridge.auth.cookies import clear_cookie, set_cookie
from flybridge.auth.methods import Shown
from flybridge.auth.peer import restricted
from flybridge.errors import InvalidRequestError, NotAllowedError, NotSupportedError, StorageError
from flybridge.listeners.http.incoming import forwarded_client
from flybridge.listeners.http.route import (
    API,
    PUBLIC,
    Answered,
    Body,
    Call,
    Done,
    Name,
    Params,
    Route,
)
from flybridge.model.audit import Record
from flybridge.session.authorisation import Scope, Verdict, why_not
from flybridge.store.audit import Line, decoded, lines_of

MAX_RECORDS = 500
PERSON_ONLY = (
    "This link was passed to a browser on this machine and works only there. Through SSH or a "
    "proxy, use a link from `flybridge open --remote`."
)


class Login(Body, kw_only=True):
    """One of the two."""

    ticket: Annotated[str, Meta(max_length=256)] = ""
    password: Annotated[str, Meta(max_length=1024)] = ""


class NewToken(Body, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=100)]
    scopes: tuple[Scope, ...] = tuple(sorted(FILE_SCOPES))
    days: Annotated[float, Meta(ge=0, le=3650)] = 0  # 0: until it is revoked
    sessions: tuple[str, ...] = ()  # only these; none: all


class OneToken(Params, kw_only=True):
    name: Name  # or its id; logins are taken back the same way


class ProofParams(Params, kw_only=True):
    token_id: Name
    nonce: Annotated[str, Meta(min_length=16, max_length=256)]


class Records(Params, kw_only=True):
    after: Annotated[int, Meta(ge=0, le=2**53)] = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_RECORDS)] = 100
    newest: bool = False  # the last ones instead of the next


class Me(msgspec.Struct, kw_only=True):
    """Who a caller is taken for."""

    principal: str
    scopes: list[str]
    credential: str
    sessions: list[str]  # the only ones it may know of; none: all
    of_agent: bool
    peer: Verdict  # how the connection was judged
    withheld: list[str]  # scopes of the login that do not hold on this connection
    reason: str  # why not


class LoggedIn(msgspec.Struct, kw_only=True):
    """The second half of a login, shown this once; the first half is the cookie."""

    ok: bool = True
    key: str  # to be sent as Flybridge-Login-Key with every request


class Created(msgspec.Struct, kw_only=True):
    token: str  # shown this once


class Revoked(msgspec.Struct, kw_only=True):
    id: str
    name: str


class TokenList(msgspec.Struct, kw_only=True):
    tokens: list[Shown]
    logins: list[Shown]
    password: bool


class Proof(msgspec.Struct, kw_only=True):
    proof: str
    address: str = ""  # host and port of our end of this connection
    address_proof: str = ""  # that address, signed


class RecordPage(msgspec.Struct, kw_only=True):
    records: list[Line]


async def login(call: Call) -> Answered:
    body: Login = call.body
    if bool(body.ticket) == bool(body.password):
        raise InvalidRequestError("bring a ticket or a password")
    api = call.api
    client = forwarded_client(call.head, api.client_header, call.source)
    came = {"door": "http", "source": client}
    if body.ticket:
        ticket = api.authority.find_ticket(body.ticket)
        if ticket is not None:  # only then is it worth the search for who holds the connection
            await _check_peer(call, client, person_only=ticket.person_only)
        login = api.authority.login(body.ticket, **came)
    else:
        api.authority.check_tries(**came)
        await _check_peer(call, client)
        login = await api.authority.login_with_password(body.password, **came)
    name, base_path = api.authority.cookie, api.base_path
    cookie = set_cookie(name, login.cookie, secure=api.secure, base_path=base_path)
    return _with_cookie(cookie, LoggedIn(key=login.key))


async def _check_peer(call: Call, client: str, *, person_only: bool = False) -> None:
    """Refuse a login from an agent, and from anybody but a person if the link demands one.

    ``client`` is the address that the audit log names, behind a proxy the one it reports.

    Raises:
        NotAllowedError: it is refused; the ticket can still be used.
    """
    verdict = await call.judge()
    if verdict == "agent":
        why = "an agent cannot log in"
    elif person_only and verdict != "person":
        why = PERSON_ONLY
    else:
        return
    came = {"door": "http", "source": client, "detail": verdict}
    call.api.audit(Record(event="login", outcome="refused", code=NotAllowedError.code, **came))
    raise NotAllowedError("approve", why=why)


async def logout(call: Call) -> Answered:
    api, caller = call.api, call.caller
    if not any(one.id == caller.credential for one in api.authority.logins()):
        raise InvalidRequestError("a token does not log out: it is revoked")
    api.authority.logout(caller)
    cookie = clear_cookie(api.authority.cookie, secure=api.secure, base_path=api.base_path)
    return _with_cookie(cookie, Done())


def _with_cookie(cookie: str, value: object) -> Answered:
    headers = {"content-type": "application/json", "set-cookie": cookie}
    return Answered(headers=headers, body=msgspec.json.encode(value))


async def me(call: Call) -> Me:
    caller = call.caller
    verdict = caller.peer or await call.judge(caller.credential)
    caller = caller if caller.peer else restricted(caller, verdict)
    withheld: list[str] = sorted(caller.withheld)
    return Me(
        principal=caller.principal,
        scopes=sorted(caller.scopes),
        credential=caller.credential,
        sessions=sorted(caller.sessions),
        of_agent=caller.of_agent,
        peer=verdict,
        withheld=withheld,
        reason=why_not(caller, withheld[0] if withheld else ""),
    )


async def proof(call: Call) -> Proof:
    wanted: ProofParams = call.params
    authority, nonce = call.api.authority, wanted.nonce.encode()
    return Proof(
        proof=authority.proof(wanted.token_id, nonce),
        address=call.address,
        address_proof=authority.address_proof(wanted.token_id, nonce, call.address),
    )


async def tokens(call: Call) -> Any:
    return await call.ask("token.list")


async def create_token(call: Call) -> Any:
    return await call.ask("token.create", **msgspec.structs.asdict(call.body))


async def revoke_token(call: Call) -> Any:
    return await call.ask("token.revoke", name=call.params.name)


async def audit(call: Call) -> RecordPage:
    path, wanted = call.api.audit_log, call.params
    if path is None:
        raise NotSupportedError("there is no audit log here")
    return RecordPage(records=await asyncio.to_thread(_records, path, wanted))


def _records(path: Path, wanted: Records) -> list[Line]:
    found: deque[Line] = deque(maxlen=wanted.limit)
    try:
        for line in lines_of(path):
            one = decoded(line)
            if one is None or one.n <= wanted.after:
                continue
            found.append(one)
            if len(found) == wanted.limit and not wanted.newest:
                break
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
    return list(found)


ROUTES = (
    Route(
        method="POST",
        path=f"{API}/login",
        scope=PUBLIC,
        handler=login,
        body=Login,
        result=LoggedIn,
        max_body=8192,
        summary="Trade a ticket or the password for a cookie and its login key",
    ),
    Route(
        method="POST",
        path=f"{API}/logout",
        scope="view",
        handler=logout,
        result=Done,
        summary="End a login, and every connection that came in with it",
    ),
    Route(
        method="GET",
        path=f"{API}/me",
        scope="view",
        handler=me,
        result=Me,
        summary="Who you are taken for, and what you may do",
    ),
    Route(
        method="GET",
        path=f"{API}/proof",
        scope=PUBLIC,
        handler=proof,
        params=ProofParams,
        result=Proof,
        summary="Let the server show that it knows a token, before the token is sent",
    ),
    Route(
        method="GET",
        path=f"{API}/tokens",
        scope="admin",
        handler=tokens,
        result=TokenList,
        summary="List tokens and logins; no secret, and no hash of one",
    ),
    Route(
        method="POST",
        path=f"{API}/tokens",
        scope="admin",
        handler=create_token,
        body=NewToken,
        result=Created,
        status=201,
        summary="Make a token for a program; its secret is shown this once",
    ),
    Route(
        method="DELETE",
        path=f"{API}/tokens/{{name}}",
        scope="admin",
        handler=revoke_token,
        params=OneToken,
        result=Revoked,
        summary="Take a token or a login back; its connections end at once",
    ),
    Route(
        method="GET",
        path=f"{API}/audit",
        scope="admin",
        handler=audit,
        params=Records,
        result=RecordPage,
        summary="Read the audit log: who did what, and who was refused",
    ),
)
