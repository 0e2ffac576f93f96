"""The prompt that waits for a person: which one is shown, and when its keys count.

A prompt gets keys only after it has been on the screen for a moment with nothing being typed:
what was meant as a message never becomes a permission.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeAlias

from flybridge.cli.chat.prompts import Answer, Box, PermissionBox, QuestionBox, Rows
from flybridge.cli.rendering.closings import changed_rows, closing
from flybridge.cli.rendering.screen import Paper
from flybridge.cli.rendering.who import by
from flybridge.model import events as ev
from flybridge.model.commands import AnswerPermission

SETTLE_S = 0.5  # how long a prompt is only looked at
CHANGED_ROWS = 10  # of what somebody else made of it
Asked: TypeAlias = ev.PermissionRequested | ev.QuestionRequested
Closed: TypeAlias = ev.PermissionClosed | ev.QuestionClosed


class Asking:
    """The open prompts of a session, oldest first; one of them is in ``box`` and ``rows``.

    ``decide`` is called with an answer once. With ``inline`` a prompt is written on the paper
    at once, else only when it is answered.
    """

    def __init__(
        self,
        paper: Paper,
        *,
        size: Callable[[], tuple[int, int]],
        changed: Callable[[], None],
        decide: Callable[[Answer], None],
        helper: Callable[[str], str],
        inline: bool,
    ) -> None:
        self.box: Box | None = None
        self.rows: Rows = []
        self.sending = False  # an answer is on its way
        self.typed_at = 0.0
        self.us = ""
        self._paper = paper
        self._size = size
        self._changed = changed
        self._decide = decide
        self._helper = helper
        self._inline = inline
        self._open: dict[str, Asked] = {}
        self._answer: Answer | None = None
        self._shown_at = 0.0
        self._has_keys = False

    # ---- what arrives --------------------------------------------------------------------------

    def opened(self, event: Asked) -> None:
        self._open[event.prompt] = event

    def closed(self, event: Closed) -> bool:
        """Whether it was the one in the box, which is told here then."""
        asked = self._open.pop(event.prompt, None)
        box = self.box
        if box is None or box.prompt != event.prompt:
            return False
        self._end(box, event, asked)
        return True

    def clear(self) -> None:
        """The log began anew."""
        self._open.clear()
        self.box, self.rows = None, []

    def show_next(self) -> None:
        """Put the oldest open prompt into the box, unless another one is there."""
        if self.box is not None or not self._open:
            return
        self.sending = False
        self._answer = None
        if self._inline:
            self._paper.gap()
        self.redraw()

    def redraw(self) -> None:
        """Show the oldest open prompt from its beginning, for the size the terminal has now."""
        event = next(iter(self._open.values()), None)
        if event is None or self.sending:
            return
        columns, lines = self._size()
        width, height, helper = columns - 6, lines - 8, self._helper(event.parent)
        if isinstance(event, ev.PermissionRequested):
            self.box = PermissionBox(event, width=width, height=height, helper=helper)
        else:
            self.box = QuestionBox(event, width=width, helper=helper)
        self._draw(self.box.page())
        self._has_keys = False
        self._shown_at = time.monotonic()
        asyncio.get_running_loop().call_later(SETTLE_S + 0.01, self._changed)

    def _draw(self, rows: Rows) -> None:
        self.rows = rows
        if self._inline:
            for style, text in rows:
                self._paper.line(text, style)

    def _end(self, box: Box, event: Closed, asked: Asked | None) -> None:
        if not self._inline:
            self._paper.gap()
            for style, text in box.record():
                self._paper.line(text, style)
        here = self._answer is not None and _is_mine(self._answer, event)
        always = ", and always from now on" if here and _is_rule(self._answer) else ""
        who = by(event.by, here=here, us=self.us)
        rows = [closing(event, who) + always]
        if isinstance(asked, ev.PermissionRequested) and isinstance(event, ev.PermissionClosed):
            rows += changed_rows(bytes(asked.input), event, limit=CHANGED_ROWS)
        self._paper.line("\n".join(rows), "box_end")
        self.box = self._answer = None
        self.rows = []
        self.sending = False

    # ---- what a person does --------------------------------------------------------------------

    def has_keys(self, *, typing: bool) -> bool:
        """Whether keys belong to the prompt now; ``typing``: there is text in the line."""
        if self.box is None or self.sending:
            return False
        rested = time.monotonic() - max(self._shown_at, self.typed_at) >= SETTLE_S
        if rested and not typing:
            self._has_keys = True
        return self._has_keys

    def press(self, char: str) -> None:
        """A key for the prompt."""
        if self.box is not None:
            self._react(self.box.press(char))

    def enter(self, text: str) -> None:
        """A line for the prompt."""
        if self.box is not None:
            self._react(self.box.enter(text))

    def _react(self, reaction: Answer | Rows | None) -> None:
        if isinstance(reaction, list):
            self._draw(reaction)
        elif reaction is not None:
            self._answer, self.sending = reaction, True
            self._decide(reaction)
        self._changed()

    def failed(self) -> None:
        """The answer did not get through: it can be given again."""
        self._answer, self.sending = None, False


def _is_rule(answer: Answer | None) -> bool:
    return isinstance(answer, AnswerPermission) and bool(answer.remember)


def _is_mine(answer: Answer, event: Closed) -> bool:
    """Whether the prompt ended as it was answered here."""
    if isinstance(event, ev.PermissionClosed) and event.edited:
        return False  # nobody can change anything here
    if isinstance(answer, AnswerPermission):
        return event.how == {"allow": "allowed", "deny": "denied"}[answer.decision]
    return event.how == ("declined" if answer.declined else "answered")
