"""Write the reference pages that can be read off the code: events, commands, errors, options.

    python -m tools.generate            write them
    python -m tools.generate --check    say what differs, and exit 1 if anything does

Tags, names and defaults come from the structs themselves; types and the remark behind a field
come from the source text, because that is where a person wrote them.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

from flybridge import errors
from flybridge.agents.option_schemas import BUILT_IN_SCHEMAS
from flybridge.model import commands, content, events, offers
from flybridge.model import tools as tool_calls
from flybridge.model.options import Option
from tools import pages

AGENT_TITLES = {"claude": "Claude Code, and the demo"}
NOTE = "<!-- Written by tools/generate.py from {source}; edit that, then run make docs. -->\n\n"


# ---- events and commands -----------------------------------------------------------------------


INTRODUCTION = """\
An event is a durable fact about a session, numbered 1, 2, 3 … without gaps. A command asks
something of a session and has exactly one outcome. On the wire both are JSON objects with
their tag in `type`; a field that has its default may be left out. Names that end in `Id` or
`Key` are opaque strings; `Raw` is any JSON, kept byte for byte. Tags never change; new ones,
and new fields with a default, may come.

"""


def events_page() -> str:
    parts = [
        "# Events and commands\n\n",
        NOTE.format(source="the modules of model/"),
        INTRODUCTION,
        _contents("Events", events.Event),
        _contents("Commands", commands.Command),
        "## Events\n\n",
        *_variants(events, events.Event),
        "## Commands\n\n",
        *_variants(commands, commands.Command),
        "## Content\n\nWhat `send_input` carries, and `input.accepted` repeats.\n\n",
        *_variants(content, content.Content),
        "## Parts of events\n\nObjects inside events. They have no `type`.\n\n",
        *_variants(offers, offers.Offer | offers.OfferRule),
        *_variants(tool_calls, tool_calls.ToolSubject),
    ]
    return "".join(parts).rstrip("\n") + "\n"


def _contents(title: str, union: Any) -> str:
    links = [f"[`{_tag(one)}`](#{slug(_tag(one))})" for one in get_args(union)]
    return f"**{title}:** {', '.join(links)}\n\n"


def slug(heading: str) -> str:
    """The anchor a heading gets in the usual renderers: ``turn.ended`` → ``turnended``."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _tag(struct: type) -> str:
    """Return the tag of a struct; "" if it is a part of others and has none."""
    return str(struct.__struct_config__.tag or "")  # type: ignore[attr-defined]


def _variants(module: ModuleType, union: Any) -> Iterator[str]:
    source = inspect.getsource(module)
    lines = source.splitlines()
    classes = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
    for struct in get_args(union) or (union,):
        node = classes[struct.__name__]
        yield f"### `{_tag(struct) or struct.__name__}`\n\n"
        if text := ast.get_docstring(node):
            yield f"{_markdown(text)}\n\n"
        fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
        rows = [_row(field, module, lines) for field in fields]
        if rows:
            yield "| field | type | default | |\n|---|---|---|---|\n" + "".join(rows) + "\n"
        elif not text:
            yield "No fields.\n\n"


def _row(field: ast.AnnAssign, module: ModuleType, lines: list[str]) -> str:
    name = ast.unparse(field.target)
    kind = _kind(ast.unparse(field.annotation), module)
    default = f"`{_default(field.value)}`" if field.value is not None else "required"
    remark = lines[(field.end_lineno or field.lineno) - 1].partition("  # ")[2]
    return f"| `{name}` | {kind} | {default} | {_markdown(remark)} |\n"


def _kind(annotation: str, module: ModuleType) -> str:
    """The type as a reader of JSON sees it: choices as their values, Raw as Raw."""
    choices = eval(annotation, vars(module))  # our own source, read a moment ago
    if get_origin(choices) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(choices))
    return "`" + annotation.replace(" | UnsetType", "").replace("|", "\\|") + "`"


def _default(value: ast.expr) -> str:
    if isinstance(value, ast.Call) and value.args:  # ItemId("") is "" on the wire
        return _default(value.args[0])
    shown = ast.unparse(value).replace("'", '"')
    return {"UNSET": "absent", "()": "[]", "None": "null", "True": "true", "False": "false"}.get(
        shown, shown
    )


