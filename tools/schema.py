"""Write down the native protocol for other languages: a JSON Schema, and TypeScript types.

    python -m tools.schema            write them
    python -m tools.schema --check    say what differs, and exit 1 if anything does

Both are read off the structs that speak it. What stays raw on the wire because nobody there
needs to know it (a command, an event, a view) is filled in here. Names that belong to browsers
already (Text, Event, Error …) get the name of their kind behind them.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Iterator
from typing import Any, TypeAlias, get_args

import msgspec

from flybridge.model import commands, content, events
from flybridge.session.old_tools import OLD_KINDS
from flybridge.session.views import SessionView
from flybridge.wire.native import messages
from tools import pages

REF = "#/$defs/"
Schema: TypeAlias = dict[str, Any]

UNIONS: dict[str, tuple[type, ...]] = {
    "ClientMessage": (messages.Auth, messages.LoginAuth, *get_args(messages.ClientMessage)),
    "GatewayMessage": get_args(messages.GatewayMessage),
    "Command": get_args(commands.Command),
    "SessionEvent": get_args(events.Event),
    "Content": get_args(content.Content),
}
SUFFIXES = {"Command": "Command", "SessionEvent": "Event", "Content": "Content"}
OTHERS: dict[type, str] = {events.Error: "FailureEvent"}  # ErrorEvent is the browser's
BODIES = {  # raw on the wire → what is in there
    ("Submit", "command"): "Command",
    ("EventLine", "event"): "SessionEvent",
    ("ViewLine", "state"): "SessionView",
}
TITLE = "Flybridge's native protocol"
ABOUT = (
    "Messages are JSON objects, one a line over the Unix socket, one or several lines a text frame "
    "over a WebSocket; `type` tells them apart. A field that has its default may be left out. "
    "Fields and types you do not know are to be passed over."
)


# ---- the schema ----------------------------------------------------------------------------------


def schema() -> Schema:
    """The whole protocol as JSON Schema, draft 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{TITLE}, version {messages.PROTO}",
        "description": ABOUT,
        "anyOf": [{"$ref": f"{REF}ClientMessage"}, {"$ref": f"{REF}GatewayMessage"}],
        "$defs": definitions(),
    }


def definitions() -> dict[str, Schema]:
    structs = [one for union in UNIONS.values() for one in union]
    _, found = msgspec.json.schema_components(
        [*structs, SessionView], ref_template=f"{REF}{{name}}"
    )
    names = {one.__name__: name_of(one) for one in structs}
    defs: dict[str, Schema] = {
        union: {"anyOf": [{"$ref": REF + name_of(one)} for one in members]}
        for union, members in UNIONS.items()
    }
    classes = {one.__name__: one for one in _structs()}
    for name, raw in found.items():
        described = _described(raw, classes[name])
        defs[names.get(name, name)] = _renamed(described, names, defs)
    for (name, field), body in BODIES.items():
        defs[name]["properties"][field] |= {"$ref": REF + body}
    return defs


def name_of(struct: type) -> str:
    """What a struct is called outside."""
    kind = next((kind for kind, members in UNIONS.items() if struct in members), "")
    return OTHERS.get(struct) or struct.__name__ + SUFFIXES.get(kind, "")


def _structs() -> Iterator[type]:
    """Every struct there is: a struct is named by what it is called in its module."""
    todo = list(msgspec.Struct.__subclasses__())
    wanted = (
        "flybridge.model.",
        "flybridge.wire.native",
        "flybridge.session.views",
    )
    while todo:
        one = todo.pop()
        todo += one.__subclasses__()
        if one.__module__.startswith(wanted) and one.__module__ not in NOT_SPOKEN:
            yield one


NOT_SPOKEN = ("flybridge.model.requests", "flybridge.model.facts")  # the same names, inside


def _described(raw: Schema, struct: type) -> Schema:
    """Without what says nothing, with what a person wrote behind each field."""
    made = {key: value for key, value in raw.items() if key not in ("title", "description")}
    own = struct.__dict__.get("__doc__")
    if own:
        made = {"description": _plain(inspect.cleandoc(own)), **made}
    remarks = _remarks(struct)
    for name, field in made.get("properties", {}).items():
        if name in remarks:
            field["description"] = remarks[name]
    return made


