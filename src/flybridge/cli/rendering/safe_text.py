"""Text of agents made harmless for a terminal: what cannot be seen is spelled out.

Control characters are shown the way ``cat -v`` shows them (``^[`` for escape), everything else
that is invisible or reorders its surroundings by its number (``<U+202E>``). What comes out
moves no cursor, sets no clipboard, hides nothing, and looks like what it is.
"""

from __future__ import annotations

import re
import unicodedata

MAX_MARKS = 8  # combining marks on one letter; more of them would paint over other rows
TAB = "    "
NEWLINE = " ↵ "

# C0 but newline, DEL, C1; then what is invisible: format characters, fillers, separators,
# bidirectional controls, tags, variation selectors nobody uses, halves of surrogate pairs
_HIDDEN = (
    "\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_PICTURE = "\u2600-\u27bf\U0001f000-\U0001faff"
# one picture made of two keeps what joins them
_loose = re.compile(f"(?P<joint>(?<=[{_PICTURE}\ufe0f])\u200d(?=[{_PICTURE}]))|[{_HIDDEN}]")
# also an empty Braille letter, which is a space that is none, two letters without ink, and the
# selectors that choose how a picture is drawn
_strict = re.compile(f"[{_HIDDEN}\u2800\ufe0e\ufe0f\U00016fe4\U0001d159]")
_word = re.compile(r"\w+")


def visible(text: str, *, strict: bool = False) -> str:
    """Make everything in ``text`` visible; only newlines stay what they are.

    ``strict`` is for what a person is about to allow: no space that is not a space, no
    joined pictures, no letters that nobody has a font for.
    """
    safe = text.replace("\r\n", "\n")
    safe = (_strict if strict else _loose).sub(_spell, safe)
    if safe.isascii():
        return safe
    if strict:
        safe = "".join(c if c.isprintable() or c == "\n" else f"<U+{ord(c):04X}>" for c in safe)
    return _unstack(safe)


def one_line(text: str, *, strict: bool = False) -> str:
    """The same on a single line."""
    return visible(text.strip("\r\n"), strict=strict).replace("\n", NEWLINE)


def look_alikes(text: str) -> list[str]:
    """Words that mix plain letters with those of another script: few are honest."""
    if text.isascii():
        return []
    return [word for word in dict.fromkeys(_word.findall(text)) if _is_mixed(word)]


def _is_mixed(word: str) -> bool:
    if word.isascii() or not re.search("[A-Za-z]", word):
        return False
    foreign = [c for c in word if c.isalpha() and not unicodedata.name(c, "").startswith("LATIN")]
    return bool(foreign)


def _spell(found: re.Match[str]) -> str:
    char = found[0]
    code = ord(char)
    if char == "\t":
        return TAB
    if code < 0x20:
        return "^" + chr(code + 0x40)
    if code == 0x7F:
        return "^?"
    if found.lastgroup == "joint":
        return char
    return f"<U+{code:04X}>"


def _unstack(text: str) -> str:
    """Spell out marks beyond what any script puts on one letter."""
    if not any(map(unicodedata.combining, text)):
        return text
    out: list[str] = []
    marks = 0
    for char in text:
        marks = marks + 1 if unicodedata.combining(char) else 0
        out.append(char if marks <= MAX_MARKS else f"<U+{ord(char):04X}>")
    return "".join(out)
