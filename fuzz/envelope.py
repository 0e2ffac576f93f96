"""Whatever somebody says: a line of the native protocol, or a body and a query over HTTP. It is a
request, or a refusal with a code; nothing raises anything else, and whatever was understood can
be said again.

An input is a message that was right once, changed as text, as JSON or as bytes, and torn.
"""

from __future__ import annotations

import copy
import itertools
import json
import random
from collections import Counter
from typing import Any

import msgspec

from flybridge.errors import FlybridgeError
from flybridge.frontends.native.adapter import MAX_ERRORS, NativeAdapter
from flybridge.gateway.routes import ROUTES
from flybridge.listeners.http.incoming import body_of, params_of
from flybridge.listeners.http.problems import HttpError
from flybridge.listeners.http.route import Body, Route
from flybridge.model.requests import Ask, Attach, Detach, Request, Submit
from flybridge.wire.native.messages import Welcome
from fuzz.frames import FoundError

WELCOME = Welcome(proto=1, version="0", generation=1, principal="fuzz")
HELLO = b'{"type":"hello","proto":1}\n'
MAX_LINE = 1 << 16
COMMANDS: list[dict[str, Any]] = [
    {"type": "send_input", "content": [{"type": "text", "text": "hi"}], "mode": "queue"},
    {"type": "edit_queued", "key": "k", "content": [{"type": "image", "media_type": "image/png"}]},
    {"type": "answer_permission", "prompt": "p", "digest": "d", "decision": "allow"},
    {"type": "answer_permission", "prompt": "p", "digest": "d", "decision": "deny", "stop": True},
    {"type": "answer_question", "prompt": "p", "digest": "d", "answers": {"a": ["b"]}},
    {"type": "interrupt", "turn": "trn_1", "hard": False},
    {"type": "set_mode", "mode": "plan"},
    {"type": "mcp", "server": "s", "action": "login"},
    {"type": "rename", "title": "x"},
    {"type": "delete"},
]
LINES: list[dict[str, Any]] = [
    {"type": "hello", "proto": 1, "client": "x"},
    {"type": "attach", "ref": "1", "session": "ses_1", "epoch": 1, "after": 2, "last": 3},
    {"type": "detach", "session": "ses_1"},
    {
        "type": "ask",
        "ref": "1",
        "name": "open",
        "params": {"agent": "a", "cwd": "/", "request": "r"},
    },
    {"type": "ask", "ref": "1", "name": "page", "params": {"session": "s", "after": 0}},
    {"type": "auth", "token": "fbt_a.b"},
    *(
        {"type": "submit", "ref": "1", "session": "s", "request": "r", "command": one}
        for one in COMMANDS
    ),
]
BODIES: list[dict[str, Any]] = [
    {"agent": "a", "cwd": "/", "request": "r", "options": {"model": "m"}, "labels": {"a": "b"}},
    {"title": "x", "archived": True},
    {"ticket": "t"},
    {"password": "p"},
    {"name": "n", "scopes": ["view"], "days": 1.5, "sessions": ["s"]},
    {"answers": [{"session": "s", "answer": COMMANDS[2]}], "request": "r"},
    *({"command": one, "until": "done", "wait_ms": 5, "request": "r"} for one in COMMANDS),
]
ODD: list[Any] = [
    *(None, True, 0, -1, 2**53, 2**63, -(2**64), 1.5, 1e308, "", "x", "\0", "\u2028", "é" * 300),
    *([], {}, [[]], {"type": "x"}, {"": ""}, [None] * 40, "x" * 5000),
]
PIECES = [
    *(
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"1" * 5000,
        b'"\\ud800"',
        b'"\\u0000"',
        b"\xff",
        b"\xef\xbb\xbf",
    ),
    *(
        b"[" * 200,
        b"{" * 200,
        b'{"a":' * 150,
        b"]" * 9,
        b'"',
        b"\\",
        b"\0",
        b"\r",
        b"\n",
        b"//",
        b",",
    ),
    *(b'"type":"delete",', b"{}", b"null", b"tru", b"-", b".5", b"0x1", b"'a'"),
]
QUERIES = ["session=s", "after=1", "after=-1", "limit=9999", "name=x", "words=a%20b", "days=1", "x"]
QUERIES += ["previews=maybe", "after=1&after=2", "%", "%zz=1", "%ff=1", "a=%00", "&" * 50, "=", "é"]


