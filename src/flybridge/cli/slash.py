"""Lines that begin with a slash: the few that are ours; all others are the agent's."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from flybridge.model.commands import Close, Command, Rename, SetMode, SetModel

HELP = """\
/quit            leave; the agent goes on
/close           end the agent and close the session
/interrupt       stop the turn (also: Esc, or Ctrl-C once)
/model NAME      use another model
/mode NAME       use another permission mode
/title TEXT      give the session a title
/sessions        list all sessions
/help            this list
Other lines with a slash go to the agent. Alt-Enter, or a backslash at the end, begins a new
line. Ctrl-C twice leaves, Ctrl-D on an empty line too."""

Local: TypeAlias = Literal["quit", "help", "interrupt", "sessions"]


class Do(msgspec.Struct, frozen=True):
    """Something this program does itself."""

    what: Local


class Usage(msgspec.Struct, frozen=True):
    """Ours, but said wrongly."""

    text: str


def parse(line: str) -> Do | Usage | Command | None:
    """What a line asks of us; None: it is for the agent."""
    name, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    match name:
        case "/quit" | "/exit":
            return Do("quit")
        case "/help" | "/?":
            return Do("help")
        case "/interrupt":
            return Do("interrupt")
        case "/sessions":
            return Do("sessions")
        case "/close":
            return Close()
        case "/model":
            return SetModel(model=rest) if rest else Usage("/model NAME")
        case "/mode":
            return SetMode(mode=rest) if rest else Usage("/mode NAME")
        case "/title":
            return Rename(title=rest) if rest else Usage("/title TEXT")
        case _:
            return None
