"""Whatever stands in the head of a request: the gate says yes or says why not, nothing raises, and
a yes always has one Host that is ours, no Origin but ours, and nothing a form could have sent.
Whoever comes through is known by a credential that was given out, or by none.

An input is a head, mostly a good one, with names, headers and values that are nearly right.
"""

from __future__ import annotations

import itertools
import random
import tempfile
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

from flybridge.auth.authority import ALL_SCOPES, FILE_SCOPES, Authority
from flybridge.auth.gate import Gate, Head, Refused, check, gate_for
from flybridge.auth.login import LOGIN_KEY, Login
from flybridge.errors import NotAuthenticatedError, TooManyTriesError
from flybridge.listeners.upgrade import bad_form, identify
from flybridge.store.credentials import CredentialFile
from fuzz.frames import FoundError

PORT = 8420
COOKIE = "flybridge-8420"
GATES = [
    gate_for(PORT),
    gate_for(PORT, secure=True),
    gate_for(80),
    gate_for(PORT, names=["fly.example", "other.example:9443"]),
    gate_for(443, names=["fly.example"], secure=True, base_path="/fly"),
]
STATUSES = {400, 403, 405, 415, 421}
SAFE = ("GET", "HEAD")
METHODS = [*SAFE, "POST", "PUT", "PATCH", "DELETE"]
ODD_METHODS = ["OPTIONS", "TRACE", "CONNECT", "get", "", "GET ", "\udcff", "PROPFIND"]
HOSTS = ["127.0.0.1:8420", "localhost:8420", "[::1]:8420", "127.0.0.1", "fly.example"]
NEARLY = [
    "{}.",
    "{}.evil.example",
    "a@{}",
    "{}@evil.example",
    "{} ",
    "{}:8420",
    "{}/",
    "{}\0",
    "x{}",
]
SCHEMES = ["http://", "https://", "HTTP://", "ws://", "file://", "", "http:/", "null"]
SITES = ["same-origin", "same-site", "cross-site", "none", "", "Same-Origin", "x"]
KINDS = [
    *("application/json", "application/json; charset=utf-8", "APPLICATION/JSON", "text/plain"),
    *("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", ";", "json"),
    *("text/plain; application/json", "application/jsonp", "application/octet-stream"),
]
TARGETS = [
    *("/", "/api/v1/me", "/%61pi/v1/me", "/fly/api/v1/sessions?x=1", "/login", "*", ""),
    *("//evil.example/", "http://evil.example/", "/" + "a" * 9000, "/\0", "/%", "/é"),
]


class Maker:
    """Makes one head out of its chance."""

    def __init__(self, chance: random.Random, token: bytes, login: Login) -> None:
        self.chance = chance
        self.token = token
        self.cookie = login.cookie.encode()
        self.key = login.key.encode()

    def head(self) -> Head:
        chance = self.chance
        headers: list[tuple[bytes, bytes]] = []
        self._put(headers, b"host", 0.97, self.host)
        self._put(headers, b"origin", 0.4, self.origin)
        self._put(headers, b"sec-fetch-site", 0.4, lambda: chance.choice(SITES))
        self._put(headers, b"sec-fetch-mode", 0.2, lambda: chance.choice(["navigate", "cors", ""]))
        self._put(headers, b"sec-fetch-dest", 0.2, lambda: chance.choice(["document", "image"]))
        self._put(headers, b"content-type", 0.6, lambda: chance.choice(KINDS))
        self._put(headers, b"content-length", 0.4, lambda: chance.choice(["0", "2", "-1", "x", ""]))
        self._put(headers, b"transfer-encoding", 0.1, lambda: "chunked")
        headers += self.credentials()
        chance.shuffle(headers)
        method = chance.choice(METHODS if chance.random() < 0.9 else ODD_METHODS)
        target = chance.choice(TARGETS[:5] if chance.random() < 0.8 else TARGETS)
        return Head(method=method, target=target, headers=headers, upgrade=chance.random() < 0.2)

    def _put(
        self, headers: list[tuple[bytes, bytes]], name: bytes, often: float, make: object
    ) -> None:
        times = 1 if self.chance.random() < 0.95 else 2
        if self.chance.random() < often and callable(make):
            headers += [
                (name, self.spoilt(make().encode("utf-8", "surrogatepass"))) for _ in range(times)
            ]

    def host(self) -> str:
        host = self.chance.choice(HOSTS)
        return host if self.chance.random() < 0.8 else self.chance.choice(NEARLY).format(host)

    def origin(self) -> str:
        return self.chance.choice(SCHEMES[:2] * 4 + SCHEMES) + self.host()

    def spoilt(self, value: bytes) -> bytes:
        if self.chance.random() > 0.05:
            return value
        changed = bytearray(value or b"x")
        at = self.chance.randrange(len(changed))
        changed[at : at + self.chance.randrange(2)] = self.chance.randbytes(
            self.chance.randrange(3)
        )
        return bytes(changed)

    def credentials(self) -> list[tuple[bytes, bytes]]:
        chance, found = self.chance, list[tuple[bytes, bytes]]()
        name = COOKIE.encode()
        if chance.random() < 0.4:
            secret = chance.choice(
                [self.token, self.cookie, b"", b"fbt_", b"\xe9", b"fbt_a.b", b"."]
            )
            kind = chance.choice([b"Bearer ", b"bearer  ", b"Basic ", b"", b"Bearer"])
            found.append((b"authorization", kind + self.spoilt(secret)))
        if chance.random() < 0.4:
            value = chance.choice([self.cookie, self.token, b"", b"a.b", b";", b'"x"', b"\xff"])
            other = chance.choice([b"", b"a=b; ", b"=; ", b";;", name + b"x=1; "])
            found.append((b"cookie", other + name + b"=" + self.spoilt(value)))
        if chance.random() < 0.4:
            found.append((LOGIN_KEY, self.spoilt(chance.choice([self.key, self.key, b"", b"x"]))))
        return found


