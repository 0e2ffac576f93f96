"""An agent's own records, as the runtime sees them, without any."""

from __future__ import annotations

import threading
from collections.abc import Callable

from flybridge.errors import BusyError, SessionNotFoundError
from flybridge.model import events as e
from flybridge.model.content import Text
from flybridge.model.ids import InputKey, ItemId, SessionId, TurnId
from flybridge.session.ports import Past

CONVERSATION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"


def told(conversation: str = CONVERSATION, *, turns: int = 1, **more: object) -> Past:
    """A past of so many turns, told as a driver would."""
    events: list[tuple[int, e.Event]] = []
    for n in range(1, turns + 1):
        key, turn, item = InputKey(f"past:{n}"), TurnId(f"past_{n}"), ItemId(f"past_i{n}")
        said = (Text(f"prompt {n}"),)
        events += [
            (1000 * n, one)
            for one in (
                e.InputAccepted(key=key, kind="message", by="past", fingerprint="", content=said),
                e.TurnStarted(turn=turn),
                e.InputConsumed(key=key, turn=turn),
                e.ItemStarted(item=item, kind="text", turn=turn),
                e.TextDone(item=item, text=f"answer {n}"),
                e.InputOutcome(key=key, outcome="done"),
                e.TurnEnded(turn=turn, cost_usd=1.0),
            )
        ]
    began = e.History(phase="started", conversation=conversation, turns=turns)
    done = e.History(phase="done", conversation=conversation)
    return Past(
        conversation=conversation,
        cwd="/home/ada/boat",
        title="boats",
        events=((0, began), *events, (0, done)),
        **more,  # type: ignore[arg-type]
    )


class Records:
    """Conversations of the agent ``recorder``: what was said, and who has them open."""

    def __init__(self, *pasts: Past) -> None:
        self.pasts = {one.conversation: one for one in pasts}
        self.users: dict[str, list[int]] = {}
        self.error: Exception | None = None
        self.reads: list[tuple[str, str, str]] = []
        self.threads: set[int] = set()
        self.claimed: list[str] = []
        self.guesses: list[bool] = []

    def past(self, agent: str, conversation: str, cwd: str = "") -> Past | None:
        self.threads.add(threading.get_ident())
        self.reads.append((agent, conversation, cwd))
        if self.error is not None:
            raise self.error
        if agent != "recorder":
            return None
        if conversation not in self.pasts:
            raise SessionNotFoundError(conversation)
        return self.pasts[conversation]

    def other_writer(
        self, agent: str, conversation: str, but: SessionId, *, guess: bool = True
    ) -> str:
        self.threads.add(threading.get_ident())
        users = self.users.get(conversation)
        return f"process {users[0]} has this conversation open" if users else ""

    def claim(
        self, agent: str, conversation: str, session: SessionId, *, guess: bool = True
    ) -> Callable[[], None]:
        self.threads.add(threading.get_ident())
        self.guesses.append(guess)
        if other := self.other_writer(agent, conversation, session):
            raise BusyError(other)
        self.claimed.append(conversation)
        return lambda: self.claimed.remove(conversation)
