"""What a session would be opened with if it were opened anew, read from its log.

A fork needs the agent's own name for the conversation, and that is told only there.
"""

from __future__ import annotations

import msgspec

from flybridge.client import Client
from flybridge.model import events as ev
from flybridge.model.capabilities import StartOptions
from flybridge.model.legacy_options import after_change, recorded, start_options

PAGE_EVENTS = 10_000


class Origin(msgspec.Struct):
    """``conversation`` is empty while there is nothing that could be gone on with."""

    agent: str = ""
    cwd: str = ""
    title: str = ""
    model: str = ""
    options: StartOptions = StartOptions()
    conversation: str = ""
    named: str = ""  # by the agent, before anything was said

    def apply(self, event: ev.Event | None) -> None:
        match event:
            case ev.SessionOpened():
                self.agent, self.cwd, self.title = event.agent, event.cwd, event.title
                self.model = event.model
                self.options = recorded(start_options(event), event.options)
                self.conversation = event.resumed
            case ev.SessionChanged():
                self.title = self.title if event.title is None else event.title
                self.options = after_change(self.options, event)
            case ev.ModelChanged(model=model):
                self.model = model
            case ev.AgentReady(agent_session=str(name)) if name:
                self.named = name
            case ev.TurnStarted() | ev.TurnEnded():  # from here on the agent has a record of it
                self.conversation = self.named or self.conversation
            case ev.ConversationLost():
                self.conversation = self.named = ""
            case _:
                pass


async def origin_of(client: Client, session: str) -> Origin:
    """Read the whole log, a page at a time."""
    origin, after = Origin(), 0
    while True:
        page = await client.page(session, after, PAGE_EVENTS)
        for item in page.events:
            origin.apply(item.event)
            after = item.seq
        if not page.events or after >= page.head:
            return origin
