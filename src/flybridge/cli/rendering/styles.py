"""How each kind of text looks: what stands before its rows, and its colours.

The first column is ours: text of an agent always begins further right, so it can imitate
neither our marks nor the frame around a prompt.
"""

from __future__ import annotations

import msgspec


class Style(msgspec.Struct, frozen=True, kw_only=True):
    first: str = "  "  # before the first row
    rest: str = "  "  # before the others
    mark: str = ""  # colours of what stands before a row, as SGR numbers
    text: str = ""  # colours of the row
    strict: bool = False  # spell out everything that is not what it looks like


DIM, BOLD, ITALIC, RED, GREEN, YELLOW, CYAN = "2", "1", "3", "31", "32", "33", "36"
PLAIN = Style()

STYLES: dict[str, Style] = {
    "text": PLAIN,
    "heading": Style(text=BOLD),
    "code": Style(first="    ", rest="    ", text=CYAN),
    "fence": Style(text=DIM),
    "quote": Style(text="2;3"),
    "thinking": Style(first="∴ ", mark=DIM, text="2;3"),
    "tool": Style(first="● ", mark=CYAN, text=BOLD),
    "result": Style(first="  ⎿ ", rest="    ", mark=DIM, text=DIM),
    "failed": Style(first="  ⎿ ", rest="    ", mark=RED, text=RED),
    "diff": Style(first="    ", rest="    ", text=DIM),
    "added": Style(first="    ", rest="    ", text=GREEN),
    "removed": Style(first="    ", rest="    ", text=RED),
    "sub_text": Style(first="    ", rest="    ", text=DIM),
    "sub_tool": Style(first="  ● ", rest="    ", mark=DIM, text=DIM),
    "sub_result": Style(first="    ⎿ ", rest="      ", mark=DIM, text=DIM),
    "sub_failed": Style(first="    ⎿ ", rest="      ", mark=RED, text=RED),
    "input": Style(first="> ", mark=CYAN, text=BOLD),
    "typing": Style(first="", rest=""),
    "notice": Style(first="· ", mark=DIM, text=DIM),
    "warning": Style(first="! ", mark=YELLOW, text=YELLOW),
    "error": Style(first="✗ ", mark=RED, text=RED),
    "turn": Style(first="─ ", mark=DIM, text=DIM),
    "status": Style(first="╌ ", mark=DIM, text=DIM),
    "queued": Style(first="↳ ", mark=DIM, text=DIM),
    "box_top": Style(first="┏━ ", rest="┃ ", mark=YELLOW, text=BOLD, strict=True),
    "box": Style(first="┃ ", rest="┃ ", mark=YELLOW, strict=True),
    "box_added": Style(first="┃ ", rest="┃ ", mark=YELLOW, text=GREEN, strict=True),
    "box_removed": Style(first="┃ ", rest="┃ ", mark=YELLOW, text=RED, strict=True),
    "box_note": Style(first="┃ ", rest="┃ ", mark=YELLOW, text=DIM, strict=True),
    "box_end": Style(first="┗━ ", rest="   ", mark=YELLOW, text=BOLD, strict=True),
}

# for terminals that cannot show more
ASCII = str.maketrans(
    {
        "∴": "~",
        "●": "*",
        "⎿": "`",
        "·": "-",
        "✗": "x",
        "─": "-",
        "┏": "+",
        "━": "-",
        "┃": "|",
        "┗": "+",
        "…": ".",
        "↵": "/",
        "—": "-",
        "↑": "^",
        "→": ">",
        "╌": "-",
        "↳": ">",
        "█": "#",
        "░": ".",
    }
)


def coloured(text: str, codes: str, *, colour: bool) -> str:
    return f"\x1b[{codes}m{text}\x1b[0m" if colour and codes and text else text
