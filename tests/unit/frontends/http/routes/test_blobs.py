from __future__ import annotations

import hashlib

import pytest

from flybridge.frontends.http.routes import blobs
from flybridge.frontends.http.routes.blobs import range_of
from flybridge.listeners.http.problems import HttpError
from flybridge.session.ports import BLOB_BYTES
from tests.harness.agent_programs import steps
from tests.harness.http_harness import Web

BINARY = {"content-type": "application/octet-stream"}


async def test_what_was_uploaded_can_be_read_in_whole_and_in_part(web: Web) -> None:
    data = bytes(range(256)) * 5000  # more than one chunk
    got = await web.call("POST", "/blobs", data, headers=BINARY)
    digest = hashlib.sha256(data).hexdigest()
    assert (got.status, got.json) == (201, {"digest": digest, "size": len(data)})
    whole = await web.call("GET", f"/blobs/{digest}")
    assert (whole.status, whole.body) == (200, data)
    assert whole.headers["content-type"] == "application/octet-stream"
    assert whole.headers["content-disposition"] == "attachment"
    assert whole.headers["x-content-type-options"] == "nosniff"
    part = await web.call("GET", f"/blobs/{digest}", headers={"range": "bytes=10-19"})
    assert (part.status, part.body) == (206, data[10:20])
    assert part.headers["content-range"] == f"bytes 10-19/{len(data)}"
    outside = await web.call("GET", f"/blobs/{digest}", headers={"range": "bytes=9999999-"})
    assert (outside.status, outside.code) == (416, "no_such_range")


async def test_what_is_not_there_is_not_found(web: Web) -> None:
    got = await web.call("GET", f"/blobs/{'0' * 64}")
    assert (got.status, got.code) == (404, "no_such_blob")
    assert (await web.call("GET", "/blobs/..%2F..%2Fetc")).status in (400, 404)


async def test_an_upload_has_a_bound(web: Web) -> None:
    got = await web.call("POST", "/blobs", b"x" * ((16 << 20) + 1), headers=BINARY)
    assert (got.status, got.code) == (413, "too_big")


async def test_uploads_are_bounded_by_the_hour(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "MAX_UPLOADED", 100)
    assert (await web.call("POST", "/blobs", b"x" * 60, headers=BINARY)).status == 201
    got = await web.call("POST", "/blobs", b"y" * 60, headers=BINARY)
    assert (got.status, got.code) == (429, "too_many_uploads")
    assert int(got.headers["retry-after"]) > 3000
    token = web.token("view", "input")
    assert (await web.call("POST", "/blobs", b"z", headers=BINARY, token=token)).status == 201


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"bytes=0-9", (0, 10)),
        (b"bytes=5-", (5, 100)),
        (b"bytes=-10", (90, 100)),
        (b"bytes=-500", (0, 100)),
        (b"bytes=90-500", (90, 100)),
        (b"bytes=0-0,5-6", (0, 100)),  # several parts: all of it is a right answer, too
        (b"lines=1-2", (0, 100)),
        (b"bytes=-", (0, 100)),
        (b"bytes=" + b"9" * 40 + b"-", (0, 100)),
    ],
)
def test_a_range_is_understood_or_passed_over(text: bytes, found: tuple[int, int]) -> None:
    assert range_of(text, 100) == found


@pytest.mark.parametrize("text", [b"bytes=100-", b"bytes=9-3", b"bytes=-0"])
def test_a_range_without_anything_in_it_is_refused(text: bytes) -> None:
    with pytest.raises(HttpError):
        range_of(text, 100)


async def test_a16_a_token_of_one_session_reads_no_blob_of_another(web: Web) -> None:
    mine, other = await web.open("mine"), await web.open("other")
    digests = {}
    for live, letter in ((mine, "a"), (other, "b")):
        text = letter * (BLOB_BYTES + 1)
        assert (await web.say(live, steps({"say": text}), letter)).status == 200
        digests[live.session] = hashlib.sha256(text.encode()).hexdigest()
    pending = (await web.call("POST", "/blobs", b"not sent yet", headers=BINARY)).json["digest"]
    token = web.token("view", "input", sessions=(mine.session,))
    nothing = await web.call("GET", f"/blobs/{'0' * 64}", token=token)
    for digest in (digests[other.session], pending):
        got = await web.call("GET", f"/blobs/{digest}", token=token)
        assert (got.status, got.body) == (404, nothing.body)
        assert (await web.call("GET", f"/blobs/{digest}")).status == 200
    got = await web.call("GET", f"/blobs/{digests[mine.session]}", token=token)
    assert (got.status, got.body[:3]) == (200, b"aaa")
    picture = {"type": "image", "media_type": "image/png", "blob": digests[other.session]}
    body = {"command": {"type": "send_input", "content": [picture]}}
    path = f"/sessions/{mine.session}/commands"
    got = await web.call("POST", path, body, token=token, key="copy")
    assert (got.status, got.code) == (400, "invalid_request")
    own = await web.call("POST", "/blobs", b"not sent yet", headers=BINARY, token=token)
    assert (await web.call("GET", f"/blobs/{own.json['digest']}", token=token)).status == 200
