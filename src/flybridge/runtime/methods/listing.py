"""The list of sessions: all of it at once, or what has changed since."""

from __future__ import annotations

from typing import Literal

import msgspec

from flybridge.model.ids import SessionId
from flybridge.runtime.changes import Changes
from flybridge.runtime.methods.sessions import NoParams, Question
from flybridge.runtime.sessions import Sessions
from flybridge.session.authorisation import OURS, Caller, knows
from flybridge.session.ports import SessionRow
from flybridge.session.state import LastAlarm

MAX_WAIT_MS = 30_000


class Listed(msgspec.Struct, kw_only=True):
    """A session as a list shows it."""

    session: SessionId
    agent: str
    cwd: str
    title: str
    created_ms: int
    changed_ms: int
    archived: bool
    labels: dict[str, str]
    last_seq: int
    status: Literal["closed", "off", "starting", "idle", "running"]
    why: str
    prompts: int
    conversation: str = ""  # the agent's own id of it
    since_ms: int = 0  # when it began to wait for that
    tool: str = ""  # the one that runs, or that a person is asked about
    tool_kind: str = ""  # of the one that a person is asked about
    queued: int = 0
    ended: str = ""  # how the last turn did
    cost_usd: float = 0.0
    model: str = ""
    mode: str = ""
    agent_io: str = ""  # the agent talks over "sockets" or "pipes"; "": neither, or no agent
    alarm: LastAlarm | None = None  # the latest
    kind: str = ""  # of the agent; "": opened before kinds were recorded


class ChangesParams(msgspec.Struct, kw_only=True):
    after: int = 0  # what the last answer said; 0: everything
    wait_ms: int = 0  # how long to wait if nothing has changed


class Changed(msgspec.Struct, kw_only=True):
    """``whole``: these are all there are, whatever was known before."""

    at: int
    whole: bool
    sessions: list[Listed]
    gone: list[SessionId]


class SessionList:
    """Answers with lines of the list."""

    def __init__(self, sessions: Sessions, changes: Changes) -> None:
        self._sessions = sessions
        self._changes = changes

    def table(self) -> dict[str, Question]:
        return {
            "list": Question("view", NoParams, self.whole),
            "changes": Question("view", ChangesParams, self.changes),
        }

    async def whole(self, caller: Caller, _: NoParams) -> dict[str, list[Listed]]:
        return {"sessions": self._all(caller)}

    async def changes(self, caller: Caller, params: ChangesParams) -> Changed:
        """What is new since the last answer; waits for it if that is wanted."""
        if params.after <= 0 or not self._changes.knows(params.after):
            return Changed(at=self._changes.at, whole=True, sessions=self._all(caller), gone=[])
        wait_ms = min(max(params.wait_ms, 0), MAX_WAIT_MS)
        await self._changes.wait(params.after, wait_ms / 1000)
        at = self._changes.at
        names, gone = self._changes.since(params.after)
        if names:
            wanted = set(names)
            rows = [row for row in self._sessions.rows() if row.session in wanted]
            changed = [listed(self._sessions, row) for row in rows if knows(caller, row.session)]
        else:
            changed = []
        gone = [one for one in gone if knows(caller, one)]
        return Changed(at=at, whole=False, sessions=changed, gone=gone)

    def _all(self, caller: Caller) -> list[Listed]:
        rows = [row for row in self._sessions.rows() if knows(caller, row.session)]
        return [listed(self._sessions, row) for row in rows]


def listed(sessions: Sessions, row: SessionRow) -> Listed:
    """A line of the list; a session that is not loaded has no agent and waits for nothing."""
    live = sessions.loaded(row.session)
    one = Listed(
        session=row.session,
        agent=row.agent,
        cwd=row.cwd,
        title=row.title,
        created_ms=row.created_ms,
        changed_ms=row.changed_ms,
        archived=row.archived,
        labels={key: value for key, value in row.labels.items() if key not in OURS},
        last_seq=row.last_seq,
        status="closed" if row.closed else "off",
        why="nothing",
        prompts=0,
        conversation=row.conversation,
        alarm=row.alarm,
        kind=row.kind,
    )
    if live is None:
        return one
    shown = live.showing.summary(live.services.now_ms())
    one.status, one.why, one.since_ms = shown.status, shown.why, shown.since_ms
    one.prompts, one.queued, one.ended = len(shown.prompts), len(shown.queue), shown.ended
    one.cost_usd, one.model, one.mode = shown.cost_usd, shown.model, shown.mode
    one.agent_io = shown.agent_io
    asked = [prompt.tool for prompt in shown.prompts]
    one.tool_kind = shown.prompts[0].tool_kind if shown.prompts else ""
    one.tool = next(iter([*asked, *(tool.name for tool in shown.tools)]), "")
    return one
