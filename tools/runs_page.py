"""Write the reference page of the run protocol: read off the structs that speak it.

python -m tools.runs_page            write it
python -m tools.runs_page --check    say what differs, and exit 1 if anything does
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from typing import Any, get_args

from flybridge.frontends.runs.wire import messages
from tools import pages

SOURCE = inspect.getsource(messages)
HEAD = f"""\
# The run protocol

<!-- Written by tools/runs_page.py from wire/runs/messages.py; edit that, then run make docs. -->

`flybridge adhoc --output json` carries one run: frames, one JSON object a line, in UTF-8, both
ways. Standard error is for people. Every frame is an envelope:

```json
{{"v": "{messages.VERSION}", "id": "msg_…", "ts": "2026-02-27T00:00:00.000Z", "type": "run.started",
 "run_id": "run_…", "payload": {{}}}}
```

A frame to a run needs `v`, `type` and `payload`; the `run_id` of a `run.start` is kept. Fields
nobody knows are ignored, unknown types and bad lines are too, with a warning on standard error;
only the first frame must be right. A line has at most {messages.MAX_LINE_BYTES >> 20} MiB, and a
field that has its default may be left out.

## Rules

1. The first frame in is `run.start`; else the run fails with `unsupported_version` or
   `protocol_error`.
2. There is exactly one terminal frame (`run.completed`, `run.failed`, `run.cancelled`), and
   nothing after it. The run's log decides which: the first end in it counts. An attempt that
   concerns no run of its own (`--attach` to a run that cannot be followed, a `run.start` whose
   `run_id` was used before) ends with `run.failed` under a new `run_id`; the named run goes on.
3. The exit status is 0 for completed and cancelled, 1 for failed. `SIGTERM`, `SIGINT` and `SIGHUP`
   cancel the run, also before its `run.start` was read. Under `nohup`, `SIGHUP` is ignored.
4. Closed input lets a run go on, until a required question is open: that fails it.
5. An answer to a question that does not wait is ignored. One outside the options is asked again,
   with `validation`. A question out of time takes its `default`, or nothing where it is not
   required, or fails the run. These times, and `timeout_s`, hold while no script is there: the
   gateway keeps them, and ends the agent of a run that is out of time.
6. The same ids come in the same order whenever a run is told again with `--attach`. A
   `text_delta`, and a question asked again, are told once.
7. A secret answer is in no file and no stream of Flybridge's, and what the agent repeats of it
   is replaced by `[secret]`, for values of four characters and more. The agent's own transcript
   holds it. No disk has anything that it could be guessed from: what to replace is known to the
   gateway and to the keeper of the agent, in memory, so a gateway that is started anew knows it as
   long as that agent lives. Where it is lost, with both of them, the run says so. A shorter secret
   is asked for again.
8. Who begins a run may allow what its agent asks. `run.started` brings them, and nobody else, an
   `attach_key`. A script that comes back with `--attach` and that key, in `$FLYBRIDGE_RUN_KEY` or a
   `--key-file`, counts as the one that began the run; without it, a script may watch, cancel and
   answer what is asked in the text, and a person at a terminal may decide. Only a digest of the
   key is kept. An agent may never allow anything, with the key or without.

Questions in an agent's text are written like this, and taken out of it:
`<!--QUESTION:{{"questions":[{{"question":"Name?","options":[{{"label":"A"}}],"kind":"select"}}]}}-->`.
`freeText`, `multiSelect`, `default`, `required` and `timeoutS` may be said too. Their answer is
the next input of the same session.

"""


def page() -> str:
    parts = [HEAD, "## To a run\n\n", *_structs(messages.Inbound), "### `config`\n\n"]
    parts += [_about(messages.RunConfig), _fields(messages.RunConfig)]
    parts += ["## From a run\n\n", *_structs(messages.Outbound)]
    return "".join(parts).rstrip("\n") + "\n"


def _structs(union: Any) -> Iterator[str]:
    for struct in get_args(union):
        tag = struct.__struct_config__.tag
        yield f"### `{tag}`\n\n{_about(struct)}{_fields(struct)}"


def _about(struct: type) -> str:
    said = inspect.getdoc(struct) if "__doc__" in vars(struct) and struct.__doc__ else ""
    return f"{said}\n\n".replace("``", "`") if said else ""


def _fields(struct: type) -> str:
    tree = {one.name: one for one in ast.parse(SOURCE).body if isinstance(one, ast.ClassDef)}
    lines = SOURCE.splitlines()
    rows = []
    for node in tree[struct.__name__].body:
        if isinstance(node, ast.AnnAssign):
            name, kind = ast.unparse(node.target), ast.unparse(node.annotation)
            remark = lines[(node.end_lineno or 1) - 1].partition("  # ")[2]
            needed = "yes" if node.value is None else ""
            kind = kind.replace("|", "\\|")
            rows.append(f"| `{name}` | `{kind}` | {needed} | {remark} |\n")
    if not rows:
        return ""
    return "| field | type | needed | |\n|---|---|---|---|\n" + "".join(rows) + "\n"


FILES: pages.Files = {pages.REFERENCE / "runs.md": page}


if __name__ == "__main__":
    sys.exit(pages.main(sys.argv[1:], FILES, __doc__))
