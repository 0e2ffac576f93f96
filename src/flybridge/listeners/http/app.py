"""The HTTP door: every request takes the same way in, whatever it asks for.

Host, Origin, size, credential, scope, schema, and only then what it is about. Static pages and
the health check pass the same gate. A route asks for a credential unless it is listed as public.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from pathlib import Path

import msgspec
from starlette.routing import Route as StarletteRoute
from starlette.routing import Router

from flybridge.agents.history import KindHistory
from flybridge.auth.authority import Authority
from flybridge.auth.cookies import clear_cookie
from flybridge.auth.gate import METHODS, Gate, Head, Refused, check
from flybridge.auth.peer import TALK, restricted
from flybridge.auth.tcp_peer import TcpPeers
from flybridge.errors import (
    FlybridgeError,
    LoginIncompleteError,
    NotAllowedError,
    NotAuthenticatedError,
)
from flybridge.listeners.http.incoming import (
    ClientGone,
    Scope,
    address_of,
    body_of,
    check_size,
    drain,
    head_of,
    params_of,
    source_of,
)
from flybridge.listeners.http.metrics import Metrics
from flybridge.listeners.http.outgoing import Send, Sending, answered, failure, respond
from flybridge.listeners.http.problems import HttpError
from flybridge.listeners.http.route import PUBLIC, Api, Call, Route
from flybridge.listeners.http.sse import Receive, Streams
from flybridge.listeners.http.web_files import WebFiles
from flybridge.model.audit import Record
from flybridge.runtime.dispatcher import Desk
from flybridge.session.authorisation import Caller, Verdict, who, why_not
from flybridge.session.ports import Blobs

_log = logging.getLogger(__name__)


class WebApp:
    """The ASGI application: the gate, then the table of routes."""

    def __init__(self, gate: Gate, api: Api, routes: Iterable[Route], peers: TcpPeers) -> None:
        self.api = api
        self._gate = gate
        self._peers = peers
        by_path: dict[str, dict[str, Route]] = {}
        for route in routes:
            by_path.setdefault(route.path, {})[route.method] = route
        self._router = Router(
            [
                StarletteRoute(path, _Place(self, path, methods))
                for path, methods in by_path.items()
            ],
            redirect_slashes=False,
            default=_Place(self, "", {}),
        )

    def close(self) -> None:
        """End what would go on for ever, so that the server can stop."""
        self.api.streams.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"no {scope['type']} here")
        scope = {**scope, "flybridge.route": "-"}
        began = time.perf_counter()
        request_id = secrets.token_hex(8)
        sending = Sending(send, request_id)
        try:
            await self._enter(scope, receive, sending)
        except ClientGone:
            pass
        except Exception as error:
            if not isinstance(error, FlybridgeError | HttpError):
                _log.exception("request %s failed", request_id)
            if sending.status:
                raise  # half an answer is out: all that is left is to hang up
            answer = failure(error)
            if answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
                await drain(receive)
            # an incomplete login stays: the page may be about to store its key
            if isinstance(error, NotAuthenticatedError) and not isinstance(
                error, LoginIncompleteError
            ):
                answer.headers |= self._without_cookie(head_of(scope))
            await respond(sending, answer, receive, head_only=scope["method"] == "HEAD")
        finally:
            route, seconds = scope["flybridge.route"], time.perf_counter() - began
            method = scope["method"] if scope["method"] in METHODS else "-"
            self.api.metrics.request(method, route, sending.status, seconds)

    async def _enter(self, scope: Scope, receive: Receive, send: Sending) -> None:
        head = head_of(scope)
        refused = check(self._gate, head)
        if refused is not None:
            self._note_refusal(refused, head, source_of(scope))
            raise HttpError(refused.status, refused.code, refused.message)
        origin = await self._peers.origin(scope.get("client"), scope.get("server"))
        if origin.refused is not None:
            self._note_refusal(origin.refused, head, source_of(scope))
            refused = origin.refused
            raise HttpError(refused.status, refused.code, refused.message)
        base = self._gate.base_path
        if base and not scope["path"].startswith(f"{base}/"):
            raise HttpError(404, "not_found", "there is nothing here")
        scope.update({"path": scope["path"].removeprefix(base), "root_path": ""})
        scope["flybridge.head"] = head
        await self._router(scope, receive, send)

    def _without_cookie(self, head: Head) -> dict[str, str]:
        """A browser keeps sending a login that is over, until it is told to forget it."""
        if not self.api.authority.cookies_in(head):
            return {}
        name = self.api.authority.cookie
        gone = clear_cookie(name, secure=self.api.secure, base_path=self.api.base_path)
        return {"set-cookie": gone}

    def _note_refusal(self, refused: Refused, head: Head, source: str) -> None:
        self.api.metrics.refused(refused.code)
        self.api.audit(
            Record(
                event="gate",
                outcome="refused",
                code=refused.code,
                door="http",
                source=source,
                target=head.target.partition("?")[0][:200],
            )
        )

    async def verdict(self, scope: Scope, login: str = "") -> Verdict:
        """Judge the connection that a request came by."""
        return await self._peers.verdict(scope.get("client"), scope.get("server"), login=login)

    async def caller_of(self, head: Head, scope: Scope) -> Caller:
        """Whoever sent this.

        Raises:
            LoginIncompleteError: a login without its second half.
            NotAuthenticatedError: nobody we know.
            TooManyTriesError: and that too often.
        """
        try:
            caller = self.api.authority.caller_of(head, door="http", source=source_of(scope))
        except LoginIncompleteError as error:
            self._note_refusal(Refused(401, error.code, str(error)), head, source_of(scope))
            raise
        if caller is None:
            refused = Refused(401, NotAuthenticatedError.code, "")
            self._note_refusal(refused, head, source_of(scope))
            raise NotAuthenticatedError
        if caller.scopes <= TALK:  # what everybody keeps
            return caller
        return restricted(caller, await self.verdict(scope, caller.credential))


class _Place:
    """One path, and what can be done there."""

    def __init__(self, app: WebApp, path: str, methods: dict[str, Route]) -> None:
        self._app = app
        self._path = path
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        route = self._methods.get(method)
        scope["flybridge.route"] = self._path or "-"
        head: Head = scope["flybridge.head"]
        if route is None:
            await self._refuse(head, scope)
        else:
            check_size(head, route.max_body)
            call = await self._admit(route, head, scope)
            call.params = params_of(route.params, scope["path_params"], scope["query_string"])
            if route.body is not None:
                call.body = await body_of(route, receive)
            answer = answered(await route.handler(call), route)
            await respond(send, answer, receive, head_only=scope["method"] == "HEAD")

    async def _refuse(self, head: Head, scope: Scope) -> None:
        """Nothing can be done here, or not that. What there is, is told to those we know."""
        if scope["path"].startswith("/api/"):
            await self._app.caller_of(head, scope)
        if not self._methods:
            raise HttpError(404, "not_found", "there is nothing here")
        allowed = ", ".join(sorted(self._methods))
        raise HttpError(405, "method_not_allowed", "not that way", allow=allowed)

    async def _admit(self, route: Route, head: Head, scope: Scope) -> Call:
        app, source = self._app, source_of(scope)
        judge = partial(app.verdict, scope)
        if route.scope == PUBLIC:
            address = address_of(scope)
            return Call(app.api, head, caller=None, source=source, judge=judge, address=address)
        caller = await app.caller_of(head, scope)
        missing = next((one for one in route.needs if one not in caller.scopes), "")
        if missing:
            self._note_refusal(caller, route, missing)
            raise NotAllowedError(missing, why=why_not(caller, missing))
        return Call(app.api, head, caller=caller, source=source, judge=judge)

    def _note_refusal(self, caller: Caller, route: Route, missing: str) -> None:
        self._app.api.audit(
            Record(
                event="route",
                outcome="refused",
                code="not_allowed",
                target=route.name,
                detail=missing,
                **who(caller),
            )
        )


# ---- all of it -------------------------------------------------------------------------------


def make_app(
    desk: Desk,
    authority: Authority,
    gate: Gate,
    *,
    routes: Sequence[Route],
    web: WebFiles,
    blobs: Blobs,
    version: str,
    now_ms: Callable[[], int],
    audit: Callable[[Record], None] = lambda record: None,
    audit_log: Path | None = None,
    histories: Mapping[str, KindHistory] | None = None,
    peers: TcpPeers | None = None,
    secure: bool = False,
    client_header: str = "",
    keep_alive_s: float = 15.0,
) -> WebApp:
    """Return the application for one desk and its routes. ``peers`` judges connections;
    ``secure``: clients come by TLS; ``client_header``: the header in which a proxy on this
    machine names its client."""
    from flybridge.listeners.http.openapi import document

    api = Api(
        desk=desk,
        authority=authority,
        blobs=blobs,
        web=web,
        streams=Streams(desk, authority, keep_alive_s=keep_alive_s),
        metrics=Metrics(),
        version=version,
        now_ms=now_ms,
        audit=audit,
        audit_log=audit_log,
        histories=histories or {},
        secure=secure,
        client_header=client_header.lower().encode(),
        base_path=gate.base_path,
        document=msgspec.json.encode(document(routes, version=version, base_path=gate.base_path)),
    )
    return WebApp(gate, api, routes, peers or TcpPeers(tuple))
