"""Pictures, documents and files that a person hands over with the words."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest

from flybridge.errors import InvalidRequestError
from flybridge.model import events as ev
from flybridge.model.commands import SendInput
from flybridge.model.content import Content, Document, Image, Text
from flybridge.model.deliveries import Stage
from tests.agents.rig import Bridge
from tests.agents.talk import Talk, scripted

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]


def png(red: int, *, side: int = 16) -> Image:
    """A square of one colour."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        crc = struct.pack("!I", zlib.crc32(kind + body))
        return struct.pack("!I", len(body)) + kind + body + crc

    head = struct.pack("!2I5B", side, side, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes((red, 0, 0)) * side) * side
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    data = b"\x89PNG\r\n\x1a\n" + b"".join(parts)
    return Image("image/png", data=base64.b64encode(data).decode())


def pdf(words: str) -> Document:
    """A page of one line, as small as a reader takes it."""
    stream = f"BT /F1 12 Tf 20 100 Td ({words}) Tj ET".encode()
    bodies = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R"
        b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
    ]
    data, places = bytearray(b"%PDF-1.4\n"), []
    for at, body in enumerate(bodies, 1):
        places.append(len(data))
        data += b"%d 0 obj%s endobj\n" % (at, body)
    table = b"".join(b"%010d 00000 n \n" % one for one in places)
    end = len(data)
    data += b"xref\n0 5\n0000000000 65535 f \n" + table
    data += b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % end
    return Document("application/pdf", data=base64.b64encode(data).decode(), title="a page")


async def hand_over(talk: Talk, *content: Content) -> None:
    request = await talk.submit(SendInput(content=content), until=Stage.ACCEPTED)
    assert await talk.outcome(request) == "done"
    assert talk.all(ev.TurnEnded)[-1].reason == "done"


@pytest.mark.conforms("stream-json §8b")
async def test_a_picture_reaches_the_model(bridge: Bridge) -> None:
    picture = png(200)
    async with await Talk.open(bridge) as talk:
        await hand_over(talk, Text(scripted("one-picture", {"say": "Red."})), picture)
        assert talk.transcript.text == "Red."
        assert talk.unknown() == []
    (seen,) = bridge.api.turns[-1].blocks("image")
    assert seen["source"] == {"type": "base64", "media_type": "image/png", "data": picture.data}


@pytest.mark.conforms("PN-12", "stream-json §8b")
async def test_a_picture_that_no_model_takes_is_refused_before_the_cli_has_it(
    bridge: Bridge,
) -> None:
    async with await Talk.open(bridge) as talk:
        before = len(bridge.api.turns)
        for picture in (
            Image("image/bmp", data=png(10).data),
            Image("image/png", data="A" * (7 * 2**20)),
        ):
            with pytest.raises(InvalidRequestError):
                await talk.submit(SendInput(content=(Text("look"), picture)))
        await hand_over(talk, Text(scripted("after-that", {"say": "Here."})))
        assert len(bridge.api.turns) == before + 1
        assert len(talk.all(ev.InputAccepted)) == 1


@pytest.mark.conforms("stream-json §8c")
async def test_words_and_pictures_reach_the_model_in_their_order(bridge: Bridge) -> None:
    first, second = png(10), png(20)
    words = Text(scripted("two-pictures", {"say": "Both red."}))
    async with await Talk.open(bridge) as talk:
        await hand_over(talk, Text("before"), first, Text("between"), second, words)
        assert talk.unknown() == []
    last = next(
        one
        for one in reversed(bridge.api.turns[-1].body["messages"])
        if any(block.get("type") == "image" for block in one["content"])
    )
    order = [
        one["source"]["data"] if one["type"] == "image" else one["text"]
        for one in last["content"]
        if one["type"] == "image" or one["text"] in ("before", "between")
    ]
    assert order == ["before", first.data, "between", second.data]


@pytest.mark.conforms("stream-json §8b")
async def test_a_document_reaches_the_model(bridge: Bridge) -> None:
    page = pdf("Ahoy")
    async with await Talk.open(bridge) as talk:
        await hand_over(talk, Text(scripted("one-document", {"say": "Read."})), page)
        assert talk.unknown() == []
    (seen,) = bridge.api.turns[-1].blocks("document")
    assert seen["source"]["media_type"] == "application/pdf"
    assert seen["source"]["data"] == page.data


@pytest.mark.conforms("stream-json §8a")
async def test_a_file_that_is_named_in_the_words_is_read_by_the_cli(bridge: Bridge) -> None:
    near = bridge.claude.cwd / "near.txt"
    far = bridge.base / "far.txt"
    near.write_text("the words of near\n")
    far.write_text("the words of far\n")
    async with await Talk.open(bridge) as talk:
        await talk.turn(f"@near.txt and @{far} named-files", {"say": "Read."})
        assert talk.all(ev.PermissionRequested) == []
        assert talk.unknown() == []
    given = "\n".join(bridge.api.turns[-1].given())
    assert "the words of near" in given
    assert "the words of far" in given


@pytest.mark.conforms("stream-json §8a")
async def test_a_picture_that_is_named_in_the_words_is_read_by_the_cli(bridge: Bridge) -> None:
    picture = png(77)
    (bridge.claude.cwd / "seen.png").write_bytes(base64.b64decode(picture.data))
    async with await Talk.open(bridge) as talk:
        await talk.turn("@seen.png named-picture", {"say": "Seen."})
        assert talk.unknown() == []
    assert '"image"' in str(bridge.api.turns[-1].body).replace("'", '"')
