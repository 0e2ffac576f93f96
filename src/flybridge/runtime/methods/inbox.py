"""Everything that waits for a person, over all sessions: nobody has to look for a prompt."""

from __future__ import annotations

import msgspec

from flybridge.errors import StorageError
from flybridge.runtime.methods.panels import Panels, Prompt, open_prompts
from flybridge.runtime.methods.sessions import NoParams, Question
from flybridge.runtime.sessions import Sessions
from flybridge.session.authorisation import Caller, knows

MAX_SHOWN = 500


class Waiting(msgspec.Struct, kw_only=True):
    """The open prompts, the oldest first; ``count`` may be more than are shown."""

    prompts: list[Prompt]
    count: int


class Inbox:
    """The prompts of all sessions that a caller may know of."""

    def __init__(self, sessions: Sessions, panels: Panels) -> None:
        self._sessions = sessions
        self._panels = panels

    def table(self) -> dict[str, Question]:
        return {"prompts": Question("view", NoParams, self.prompts)}

    async def prompts(self, caller: Caller, _: NoParams) -> Waiting:
        count = 0
        shown: list[Prompt] = []
        for row in self._sessions.rows():
            live = self._sessions.loaded(row.session) if knows(caller, row.session) else None
            if live is None or not live.memory.state.prompts:
                continue  # whoever is not loaded has no agent that could ask
            count += len(live.memory.state.prompts)
            try:
                shown += open_prompts(live, await self._panels.gathered(live))
            except StorageError:  # this one's log cannot be read now; the others can
                continue
        shown.sort(key=lambda one: one.since_ms)
        return Waiting(prompts=shown[:MAX_SHOWN], count=count)
