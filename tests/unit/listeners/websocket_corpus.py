"""What may come over a WebSocket and what has to follow, in the order of RFC 6455's own rules.

The sections are those that conformance suites have: framing, pings, reserved bits, opcodes,
fragments, UTF-8, closing. Our door does not echo, so a text is an ask whose answer is its own
content, byte for byte; binary messages are refused by design.
"""

from __future__ import annotations

import struct

import msgspec

from tests.harness.frames import BINARY, CLOSE, CONT, PING, PONG, TEXT, closing, frame
from tests.harness.websocket_harness import echo

PROTOCOL, NOT_TEXT, BAD_TEXT, TOO_BIG = 1002, 1003, 1007, 1009


class Case(msgspec.Struct, frozen=True):
    """Bytes as they are written, one write each; the frames that follow; the code of the end."""

    sends: tuple[bytes, ...]
    answers: tuple[tuple[int, bytes], ...] = ()
    then: bytes = b""  # written when all answers are there
    code: int | None = None  # None: it stays open
    reason: bytes | None = None


def answered(ref: str, value: bytes = b"null") -> tuple[int, bytes]:
    return TEXT, b'{"type":"reply","ref":"%b","value":%b}' % (ref.encode(), value)


def ask(ref: str, value: bytes = b"null") -> bytes:
    return b'{"type":"ask","ref":"%b","name":"echo","params":%b}' % (ref.encode(), value)


def octets(data: bytes, size: int = 1) -> tuple[bytes, ...]:
    return tuple(data[at : at + size] for at in range(0, len(data), size))


def fragments(payload: bytes, size: int, opcode: int = TEXT) -> list[bytes]:
    parts = [payload[at : at + size] for at in range(0, len(payload), size)]
    return [
        frame(part, CONT if n else opcode, fin=n == len(parts) - 1) for n, part in enumerate(parts)
    ]


def of_size(size: int) -> bytes:
    return echo("1").ljust(size)


HELLO = frame(echo("1"))
HEARD = answered("1")


def after_hello(then: bytes, code: int) -> Case:
    return Case((HELLO,), (HEARD,), then, code)


SIZES = (125, 126, 127, 128, 65535, 65536, 65537, 2**20)


# ---- 1: framing --------------------------------------------------------------------------------


def framing() -> dict[str, Case]:
    cases = {f"text of {size}": Case((frame(of_size(size)),), (HEARD,)) for size in SIZES}
    cases |= {
        f"binary of {size}": Case((frame(b"\xfe" * size, BINARY),), code=NOT_TEXT)
        for size in (0, 1, *SIZES)
    }
    cases |= {
        f"mask {n}": Case((frame(echo("1"), mask=bytes([n, 0, 255 - n, 7])),), (HEARD,))
        for n in range(0, 256, 51)
    }
    answer = b'"%b"' % (b"x" * 200_000)
    return cases | {
        "an empty text": Case((frame(b""), HELLO), (HEARD,)),
        "text in octets": Case(octets(HELLO), (HEARD,)),
        "a long text in pieces of 997": Case(octets(frame(of_size(65536)), 997), (HEARD,)),
        "a long answer": Case((frame(ask("1", answer)),), (answered("1", answer),)),
        "a text that is one too long": Case((frame(b" " * (2**20 + 1)),), code=TOO_BIG),
        "a gigabyte is announced": Case((frame(b"", size=2**30),), code=TOO_BIG),
        "more than there can be is announced": Case((frame(b"", size=2**63 + 5),), code=TOO_BIG),
        "no mask": Case((frame(echo("1"), mask=None),), code=PROTOCOL),
        "a mask of zeros": Case((frame(echo("1"), mask=b"\0\0\0\0"),), (HEARD,)),
    }


# ---- 2: pings and pongs ------------------------------------------------------------------------


