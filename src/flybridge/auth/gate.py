"""The gate: what every request and every upgrade must pass before anyone looks at it.

One plain function, used by HTTP and by the WebSocket class alike. It knows nothing of
credentials: it only sees to it that a browser which talks to us does so for one of our own
pages, under a name that is ours. Names are compared for equality, never by pattern. A missing
Origin proves nothing and grants nothing: programs send none, and a rebound page may not either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import unquote

import msgspec

SAFE = frozenset({"GET", "HEAD"})
METHODS = SAFE | {"POST", "PUT", "PATCH", "DELETE"}
BODY_TYPES = frozenset({b"application/json", b"application/octet-stream"})  # no form sends these
MAX_TARGET = 8192


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a request, as it came in. Header names are in lower case."""

    method: str
    target: str
    headers: Sequence[tuple[bytes, bytes]]
    upgrade: bool = False

    def all(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.headers if key == name]

    def one(self, name: bytes) -> bytes:
        """The value of a header that is there once, else nothing."""
        found = self.all(name)
        return found[0] if len(found) == 1 else b""


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """The names we answer to."""

    hosts: frozenset[bytes]
    origins: frozenset[bytes]
    base_path: str = ""  # without a slash at its end


class Refused(msgspec.Struct, frozen=True):
    """Why somebody stays outside."""

    status: int
    code: str
    message: str


def gate_for(
    port: int, *, names: Iterable[str] = (), secure: bool = False, base_path: str = ""
) -> Gate:
    """The gate of a server on this port that goes by its loopback names, and by ``names``.

    A name may carry its own port, where a proxy stands in front of us.
    """
    scheme = "https" if secure else "http"
    usual = 443 if secure else 80
    hosts: set[str] = set()
    for name in ("127.0.0.1", "localhost", "[::1]", *names):
        has_port = name.rpartition("]")[2].count(":") == 1
        hosts.add(name if has_port else f"{name}:{port}")
        if port == usual and not has_port:
            hosts.add(name)
    schemes = {scheme} if not names else {scheme, "https"}  # a proxy may add the TLS
    return Gate(
        hosts=frozenset(one.encode() for one in hosts),
        origins=frozenset(f"{how}://{one}".encode() for how in schemes for one in hosts),
        base_path=base_path.rstrip("/"),
    )


def check(gate: Gate, head: Head) -> Refused | None:
    """Whether a request may come in at all: nothing, or why not."""
    return _form(gate, head) or _host(gate, head) or _origin(gate, head) or _body(head)


def _form(gate: Gate, head: Head) -> Refused | None:
    if head.method not in METHODS:
        return Refused(405, "method_not_allowed", "no such method here")
    if not head.target.startswith("/") or len(head.target) > MAX_TARGET:
        return Refused(400, "bad_target", "the target has to be a path of reasonable length")
    if len(head.all(b"host")) != 1 or len(head.all(b"origin")) > 1:
        return Refused(400, "bad_host", "one Host, and at most one Origin")
    if any(len(head.all(name)) > 1 for name in (b"sec-fetch-site", b"content-type")):
        return Refused(400, "bad_headers", "a header is there twice")
    return None


def _host(gate: Gate, head: Head) -> Refused | None:
    if head.one(b"host") in gate.hosts:
        return None
    return Refused(421, "wrong_host", "this server does not go by that name")


def _origin(gate: Gate, head: Head) -> Refused | None:
    origin = head.all(b"origin")
    if origin and origin[0] not in gate.origins:
        return Refused(403, "wrong_origin", "pages of other sites get nothing here")
    site = head.one(b"sec-fetch-site")
    if site in (b"", b"same-origin") or (site == b"none" and _only_looks(head)):
        return None
    if _only_looks(head) and _is_visit(gate, head):
        return None
    return Refused(403, "wrong_origin", "pages of other sites get nothing here")


def _only_looks(head: Head) -> bool:
    return head.method in SAFE and not head.upgrade


def _is_visit(gate: Gate, head: Head) -> bool:
    """A link to our page was followed. The page may come: it asks for the rest itself."""
    path = unquote(head.target.partition("?")[0])  # as routes are found
    return (
        head.one(b"sec-fetch-mode") == b"navigate"
        and head.one(b"sec-fetch-dest") == b"document"
        and not path.startswith(f"{gate.base_path}/api/")
    )


def _body(head: Head) -> Refused | None:
    """A form can send a request anywhere; it cannot send JSON."""
    if head.method in SAFE or (head.method == "DELETE" and not _has_body(head)):
        return None
    kind = head.one(b"content-type").partition(b";")[0].strip().lower()
    if kind in BODY_TYPES:
        return None
    return Refused(415, "wrong_content_type", "say it in application/json")


def _has_body(head: Head) -> bool:
    lengths = head.all(b"content-length")
    return bool(head.all(b"transfer-encoding")) or not {*lengths} <= {b"", b"0"}
