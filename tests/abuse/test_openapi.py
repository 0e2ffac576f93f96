"""Whatever the OpenAPI document allows, and a little more: no answer is a failure of ours, and
every answer is one that the document tells of.

A small generator over the document, with Hypothesis: schemathesis would bring thirteen packages
for this one test (CONTRIBUTING.md). ``python -m fuzz.judge`` runs it where it is installed.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flybridge.gateway.routes import ROUTES
from flybridge.listeners.http.problems import Problem
from flybridge.listeners.http.route import API
from tests.abuse.clients import Http, Who
from tests.abuse.rig import Server
from tests.harness.agent_programs import steps
from tests.harness.http_harness import Got
from tests.repo.tree import ROOT

DOCUMENT: dict[str, Any] = json.loads((ROOT / "docs" / "reference" / "openapi.json").read_text())
EXAMPLES = 12
LEFT_OUT = {"/logout post"}  # the one that does it is nobody afterwards
OPERATIONS = [
    f"{path} {method}"
    for path, methods in DOCUMENT["paths"].items()
    for method in methods
    if f"{path} {method}" not in LEFT_OUT
]
odd: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 2**53, 2**63, 1.5, "", "x", "é\u2028", "x" * 600, [], {}, [[]], {"a": 1}]
)


@functools.cache
def matching(reference: str) -> st.SearchStrategy[Any]:
    return of_schema(DOCUMENT["components"]["schemas"][reference.rpartition("/")[2]])


def of_schema(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a schema allows; now and then one that it may not."""
    return st.one_of(_plain(schema), _plain(schema), _plain(schema), odd)


def _plain(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "$ref" in schema:
        return st.deferred(lambda: matching(schema["$ref"]))
    if "anyOf" in schema:
        return st.one_of([_plain(one) for one in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    make = _MAKERS.get(schema.get("type", ""))
    return make(schema) if make else odd


def _integer(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.integers(schema.get("minimum", -5), schema.get("maximum", 1000))


def _text(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    most = min(schema.get("maxLength", 40), 40)
    words = st.text(st.characters(exclude_categories=["Cs"]), max_size=most)
    found = st.one_of(words, st.sampled_from(["recorder", "ses_none", "/", "0" * 64, "x"]))
    return found.filter(lambda one: len(one) >= schema.get("minLength", 0))


def _array(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.lists(
        of_schema(schema.get("items", {})), min_size=schema.get("minItems", 0), max_size=3
    )


def _object(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    fields = schema.get("properties", {})
    if not fields:
        more = schema.get("additionalProperties")
        return st.dictionaries(
            st.text(max_size=9), of_schema(more if isinstance(more, dict) else {})
        )
    needed = set(schema.get("required", ()))
    made = {name: of_schema(one) for name, one in fields.items()}
    return st.fixed_dictionaries(
        {name: one for name, one in made.items() if name in needed},
        optional={name: one for name, one in made.items() if name not in needed},
    )


_MAKERS = {
    "integer": _integer,
    "number": lambda _: st.floats(allow_nan=False, allow_infinity=False),
    "boolean": lambda _: st.booleans(),
    "null": lambda _: st.none(),
    "string": _text,
    "array": _array,
    "object": _object,
}


@st.composite
def requests(draw: st.DrawFn, operation: str) -> tuple[str, str, bytes | None, dict[str, str]]:
    """(method, target, body, headers) for an operation."""
    path, _, method = operation.partition(" ")
    about = DOCUMENT["paths"][path][method]
    query: list[tuple[str, str]] = []
    headers: dict[str, str] = {}
    for one in about["parameters"]:
        if not one.get("required") and draw(st.booleans()):
            continue
        value = draw(of_schema(one["schema"]))
        text = value if isinstance(value, str) else json.dumps(value)
        if one["in"] == "path":
            name = "{" + one["name"] + "}"
            path = path.replace(name, quote(text or "x", safe=""))
        elif one["in"] == "query":
            query.append((one["name"], text))
        else:
            headers[one["name"].lower()] = draw(st.sampled_from(["k", "k1", "x y", "x" * 300]))
    body = None
    for kind, content in about.get("requestBody", {}).get("content", {}).items():
        headers["content-type"] = kind
        raw = st.binary(max_size=50) if "octet" in kind else of_schema(content["schema"])
        value = draw(raw)
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
    if method != "get":
        headers.setdefault("content-type", "application/json")
    target = f"{API}{path}" + (f"?{urlencode(query)}" if query else "")
    return method.upper(), target, body, headers


def check(operation: str, got: Got) -> None:
    """See that the document tells of such an answer."""
    path, _, method = operation.partition(" ")
    told = DOCUMENT["paths"][path][method]["responses"]
    assert got.status < 500, got
    kind = got.headers["content-type"].partition(";")[0]
    if str(got.status) not in told:
        assert kind in told["default"]["content"], got
        problem = msgspec.json.decode(got.body, type=Problem)
        assert problem.status == got.status
        assert problem.type == f"urn:flybridge:problem:{problem.code}"
        return
    assert kind in told[str(got.status)]["content"], got
    (route,) = [one for one in ROUTES if one.name == f"{method.upper()} {API}{path}"]
    if kind == "application/json":
        msgspec.json.decode(got.body, type=route.result)  # the document is made from this


@pytest.fixture(scope="module")
def http(server: Server, owner: Who) -> Iterator[Http]:
    session = server.open(owner, "openapi")
    assert server.say(owner, session, "hello", "k").status == 200
    yield server.http(owner)
    assert '"level":"error"' not in server.log.read_text()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_answer_is_one_that_the_document_tells_of(http: Http, operation: str) -> None:
    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    @given(requests(operation))
    def try_it(wanted: tuple[str, str, bytes | None, dict[str, str]]) -> None:
        method, target, body, headers = wanted
        check(operation, http.raw(method, target, body, {**http.who.headers, **headers}))

    try_it()


def test_what_is_neither_done_nor_failed_is_told_of_too(
    server: Server, owner: Who, http: Http
) -> None:
    session = server.open(owner, "slow")
    gate = server.base / "gate"
    text = steps({"wait_file": str(gate)})
    command = {"type": "send_input", "content": [{"type": "text", "text": text}]}
    body = {"command": command, "until": "done", "wait_ms": 0}
    got = http.call("POST", f"/sessions/{session}/commands", body, key="k")
    gate.touch()
    assert got.status == 202
    check("/sessions/{session}/commands post", got)
    uploaded = http.raw(
        "POST",
        f"{API}/blobs",
        b"0123456789",
        {
            **owner.headers,
            "content-type": "application/octet-stream",
        },
    )
    path = f"/blobs/{uploaded.json['digest']}"
    part = http.call("GET", path, headers={"range": "bytes=2-4"})
    assert (part.status, part.body) == (206, b"234")
    check("/blobs/{digest} get", part)


def test_the_document_is_the_one_that_is_served(http: Http) -> None:
    served = http.call("GET", "/openapi.json").json
    assert served["paths"].keys() == DOCUMENT["paths"].keys()
    assert served["components"]["schemas"] == DOCUMENT["components"]["schemas"]
