"""When an agent may be put away, and what is said about it.

An idle agent is 200 MB that nobody needs. It can go whenever nothing would be lost with it:
the next input brings it back in the same conversation. What does not come back, the session
rules somebody granted to that process, is said.
"""

from __future__ import annotations

from msgspec import Raw

from flybridge.model import events as e
from flybridge.session.effects import Decision, Stop
from flybridge.session.state import State

MAX_SAID = 20
MAX_TEXT = 200
PUT_AWAY = "the agent was put away"  # how its notice begins


def may_go(state: State) -> bool:
    """Whether nothing is lost if the agent ends now: no turn, no prompt, no input, no task."""
    open_ = state.turn or state.prompts or state.inputs or state.items or state.waiting_for
    up = state.phase == "live" and state.accepts_input
    return up and not (state.closed or open_ or state.background)


def put_away(state: State, why: str) -> Decision:
    """End an idle agent, and say so."""
    said = f"{PUT_AWAY} ({why}); your next message brings it back"
    granted = [*map(_text, state.rules), *(text[:MAX_TEXT] for text in state.granted)]
    if granted:
        lost = "\n".join(f"- {text}" for text in granted[:MAX_SAID])
        said += f". It will ask again about what was allowed for this session:\n{lost}"
    return Decision([e.Notice(text=said)], [Stop()])


def _text(rule: Raw) -> str:
    return bytes(rule).decode("utf-8", "replace")[:MAX_TEXT]
