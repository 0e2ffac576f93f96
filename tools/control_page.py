"""Write the reference page of the control protocol: read off the structs that speak it.

python -m tools.control_page            write it
python -m tools.control_page --check    say what differs, and exit 1 if anything does
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator

from flybridge.wire.control import messages, signed
from tools import pages

SOURCE = inspect.getsource(messages)
HEAD = f"""\
# The control protocol

<!-- Written by tools/control_page.py from wire/control/messages.py; edit that: make docs. -->

Another program steers a live session: it says something to the agent, stops its turn, or asks what
the session can take. One message, one acknowledgement, and every message can be sent again safely.
How to set it up: [steer workers](../howto/steer-workers.md).

| where | how |
|---|---|
| `control.sock` in the state directory | one JSON a line; the kernel says who that is |
| `POST /api/v1/control` | one message, one answer; a token with the scope `control` |
| WebSocket `/ws/control` | a text frame each, up to 1 MiB; the token in the upgrade's head |
| `flybridge control send\\|interrupt\\|capabilities` | the sender's half, with retries |

A message has at most {messages.MAX_MESSAGE_BYTES >> 20} MiB. What is no message at all gets
`control.error`, or status 400 by HTTP. A field that this page does not list is refused, except in
`meta`.

## Rules of the receiver

1. A request is claimed by one insert under team, session, agent, principal and `request_id`. The
   same request again gets the *recorded* outcome, with `duplicate: true`; another body under the
   same id is `rejected` with `request_id_reused`. The key is durable before the first byte goes to
   the agent, and is kept as long as the session. All names of a session and of its agent count as
   one, so a retry may use another.
2. `ok` is said when the message was written, or is durably queued (`stage: accepted`, `detail:
   queued`). `timeout` says that it was not written in time: the same id tells what became of it.
   What nobody can know is `internal_error` with `outcome_unknown`, and never `ok`.
3. Looked at before anything is claimed: version, sender, team and rules, session; for a new request
   also its age (5 minutes; 60 seconds ahead), agent, thread and content. A known request is told
   whatever its age, and whatever became of its file.
4. `sender` is a member of the team whose principal is at the other end of the connection. Anybody
   else is `rejected`. A session that is not there, is of another team, or may not be seen by the
   sender is `not_found`, in the same words.
5. A `content_ref` lies beneath one folder. It is opened once, no link is followed at any step. It
   is a plain file of this user's with one name, of at most
   {messages.MAX_REF_BYTES >> 20} MiB of UTF-8. Size and SHA-256 are verified on the bytes that
   are then sent. Only senders at the Unix socket may name a file.
6. An interrupt with a `turn_id` stops that turn or none (`not_live`, `turn_ended`). Without one it
   stops the turn that runs when it comes in. With no turn running it is `ok`, `detail: idle`, and
   nothing is sent; the same interrupt, sent again later, does not stop a later turn either. Whether
   the turn still runs is checked again right before the interrupt is written. What is written to an
   agent names no turn, so an interrupt that is on its way when the turn ends can still stop the
   next one. Where the log shows that the named turn had ended by itself, the interrupt is
   `not_live`, `turn_ended`, and the log warns about the turn that was stopped instead.
   An interrupt also makes the agent drop the messages that were steered into the turn and that it
   has not read yet, whoever sent them. They were `ok`, `stage: written`; a repeat gets `ok` with
   `outcome: cancelled`. Messages that wait with `mode: queue` are not dropped.
   `interrupt: true` in a `control.stdin.request` needs the right to interrupt as well.
7. No agent is started for a message: without one the session is `not_live`. `busy`: it lives, but
   cannot take this now.
8. What no rule of the team allows is denied, and a denial wins.
9. What comes from another machine has to be signed:
   `{{"type": "control.signed", "v": 1, "jws": …}}`. That is a JWS in its compact form, with `alg`
   EdDSA, `kid` and `typ` `{signed.TYPE}` in its head and nothing else, over canonical JSON
   (RFC 8785) with `iss`, `aud`, `kid`, `request_id`, `sent_at`, `expires_at` (five minutes later
   at most), `body_sha256` and `body`. The key is one that was pinned with `flybridge team pin`,
   and whoever holds it is the principal `key:<name>`.
