"""Scenes about the session itself: context, cost, settings, and what is attached."""

from __future__ import annotations

import uuid

from flybridge.agents.demo import system_messages as news
from flybridge.agents.demo.blocks import Say
from flybridge.agents.demo.options import MODES
from flybridge.agents.demo.pictures import described
from flybridge.agents.demo.stream import CONTEXT_WINDOW
from flybridge.agents.demo.turn import Turn

PRICE_USD = 0.0421
KEPT = 0.1  # of the context, when it is compacted
FULL = 0.8  # above this it is compacted without being asked


# ---- commands of the CLI's own ------------------------------------------------------------------


async def compact(turn: Turn, _rest: str) -> None:
    await _compact(turn, "manual")
    turn.speaker.replay("<local-command-stdout>Compacted </local-command-stdout>", "")
    turn.local("compact", "")


async def compact_if_full(turn: Turn) -> None:
    """What a real agent does by itself when its context is nearly full."""
    if turn.session.context > FULL * CONTEXT_WINDOW:
        await _compact(turn, "auto")


async def _compact(turn: Turn, trigger: str) -> None:
    session = turn.session
    news.compacting(turn.speaker)
    await turn.pause(2)
    news.compacted(turn.speaker)
    if trigger == "manual":
        turn.speaker.init()
    before, session.context = session.context, int(session.context * KEPT)
    news.compact_boundary(turn.speaker, trigger=trigger, before=before, after=session.context)
    turn.context_changed()
    summary = "In short: somebody tried the demo, and the demo did what it was asked."
    turn.speaker.user(summary, isReplay=False, isSynthetic=True)


async def tell_context(turn: Turn, _rest: str) -> None:
    used = turn.session.context
    free = max(CONTEXT_WINDOW - used, 0)
    rows = "\n".join(
        f"| {name} | {tokens:,} | {tokens / CONTEXT_WINDOW:.1%} |"
        for name, tokens in (("Messages", used), ("Free space", free))
    )
    text = (
        f"## Context Usage\n\n**Model:** {turn.session.model}\n"
        f"**Tokens:** {used:,} / {CONTEXT_WINDOW:,} ({used / CONTEXT_WINDOW:.0%})\n\n"
        f"| Category | Tokens | Percentage |\n|---|---|---|\n{rows}\n\n"
        "The demo counts words and calls them tokens; `compact` makes room."
    )
    usage = {
        "model": turn.session.model,
        "total_tokens": used,
        "raw_max_tokens": CONTEXT_WINDOW,
        "percentage": round(100 * used / CONTEXT_WINDOW),
    }
    turn.speaker.init()
    turn.local("context", text, context_usage=usage)


async def tell_cost(turn: Turn, _rest: str) -> None:
    session = turn.session
    text = (
        f"Total cost:            ${session.cost_usd:.4f} (imaginary)\n"
        "Total duration (API):  0s\n"
        "Usage by model:\n"
        f"    {session.model}:  {session.input_tokens} input, {session.output_tokens} output"
    )
    turn.speaker.init()
    turn.local("cost", text)


async def clear(turn: Turn, _rest: str) -> None:
    """Forget the conversation: another id, an empty context, no cost. The log keeps it all."""
    session = turn.session
    message = turn.message.uuid
    news.conversation_reset(turn.speaker, conversation=str(uuid.uuid4()), message=message)
    news.background(turn.speaker, [])
    session.id = str(uuid.uuid4())
    session.context = 0
    session.cost_usd = 0.0
    turn.context_changed()
    turn.speaker.init()
    turn.local("clear", "")


# ---- and turns of the model ---------------------------------------------------------------------


async def charge(turn: Turn, _rest: str) -> None:
    turn.session.cost_usd += PRICE_USD
    said = f"This turn says that it cost ${PRICE_USD}. **Imaginary**: nobody pays for a demo."
    await turn.respond(Say(f"{said} `/cost` gives the total."))


async def tell_settings(turn: Turn, _rest: str) -> None:
    session = turn.session
    modes = ", ".join(f"`{mode}`" for mode in MODES)
    said = (
        f"The mode is `{session.mode}`, the model `{session.model}`. Change them from outside:\n\n"
        "- `/mode acceptEdits`, and `edit` or `write` ask no more\n"
        "- `/mode default`, and they ask again\n"
        "- `/model flybridge-demo-fast`, and I stop typing slowly\n\n"
        f"The modes are {modes}; one of them is refused, and that is right."
    )
    await turn.respond(Say(said))


async def look_at_picture(turn: Turn, _rest: str) -> None:
    if not turn.message.pictures:
        said = (
            "I would look at a picture, but none came with this message. Send one from a front "
            "end that can attach files, and I tell you how large it is."
        )
        await turn.respond(Say(said))
        return
    rows = "\n".join(f"- {described(block)}" for block in turn.message.pictures)
    await turn.respond(Say(f"Thank you, I see:\n\n{rows}\n\nMore than its size I cannot see."))