def pings() -> dict[str, Case]:
    ten = [b"payload-%d" % n for n in range(10)]
    burst = b"".join(frame(one, PING) for one in ten)
    pongs = tuple((PONG, one) for one in ten)
    return {
        "an empty ping": Case((frame(b"", PING),), ((PONG, b""),)),
        "a ping with text": Case((frame(b"Hello", PING),), ((PONG, b"Hello"),)),
        "a ping that is no text": Case((frame(b"\0\xff\xfe", PING),), ((PONG, b"\0\xff\xfe"),)),
        "a ping of 125": Case((frame(b"\xfe" * 125, PING),), ((PONG, b"\xfe" * 125),)),
        "a ping of 126": Case((frame(b"\xfe" * 126, PING),), code=PROTOCOL),
        "a ping in octets": Case(octets(frame(b"abc", PING)), ((PONG, b"abc"),)),
        "a pong nobody asked for": Case((frame(b"", PONG), HELLO), (HEARD,)),
        "a pong with text": Case((frame(b"x", PONG), HELLO), (HEARD,)),
        "a pong of 126": Case((frame(b"x" * 126, PONG),), code=PROTOCOL),
        "a pong, then a ping": Case((frame(b"x", PONG) + frame(b"y", PING),), ((PONG, b"y"),)),
        "ten pings at once": Case((burst,), pongs),
        "ten pings in octets": Case(octets(burst), pongs),
        "a ping before a text": Case((frame(b"x", PING) + HELLO,), ((PONG, b"x"), HEARD)),
    }


# ---- 3: reserved bits --------------------------------------------------------------------------


def reserved() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for rsv in range(1, 8):
        bad = {
            "text": frame(echo("1"), rsv=rsv),
            "empty text": frame(b"", rsv=rsv),
            "binary": frame(b"x", BINARY, rsv=rsv),
            "continuation": frame(b"{", fin=False) + frame(b"}", CONT, rsv=rsv),
            "ping": frame(b"x", PING, rsv=rsv),
            "pong": frame(b"x", PONG, rsv=rsv),
            "close": frame(struct.pack("!H", 1000), CLOSE, rsv=rsv),
        }
        cases |= {f"bits {rsv} in {name}": Case((one,), code=PROTOCOL) for name, one in bad.items()}
        cases[f"bits {rsv} after a text"] = after_hello(bad["text"], PROTOCOL)
        cases[f"bits {rsv} in octets"] = Case(octets(bad["text"]), code=PROTOCOL)
    return cases


# ---- 4: opcodes --------------------------------------------------------------------------------


def opcodes() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for opcode in (*range(3, 8), *range(11, 16)):
        cases[f"opcode {opcode}"] = Case((frame(b"", opcode),), code=PROTOCOL)
        cases[f"opcode {opcode} with text"] = Case((frame(b"x", opcode),), code=PROTOCOL)
        bad = frame(b"x", opcode) + frame(b"", PING)
        cases[f"opcode {opcode} after a text"] = after_hello(bad, PROTOCOL)
    return cases


# ---- 5: fragments ------------------------------------------------------------------------------


