"""The questions by which a person makes, lists and revokes CI keys."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Annotated

import msgspec

from flybridge.errors import InvalidRequestError
from flybridge.model.audit import Record
from flybridge.model.ci_key import CiKey
from flybridge.runtime.access.ci_keys import PREFIX, CiKeys, digest_of
from flybridge.runtime.methods.sessions import NoParams, Question
from flybridge.runtime.services import Shelf
from flybridge.session.authorisation import Caller, who
from flybridge.session.modes import grants

SECRET_BYTES = 32
MAX_KEYS = 64
MAX_NAME = 100
MAX_DAYS = 3650
DAY_MS = 24 * 3600 * 1000
ModeName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,39}$")]


class CreateKeyParams(msgspec.Struct, kw_only=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)]
    modes: Annotated[tuple[ModeName, ...], msgspec.Meta(min_length=1, max_length=10)]
    days: Annotated[float, msgspec.Meta(ge=0, le=MAX_DAYS)] = 0  # 0: until it is revoked
    agent: str = ""  # the key is for agents of its kind; "": the default agent


class KeyNameParams(msgspec.Struct, kw_only=True):
    name: str


class ShownKey(msgspec.Struct, kw_only=True):
    """A key as a list shows it: without its digest."""

    id: str
    name: str
    modes: tuple[str, ...]
    created_ms: int
    expires_ms: int
    kinds: tuple[str, ...]


class CiKeyQuestions:
    """Makes, lists and revokes keys. Each of these needs ``admin``: a person at a terminal."""

    def __init__(
        self,
        keys: CiKeys,
        audit: Callable[[Record], None],
        now_ms: Callable[[], int],
        shelf: Shelf,
        default_agent: str,
    ) -> None:
        self._keys = keys
        self._audit = audit
        self._now_ms = now_ms
        self._shelf = shelf
        self._default_agent = default_agent

    def table(self) -> dict[str, Question]:
        return {
            "ci_key.create": Question("admin", CreateKeyParams, self.create),
            "ci_key.list": Question("admin", NoParams, self.list),
            "ci_key.revoke": Question("admin", KeyNameParams, self.revoke),
        }

    async def create(self, caller: Caller, params: CreateKeyParams) -> object:
        """Make a key. Its secret is returned this once.

        Raises:
            AgentNotFoundError: no such agent is configured.
            InvalidRequestError: the name is taken or cannot be printed, or there are too many.
        """
        kind = self._shelf.agent(params.agent or self._default_agent).kind
        keys = self._keys.all()
        if not params.name.isprintable():
            raise InvalidRequestError("The name of a CI key must be printable.")
        if any(params.name in (known.name, known.id) for known in keys):
            raise InvalidRequestError(f"There is a CI key called {params.name!r} already.")
        if len(keys) >= MAX_KEYS:
            raise InvalidRequestError(f"There are {MAX_KEYS} CI keys already; revoke some.")
        for mode in params.modes:
            if not self._needs_key(kind, mode):
                raise InvalidRequestError(f"The mode {mode} needs no CI key.")
        secret, now_ms = secrets.token_urlsafe(SECRET_BYTES), self._now_ms()
        made = CiKey(
            id=secrets.token_hex(8),
            name=params.name,
            modes=tuple(dict.fromkeys(params.modes)),
            digest=digest_of(secret),
            created_ms=now_ms,
            expires_ms=now_ms + int(params.days * DAY_MS) if params.days else 0,
            kinds=(kind,),
        )
        self._keys.replace((*keys, made))
        self._note(caller, "ci_key.create", made)
        return {"key": f"{PREFIX}{made.id}.{secret}", "id": made.id}

    def _needs_key(self, kind: str, mode: str) -> bool:
        """Return whether a mode grants something in an agent of this kind, or is unknown to it."""
        shelf = self._shelf
        names = [name for name in shelf.names() if shelf.agent(name).kind == kind]
        return any(grants(shelf.newest(name).known_modes, mode) for name in names)

    async def list(self, _: Caller, __: NoParams) -> object:
        shown = [
            ShownKey(
                id=known.id,
                name=known.name,
                modes=known.modes,
                created_ms=known.created_ms,
                expires_ms=known.expires_ms,
                kinds=known.kinds,
            )
            for known in self._keys.all()
        ]
        return {"keys": shown}

    async def revoke(self, caller: Caller, params: KeyNameParams) -> object:
        """Remove a key, by its name or id. Sessions that it opened go on.

        Raises:
            InvalidRequestError: there is none.
        """
        keys = self._keys.all()
        gone = next((known for known in keys if params.name in (known.id, known.name)), None)
        if gone is None:
            raise InvalidRequestError(f"There is no CI key called {params.name[:MAX_NAME]!r}.")
        self._keys.replace(tuple(known for known in keys if known is not gone))
        self._note(caller, "ci_key.revoke", gone)
        return {"id": gone.id, "name": gone.name}

    def _note(self, caller: Caller, event: str, key: CiKey) -> None:
        record = Record(
            event=event, outcome="done", target=key.id, detail=",".join(key.modes), **who(caller)
        )
        self._audit(record)