10. A sender that asks for it with `progress: true` is told how far content of more than 1 MiB is,
   by `control.stdin.progress` before the acknowledgement: each stage once, and within one at most
   every 250 ms and every MiB; nothing after the acknowledgement, and nothing for a repeat. Only a
   socket can tell: by HTTP, where there is one answer, the field has no effect. A WebSocket's frame
   has at most 1 MiB and names no file, so that in practice this is for the Unix socket. What a
   sender does not take is dropped.

## What `ok` and the others mean for a repeat

| state of the first one | a repeat gets |
|---|---|
| refused | looked at afresh; nothing was claimed |
| accepted, queued | `ok`, `stage: accepted`, `detail: queued` |
| on its way to the agent | waits; then `timeout`, `in_progress` |
| written | `ok`, `stage: written` |
| observed: the agent showed that it has it | `ok`, `stage: observed`; later `outcome` |
| never delivered, and that is proven | tried again under the same id |
| lost: written, and proven unread at the agent's end | `ok`, `outcome: lost`; use `retry_of` |
| written, then dropped by the agent at an interrupt | `ok`, `outcome: cancelled`; use `retry_of` |
| an interrupt whose turn had ended before it could stop it | `not_live`, `turn_ended` |
| expired, cancelled before it was sent, refused by the agent | `rejected` with that code |
| unknown | `internal_error`, `outcome_unknown`; look first, then send anew with `retry_of` |

## What is written down

The audit log of the gateway has a record of each message and of each acknowledgement; `sent.log`
in the state directory has one of everything that `flybridge control` sent, heard, tried again or
gave up: `request`, `team`, `session`, `agent_id`, `sender`, `result`, `duplicate`. What was said is
in neither, unless `control.log_text` is set. Both are chains: `flybridge audit verify` and
`flybridge audit verify --sent` name the first record that was changed.

## Where it differs from the draft

The draft acknowledges every duplicate with `ok`. That would be a lie where the first one was lost
or refused, so the recorded outcome is told. It lets keys expire after ten minutes, next to an age
limit of its own; here they last as long as the session. The principal is part of the key, so that
nobody can take another's request id. `turn_id`, `mode`, `retry_of`, `progress`, `stage`,
`outcome`, `error.code` and `control.capabilities.*` are added, all optional: a peer that knows only
the draft still works.

"""


def page() -> str:
    asked = [messages.StdinRequest, messages.InterruptRequest, messages.CapabilitiesRequest]
    acks = [messages.StdinAck, messages.InterruptAck, messages.CapabilitiesAck]
    parts = [HEAD, "## Every message\n\n", _fields("_Message"), "## To a receiver\n\n"]
    parts += [*map(_section, asked), "### `content_ref`\n\n", _part(messages.ContentRef)]
    parts += ["### `meta`\n\n", _part(messages.Metadata)]
    parts += ["## From a receiver\n\n", "Every acknowledgement has these:\n\n", _fields("_Ack")]
    parts += [*map(_section, acks), _section(messages.StdinProgress)]
    parts += ["### `capabilities`\n\n", _part(messages.Capabilities)]
    parts += ["### `limits`\n\n", _part(messages.Limits), _section(messages.ErrorMessage)]
    return "".join(parts).rstrip("\n") + "\n"


def _section(struct: type) -> str:
    tag = struct.__struct_config__.tag  # type: ignore[attr-defined]
    return f"### `{tag}`\n\n{_part(struct)}"


def _part(struct: type) -> str:
    said = inspect.getdoc(struct) if "__doc__" in vars(struct) and struct.__doc__ else ""
    about = f"{said}\n\n".replace("``", "`") if said else ""
    return about + _fields(struct.__name__)


def _fields(name: str) -> str:
    rows = "".join(_rows(name))
    return f"| field | type | needed | |\n|---|---|---|---|\n{rows}\n" if rows else ""


def _rows(name: str) -> Iterator[str]:
    tree = {one.name: one for one in ast.parse(SOURCE).body if isinstance(one, ast.ClassDef)}
    lines = SOURCE.splitlines()
    for node in tree[name].body:
        if isinstance(node, ast.AnnAssign):
            field, kind = ast.unparse(node.target), ast.unparse(node.annotation)
            remark = lines[(node.end_lineno or 1) - 1].partition("  # ")[2]
            needed = "yes" if node.value is None else ""
            kind = kind.replace(" | UnsetType", "").replace("|", "\\|")
            yield f"| `{field}` | `{kind}` | {needed} | {remark} |\n"


FILES: pages.Files = {pages.REFERENCE / "control.md": page}


if __name__ == "__main__":
    sys.exit(pages.main(sys.argv[1:], FILES, __doc__))
