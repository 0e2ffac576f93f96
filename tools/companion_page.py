"""Write the reference page of the companion protocol: read off the structs that speak it.

python -m tools.companion_page            write it
python -m tools.companion_page --check    say what differs, and exit 1 if anything does
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import msgspec

from flybridge.frontends.companion import device, devices
from flybridge.frontends.companion.board import SLOTS
from flybridge.frontends.companion.wire import budget, messages
from tools import pages

SOURCE = inspect.getsource(messages)
WORDS = {str: "text", int: "number", bool: "true or false", type(None): "null"}
RIGHTS = ", ".join(f"`{one}`" for one in devices.RIGHTS)
HEAD = f"""\
# The companion protocol

<!-- Written by tools/companion_page.py from wire/companion/messages.py; then run make docs. -->

What a small device and `flybridge serve --companion-host ADDR [--companion-port 3333]` say to
each other: WebSocket, one JSON object a text frame, both ways, without TLS and without compression.
It is made for a handheld with fixed buffers, and anything with a screen of a few lines can speak
it: see [build a button box](../howto/build-a-button-box.md).

`GET /health` says that the server is up. Every other path can be upgraded; a request with an
`Origin` is a browser's, and is refused.

## Coming in

- With a token: `Authorization: Bearer fbd_…` in the upgrade, or `{{"type":"auth","token":"fbd_…"}}`
  as the first frame. `flybridge devices pair --token` makes one.
- By its address: a device that nobody knows gets one status (slot 0, idle, `promptToolType`
  `Pairing`) with a code of {devices.CODE_LETTERS} letters in `promptToolDetail`. A person says it
  to `flybridge devices pair CODE`, within {devices.CODE_MS // 60_000} minutes, once;
  {devices.TRIES} wrong ones are too many. An address of the gateway's own machine is never paired:
  agents live there.
- Before that nothing is shown and nothing is carried out. The rights are {RIGHTS}; a device may
  be let into some slots only.

## Limits

| | |
|---|---|
| a frame to a device | at most {messages.MAX_FRAME_BYTES} bytes, whole, unmasked |
| a frame from a device | at most {messages.MAX_SAID_BYTES // 1024} KiB |
| `agent` | {budget.AGENT_BYTES} bytes |
| `message` | {budget.MESSAGE_BYTES} bytes |
| `promptToolType` | {budget.TYPE_BYTES} bytes |
| `promptToolDetail` | {budget.DETAIL_BYTES} bytes; beyond {budget.SCREEN_BYTES} it counts as cut |
| `promptDescription` | {budget.DESCRIPTION_BYTES} bytes |
| statuses | one in {device.APART_MS} ms for each slot; what comes between is left out |
| slots | {SLOTS}, unless somebody says otherwise |

Text is UTF-8, cut between characters with `…`. What cannot be seen is spelled out (`<U+202E>`), a
newline is `↵`; the only escapes are `\\"` and `\\\\`. Pings are not sent, and need not be answered.

## Rules

1. On connecting, a device gets one status for each slot in use, the lowest first, and none for a
   slot that is free. A slot is free as soon as its process is gone.
2. A button counts for the prompt that was last sent to this device, and only when no other prompt
   was on its screen within {device.GUARD_MS} ms. Otherwise the present one is sent again.
3. `yes` allows the input as it was asked for. `always` also keeps the agent's own rules for this
   session, never a mode or a folder, and never a rule for everything that a tool can run or write.
   Where the agent suggested nothing, a tool that only reads is allowed as a whole. Where no rule
   can be kept, `always` allows once and the status says so (`promptToolType` `Allowed once`). It is
   refused where the text was cut. `no` denies. `escape` interrupts the turn that runs. Of two
   devices, the first counts.
4. Questions cannot be answered with a button; the status says so.
5. With auto-edit, edits of files inside the slot's folder are allowed without a button, after every
   link and `..` is followed, but for what other programs obey (`.git`, `.envrc`, …)
   and for the settings of every configured agent (`.claude`, `.mcp.json`, …). A path that begins
   with `~`, begins or ends with white space, or holds control characters is asked about. It takes
   the right `auto_edit`, is always shown, and ends with the device and with the process.
6. What makes no sense is ignored with a line in the log. A wish for an agent has a result in any
   case; success is told to every device that sees the slot, failure to who asked.

"""


def page() -> str:
    parts = [HEAD, "## To a device\n\n", *_structs(messages.ToDevice)]
    parts += ["## From a device\n\n", *_structs(messages.FromDevice)]
    return "".join(parts).rstrip("\n") + "\n"


def _structs(union: Any) -> Iterator[str]:
    for struct in get_args(union):
        said = (inspect.getdoc(struct) or "").replace("``", "`")
        yield f"### `{struct.__struct_config__.tag}`\n\n{said}\n\n{_fields(struct)}"


def _fields(struct: type[msgspec.Struct]) -> str:
    """A table of the fields by their names on the wire, with the remarks of the source."""
    body = next(
        one.body
        for one in ast.parse(SOURCE).body
        if isinstance(one, ast.ClassDef) and one.name == struct.__name__
    )
    remarks = {
        ast.unparse(node.target): SOURCE.splitlines()[node.lineno - 1].partition("  # ")[2]
        for node in body
        if isinstance(node, ast.AnnAssign)
    }
    table = "| field | type | needed | |\n|---|---|---|---|\n"
    for one in msgspec.structs.fields(struct):
        needed = "yes" if one.required else ""
        table += f"| `{one.encode_name}` | {_kind(one.type)} | {needed} | {remarks[one.name]} |\n"
    return table + "\n"


def _kind(kind: Any) -> str:
    """A type in JSON's words; of a choice, what may be chosen."""
    if get_origin(kind) is Literal:
        return ", ".join(f"`{one}`" for one in get_args(kind))
    parts = [one for one in get_args(kind) or (kind,) if one in WORDS]
    return " or ".join(WORDS[one] for one in parts)


FILES: pages.Files = {pages.REFERENCE / "companion.md": page}


if __name__ == "__main__":
    sys.exit(pages.main(sys.argv[1:], FILES, __doc__))
