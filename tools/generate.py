"""Write the reference pages that can be read off the code: events, commands, errors.

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
from flybridge.model import commands, content, events
from tools import pages

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
        NOTE.format(source="model/events.py, model/commands.py and model/content.py"),
        INTRODUCTION,
        _contents("Events", events.Event),
        _contents("Commands", commands.Command),
        "## Events\n\n",
        *_variants(events, events.Event),
        "## Commands\n\n",
        *_variants(commands, commands.Command),
        "## Content\n\nWhat `send_input` carries, and `input.accepted` repeats.\n\n",
        *_variants(content, content.Content),
    ]
    return "".join(parts).rstrip("\n") + "\n"


def _contents(title: str, union: Any) -> str:
    links = [f"[`{_tag(one)}`](#{slug(_tag(one))})" for one in get_args(union)]
    return f"**{title}:** {', '.join(links)}\n\n"


def slug(heading: str) -> str:
    """The anchor a heading gets in the usual renderers: ``turn.ended`` → ``turnended``."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _tag(struct: type) -> str:
    return str(struct.__struct_config__.tag)  # type: ignore[attr-defined]


def _variants(module: ModuleType, union: Any) -> Iterator[str]:
    source = inspect.getsource(module)
    lines = source.splitlines()
    classes = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
    for struct in get_args(union):
        node = classes[struct.__name__]
        yield f"### `{_tag(struct)}`\n\n"
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


# ---- the command ---------------------------------------------------------------------------

FILES: pages.Files = {
    pages.REFERENCE / "events.md": events_page,
    pages.REFERENCE / "errors.md": errors_page,
}


if __name__ == "__main__":
    sys.exit(pages.main(sys.argv[1:], FILES, __doc__))
