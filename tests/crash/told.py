"""What the recorders wrote down, and what they were told to say."""

from __future__ import annotations

import json

import msgspec

from flybridge.testing.recorder import Record
from tests.crash.evidence import Json, Sent


class Received(msgspec.Struct):
    """What the recorders wrote down of one message."""

    lines: int = 0
    executed: int = 0


def received(records: list[Record]) -> dict[str, Received]:
    """Per token: in how many lines it came, and how often it was executed."""
    found: dict[str, Received] = {}
    for record in records:
        if record.kind == "executed":
            found.setdefault(_token(record.data["text"]), Received()).executed += 1
        elif record.kind == "line" and not record.data.get("torn"):
            message = json.loads(record.line)
            if message.get("type") == "user":
                found.setdefault(_token(_plain(message)), Received()).lines += 1
    return found


def _plain(message: Json) -> str:
    content = message["message"]["content"]
    if isinstance(content, str):
        return content
    return "\n".join(str(one.get("text", "")) for one in content)


def _token(text: str) -> str:
    return text[1:].partition("#")[0] if text.startswith("#") else text


def texts(sent: Sent) -> list[str]:
    """What the recorder says to this message, text by text."""
    whole = "\n".join(part["text"] for part in sent.command["content"])
    script = next((line[3:] for line in whole.splitlines() if line.startswith("@@ ")), "")
    if not script:
        return [f"ok: {whole}"]
    said = []
    for step in json.loads(script):
        if "say" in step:
            said.append(step["say"])
        elif "flood" in step:
            size = step.get("line", 100)
            count = max(1, step["flood"] // size)
            said.append("".join(f"{n:08}".ljust(size, "x") for n in range(count)))
        elif "big_line" in step:
            said.append("b" * step["big_line"])
    return said


def where(text: str, want: str) -> str:
    """How a text differs from the one that was wanted."""
    same = next((n for n, (a, b) in enumerate(zip(text, want, strict=False)) if a != b), -1)
    return f"not {len(want)}; they differ at {same}"
