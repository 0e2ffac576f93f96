"""Write docs/reference/ipc.md from the structs that speak the IPC.

python -m tools.ipc_reference            write it
python -m tools.ipc_reference --check    say what differs, and exit 1 if anything does
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, get_args

import msgspec

from flybridge.frontends.ipc.wire import messages, views
from tools import pages

COMPONENTS: dict[str, type] = {
    "settings": views.SettingsPanel,
    "help": views.HelpPanel,
    "keybindings": views.Keybindings,
    "context": views.ContextGauge,
    "cost": views.CostDisplay,
    "diff": views.DiffViewer,
    "tasks": views.TaskList,
    "mcp": views.McpStatus,
    "permissions": views.PermissionDialogs,
    "questions": views.QuestionForms,
    "slash_commands": views.SlashCommands,
    "sessions": views.SessionManagement,
    "session_state": views.SessionState,
}
PARTS = (
    views.Keybinding,
    views.ContextCategory,
    views.PermissionDialog,
    views.QuestionForm,
    views.SlashCommand,
    views.KnownSession,
)
INTRODUCTION = """\
# The IPC

<!-- Written by tools/ipc_reference.py from wire/ipc; edit that, then run make docs. -->

`flybridge ipc` is a bridge for the program that starts it: one JSON object a line on standard
input and output, warnings on standard error. It speaks version 2 of TugTalk's IPC, so a front
end that was written for that works unchanged; there is a
[how-to with examples](../howto/drive-from-another-program.md). Fields and types
that a front end does not know are to be passed over.

**The handshake.** The first line in is `protocol_init` with `version` 1. `protocol_ack` comes
at once; then the agent is started, and `session_init` says which conversation it is: the id of
the last one of the project, or `pending`. It comes again as soon as the real id is known. With
any other version, an `error` that is not recoverable, and exit status 1.

**A turn.** Each `user_message` draws one number (0, 1, 2 … for the life of the process) and gets
a `msg_id`. All that the turn says carries both. Its order is `system_metadata`; then texts,
thoughts, tools and requests as they come; then `cost_update`, the complete `assistant_text` if
there was any, and `turn_complete`, which draw the next numbers. After an interrupt the result is
`error`. A message that a running turn takes too has its own `turn_complete` with `merged_into`.
`turn_cancelled` comes instead only if the agent was gone after an interrupt.

**Requests.** `control_request_forward` waits for a `tool_approval` or a `question_answer` with
its `request_id`. `control_request_cancel` says that nobody waits any more. Whoever started the
bridge may decide for as long as it runs; an answer to an unknown request is a warning, no more.

**Trouble.** Bad lines, unknown types and wrong fields are each an `error` that names what is
wrong, and nothing is done. An agent that dies is one `error` and the end of its turn; the next
message starts it again where it was. A conversation that is lost is one `error`, and a new one.

**The end.** When its input ends, messages that were taken before are still answered, for at most
a minute and as long as somebody reads; a request that then has to be answered ends that. At
SIGTERM there is no such wait. What is still open is closed by a `turn_complete` with the result
`error`, and the bridge ends the agent and exits with status 0. An agent to which another client is
attached goes on. Sessions that the bridge opened are archived when it is done with them:
`flybridge sessions list --all` has them, and the next bridge in the project goes on with the last
conversation. In a project where Flybridge had none yet, Claude goes on with the one that TugTalk
noted in `.tugtool/.session`; that file is never written.

"""


def page() -> str:
    return INTRODUCTION + "".join(_sections()).rstrip("\n") + "\n"


def _sections() -> Iterator[str]:
    yield "## What a front end writes\n\n"
    yield from _structs(messages, get_args(messages.Inbound))
    yield "### An attachment\n\n"
    yield from _table(messages, messages.Attachment)
    yield "## What a front end reads\n\nEach also has `ipc_version`, which is 2.\n\n"
    yield from _structs(messages, get_args(messages.Outbound))
    yield '## Views\n\n`{"type":"view","name":NAME}` is answered by `view` with its `data`.\n\n'
    for name, kind in COMPONENTS.items():
        yield f"### View `{name}`\n\n"
        yield from _table(views, kind)
    yield "## Parts of views\n\n"
    for kind in PARTS:
        yield f"### {kind.__name__}\n\n"
        yield from _table(views, kind)


def _structs(module: ModuleType, kinds: Sequence[type]) -> Iterator[str]:
    for kind in kinds:
        yield f"### `{kind.__struct_config__.tag}`\n\n"  # type: ignore[attr-defined]
        yield from _table(module, kind)


def _table(module: ModuleType, kind: type) -> Iterator[str]:
    source = inspect.getsource(module)
    node = next(
        one
        for one in ast.parse(source).body
        if isinstance(one, ast.ClassDef) and one.name == kind.__name__
    )
    said = ast.get_docstring(node)
    if said:
        yield said.replace("``", "`") + "\n\n"
    rows = list(_rows(kind, node, source.splitlines()))
    if rows:
        yield "| field | type | default | |\n|---|---|---|---|\n" + "".join(rows) + "\n"


def _rows(kind: type, node: ast.ClassDef, lines: Sequence[str]) -> Iterator[str]:
    names = {one.name: one.encode_name for one in msgspec.structs.fields(kind)}
    for field in node.body:
        if isinstance(field, ast.AnnAssign):
            remark = lines[(field.end_lineno or field.lineno) - 1].partition("  # ")[2]
            shape = ast.unparse(field.annotation).replace(" | UnsetType", "").replace("|", "\\|")
            name = names[ast.unparse(field.target)]
            yield f"| `{name}` | `{shape}` | {_default(field.value)} | {remark} |\n"


def _default(value: ast.expr | None) -> str:
    if value is None:
        return "required"
    if isinstance(value, ast.Call) and value.args:  # Raw(b"[]") is [] on the wire
        raw: Any = ast.literal_eval(value.args[0])
        return f"`{raw.decode() if isinstance(raw, bytes) else raw}`"
    shown = ast.unparse(value).replace("'", '"')
    words = {"UNSET": "absent", "()": "`[]`", "None": "`null`", "True": "`true`"}
    constants = {"PENDING": '`"pending"`', "PROTOCOL_VERSION": "`1`", "IPC_VERSION": "`2`"}
    known = {**words, **constants, "False": "`false`", "EMPTY_LIST": "`[]`", "EMPTY": "`{}`"}
    return known.get(shown, f"`{shown}`")


FILES: pages.Files = {pages.REFERENCE / "ipc.md": page}


if __name__ == "__main__":
    sys.exit(pages.main(sys.argv[1:], FILES, __doc__))
