"""Who somebody is, by what they bring: a token, a cookie, a ticket, a password.

Secrets have 256 bits and are kept as hashes; only a password can be guessed at all. Whoever is
wrong is counted, wherever they come from. Scopes are looked up on every message, so what is
revoked ends at once, and doors are told to hang up.

A token in a file can be read by any program of its user, an agent included: it never holds
``approve``, ``spawn`` or ``admin``. Those come with a login, which a person asked for.

A login has two halves. Browsers send a cookie to every port of a host, so the cookie alone grants
nothing: the page keeps a login key in IndexedDB, which belongs to one port, and sends both.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence

import msgspec

from flybridge.auth.gate import Head
from flybridge.auth.limiter import Limiter
from flybridge.auth.login import LOGIN_KEY, Login, cookies_of
from flybridge.auth.passwords import hash_password, is_password
from flybridge.errors import (
    InvalidRequestError,
    LoginIncompleteError,
    NotAuthenticatedError,
    TooManyTriesError,
)
from flybridge.model.audit import Record
from flybridge.session.authorisation import Caller, Scope
from flybridge.store.credentials import Credential, CredentialFile, Credentials

FILE_SCOPES: frozenset[Scope] = frozenset({"view", "input", "interrupt"})
ALL_SCOPES: frozenset[Scope] = FILE_SCOPES | {"approve", "spawn", "admin"}
# Sending control messages is a right of its own: nobody has it who was not given it by name.
TOKEN_SCOPES: frozenset[Scope] = FILE_SCOPES | {"control"}
TICKET_MS = 60_000
LOGIN_MS = 30 * 24 * 3600 * 1000
MAX_TICKETS = 64
MAX_CREDENTIALS = 256
MAX_NAME = 100
MAX_SECRET = 256
TOKEN = b"fbt_"
ADDRESS_KEY = b"flybridge: proof of an address\0"


class Ticket(msgspec.Struct, frozen=True):
    """A login that somebody at the gateway's own terminal asked for."""

    expires_ms: int
    scopes: frozenset[Scope]
    name: str
    forwarding: bool = False  # the login is made to be used through SSH or a proxy
    person_only: bool = False  # it was passed to a browser here, in a command line all can read