def fragmentation() -> dict[str, Case]:
    whole = echo("1")
    first, second = fragments(whole, len(whole) // 2 + 1)
    a, b, c = fragments(whole, len(whole) // 3 + 1)
    ping, pong = frame(b"p", PING), (PONG, b"p")
    half, end = frame(b" " * 2**19, fin=False), frame(b" ", CONT)
    return {
        "two": Case((first, second), (HEARD,)),
        "two at once": Case((first + second,), (HEARD,)),
        "two in octets": Case(octets(first + second), (HEARD,)),
        "one of each octet": Case((b"".join(fragments(whole, 1)),), (HEARD,)),
        "empty ones at both ends": Case(
            (frame(b"", fin=False) + frame(whole, CONT, fin=False) + frame(b"", CONT),), (HEARD,)
        ),
        "nothing but empty ones": Case(
            (frame(b"", fin=False) + frame(b"", CONT, fin=False) + frame(b"", CONT) + HELLO,),
            (HEARD,),
        ),
        "a ping in between": Case((first, ping, second), (pong, HEARD)),
        "a ping in between, at once": Case((first + ping + second,), (pong, HEARD)),
        "a pong in between": Case((first + frame(b"", PONG) + second,), (HEARD,)),
        "pings everywhere": Case((a + ping + b + ping + c + ping,), (pong, pong, pong, HEARD)),
        "a ping in two": Case(
            (frame(b"a", PING, fin=False) + frame(b"b", CONT),),
            code=PROTOCOL,
        ),
        "a pong in two": Case((frame(b"a", PONG, fin=False),), code=PROTOCOL),
        "a close in two": Case((frame(b"\x03", CLOSE, fin=False),), code=PROTOCOL),
        "an end of nothing": Case((frame(b"x", CONT),), code=PROTOCOL),
        "a middle of nothing": Case((frame(b"x", CONT, fin=False),), code=PROTOCOL),
        "an end after a whole one": after_hello(second, PROTOCOL),
        "a text inside a text": Case((first + HELLO,), code=PROTOCOL),
        "a binary inside a text": Case((first + frame(b"x", BINARY),), code=PROTOCOL),
        "a start inside a text": Case((first + first,), code=PROTOCOL),
        "binary in two": Case((frame(b"x", BINARY, fin=False),), code=NOT_TEXT),
        "as many as there may be": Case((in_pieces(whole, 1024),), (HEARD,)),
        "one more than there may be": Case((in_pieces(whole, 1025),), code=TOO_BIG),
        "too long in all": Case((half, frame(b" " * 2**19, CONT, fin=False), end), code=TOO_BIG),
    }


def in_pieces(payload: bytes, count: int) -> bytes:
    """All of it in the first, and then nothing again and again."""
    middle = frame(b"", CONT, fin=False) * (count - 2)
    return frame(payload, fin=False) + middle + frame(b"", CONT)


# ---- 6: UTF-8 -----------------------------------------------------------------------------------

GOOD_TEXTS = {
    "ascii": b"Hello",
    "two octets": "Grüße".encode(),
    "three octets": "κόσμε漢字".encode(),
    "four octets": "🚤𐀀".encode(),
    "the last of one": b"\x7f",
    "the first of two": b"\xc2\x80",
    "the last of two": b"\xdf\xbf",
    "the first of three": b"\xe0\xa0\x80",
    "before the surrogates": b"\xed\x9f\xbf",
    "after the surrogates": b"\xee\x80\x80",
    "a replacement": b"\xef\xbf\xbd",
    "the last of three": b"\xef\xbf\xbf",
    "no character": b"\xef\xbf\xbe",
    "the first of four": b"\xf0\x90\x80\x80",
    "the last of all": b"\xf4\x8f\xbf\xbf",
    "no character of four": b"\xf0\x9f\xbf\xbe",
}
BAD_TEXTS = {
    "a lone continuation": b"\x80",
    "another": b"\xbf",
    "many of them": b"\x80\xbf\x80\xbf",
    "a start alone": b"\xc3 ",
    "two starts": b"\xc3\xc3",
    "three, cut": b"\xe2\x82 ",
    "four, cut": b"\xf0\x9f\x9a ",
    "fe": b"\xfe",
    "ff": b"\xff",
    "five octets": b"\xf8\x88\x80\x80\x80",
    "six octets": b"\xfc\x84\x80\x80\x80\x80",
    "overlong slash": b"\xc0\xaf",
    "overlong slash of three": b"\xe0\x80\xaf",
    "overlong slash of four": b"\xf0\x80\x80\xaf",
    "overlong nul": b"\xc0\x80",
    "the last overlong of two": b"\xc1\xbf",
    "the last overlong of three": b"\xe0\x9f\xbf",
    "the last overlong of four": b"\xf0\x8f\xbf\xbf",
    "the first surrogate": b"\xed\xa0\x80",
    "the last surrogate": b"\xed\xbf\xbf",
    "a pair of surrogates": b"\xed\xa0\xbd\xed\xba\xa4",
    "beyond the last": b"\xf4\x90\x80\x80",
    "far beyond": b"\xf7\xbf\xbf\xbf",
}


def texts() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for name, text in GOOD_TEXTS.items():
        value = b'"%b"' % text
        said, heard = ask("1", value), (answered("1", value),)
        cases[f"good: {name}"] = Case((frame(said),), heard)
        cases[f"good, split anywhere: {name}"] = Case((b"".join(fragments(said, 1)),), heard)
        cases[f"good, in octets: {name}"] = Case(octets(frame(said)), heard)
    for name, text in BAD_TEXTS.items():
        said = ask("1", b'"%b"' % text)
        cases[f"bad: {name}"] = Case((frame(said),), code=BAD_TEXT)
        cases[f"bad, split anywhere: {name}"] = Case((b"".join(fragments(said, 1)),), code=BAD_TEXT)
        early = frame(b'{"', fin=False) + frame(text + b" ", CONT, fin=False)
        cases[f"bad, before its end: {name}"] = Case((early,), code=BAD_TEXT)
        cases[f"bad, after a good one: {name}"] = after_hello(frame(text), BAD_TEXT)
    start = frame("κόσμε".encode(), fin=False)
    return cases | {
        "found with the fragment it comes in": Case(
            (start + frame(b"\xf4\x90\x80\x80", CONT, fin=False),), code=BAD_TEXT
        ),
        "found with its second half": Case(
            (start + frame(b"\xf4", CONT, fin=False), frame(b"\x90", CONT, fin=False)),
            code=BAD_TEXT,
        ),
        "cut at the very end": Case((frame(b"\xf0\x9f\x9a"),), code=BAD_TEXT),
        "cut at the end of the last fragment": Case(
            (start + frame(b"\xf0\x9f\x9a", CONT),), code=BAD_TEXT
        ),
    }


# ---- 7: closing --------------------------------------------------------------------------------

GOOD_CODES = (*range(1000, 1004), *range(1007, 1015), 3000, 3999, 4000, 4999)
BAD_CODES = (0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535)


def closes() -> dict[str, Case]:
    cases = {f"code {code}": Case((closing(code),), code=code, reason=b"") for code in GOOD_CODES}
    cases |= {f"no code: {code}": Case((closing(code),), code=PROTOCOL) for code in BAD_CODES}
    reason = "Grüße".encode()
    longest = b"x" * 123
    first = fragments(echo("1"), 9)[0]
    return cases | {
        "no code at all": Case((closing(None),), code=1005),
        "a code and a reason": Case((closing(1000, reason),), code=1000, reason=reason),
        "the longest reason": Case((closing(1000, longest),), code=1000, reason=longest),
        "a reason that is too long": Case((closing(1000, longest + b"x"),), code=PROTOCOL),
        "half a code": Case((frame(b"\x03", CLOSE),), code=PROTOCOL),
        "a reason that is no text": Case((closing(1000, b"\xce\xba\xe1\xff"),), code=BAD_TEXT),
        "a code in octets": Case(octets(closing(1000)), code=1000),
        "a text, then a close": after_hello(closing(), 1000),
        "twice": Case((closing() + closing(1001),), code=1000),
        "then a ping": Case((closing() + frame(b"x", PING),), code=1000),
        "then a text": Case((closing() + HELLO,), code=1000),
        "then rubbish": Case((closing() + b"\xff" * 100,), code=1000),
        "inside a message": Case((first + closing(),), code=PROTOCOL),
        "with many after it": Case((closing() + frame(of_size(65536)) * 4,), code=1000),
    }


SECTIONS = {
    "1": framing(),
    "2": pings(),
    "3": reserved(),
    "4": opcodes(),
    "5": fragmentation(),
    "6": texts(),
    "7": closes(),
}
