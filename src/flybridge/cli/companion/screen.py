"""The handheld's screen and buttons in a terminal: the same buffers, the same JSON, no more.

What the real screen does not draw is not drawn here either; what does not fit its buffers is
lost. Only the line to type a prompt into is an addition: the real one has no keys for that.
"""

from __future__ import annotations

import textwrap

import msgspec
from msgspec import UNSET

from flybridge.cli.chat.keys import Key
from flybridge.cli.rendering.safe_text import one_line
from flybridge.frontends.companion.wire.budget import (
    AGENT_BYTES,
    DETAIL_BYTES,
    SCREEN_BYTES,
    TYPE_BYTES,
)
from flybridge.frontends.companion.wire.decode import Rejected, decode_for_device
from flybridge.frontends.companion.wire.messages import (
    SPAWN,
    Action,
    AgentStatus,
    Configure,
    FromDevice,
    Say,
    SpawnRequest,
    SpawnResult,
)

SLOTS = 4
WIDTH = 56
KEYS = (
    "a yes · x always · b no · Esc interrupt · ←→ slot",
    "s spawn · e auto-edit · i type · q quit",
)
BUTTONS: dict[str, FromDevice] = {
    "a": Action(action="yes"),
    "x": Action(action="always"),
    "b": Action(action="no"),
}


class Screen:
    """What the device holds: one status for each slot, and which slot it shows."""

    def __init__(self) -> None:
        self.slots: dict[int, AgentStatus] = {}
        self.shown = 0
        self.note = ""  # the last result of a spawn, or what was wrong with a frame
        self.typing: str | None = None  # a prompt, while one is typed
        self.over = False  # somebody wants to quit

    # ---- what arrives --------------------------------------------------------------------------

    def receive(self, payload: bytes) -> None:
        """One frame. What the real device could not read is said, and passed over."""
        message = decode_for_device(payload)
        match message:
            case AgentStatus():
                self.slots[message.slot] = _copied(message)
            case SpawnResult(slot=slot, success=True):
                self.note = f"agent in slot {slot}"
            case SpawnResult(slot=slot, error=error):
                self.note = f"slot {slot}: {error}"
            case Rejected(reason=reason):
                self.note = f"a frame that is none: {reason}"

    # ---- what is pressed -----------------------------------------------------------------------

    def press(self, key: Key) -> bytes | None:
        """What a key sends, if it sends anything."""
        if self.typing is not None:
            return self._typed(key)
        if key.name in ("left", "right"):
            self.shown = (self.shown + (1 if key.name == "right" else -1)) % SLOTS
        elif key.name == "esc":
            return self._send(Action(action="escape"))
        elif key.name in ("ctrl-c", "ctrl-d"):
            self.over = True
        elif key.name == "char":
            return self._button(key.text)
        return None

    def _button(self, char: str) -> bytes | None:
        if char in BUTTONS:
            return self._send(BUTTONS[char])
        if char.isdecimal() and int(char) < SLOTS:
            self.shown = int(char)
        elif char == "s":
            free = self.shown not in self.slots or self.slots[self.shown].state == "done"
            return self._send(SpawnRequest(slot=self.shown) if free else Say(command=SPAWN))
        elif char == "e":
            status = self.slots.get(self.shown)
            return self._send(Configure(auto_edit=not (status and status.auto_edit is True)))
        elif char == "i":
            self.typing = ""
        elif char == "q":
            self.over = True
        return None

    def _typed(self, key: Key) -> bytes | None:
        text = self.typing or ""
        if key.name == "enter":
            self.typing = None
            return self._send(Say(command=text)) if text.strip() else None
        if key.name in ("esc", "ctrl-c"):
            self.typing = None
        elif key.name == "backspace":
            self.typing = text[:-1]
        elif key.name in ("char", "paste"):
            self.typing = text + key.text
        return None

    def _send(self, message: FromDevice) -> bytes:
        """As the newest app writes it: the true slot, and no name."""
        if isinstance(message, Action | Say):
            message = msgspec.structs.replace(message, slot=self.shown)
        told = msgspec.to_builtins(message)
        return msgspec.json.encode({key: one for key, one in told.items() if one not in ("", None)})

    # ---- what is drawn -------------------------------------------------------------------------

    def rows(self, width: int = WIDTH) -> list[str]:
        """The whole picture, from top to bottom."""
        width = max(min(width, WIDTH), 20)
        body = [self._tabs(), "", *self._slot(width - 4), "", self.note]
        if self.typing is not None:
            body.append(f"> {one_line(self.typing)}_")
        inside = [f"│ {one[: width - 4]:<{width - 4}} │" for one in body]
        top, bottom = f"╭{'─' * (width - 2)}╮", f"╰{'─' * (width - 2)}╯"
        return [top, *inside, bottom, *(one[:width] for one in KEYS)]

    def _tabs(self) -> str:
        names = []
        for number in range(SLOTS):
            status = self.slots.get(number)
            label = f"{number} {one_line(status.agent) if status else '-'}"
            names.append(f"[{label}]" if number == self.shown else f" {label} ")
        return " ".join(names)

    def _slot(self, width: int) -> list[str]:
        status = self.slots.get(self.shown)
        if status is None:
            return ["nobody is here: s to spawn"]
        percent = status.context_percent if isinstance(status.context_percent, int) else 0
        edits = "on" if status.auto_edit is True else "off"
        rows = [f"{status.state.upper():<9} context {percent:3d}%   auto-edit {edits}"]
        if status.prompt_tool_type is not UNSET:
            detail = status.prompt_tool_detail if status.prompt_tool_detail is not UNSET else ""
            head = detail.encode()[:SCREEN_BYTES].decode(errors="ignore")
            asked = one_line(status.prompt_tool_type, strict=True)
            rows += ["", asked, *textwrap.wrap(one_line(head, strict=True), width)]
        return rows


def _copied(status: AgentStatus) -> AgentStatus:
    """Into buffers of fixed size: what is longer is gone."""
    return msgspec.structs.replace(
        status,
        agent=_into(status.agent, AGENT_BYTES),
        prompt_tool_type=_into(status.prompt_tool_type, TYPE_BYTES),
        prompt_tool_detail=_into(status.prompt_tool_detail, DETAIL_BYTES),
    )


def _into(text: str | msgspec.UnsetType, size: int) -> str | msgspec.UnsetType:
    if isinstance(text, msgspec.UnsetType):
        return text
    return text.encode("utf-8", "replace")[:size].decode(errors="ignore")