# ---- one input, and what must hold ---------------------------------------------------------------


def judge(gate: Gate, head: Head, found: Refused | None) -> str:
    """See that what the gate said is what it had to say; the name of the end."""
    if found is not None:
        if found.status not in STATUSES or not found.code or not found.message:
            raise FoundError(f"refused with {found}")
        return f"refused with {found.status}"
    given: dict[bytes, list[bytes]] = {}
    for name, value in head.headers:
        given.setdefault(name, []).append(value)
    origins = given.get(b"origin", [])
    site = given.get(b"sec-fetch-site", [b""])[0]
    kind = given.get(b"content-type", [b""])[0].split(b";")[0].strip().lower()
    lengths = given.get(b"content-length", [])
    has_body = b"transfer-encoding" in given or any(one not in (b"", b"0") for one in lengths)
    changes = head.method not in SAFE
    wrong = [
        (len(given.get(b"host", [])) != 1 or given[b"host"][0] not in gate.hosts, "its host"),
        (len(origins) > 1 or not set(origins) <= gate.origins, "its origin"),
        (changes and site not in (b"", b"same-origin"), "its site"),
        (head.upgrade and site not in (b"", b"same-origin"), "its site"),
        (
            site not in (b"", b"same-origin", b"none")
            and unquote(head.target).startswith(f"{gate.base_path}/api/"),
            "its site",
        ),
        (
            head.method in ("POST", "PUT", "PATCH")
            and kind not in (b"application/json", b"application/octet-stream"),
            "its type",
        ),
        (head.method == "DELETE" and has_body and not kind, "its type"),
        (not head.target.startswith("/"), "its target"),
        (head.method not in METHODS, "its method"),
    ]
    for is_wrong, what in wrong:
        if is_wrong:
            raise FoundError(f"let in in spite of {what}: {head}")
    return "let in"


def known(authority: Authority, head: Head, maker: Maker) -> str:
    """Who comes with that head; only what was given out is good for anything."""
    try:
        caller = authority.caller_of(head, door="http", source="fuzz")
    except (NotAuthenticatedError, TooManyTriesError) as error:
        return error.code
    if caller is None:
        return "nobody"
    names = (b"authorization", b"cookie", LOGIN_KEY)
    given = b" ".join(value for name, value in head.headers if name in names)
    is_login = b"approve" in str(caller.scopes).encode()
    needed = [maker.cookie, maker.key] if is_login else [maker.token]
    if any(secret not in given for secret in needed):
        raise FoundError(f"{caller} came with {given!r}")
    return "a token" if caller.scopes == FILE_SCOPES else "a login"


async def run(seed: int, first: int, count: int) -> Counter[str]:
    """Run inputs; how often each kind of end was found.

    Raises:
        FoundError: one of them did what none may do; its text names the number.
    """
    endings: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        clock = itertools.count(1, 3000)  # so that whoever is wrong is limited now and then
        authority = Authority(
            CredentialFile(Path(folder) / "tokens"),
            owner="me",
            cookie=COOKIE,
            now_ms=lambda: next(clock),
        )
        token = authority.create_token("fuzz", FILE_SCOPES).encode()
        login = authority.login(authority.ticket(ALL_SCOPES), door="http", source="x")
        for number in range(first, first + count):
            maker = Maker(random.Random(f"{seed}:{number}"), token, login)
            gate, head = maker.chance.choice(GATES), maker.head()
            try:
                endings[judge(gate, head, check(gate, head))] += 1
                endings[known(authority, head, maker)] += 1
                if head.upgrade:
                    bad_form(head, f"{gate.base_path}/api/v1/ws", 101)
                    identify(authority, head, source="fuzz")
            except Exception as error:
                raise FoundError(f"seed {seed}, number {number}: {error!r}") from error
    return endings
