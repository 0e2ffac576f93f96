"""What the measured versions do, probe by probe, and what else we could live with."""

from __future__ import annotations

import msgspec

from flybridge.agents.claude.measured import MIDDLE, OLDER


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What a probe is about, and what the measured versions do.

    ``also`` are patterns of what we can live with, though it is new; anything else is broken.
    """

    about: str
    old: str
    middle: str = ""  # as new, when empty
    new: str = ""  # as old, when empty
    also: tuple[str, ...] = ()

    def of(self, against: str) -> str:
        """Return what the measured version ``against`` does."""
        new = self.new or self.old
        return {OLDER: self.old, MIDDLE: self.middle or new}.get(against, new)


EXPECTED: dict[str, Expected] = {
    "start": Expected(
        about="started with our arguments",
        old="tells commands, models",
        new="tells agents, commands, models",
        also=("tells *",),
    ),
    "text": Expected(
        about="a text",
        old="streamed, closed as it was said",
        also=("closed as it was said",),
    ),
    "echo": Expected(
        about="our id of a prompt",
        old="named back after the answer began",
        middle="named back after the answer began",
        new="named back before the answer began",
        also=("named back *",),
    ),
    "repeat": Expected(
        about="a prompt with an id that was there before",
        old="named back, not run again",
        also=("not run again",),
    ),
    "usage": Expected(
        about="the end of a turn",
        old="tells tokens, cost, context window",
        also=("tells tokens*",),
    ),
    "model": Expected(about="another model", old="answered, and used"),
    "mode": Expected(about="another permission mode", old="answered, and told", also=("answered",)),
    "queries": Expected(
        about="what it can be asked",
        old="answers mcp",
        new="answers context, mcp, models, plan, settings, usage",
        also=("answers *",),
    ),
    "slash": Expected(
        about="the output of a slash command",
        old="shown, said in the name of the user",
        new="shown, said as an answer",
        also=("shown, *",),
    ),
    "api_error": Expected(
        about="a key that the model's API refuses",
        old="ends the turn as error, called authentication_failed",
        also=("ends the turn as error, *",),
    ),
    "allow": Expected(about="a tool that is allowed", old="asked, then ran"),
    "deny": Expected(
        about="a tool that is denied",
        old="did not run, the model heard why",
        also=("did not run, *",),
    ),
    "edit": Expected(about="a tool whose input is edited", old="ran as edited"),
    "several": Expected(
        about="several permissions at a time",
        old="all open at once",
        also=("one after the other",),
    ),
    "withdraw": Expected(
        about="an interrupt while a permission is asked",
        old="taken back by name",
        also=("taken back",),
    ),
    "question": Expected(
        about="answers to questions, one and many",
        old="heard as Blue; Apple,Plum",
        new="heard as Blue; Apple, Plum",
    ),
    "plan": Expected(
        about="a plan that is approved",
        old="shown, then in mode default",
        also=("shown, *",),
    ),
    "diff": Expected(about="an edited file", old="shown line by line"),
    "subagent": Expected(
        about="a sub-agent",
        old="shown below its call, within the turn",
        new="shown below its call, beside the turn",
        also=("shown below its call, *",),
    ),
    "interrupt": Expected(
        about="an interrupt",
        old="ends the turn as interrupted, what was said is kept",
        also=("ends the turn as interrupted, *",),
    ),
    "queue": Expected(
        about="an interrupt while a prompt waits",
        old="what waits runs next",
        middle="what waits runs next",
        new="what waits is taken back",
        also=("what waits runs next", "what waits is taken back"),
    ),
    "steer": Expected(
        about="a prompt while a tool runs",
        old="taken into the running turn",
        also=("answered in a turn of its own",),
    ),
    "strange": Expected(
        about="a request it does not know",
        old="not answered",
        new="answered with error",
        also=("not answered", "answered with *"),
    ),
    "end": Expected(about="the end of its input", old="ends with status 0", also=("ends *",)),
    "resume": Expected(
        about="a conversation that is resumed",
        old="knows what was said, same id",
        also=("knows what was said, *",),
    ),
    "repeat_resumed": Expected(
        about="an old prompt in a resumed conversation",
        old="named back, not run again",
        also=("not run again",),
    ),
    "fork": Expected(about="a conversation that is forked", old="knows what was said, same id"),
    "lost": Expected(
        about="a conversation that is not there",
        old="says that there is none, ends with status 1",
        also=("says that there is none, *",),
    ),
    "messages": Expected(about="messages our driver does not know", old="none", also=("*",)),
    "fields": Expected(about="fields that were never seen", old="none", also=("new: *",)),
}
