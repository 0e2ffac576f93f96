"""The CLI lost its connection to us and is back: what it said meanwhile is gone for good.

It says which message was its last, so it is known whether there was any. It does not say again
what it said to nobody. But asked for ``initialize`` a second time it refuses and tells, with
that, which permissions it waits for: so a prompt that was lost is asked now, and one that was
taken back is closed. What cannot be had again is a tool's result, or the end of a turn. A tool
of which nothing is heard for a while is stopped. A turn of which nothing is heard may wait for
the model, or may have ended: that is shown, and for a person to judge. One that was torn and
says nothing when it is stopped had ended before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import UNSET

from flybridge.agents.claude.driver.memo import Memo
from flybridge.agents.claude.driver.prompts import Prompts
from flybridge.agents.claude.driver.requests import Requests
from flybridge.agents.claude.driver.sink import Sink
from flybridge.agents.claude.driver.turns import Turns
from flybridge.agents.claude.wire import host_requests as h
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import blocks, decode
from flybridge.model.events import Error

QUIET_MS = 5_000  # for a tool that neither ends nor asks
SILENT_MS = 30_000  # for a turn without one
LAST_WORD_MS = 2_000  # for a result, once the CLI has said that it stopped
MAX_PENDING = 256
_ID = b'"uuid"'
_VALUE = re.compile(rb'\s*:\s*"([0-9A-Za-z-]{1,64})"')
_NO_NEWS = (b'{"type":"control_response"', b'{"type":"keep_alive"')
WEDGED = "nothing was heard of the tool since the connection was lost: it is being stopped"
SILENT = "nothing was heard since the connection was lost: it may have ended; send or stop"
ENDED = "it ended while the connection was lost, and nobody heard how"


class Rejoin:
    """Watches what follows a lost connection. Not in the memo: a restart loses it, too."""

    def __init__(
        self, memo: Memo, sink: Sink, requests: Requests, prompts: Prompts, turns: Turns
    ) -> None:
        self._memo = memo
        self._sink = sink
        self._requests = requests
        self._prompts = prompts
        self._turns = turns
        self._quiet_ms: int | None = None
        self._last_word_ms: int | None = None

    @property
    def deadline_ms(self) -> int | None:
        times = [one for one in (self._quiet_ms, self._last_word_ms) if one is not None]
        return min(times, default=None)

    def rejoined(self, now_ms: int, *, lost: bool) -> None:
        """Ask what is still open: prompts have no id, and can be lost when nothing else was."""
        self._requests.ask("rejoin", h.Initialize())
        if lost and (self._memo.turn or self._memo.tools):
            self._memo.torn = self._memo.turn
            self._quiet_ms = now_ms + (QUIET_MS if self._memo.tools else SILENT_MS)

    def heard(self, messages: Sequence[bytes]) -> None:
        """The conversation goes on, unless these only answer what we asked."""
        if self._quiet_ms is not None and not all(one.startswith(_NO_NEWS) for one in messages):
            self._quiet_ms = None

    def tick(self, now_ms: int) -> None:
        if self._quiet_ms is not None and self._quiet_ms <= now_ms:
            self._quiet_ms = None
            if not self._memo.prompts:
                self._stop()
        if self._last_word_ms is not None and self._last_word_ms <= now_ms:
            self._last_word_ms = None
            if self._memo.torn:
                self._turns.tear_off(ENDED)

    def _stop(self) -> None:
        if self._memo.tools:
            self._sink.put(Error(code="wedged", text=WEDGED))
            self._memo.stopping = self._memo.turn
            self._requests.ask("interrupt", h.Interrupt())
        elif self._memo.turn:
            self._sink.put(Error(code="wedged", text=SILENT))

    def interrupted(self, now_ms: int) -> None:
        """The CLI says that it stopped. If a turn ran, its result is the next it says."""
        if self._memo.torn:
            self._last_word_ms = now_ms + LAST_WORD_MS

    def answered(self, response: w.ResponseBody) -> None:
        """What the CLI waits for, as far as it tells."""
        raw = response.pending_permission_requests
        pending = None if raw is UNSET else blocks(raw)
        if pending is None:
            return
        asked: set[str] = set()
        for one in pending[:MAX_PENDING]:
            request = decode(bytes(one))
            if isinstance(request, w.CanUseTool):
                asked.add(request.request_id)
                self._ask_again(request)
        for request_id in [one.request for one in self._memo.prompts.values()]:
            if request_id not in asked:
                self._prompts.cancelled(request_id)

    def _ask_again(self, request: w.CanUseTool) -> None:
        name = request.request_id
        if name not in self._memo.given and not self._memo.is_used_up(name):
            self._turns.begin()
            self._prompts.asked(request)  # one that is open stays as it is


def last_id(messages: Sequence[bytes]) -> str:
    """The id of the last message that has one; nothing where none has."""
    for line in reversed(messages):
        at = line.rfind(_ID)
        if at >= 0 and (found := _VALUE.match(line, at + len(_ID))):
            return found[1].decode()
    return ""
