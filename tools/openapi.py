"""Write the OpenAPI document and the page of HTTP routes, both read off the table of routes.

python -m tools.openapi            write them
python -m tools.openapi --check    say what differs, and exit 1 if anything does
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import msgspec

import flybridge
from flybridge.gateway.routes import ROUTES
from flybridge.listeners.http.openapi import document
from flybridge.listeners.http.problems import STATUS
from flybridge.listeners.http.route import API, PUBLIC, Route
from tools import pages

INTRODUCTION = """\
# HTTP interface

<!-- Written by tools/openapi.py from server/routes; edit that, then run make docs. -->

Everything below stands under `/api/v1` of the address that `flybridge serve` prints. The
machine-readable form is [openapi.json](openapi.json); a running gateway gives it out at
`/api/v1/openapi.json`, and as a page at `/api/v1/docs`.

**Who you are.** A program sends `Authorization: Bearer fbt_…`. A browser sends both halves of its
login: the cookie, and the login key that `POST /login` returned once, in the header
`Flybridge-Login-Key`. Browsers send a cookie to every port of a host, so a cookie without its key
gets the page's own files and nothing else (401, `login_incomplete`). Credentials are looked at
before anything else is, and every other failure gets the same answer. A token holds
`view`, `input` and `interrupt` at most; `approve`, `spawn` and `admin` come with a login. Every
route that is not public needs `view`, and what its line says. A program that an agent started
keeps only what a token could hold, whatever it brings.

**What you send** is JSON, read strictly: a key twice, a number that is none, a field nobody knows,
more than 64 levels or 1 MiB are refused. Only `POST /blobs` takes bytes, as
`application/octet-stream` and up to 16 MiB. Nothing is taken from a query that is not named here: a
token in an address is refused.

**Once is once.** `POST` routes that do something take your own name for the request in
`Idempotency-Key`, or as `request` in the body: sent again, it is not done again, and you get the
outcome it had. The same name with another body is refused (422).

**What you get** is JSON, or a problem (RFC 9457) with our stable [code](errors.md) in `code`. `409`
means not now, `422` not at all, `429` later (`Retry-After`). Every response has an `X-Request-Id`;
where something went wrong on our side, the gateway's log names it.

**Who is asking** is judged by the connection, too. A program of another Unix user of this machine
is refused (403, `other_user`) unless
[a setting](../howto/serve.md#who-may-connect-on-this-machine) lists that user, and so is one that
hung up before it could be judged (403, `unknown_peer`). `GET /me` says how yours was judged.

**Following a session.** `GET /sessions/{session}/stream` gives server-sent events. Each event of
the log is a frame with the id `epoch:seq`; who comes back with it in `Last-Event-ID`, as a browser
does by itself, misses nothing and gets nothing twice. Previews, gauges and views have no id. The
messages are those of the [native protocol](native-protocol.md). The first frame is
`{"type":"attached","epoch":…,"head":…,"reset":…}`; `reset` says that your place was in another
history, and that all of it follows.

**Commands.** `POST /sessions/{session}/commands` takes any [command](events.md#commands), each with
the scope it needs. The answer comes when `until` is reached (`accepted`, `written`, `observed` or
`done`), or after `wait_ms` with status 202 and how far it has come.

**Pictures and documents.** Upload them with `POST /blobs`, then name the digest as `blob` in an
`image` or `document` of a message.

## Routes

| | needs | |
|---|---|---|
"""


def page() -> str:
    return INTRODUCTION + "".join(_rows()) + "\n" + "".join(_codes())


def _rows() -> Iterator[str]:
    for one in _known():
        path = one.path.removeprefix(API)
        need = "nothing" if one.scope == PUBLIC else f"`{one.scope}`"
        yield f"| `{one.method} {path}` | {need} | {one.summary} |\n"


def _known() -> list[Route]:
    return [one for one in ROUTES if one.path.startswith(API)]


def _codes() -> Iterator[str]:
    yield "## Codes and their status\n\n| code | status |\n|---|---|\n"
    for code, status in sorted(STATUS.items(), key=lambda pair: (pair[1], pair[0])):
        yield f"| `{code}` | {status} |\n"


def described() -> str:
    found = json.loads(msgspec.json.encode(document(ROUTES, version=flybridge.__version__)))
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


FILES: pages.Files = {
    pages.REFERENCE / "openapi.json": described,
    pages.REFERENCE / "http-api.md": page,
}


if __name__ == "__main__":
    sys.exit(pages.main(sys.argv[1:], FILES, __doc__))
