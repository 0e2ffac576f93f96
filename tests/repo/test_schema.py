"""The protocol as it is written down for others is the protocol that is spoken."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tools import pages, schema

GOLDEN = Path(__file__).parents[1] / "golden" / "native"
DEFS = schema.definitions()
BROWSERS_OWN = {"Text", "Image", "Document", "Error", "Event", "ErrorEvent", "History", "Record"}


def errors(value: Any, wanted: dict[str, Any]) -> list[str]:
    """What a value is not; as much of JSON Schema as ours has."""
    if "$ref" in wanted:
        return errors(value, DEFS[wanted["$ref"].removeprefix(schema.REF)])
    if "anyOf" in wanted:
        tried = [errors(value, one) for one in wanted["anyOf"]]
        return [] if [] in tried else [f"none of {len(tried)}: {min(tried, key=len)}"]
    if "enum" in wanted and value not in wanted["enum"]:
        return [f"{value!r} is not in {wanted['enum']}"]
    kinds: dict[Any, Any] = {"object": dict, "array": list, "string": str, "boolean": bool}
    kinds |= {"integer": int, "number": (int, float), "null": type(None), None: object}
    if not isinstance(value, kinds[wanted.get("type")]):
        return [f"{value!r} is no {wanted['type']}"]
    return list(inner_errors(value, wanted))


def inner_errors(value: Any, wanted: dict[str, Any]) -> list[str]:
    if isinstance(value, list):
        return [error for one in value for error in errors(one, wanted.get("items", {}))]
    if isinstance(value, str):
        low, high = wanted.get("minLength", 0), wanted.get("maxLength", 2**31)
        return [] if low <= len(value) <= high else [f"{value!r} is too long or too short"]
    if isinstance(value, int):
        low, high = wanted.get("minimum", value), wanted.get("maximum", value)
        return [] if low <= value <= high else [f"{value} is too big or too small"]
    if not isinstance(value, dict):
        return []
    missing = [name for name in wanted.get("required", []) if name not in value]
    known, other = wanted.get("properties", {}), wanted.get("additionalProperties", {})
    inside = [error for name, one in value.items() for error in errors(one, known.get(name, other))]
    return [f"no {name}" for name in missing] + inside


def golden(name: str) -> list[Any]:
    return [json.loads(line) for line in (GOLDEN / f"{name}.jsonl").read_text().splitlines()]


def test_what_is_written_down_is_what_the_code_says() -> None:
    assert pages.stale(schema.FILES) == {}


@pytest.mark.parametrize("message", golden("client"), ids=lambda one: one["type"])
def test_what_clients_say_fits(message: Any) -> None:
    assert errors(message, DEFS["ClientMessage"]) == []


@pytest.mark.parametrize("message", golden("gateway") + golden("entries"), ids=str)
def test_what_the_gateway_says_fits(message: Any) -> None:
    from_newer = message.get("event", {}).get("type") == "some.day"
    part_of_a_view = message["type"] == "view"  # the golden one is shortened
    found = errors(message, DEFS["GatewayMessage"])
    assert bool(found) == (from_newer or part_of_a_view)


@pytest.mark.parametrize(
    "message",
    [
        {"type": "auth", "token": "fbt_x.y"},
        {"type": "auth"},
        {"type": "hello"},
        {"type": "hello", "proto": -1},
        {"type": "detach", "session": ""},
        {"type": "nothing", "session": "s"},
        {"type": "submit", "ref": "1", "session": "s", "request": "r", "command": {"type": "x"}},
        {"type": "ask", "ref": "x" * 257, "name": "list"},
    ],
    ids=str,
)
def test_what_is_wrong_does_not_fit(message: dict[str, Any]) -> None:
    good = message.get("token") is not None
    assert (errors(message, DEFS["ClientMessage"]) == []) is good


def test_no_name_is_one_that_browsers_have() -> None:
    assert not BROWSERS_OWN & DEFS.keys()


def test_the_types_name_only_what_they_define() -> None:
    text = re.sub(r"/\*[\s\S]*?\*/|//.*|\"[^\"\n]*\"", "", schema.typescript())
    defined = set(re.findall(r"export (?:type|interface) (\w+)", text))
    assert defined == DEFS.keys()
    used = set(re.findall(r"\b[A-Z]\w+\b", text))
    assert used - defined == {"PROTO", "Record"}


def test_what_may_be_left_out_is_marked_and_what_is_raw_is_unknown() -> None:
    text = schema.typescript()
    assert "  command: Command;\n" in text
    assert "  event: SessionEvent;\n" in text
    assert "  params?: unknown;\n" in text
    assert '  type: "turn.ended";\n' in text
    assert '  mode?: "auto" | "queue" | "steer";\n' in text
