from __future__ import annotations

import hashlib
import json

import pytest

from flybridge.errors import InvalidRequestError
from flybridge.model import commands as c
from flybridge.model.content import Image, Text
from flybridge.runtime.access import blobs as blob_access
from flybridge.runtime.access.blobs import BlobAccess, digests_in
from flybridge.runtime.live_session import LiveSession
from flybridge.session.authorisation import Caller
from flybridge.session.ports import BLOB_BYTES
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import EVERYTHING, House, ListClient

DIGEST = hashlib.sha256(b"x").hexdigest()


def bound(*sessions: str, credential: str = "1") -> Caller:
    scopes = EVERYTHING.scopes
    names = frozenset(sessions)
    return Caller(principal="token:1", scopes=scopes, sessions=names, credential=credential)


async def said_at_length(house: House, live: LiveSession, letter: str) -> str:
    """Let the agent say something that is too long for a row; its digest."""
    text = letter * (BLOB_BYTES + 1)
    await house.attach(live.session)
    await house.say(live, steps({"say": text}), f"say-{letter}")
    return hashlib.sha256(text.encode()).hexdigest()


def line(**event: object) -> bytes:
    return json.dumps({"type": "event", "session": "s", "seq": 1, "event": event}).encode()


@pytest.mark.parametrize(
    ("event", "named"),
    [
        ({"type": "text.done", "blob": DIGEST}, True),
        ({"type": "tool.result", "detail": {"_blob": DIGEST}}, True),
        ({"type": "tool.result", "detail": [], "blob": DIGEST}, True),
        ({"type": "text.done", "text": f'"blob":"{DIGEST}"'}, False),
        ({"type": "tool.started", "input": {"blob": DIGEST, "_blob": DIGEST}}, False),
        ({"type": "permission.requested", "detail": {"_blob": DIGEST}}, False),
        ({"type": "input.accepted", "content": [{"type": "image", "blob": DIGEST}]}, False),
        ({"type": "tool.result", "detail": {"blob": DIGEST, "a": {"_blob": DIGEST}}}, False),
    ],
)
def test_a16_only_fields_that_the_gateway_writes_name_a_blob(
    event: dict[str, object], named: bool
) -> None:
    assert digests_in(b"\n".join([b"no json blob", line(**event)])) == (
        {DIGEST} if named else set()
    )


async def test_a16_a_caller_reads_the_blobs_of_the_sessions_it_may_see(house: House) -> None:
    mine, other = [await house.open(request=name) for name in ("mine", "other")]
    digest = await said_at_length(house, mine, "a")
    secret = await said_at_length(house, other, "b")
    client = ListClient(bound(mine.session))
    assert (await house.ask("blob", client, digest=digest)).error == ""
    refused = await house.ask("blob", client, digest=secret)
    nothing = await house.ask("blob", client, digest=DIGEST)
    assert refused.error == nothing.error == "invalid_request"
    assert refused.message == nothing.message
    both = ListClient(bound(mine.session, other.session, "ses_none"))
    assert (await house.ask("blob", both, digest=secret)).error == ""
    assert (await house.ask("blob", ListClient(bound("ses_none")), digest=digest)).error != ""
    assert (await house.ask("blob", digest=secret)).error == ""  # whoever may see all sessions


async def test_a16_what_is_said_later_is_found_and_nothing_is_looked_at_twice(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blob_access, "SCAN_BYTES", 1)
    live = await house.open()
    access, caller = BlobAccess(house.sessions, house.journal), bound(live.session)
    first = await said_at_length(house, live, "a")
    assert await access.may_read(caller, first)
    assert not await access.may_read(caller, DIGEST)
    read: list[int] = []
    plain = house.journal.read

    def counted(session: str, after: int, size: int) -> object:
        read.append(after)
        return plain(live.session, after, size)

    monkeypatch.setattr(house.journal, "read", counted)
    assert not await access.may_read(caller, DIGEST)
    assert len(read) == 1  # the end, once more
    second = await said_at_length(house, live, "b")
    assert await access.may_read(caller, second)
    assert await access.may_read(caller, first)
    assert read == sorted(read)


async def test_a16_a_blob_cannot_be_sent_into_a_session_to_be_read_there(house: House) -> None:
    mine, other = [await house.open(request=name) for name in ("mine", "other")]
    secret = await said_at_length(house, other, "b")
    await house.attach(mine.session)
    client = ListClient(bound(mine.session))
    for picture in (Image("image/png", blob=secret), Image("image/png", blob=secret, data="aGk=")):
        command = c.SendInput(content=(Text("look"), picture))
        reply = await house.submit(mine.session, command, "r", client=client)
        assert (reply.error, secret in reply.message) == ("invalid_request", True)
        edit = c.EditQueued(key="k", content=(picture,))
        reply = await house.submit(mine.session, edit, "e", client=client)
        assert reply.error == "invalid_request"
    assert (await house.ask("blob", client, digest=secret)).error == "invalid_request"


async def test_a16_whoever_uploads_a_blob_may_read_and_send_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blob_access, "MAX_UPLOADS", 2)
    monkeypatch.setattr(blob_access, "MAX_UPLOADERS", 2)
    live = await house.open()
    access = BlobAccess(house.sessions, house.journal)
    first, second = bound(live.session), bound(live.session, credential="2")
    access.note_upload(first, DIGEST)
    sent = c.SendInput(content=(Image("image/png", blob=DIGEST),))
    await access.check_content(first, sent)
    with pytest.raises(InvalidRequestError, match="no blob"):
        await access.check_content(second, sent)
    for digest in ("a", "b"):
        access.note_upload(first, digest)
    assert not await access.may_read(first, DIGEST)  # so many are remembered
    for credential in ("2", "3"):
        access.note_upload(bound(live.session, credential=credential), DIGEST)
    assert not await access.may_read(first, "b")
    assert await access.may_read(second, DIGEST)
