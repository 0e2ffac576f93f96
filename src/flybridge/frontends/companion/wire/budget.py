"""Text that fits into the fixed buffers of a device: cut on character borders, nothing unseen.

A device does not escape, and is not trusted to unescape: what is sent needs no escapes but those
of quotes and backslashes. Whatever is invisible is spelled out, since somebody may allow it.
"""

from __future__ import annotations

import re
import unicodedata

import msgspec

from flybridge.frontends.companion.wire.messages import AgentStatus, ToDevice

AGENT_BYTES = 31
MESSAGE_BYTES = 127
TYPE_BYTES = 63
DETAIL_BYTES = 1023
DESCRIPTION_BYTES = 255
SCREEN_BYTES = 540  # of a detail: more is not on the screen

CUT = "…"
NEWLINE = " ↵ "
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")  # controls, formats, surrogates, separators
# letters, marks and symbols that no font draws; their categories do not say so
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)
_encode = msgspec.json.Encoder().encode


def fit(text: str, limit: int) -> tuple[str, bool]:
    """The text in at most ``limit`` bytes, and whether something of it is missing."""
    head = _seen(text[: limit + 1])  # a character has at least one byte
    data = head.encode()
    if len(data) <= limit and len(text) <= limit + 1:
        return head, False
    kept = data[: limit - len(CUT.encode())].decode(errors="ignore")
    return kept + CUT, True


def _seen(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(_spelled(char) for char in text)


def _spelled(char: str) -> str:
    if char == "\n":
        return NEWLINE
    if char == "\t":
        return "  "
    category = unicodedata.category(char)
    if category in _UNSEEN or (category == "Zs" and char != " ") or _BLANK.match(char):
        return f"<U+{ord(char):04X}>"
    return char


def slot_name(wanted: str, taken: set[str]) -> str:
    """A name that a device can send back unescaped, unlike every other."""
    plain = "".join(c for c in wanted if c.isprintable() and c not in '"\\') or "agent"
    name, count = fit(plain, AGENT_BYTES)[0], 1
    while name in taken:
        count += 1
        tail = f"-{count}"
        name = fit(plain, AGENT_BYTES - len(tail))[0] + tail
    return name


def encode(message: ToDevice) -> bytes:
    """The message as the payload of one frame; every text in it fits its buffer."""
    if isinstance(message, AgentStatus):
        message = msgspec.structs.replace(
            message,
            agent=fit(message.agent, AGENT_BYTES)[0],
            message=fit(message.message, MESSAGE_BYTES)[0],
            prompt_tool_type=_fit(message.prompt_tool_type, TYPE_BYTES),
            prompt_tool_detail=_fit(message.prompt_tool_detail, DETAIL_BYTES),
            prompt_description=_fit(message.prompt_description, DESCRIPTION_BYTES),
        )
    return _encode(message)


def _fit(text: str | msgspec.UnsetType, limit: int) -> str | msgspec.UnsetType:
    return text if isinstance(text, msgspec.UnsetType) else fit(text, limit)[0]