class Authority:
    """All credentials of one gateway."""

    def __init__(
        self,
        file: CredentialFile,
        *,
        owner: str,
        now_ms: Callable[[], int],
        cookie: str = "flybridge",  # its name; whoever opens a port gives it the port's
        audit: Callable[[Record], None] = lambda record: None,
    ) -> None:
        self.cookie = cookie
        self._file = file
        self._owner = owner
        self._now_ms = now_ms
        self._audit = audit
        self._limiter = Limiter()
        self._decoy = secrets.token_bytes(32)
        self._tickets: dict[str, Ticket] = {}
        self._watching: dict[str, list[Callable[[], None]]] = {}
        self._use(file.load())

    def _use(self, all_: Credentials) -> None:
        # A login from before login keys existed has no second half: its browser signs in again.
        logins = tuple(login for login in all_.logins if login.key_digest)
        self._all = all_ = msgspec.structs.replace(all_, logins=logins)
        self._by_id = {one.id: one for one in (*all_.tokens, *all_.logins)}

    def _save(self, all_: Credentials) -> None:
        """Durable first: what could not be saved does not hold."""
        self._file.save(all_)
        gone = self._by_id.keys() - {one.id for one in (*all_.tokens, *all_.logins)}
        self._use(all_)
        for one in gone:
            for hang_up in list(self._watching.pop(one, [])):  # each may stop listening
                hang_up()

    # ---- coming in ---------------------------------------------------------------------------

    def caller_of(self, head: Head, *, door: str, source: str) -> Caller | None:
        """Whoever sent this; None where no credential came with it.

        Raises:
            LoginIncompleteError: a good cookie came without its login key.
            NotAuthenticatedError: one came, and it is not good.
            TooManyTriesError: there were too many of those.
        """
        given = head.all(b"authorization")
        if given:
            kind, _, secret = given[0].partition(b" ")
            token = secret.strip() if kind.lower() == b"bearer" and len(given) == 1 else b""
            return self.by_token(token, door=door, source=source)
        cookies = self.cookies_in(head)
        if not cookies:
            return None
        return self.by_login(cookies, head.one(LOGIN_KEY), door=door, source=source)

    def cookies_in(self, head: Head) -> list[bytes]:
        """Return the value of every cookie that has our name."""
        return cookies_of(head, self.cookie.encode())

    def by_login(self, cookies: Sequence[bytes], key: bytes, *, door: str, source: str) -> Caller:
        """Return the caller whose login has one of these cookies and this key.

        A page on another port can set a cookie of our name in front of ours, so all are tried.

        Raises:
            LoginIncompleteError: a cookie is good, and the key is missing or another one's.
            NotAuthenticatedError: no cookie is good.
            TooManyTriesError: there were too many of those.
        """
        known = [login for value in cookies if (login := self._find(value, self._all.logins))]
        logins = self._alive(tuple(known))
        digest = _digest(key[:MAX_SECRET])
        for login in logins:
            if _same(login.key_digest, digest):
                return self._caller(login, door, source)
        if logins:
            raise LoginIncompleteError
        raise self._wrong(door, source, "expired" if known else "credential")

    def by_token(self, token: bytes, *, door: str, source: str) -> Caller:
        """Whoever holds this token.

        Raises:
            NotAuthenticatedError: nobody does.
            TooManyTriesError: there were too many of those.
        """
        if not token.startswith(TOKEN):
            raise self._wrong(door, source, "token")
        found = self._find(token.removeprefix(TOKEN), self._all.tokens)
        if found is None or self._is_over(found):
            raise self._wrong(door, source, "expired" if found else "credential")
        return self._caller(found, door, source)

    def _find(self, value: bytes, among: tuple[Credential, ...]) -> Credential | None:
        """A good one passes however often others were wrong: nobody guesses 256 bits, and
        nobody may lock the owner out."""
        name, _, secret = value[:MAX_SECRET].partition(b".")
        digest = _digest(secret)
        found = self._by_id.get(name.decode("ascii", "replace"))
        if found is None or found not in among or not _same(found.digest, digest):
            return None
        return found

    def _caller(self, one: Credential, door: str, source: str) -> Caller:
        known = ALL_SCOPES | TOKEN_SCOPES
        scopes = frozenset(scope for scope in known if scope in one.scopes)
        if one in self._all.tokens:
            scopes &= TOKEN_SCOPES  # whatever somebody wrote into the file
        return Caller(
            principal=self.principal_of(one),
            scopes=scopes,
            credential=one.id,
            sessions=frozenset(one.sessions),
            door=door,
            source=source,
            forwarding=one.forwarding,
        )

    @staticmethod
    def principal_of(one: Credential) -> str:
        """In whose name a credential acts: its owner's, or its own."""
        return one.principal or f"token:{one.id}"

    def holds(self, caller: Caller) -> bool:
        """Whether what somebody came in with is still good. Cheap: asked on every message."""
        found = self._by_id.get(caller.credential)
        return found is not None and not self._is_over(found)

    def watch(self, caller: Caller, on_gone: Callable[[], None]) -> Callable[[], None]:
        """Be told when a credential is taken back; returns how to stop listening."""
        listening = self._watching.setdefault(caller.credential, [])
        listening.append(on_gone)

        def stop() -> None:
            if on_gone in listening:
                listening.remove(on_gone)

        return stop

    def proof(self, credential: str, nonce: bytes) -> str:
        """What only a server that knows a token's hash can say: a client asks before it sends
        the token. Somebody who asks for an unknown one learns nothing from the answer."""
        return hmac.new(self._proof_key(credential), nonce, hashlib.sha256).hexdigest()

    def address_proof(self, credential: str, nonce: bytes, address: str) -> str:
        """Sign the address that a client is connected to, so that a relay is found out.

        The key is another one than for :meth:`proof`, which signs whatever a client asks for.
        """
        key = hashlib.sha256(ADDRESS_KEY + self._proof_key(credential)).digest()
        return hmac.new(key, nonce + b"\0" + address.encode(), hashlib.sha256).hexdigest()

    def _proof_key(self, credential: str) -> bytes:
        found = self._by_id.get(credential)
        unknown = hmac.new(self._decoy, credential.encode("utf-8", "replace"), hashlib.sha256)
        return bytes.fromhex(found.digest) if found else unknown.digest()

    # ---- logging in --------------------------------------------------------------------------

    def ticket(
        self,
        scopes: frozenset[Scope] = ALL_SCOPES,
        *,
        name: str = "",
        forwarding: bool = False,
        person_only: bool = False,
    ) -> str:
        """A login for whoever brings this first, within a minute."""
        now_ms = self._now_ms()
        alive = {key: one for key, one in self._tickets.items() if one.expires_ms > now_ms}
        while len(alive) >= MAX_TICKETS:
            del alive[next(iter(alive))]
        value = secrets.token_urlsafe(32)
        alive[_digest(value.encode())] = Ticket(
            now_ms + TICKET_MS, scopes, name, forwarding, person_only
        )
        self._tickets = alive
        return value

    def find_ticket(self, ticket: str) -> Ticket | None:
        """Return a ticket that can still be used, and leave it as it is."""
        found = self._tickets.get(_digest(ticket[:MAX_SECRET].encode("utf-8", "replace")))
        return found if found is not None and found.expires_ms > self._now_ms() else None

    def login(self, ticket: str, *, door: str, source: str) -> Login:
        """Trade a ticket for a login.

        Raises:
            NotAuthenticatedError: it was used, is too old, or never was one.
            TooManyTriesError: there were too many of those.
        """
        found = self._tickets.pop(_digest(ticket[:MAX_SECRET].encode("utf-8", "replace")), None)
        if found is None or found.expires_ms <= self._now_ms():
            raise self._wrong(door, source, "ticket")
        return self._new_login(found.scopes, found.name, door, source, found.forwarding)

    async def login_with_password(self, password: str, *, door: str, source: str) -> Login:
        """Trade the password for a login. Takes a while, on purpose.

        Raises:
            NotAuthenticatedError: it is not the one, or there is none.
            TooManyTriesError: there were too many of those.
        """
        self.check_tries(door, source)
        self._limiter.failed(source, self._now_ms())  # counted before it is looked at
        known = self._all.password
        if known is None or not await asyncio.to_thread(is_password, password, known):
            raise self._wrong(door, source, "password", counted=True)
        self._limiter.succeeded(source)
        return self._new_login(ALL_SCOPES, "", door, source, forwarding=True)

    def _new_login(
        self, scopes: frozenset[Scope], name: str, door: str, source: str, forwarding: bool
    ) -> Login:
        principal = f"guest:{name}" if name else self._owner
        one, secret = self._new(name, scopes, LOGIN_MS, principal)
        key = secrets.token_urlsafe(32)
        digest = _digest(key.encode())
        one = msgspec.structs.replace(one, key_digest=digest, forwarding=forwarding)
        logins = (*self._alive(self._all.logins), one)[-MAX_CREDENTIALS:]
        self._save(msgspec.structs.replace(self._all, logins=logins))
        self._note("login", "done", door=door, source=source, target=one.id)
        return Login(f"{one.id}.{secret}", key)

    def logout(self, caller: Caller) -> None:
        """End a login, and every socket that came in with it."""
        self._drop(caller.credential)
        self._note("logout", "done", door=caller.door, source=caller.source)

    # ---- tokens and the password -------------------------------------------------------------

    def tokens(self) -> tuple[Credential, ...]:
        return self._all.tokens

    def logins(self) -> tuple[Credential, ...]:
        return self._all.logins

    def has_password(self) -> bool:
        return self._all.password is not None

    def create_token(
        self,
        name: str,
        scopes: frozenset[Scope],
        *,
        days: float = 0,
        sessions: tuple[str, ...] = (),
    ) -> str:
        """A token for a program. This is the only time its secret is seen.

        Raises:
            InvalidRequestError: the name is taken, or a token cannot hold that.
        """
        if not 0 < len(name) <= MAX_NAME or not name.isprintable():
            raise InvalidRequestError(f"a name has 1 to {MAX_NAME} printable characters")
        if any(one.name == name for one in self._all.tokens):
            raise InvalidRequestError(f"there is a token called {name!r} already")
        if not scopes or scopes - TOKEN_SCOPES:
            raise InvalidRequestError(f"a token holds {', '.join(sorted(TOKEN_SCOPES))} at most")
        if len(self._all.tokens) >= MAX_CREDENTIALS:
            raise InvalidRequestError("there are too many tokens; revoke some")
        one, secret = self._new(name, scopes, int(days * 24 * 3600 * 1000), "", sessions)
        tokens = (*self._all.tokens, one)
        self._save(msgspec.structs.replace(self._all, tokens=tokens))
        return f"{TOKEN.decode()}{one.id}.{secret}"

    def revoke(self, name: str) -> Credential:
        """Take a token or a login back, by its name or its id; its sockets end at once.

        Raises:
            InvalidRequestError: there is none.
        """
        for one in (*self._all.tokens, *self._all.logins):
            if name in (one.id, one.name):
                self._drop(one.id)
                return one
        raise InvalidRequestError(f"no token or login is called {name[:MAX_NAME]!r}")

    async def set_password(self, password: str) -> None:
        """A new password; whoever logged in before has to do so again.

        Raises:
            InvalidRequestError: it is too short to be one.
        """
        if not 8 <= len(password) <= 1024:
            raise InvalidRequestError("a password has 8 to 1024 characters")
        new = await asyncio.to_thread(hash_password, password)
        self._save(msgspec.structs.replace(self._all, password=new, logins=()))

    # ---- inside ------------------------------------------------------------------------------

    def _new(
        self,
        name: str,
        scopes: frozenset[Scope],
        lasts_ms: int,
        principal: str,
        sessions: tuple[str, ...] = (),
    ) -> tuple[Credential, str]:
        secret, now_ms = secrets.token_urlsafe(32), self._now_ms()
        one = Credential(
            id=secrets.token_hex(8),
            name=name,
            scopes=tuple(sorted(scopes)),
            digest=_digest(secret.encode()),
            created_ms=now_ms,
            expires_ms=now_ms + lasts_ms if lasts_ms else 0,
            principal=principal,
            sessions=sessions,
        )
        return one, secret

    def _drop(self, name: str) -> None:
        tokens = tuple(one for one in self._all.tokens if one.id != name)
        logins = tuple(one for one in self._all.logins if one.id != name)
        self._save(msgspec.structs.replace(self._all, tokens=tokens, logins=logins))

    def _alive(self, some: tuple[Credential, ...]) -> tuple[Credential, ...]:
        return tuple(one for one in some if not self._is_over(one))

    def _is_over(self, one: Credential) -> bool:
        return 0 < one.expires_ms <= self._now_ms()

    def check_tries(self, door: str, source: str) -> None:
        """Refuse somebody who was wrong too often.

        Raises:
            TooManyTriesError: they were.
        """
        wait_ms = self._limiter.wait_ms(source, self._now_ms())
        if wait_ms:
            self._note("login", "refused", code="too_many_tries", door=door, source=source)
            raise TooManyTriesError(wait_ms // 1000 + 1)

    def _wrong(
        self, door: str, source: str, what: str, *, counted: bool = False
    ) -> NotAuthenticatedError | TooManyTriesError:
        wait_ms = 0 if counted else self._limiter.wait_ms(source, self._now_ms())
        if wait_ms:
            return TooManyTriesError(wait_ms // 1000 + 1)
        if not counted:
            self._limiter.failed(source, self._now_ms())
        self._note("login", "refused", code=what, door=door, source=source)
        return NotAuthenticatedError()

    def _note(self, event: str, outcome: str, **more: str) -> None:
        self._audit(Record(event=event, outcome=outcome, **more))


def _digest(secret: bytes) -> str:
    return hashlib.sha256(secret).hexdigest()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
