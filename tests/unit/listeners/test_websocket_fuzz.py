"""The frame fuzzer: some inputs on every run, and proof that it would find something."""

from __future__ import annotations

import pytest

from flybridge.listeners.connection import NativeClient
from flybridge.listeners.websocket import WebSocketClient
from fuzz import frames
from fuzz.frames import FoundError, judge, read_frames
from tests.harness.frames import frame

UPGRADED = b"HTTP/1.1 101 x\r\n\r\n"


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 4))]
)
async def test_no_bytes_do_what_none_may_do(part: int) -> None:
    endings = await frames.run(1, part * 2500, 2500)
    assert endings.total() == 2500
    assert len(endings) > 8, "the inputs are all alike"
    assert endings["stayed open"] > 100


async def test_an_input_is_the_same_every_time() -> None:
    assert await frames.run(7, 30, 20) == await frames.run(7, 30, 20)


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"HTTP/1.1 500 x\r\ncontent-type: application/problem+json\r\n\r\n",
        b"HTTP/1.1 403 x\r\n\r\n",
        UPGRADED + frame(b"{}", mask=None)[:-1],
        UPGRADED + frame(b'{"type":"x"}', fin=False, mask=None),
        UPGRADED + frame(b'{"type":"x"}', 2, mask=None),
        UPGRADED + frame(b'{"type":""}', mask=None),
        UPGRADED + frame(b"\x03\xf3", 8, mask=None),
        UPGRADED + frame(b"\x03\xe8", 8, mask=None) + frame(b'{"type":"x"}', mask=None),
        UPGRADED + frame(b"x" * 126, 10, mask=None),
    ],
)
def test_the_judge_sees_what_is_wrong(written: bytes) -> None:
    with pytest.raises(FoundError):
        judge(written, ended=False)


def test_the_judge_sees_an_end_without_a_word() -> None:
    assert read_frames(b"") == 0
    with pytest.raises(FoundError, match="without a word"):
        judge(UPGRADED, ended=True)


async def test_it_finds_a_client_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NativeClient, "leave", lambda self: None)
    with pytest.raises(FoundError, match="number"):
        await frames.run(1, 0, 100)


async def test_it_finds_an_error_that_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: object, frame: object) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr(WebSocketClient, "_frame", broken)
    with pytest.raises(FoundError, match="1011"):
        await frames.run(1, 0, 100)
