"""The gateway's own questions about who may come in: asked by a person, at the gateway itself.

Each of them needs ``admin``, which no token in a file has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from flybridge.auth.authority import ALL_SCOPES, FILE_SCOPES, Authority
from flybridge.errors import BusyError, InvalidRequestError
from flybridge.model.audit import Record
from flybridge.runtime.methods.sessions import NoParams, Question
from flybridge.session.authorisation import Caller, Scope, who
from flybridge.store.credentials import Credential

MAX_SESSIONS = 100


class CreateParams(msgspec.Struct, kw_only=True):
    name: str
    scopes: tuple[Scope, ...] = tuple(sorted(FILE_SCOPES))
    days: float = 0
    sessions: tuple[str, ...] = ()


class NameParams(msgspec.Struct, kw_only=True):
    name: str


class LinkParams(msgspec.Struct, kw_only=True):
    scopes: tuple[Scope, ...] = tuple(sorted(ALL_SCOPES))
    name: str = ""
    use: Literal["browser", "print", "remote"] = "print"  # what is done with the link


class PasswordParams(msgspec.Struct, kw_only=True):
    password: str


class Shown(msgspec.Struct, kw_only=True):
    """A token or login as a list shows it: no secret, and no hash of one."""

    id: str
    name: str
    kind: str
    scopes: tuple[str, ...]
    sessions: tuple[str, ...]
    created_ms: int
    expires_ms: int


class Keys:
    """Answers questions about tokens, logins and the password.

    ``address`` is where a browser finds us; empty while no TCP door is open. ``withdraw`` takes
    back what somebody said who may not come in any more.
    """

    def __init__(
        self,
        authority: Authority,
        audit: Callable[[Record], None],
        address: Callable[[], str],
        withdraw: Callable[[str], None] = lambda principal: None,
    ) -> None:
        self._authority = authority
        self._audit = audit
        self._address = address
        self._withdraw = withdraw

    def table(self) -> dict[str, Question]:
        return {
            "token.create": Question("admin", CreateParams, self.create),
            "token.list": Question("admin", NoParams, self.list),
            "token.revoke": Question("admin", NameParams, self.revoke),
            "login.link": Question("admin", LinkParams, self.link),
            "password.set": Question("admin", PasswordParams, self.password),
        }

    async def create(self, caller: Caller, params: CreateParams) -> object:
        if not 0 <= params.days <= 3650 or len(params.sessions) > MAX_SESSIONS:
            raise InvalidRequestError("a token lasts 0 (until revoked) to 3650 days")
        token = self._authority.create_token(
            params.name, frozenset(params.scopes), days=params.days, sessions=params.sessions
        )
        self._note(caller, "token.create", params.name, ",".join(sorted(params.scopes)))
        return {"token": token}

    async def list(self, _: Caller, __: NoParams) -> object:
        tokens = [_shown(one, "token") for one in self._authority.tokens()]
        logins = [_shown(one, "login") for one in self._authority.logins()]
        return {"tokens": tokens, "logins": logins, "password": self._authority.has_password()}

    async def revoke(self, caller: Caller, params: NameParams) -> object:
        gone = self._authority.revoke(params.name)
        self._withdraw(self._authority.principal_of(gone))
        self._note(caller, "token.revoke", gone.id, gone.name)
        return {"id": gone.id, "name": gone.name}

    async def link(self, caller: Caller, params: LinkParams) -> object:
        """A link that logs one browser in, once, within a minute.

        The ticket is in the fragment: browsers send that to nobody, and the page that reads it
        hands it over in a request of its own, so that following a link changes nothing. All users
        can read a browser's command line: a link that is passed there is for a person's own
        program on this machine. One for remote use makes a login that holds through SSH or a proxy.
        """
        address = self._address()
        if not address:
            raise BusyError("no browser can reach this gateway: start `flybridge serve`")
        if len(params.name) > 100 or not params.name.isprintable() or not params.scopes:
            raise InvalidRequestError("a name is short and printable, and a login needs a scope")
        ticket = self._authority.ticket(
            frozenset(params.scopes),
            name=params.name,
            forwarding=params.use == "remote",
            person_only=params.use == "browser",
        )
        self._note(caller, "login.link", params.name, ",".join(sorted(params.scopes)))
        return {"link": f"{address}/login#{ticket}"}

    async def password(self, caller: Caller, params: PasswordParams) -> object:
        await self._authority.set_password(params.password)
        self._note(caller, "password.set", "", "")
        return {}

    def _note(self, caller: Caller, event: str, target: str, detail: str) -> None:
        self._audit(
            Record(
                event=event,
                outcome="done",
                target=target,
                detail=detail,
                **who(caller),
            )
        )


def _shown(one: Credential, kind: str) -> Shown:
    return Shown(
        id=one.id,
        name=one.name,
        kind=kind,
        scopes=one.scopes,
        sessions=one.sessions,
        created_ms=one.created_ms,
        expires_ms=one.expires_ms,
    )
