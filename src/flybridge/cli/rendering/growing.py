"""Texts that grow while an agent speaks.

Only one grows on the paper at a time; another that begins meanwhile waits until the first is
closed. The event that closes a text is the truth: what is missing of it is added, and where
something else was shown it is said so and shown anew. So nothing is lost and nothing appears
twice, whatever happened to the connection.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from flybridge.cli.rendering.screen import Paper
from flybridge.client.items import PreviewItem


class Growing(msgspec.Struct):
    """An open text: what is known of it, and what was shown."""

    style: str
    text: str = ""
    shown: str = ""
    have: int = 0  # deltas in ``text``
    hole: bool = False


class GrowingTexts:
    """The open texts of a session; ``wrote`` is called when one begins on the paper."""

    def __init__(self, paper: Paper, wrote: Callable[[], None]) -> None:
        self._paper = paper
        self._wrote = wrote
        self._texts: dict[str, Growing] = {}
        self._on_air = ""

    @property
    def growing(self) -> bool:
        """Whether a text is on the paper that has not ended."""
        return bool(self._on_air)

    def begin(self, item: str, style: str) -> None:
        self._texts.setdefault(item, Growing(style=style))

    def preview(self, preview: PreviewItem) -> None:
        one = self._texts.get(preview.item)
        if one is None:
            return
        if preview.since == 0:
            one.text, one.have, one.hole = preview.text, preview.upto, False
        elif preview.since == one.have and not one.hole:
            one.text += preview.text
            one.have = preview.upto
        elif preview.upto > one.have:
            one.hole = True
        self._grow(preview.item, one)

    def clear(self) -> None:
        """The turn is over: what was not closed never will be."""
        self._texts.clear()
        self._on_air = ""

    def _grow(self, item: str, one: Growing) -> None:
        if self._on_air and self._on_air != item:
            return
        if one.hole or len(one.text) <= len(one.shown) or not one.text.startswith(one.shown):
            return  # nothing new, or not what was shown: the end of the item settles it
        self._take_air(item)
        self._paper.write(one.text[len(one.shown) :], one.style)
        one.shown = one.text

    def _take_air(self, item: str) -> None:
        if self._on_air != item:
            self._on_air = item
            self._wrote()
            self._paper.gap()

    def close(self, item: str, style: str, text: str, status: str, *, cut: bool) -> None:
        """The whole text; ``cut``: only its beginning, the rest was too long for the log."""
        one = self._texts.pop(item, None) or Growing(style=style)
        if text.startswith(one.shown):
            self._say(item, text[len(one.shown) :], style)
        elif not (cut and one.shown.startswith(text)):
            self._paper.line("(text replaced)", "notice")
            self._say(item, text, style)
        if one.shown or text:
            self._paper.gap()
        if cut:
            self._paper.line("(too long to be shown whole)", "notice")
        if status != "complete" and (one.shown or text):
            said = {"partial": "(incomplete)", "discarded": "(taken back by the agent)"}
            self._paper.line(said.get(status, f"({status})"), "notice")
        if self._on_air in ("", item):
            self._on_air = ""
            self._next_on_air()

    def _say(self, item: str, text: str, style: str) -> None:
        if not text:
            return
        if self._on_air != item:  # it interrupts the one on the air, which goes on afterwards
            self._paper.gap()
            self._wrote()
        self._paper.write(text, style)

    def _next_on_air(self) -> None:
        for item, one in self._texts.items():
            if one.text != one.shown:
                self._grow(item, one)
                return
