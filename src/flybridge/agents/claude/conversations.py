"""What agents keep by themselves, for the runtime: Claude's transcripts, read and guarded.

Each agent's are looked for where that agent itself would, given the environment it runs in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from flybridge.agents.claude.history import ClaudeHistory, Transcript
from flybridge.agents.claude.owners import owners_of
from flybridge.agents.claude.transcripts.conversation import read
from flybridge.agents.claude.transcripts.past import to_past
from flybridge.errors import BusyError, SessionNotFoundError
from flybridge.model.ids import SessionId
from flybridge.session.ports import KEEPERS_ENV, SESSION_ENV, Past
from flybridge.store.start_lock import take_lock

MAX_READ_BYTES = 32 << 20
SAYS = (
    "process {} has this conversation open",
    "process {}, a Claude in the same directory, seems to have this conversation open",
)


class ClaudeConversations:
    """A :class:`~flybridge.session.ports.Conversations` over the transcripts of these agents.

    ``agents`` has the environment of each, ``keepers`` is this gateway's folder for theirs;
    ``locks`` is a folder all gateways of a user share.
    """

    def __init__(
        self, agents: Mapping[str, Mapping[str, str]], *, keepers: Path, locks: Path
    ) -> None:
        self._agents = agents
        self._keepers = keepers
        self._locks = locks

    def past(self, agent: str, conversation: str, cwd: str = "") -> Past | None:
        history = self._history(agent)
        if history is None:
            return None
        transcript = history.of_session(conversation, cwd)
        newest = history.read_newest(transcript, MAX_READ_BYTES)
        return to_past(
            read(newest.lines, whole=True),
            conversation,
            source=str(history.path(transcript)),
            unread_bytes=newest.unread_bytes,
        )

    def other_writer(
        self, agent: str, conversation: str, but: SessionId, *, guess: bool = True
    ) -> str:
        history = self._history(agent)
        if history is None:
            return ""
        transcript = _found(history, conversation) if guess else None
        # two gateways may well have a session of one name: an imported one is called after this
        mine = (f"{SESSION_ENV}={but}", f"{KEEPERS_ENV}={self._keepers}") if but else ()
        owners = owners_of(history.config, conversation, transcript=transcript, but=mine)
        # one that says so is worth more than one that looks like it
        told = sorted(owners, key=lambda one: one.told_by == "looks")
        return SAYS[told[0].told_by == "looks"].format(told[0].pid) if told else ""

    def claim(
        self, agent: str, conversation: str, session: SessionId, *, guess: bool = True
    ) -> Callable[[], None]:
        if self._history(agent) is None:
            return lambda: None
        release = take_lock(self._locks, conversation)
        other = self.other_writer(agent, conversation, session, guess=guess)
        if other:
            release()
            raise BusyError(other)
        return release

    def _history(self, agent: str) -> ClaudeHistory | None:
        env = self._agents.get(agent)
        return None if env is None else ClaudeHistory.of(env)


def _found(history: ClaudeHistory, conversation: str) -> Transcript | None:
    try:
        return history.of_session(conversation)
    except SessionNotFoundError:
        return None