def _markdown(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|")


# ---- errors --------------------------------------------------------------------------------------


def errors_page() -> str:
    rows = "".join(
        f"| `{kind.code}` | `{kind.__name__}` | `{kind.__base__.__name__}` | {meaning} |\n"
        for kind, meaning in error_classes()
        if kind.__base__ is not None
    )
    return (
        "# Error codes\n\n"
        + NOTE.format(source="errors.py")
        + "`code` is stable and goes on the wire; the text beside it is for people and may\n"
        "change. Whoever catches a class catches everything below it.\n\n"
        "| code | class | is a | means |\n|---|---|---|---|\n" + rows
    )


def error_classes() -> list[tuple[type[errors.FlybridgeError], str]]:
    """Every class of the tree at the head of errors.py, in its order, with what it says there."""
    found = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.fullmatch(r"[│├└─\s]*(\w+Error)(?:\s+(.+))?", line)
        if match:
            kind = getattr(errors, match[1])
            found.append((kind, match[2] or _first_line(kind)))
    return found


def _first_line(kind: type) -> str:
    own = kind.__dict__.get("__doc__") or ""
    return _markdown(own.strip().splitlines()[0].rstrip(".")) if own else ""


# ---- options of agents ---------------------------------------------------------------------------


OPTIONS_INTRODUCTION = """\
Every agent publishes its options. They are set by the flag below or by `-o NAME=VALUE` on the
[command line](cli.md), in the form *New session* of the page, under `agents.NAME.options` in the
[configuration](configuration.md), and as `agent_options` in [`POST /api/v1/sessions`](http-api.md),
in the native `open` request and in a run's `config`. `GET /api/v1/agents` lists the options of
every configured agent, also of agents that other packages add.

`model`, `mode`, `effort`, `budget_usd`, `cwd` and `transport` are not the agent's own: they are
fields of the request itself. An option marked *admin* can let the agent do more than it would have
to ask for, so only an administrator may set it. An unknown option, or a wrong value, is refused as
`invalid_option`, and nothing is started.

"""


def options_page() -> str:
    parts = [
        "# Options of agents\n\n",
        NOTE.format(source="the schemas of the built-in agents"),
        OPTIONS_INTRODUCTION,
    ]
    for agent, schema in BUILT_IN_SCHEMAS.items():
        title = AGENT_TITLES.get(agent, agent)
        parts.append(f"## {title}\n\n")
        if schema.common:
            names = ", ".join(f"`{name}`" for name in sorted(schema.common))
            parts.append(f"It also takes {names}.\n\n")
        parts.append("| option | type | flag | needs | |\n|---|---|---|---|---|\n")
        parts += [_option_row(option) for option in schema]
        parts.append("\n")
    return "".join(parts).rstrip("\n") + "\n"


def _option_row(option: Option) -> str:
    needs = "admin" if option.grants else ""
    about = _markdown(option.description or f"{option.label}.")
    kind = _option_type(option)
    return f"| `{option.name}` | {kind} | `{option.command_line_flag}` | {needs} | {about} |\n"


def _option_type(option: Option) -> str:
    paths = {"": "", "file": "file", "folder": "folder", "file_or_json": "file or JSON"}
    path = paths[option.path]
    match option.type:
        case "choice":
            return " or ".join(f"`{choice}`" for choice in option.choices)
        case "list":
            return f"list, each a {path}" if path else "list of texts"
        case "path":
            return path or "path"
        case "number":
            return "whole number" if option.integer else "number"
        case "json":
            return "JSON object"
        case _:
            return option.type


# ---- the command ---------------------------------------------------------------------------

FILES: pages.Files = {
    pages.REFERENCE / "events.md": events_page,
    pages.REFERENCE / "errors.md": errors_page,
    pages.REFERENCE / "agent-options.md": options_page,
}


if __name__ == "__main__":
    sys.exit(pages.main(sys.argv[1:], FILES, __doc__))
