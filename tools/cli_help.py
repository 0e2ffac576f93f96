"""Write docs/reference/cli.md from what the commands say of themselves.

python -m tools.cli_help            write it
python -m tools.cli_help --check    exit 1 if it is not what the commands say
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from flybridge.cli.main import main as flybridge
from tools import pages

WIDTH = 88
INTRODUCTION = """\
# The command line

<!-- Written by tools/cli_help.py from the commands themselves; edit those, then run it. -->

Every command is a client of one gateway, which starts by itself when it is needed and none
runs. `--state DIR` (or `FLYBRIDGE_STATE`) chooses the state directory, and with it the gateway.
What goes wrong is one line on standard error, `flybridge: text (code)`; the codes are listed in
[errors](errors.md).

| exit status | |
|---|---|
| 0 | done |
| 1 | something went wrong; in a pipe: the turn did not end well |
| 2 | the command line made no sense |
| 130 | left or interrupted with Ctrl-C |
| 128 + n | ended by signal n |

## Keys in a chat

| key | |
|---|---|
| Enter | send; while a turn runs the agent gets it as soon as it takes input |
| Alt-Enter, Ctrl-J, or `\\` before Enter | a new line |
| Esc, or Ctrl-C once | interrupt the turn |
| Ctrl-C twice within 2 s | leave; the agent goes on |
| Ctrl-D on an empty line | leave; the agent goes on |
| Ctrl-Z | stop the chat, as any program |
| Up, Down | lines typed before |

A permission is asked in a frame below the text. Its keys count only when it has been there for
half a second and nothing is being typed: `y` allows once, `n` denies, `d` denies with a reason,
`s` denies and stops the turn, `a` allows always by one of the rules shown. An input that does
not fit is shown page by page, and can be allowed only after its end. Whatever an agent writes
is indented and its control characters are spelled out, so it can draw no such frame.

"""


def page() -> str:
    return INTRODUCTION + "\n".join(_sections(flybridge, "flybridge", None))


def _sections(command: click.Command, name: str, above: click.Context | None) -> Iterator[str]:
    context = click.Context(
        command,
        info_name=name,
        parent=above,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )
    text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    yield f"## {context.command_path}\n\n```text\n{text}\n```\n"
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            if found is not None:
                yield from _sections(found, below, context)


FILES: pages.Files = {pages.REFERENCE / "cli.md": page}


if __name__ == "__main__":
    sys.exit(pages.main(sys.argv[1:], FILES, __doc__))