def _remarks(struct: type) -> dict[str, str]:
    source = inspect.getsource(struct)
    lines = source.splitlines()
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.ClassDef)
    fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
    found = {
        ast.unparse(one.target): lines[(one.end_lineno or one.lineno) - 1].partition("  # ")[2]
        for one in fields
    }
    return {name: _plain(text) for name, text in found.items() if text}


def _plain(text: str) -> str:
    return text.replace("``", "`")


def _renamed(value: Any, names: dict[str, str], unions: dict[str, Schema]) -> Any:
    """References under their new names; a union that has a name by its name."""
    if isinstance(value, list):
        return [_renamed(one, names, unions) for one in value]
    if not isinstance(value, dict):
        return value
    made = {k: _renamed(v, names, unions) for k, v in value.items() if k != "discriminator"}
    if isinstance(reference := made.get("$ref"), str):
        name = reference.removeprefix(REF)
        made["$ref"] = REF + names.get(name, name)
    for union, members in unions.items():
        if "anyOf" in made and members.get("anyOf") == made["anyOf"]:
            return {"$ref": REF + union} | {k: v for k, v in made.items() if k != "anyOf"}
    return made


# ---- TypeScript ----------------------------------------------------------------------------------


def typescript() -> str:
    """The same as types. A union is told apart by ``type``, as the compiler likes it."""
    parts = [
        f"// {TITLE}, version {messages.PROTO}.\n",
        "// Written by tools/schema.py from the Python structs; edit those, then make docs.\n\n",
        f"export const PROTO = {messages.PROTO};\n",
    ]
    for name, one in definitions().items():
        parts.append("\n" + _comment(one.get("description", ""), ""))
        if "anyOf" in one:
            members = "".join(f"\n  | {_type(member)}" for member in one["anyOf"])
            parts.append(f"export type {name} ={members};\n")
        else:
            parts.append(f"export interface {name} {{\n{''.join(_fields(one))}}}\n")
    return "".join(parts)


def old_tool_kinds() -> str:
    """Return the kinds of calls in rows without one, which the page has to know as well."""
    rows = "".join(f'  {name}: "{kind}",\n' for name, kind in OLD_KINDS.items())
    return (
        "// Written by tools/schema.py from session/old_tools.py; edit that, then make docs.\n"
        'import type { ToolKind } from "./tool-kinds.ts";\n\n'
        "/** The kinds of tool calls in rows that were written before calls had one. */\n"
        f"export const OLD_TOOL_KINDS: Readonly<Record<string, ToolKind>> = {{\n{rows}}};\n"
    )


def _fields(one: Schema) -> Iterator[str]:
    required = one.get("required", [])
    for name, field in one["properties"].items():
        mark = "" if name in required else "?"
        yield _comment(_with_default(field), "  ") + f"  {name}{mark}: {_type(field)};\n"


def _with_default(field: Schema) -> str:
    said: str = field.get("description", "")
    default = field.get("default")
    if not default:
        return said
    shown = f"Default: {json.dumps(default)}."
    return f"{said} {shown}" if said else shown


def _comment(text: str, indent: str) -> str:
    if not text:
        return ""
    lines = text.split("\n")
    if len(lines) == 1:
        return f"{indent}/** {text} */\n"
    body = "".join(f"{indent} *{f' {line}' if line else ''}\n" for line in lines)
    return f"{indent}/**\n{body}{indent} */\n"


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(REF)
    if "anyOf" in schema:
        return " | ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    match schema.get("type"):
        case "array":
            inner = _type(schema["items"])
            return f"({inner})[]" if " " in inner else f"{inner}[]"
        case "object":
            return f"Record<string, {_type(schema['additionalProperties'])}>"
        case "integer" | "number":
            return "number"
        case "string" | "boolean" | "null" as kind:
            return str(kind)
        case None:
            return "unknown"  # anybody's own JSON
    raise AssertionError(f"no type for {schema}")


# ---- the command ---------------------------------------------------------------------------------


def _json() -> str:
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


FILES: pages.Files = {
    pages.REFERENCE / "native-protocol.schema.json": _json,
    pages.ROOT / "web" / "src" / "protocol.gen.ts": typescript,
    pages.ROOT / "web" / "src" / "store" / "old-tool-kinds.gen.ts": old_tool_kinds,
}


if __name__ == "__main__":
    sys.exit(pages.main(sys.argv[1:], FILES, __doc__))