class Maker:
    """Makes one message out of its chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def text(self, some: list[dict[str, Any]]) -> bytes:
        value: Any = copy.deepcopy(self.chance.choice(some))
        for _ in range(self.chance.choice([0, 0, 1, 1, 2, 3])):
            value = self.changed(value)
        data = json.dumps(value, ensure_ascii=self.chance.random() < 0.5).encode("utf-8", "replace")
        for _ in range(self.chance.choice([0, 0, 0, 1, 2])):
            data = self.spliced(data)
        return data

    def changed(self, value: Any) -> Any:
        """Something in it is another thing, there twice, or gone."""
        chance = self.chance
        if isinstance(value, dict) and value and chance.random() < 0.9:
            key = chance.choice(list(value))
            roll = chance.random()
            if roll < 0.15:
                del value[key]
            elif roll < 0.25:
                value[chance.choice(["type", "ref", "session", "x", "command"])] = value[key]
            else:
                value[key] = self.changed(value[key])
            return value
        if isinstance(value, list) and value and chance.random() < 0.7:
            at = chance.randrange(len(value))
            value[at] = self.changed(value[at])
            return value * chance.choice([1, 1, 2, 60])
        return copy.deepcopy(chance.choice(ODD))

    def spliced(self, data: bytes) -> bytes:
        chance = self.chance
        at = chance.randrange(len(data) + 1)
        roll = chance.random()
        if roll < 0.6:
            return data[:at] + chance.choice(PIECES) + data[at + chance.randrange(6) :]
        if roll < 0.8:
            return data[:at]
        if roll < 0.9:
            return data + data
        return data[:at] + chance.randbytes(chance.randrange(4)) + data[at:]

    def torn(self, data: bytes) -> list[bytes]:
        cuts = sorted(self.chance.randrange(len(data) + 1) for _ in range(self.chance.randrange(4)))
        at = [0, *cuts, len(data)]
        return [data[a:b] for a, b in itertools.pairwise(at)]


# ---- the native protocol -------------------------------------------------------------------------


def try_lines(maker: Maker) -> str:
    """A client's first words; how they were taken."""
    adapter = NativeAdapter(welcome=WELCOME, max_line=MAX_LINE)
    lines = [maker.text(LINES) for _ in range(maker.chance.randrange(1, 5))]
    if maker.chance.random() < 0.02:
        lines = lines[:1] * (MAX_ERRORS + 9)
    greeted = maker.chance.random() < 0.85
    stream = (HELLO if greeted else b"") + b"\n".join((*lines, b""))
    requests: list[Request] = []
    output: list[bytes] = []
    for data in maker.torn(stream):
        requests += adapter.receive(data, 1)
        output += adapter.take()
    refused = 0
    for frame in output:
        if b"\n" in frame:
            raise FoundError("a message on two lines")
        told = msgspec.json.decode(frame)
        if told["type"] not in ("welcome", "reply", "error"):
            raise FoundError(f"it says {told}")
        refused += told["type"] != "welcome"
    if requests and not adapter.greeted:
        raise FoundError("a request before hello")
    whole = stream.count(b"\n")
    if len(requests) + refused > whole + 1:
        raise FoundError(f"{len(requests)} requests and {refused} refusals of {whole} lines")
    for request in requests:
        if not isinstance(request, Submit | Attach | Detach | Ask):
            raise FoundError(f"it understood {request!r}")
        msgspec.json.encode(request)
    return "closed" if adapter.closed else "understood" if requests else "refused"


# ---- HTTP ----------------------------------------------------------------------------------------

TYPED = [one for one in ROUTES if one.body is not None and one.body is not bytes]


def fitting(route: Route) -> list[dict[str, Any]]:
    """Bodies that are right for a route."""
    if route.body is msgspec.Raw:  # whatever it is, its reader sees to it
        return BODIES
    known = {one.name for one in msgspec.structs.fields(route.body or Body)}
    return [one for one in BODIES if set(one) <= known] or BODIES


async def try_body(maker: Maker) -> str:
    """A body for some route; how it was taken."""
    route = maker.chance.choice(TYPED)
    parts = maker.torn(maker.text(fitting(route) if maker.chance.random() < 0.9 else BODIES))

    async def receive() -> dict[str, Any]:
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    try:
        found = await body_of(route, receive)
    except (FlybridgeError, HttpError) as error:
        return f"a body: {getattr(error, 'code', '') or 'http'}"
    assert route.body is not None
    if not isinstance(found, route.body):
        raise FoundError(f"{route.name} understood {found!r}")
    again: object = msgspec.json.decode(msgspec.json.encode(found), type=route.body)
    if again != found:
        raise FoundError(f"{found!r} comes back as {again!r}")
    return "a body: understood"


def try_query(maker: Maker) -> str:
    route = maker.chance.choice(ROUTES)
    query = "&".join(maker.chance.choices(QUERIES, k=maker.chance.randrange(4))).encode()
    if maker.chance.random() < 0.2:
        query = maker.spliced(query or b"a=b")
    path = {"session": maker.chance.choice(["s", "", "\0", "x" * 300])}
    given = path if "{session}" in route.path else {}
    try:
        params_of(route.params, given, query)
    except FlybridgeError as error:
        return f"a query: {error.code}"
    return "a query: understood"


async def run(seed: int, first: int, count: int) -> Counter[str]:
    """Run inputs; how often each kind of end was found.

    Raises:
        FoundError: one of them did what none may do; its text names the number.
    """
    endings: Counter[str] = Counter()
    for number in range(first, first + count):
        maker = Maker(random.Random(f"{seed}:{number}"))
        try:
            roll = maker.chance.random()
            if roll < 0.5:
                ending = try_lines(maker)
            else:
                ending = await try_body(maker) if roll < 0.9 else try_query(maker)
        except Exception as error:
            raise FoundError(f"seed {seed}, number {number}: {error!r}") from error
        endings[ending] += 1
    return endings
