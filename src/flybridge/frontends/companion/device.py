"""One device: what it is shown, how often, and what its buttons mean.

A device does not say which prompt it answers. So a button counts only for the prompt that was
last sent to this very device, and only once it has been there for a moment: a finger that was on
its way to another prompt must not answer this one. What does not count is shown again instead.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, assert_never

import msgspec

from flybridge.frontends.companion.board import Board
from flybridge.frontends.companion.prompts import Prompt, answer
from flybridge.frontends.companion.slot import Face, Slot
from flybridge.frontends.companion.wire import messages as m
from flybridge.frontends.companion.wire.budget import encode
from flybridge.frontends.companion.wire.decode import Rejected, decode
from flybridge.model import commands as c
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.model.requests import Submit

APART_MS = 500  # two statuses of a slot
GUARD_MS = 700  # a prompt must have been the only one for so long
NOTE_MS = 6_000  # how long a note to the person stays on the screen
ALLOWED_ONCE = "Allowed once"


class Ignored(msgspec.Struct, frozen=True):
    """Something a device said that is not carried out; for the log."""

    reason: str


class Spawn(msgspec.Struct, frozen=True):
    """An agent is wanted in this slot, or in the lowest one that is free."""

    slot: int | None


class AutoEdit(msgspec.Struct, frozen=True):
    on: bool


class Pressed(msgspec.Struct, frozen=True):
    """A request for the desk.

    Once it is done, the tool named by ``rule`` needs no button any more, and ``note`` is what the
    person who pressed has to know.
    """

    submit: Submit
    slot: Slot
    rule: str = ""
    note: str = ""


Wish: TypeAlias = Ignored | Spawn | AutoEdit | Pressed


class _Screen(msgspec.Struct):
    """What one slot looks like on this device."""

    face: Face | None = None
    next_ms: int = 0  # not before
    due: bool = True
    again: bool = False  # even if it looks the same
    other_ms: int | None = None  # until when another prompt was there
    note: str = ""  # drawn while no prompt and no error is
    note_until_ms: int = 0


class DeviceAdapter:
    """Speaks with one connected device. ``take`` after every call; ``tick`` at ``deadline_ms``."""

    def __init__(self, board: Board, *, name: str, slots: frozenset[int], prefix: str) -> None:
        self.name = name
        self.deadline_ms: int | None = None
        self._board = board
        self._slots = slots  # empty: all
        self._prefix = prefix  # of request ids
        self._count = 0
        self._screens: dict[int, _Screen] = {number: _Screen() for number in board.used}
        self._out: list[bytes] = []

    def may_see(self, number: int) -> bool:
        return not self._slots or number in self._slots

    @property
    def slots(self) -> list[int]:
        """Every slot that is there for this device."""
        return [number for number in range(self._board.count) if self.may_see(number)]

    # ---- what it is shown ----------------------------------------------------------------------

    def changed(self, number: int) -> None:
        """A slot may look different now."""
        self._screens.setdefault(number, _Screen()).due = True

    def note(self, number: int, text: str, now_ms: int) -> None:
        """Show a note on the slot's screen for a while, unless a prompt takes its place."""
        screen = self._screens.setdefault(number, _Screen())
        screen.note, screen.note_until_ms, screen.due = text, now_ms + NOTE_MS, True

    def spawned(self, number: int, error: str = "") -> None:
        """Say what became of a wish for an agent."""
        result = m.SpawnResult(slot=number, success=not error, error=error or msgspec.UNSET)
        self._out.append(encode(result))

    def take(self, now_ms: int) -> list[bytes]:
        """The payloads to send, in order. What they show counts as shown from here on."""
        for number, screen in sorted(self._screens.items()):
            if screen.note and screen.note_until_ms <= now_ms:
                screen.note, screen.due = "", True
            if screen.due and screen.next_ms <= now_ms:
                self._draw(number, screen, now_ms)
        waiting = [screen.next_ms for screen in self._screens.values() if screen.due]
        waiting += [screen.note_until_ms for screen in self._screens.values() if screen.note]
        self.deadline_ms = min(waiting, default=None)
        out, self._out = self._out, []
        return out

    def _draw(self, number: int, screen: _Screen, now_ms: int) -> None:
        screen.due = False
        slot = self._board.slots.get(number)
        if slot is None or not self.may_see(number) or (slot.ended and screen.face is None):
            return  # a device that hears of a slot believes that it cannot be had
        face = slot.face()
        if face.prompt is not None:
            screen.note = ""
        elif screen.note and face.status.state not in ("error", "done"):
            face = _with_note(face, screen.note)
        if face == screen.face and not screen.again:
            return
        before = screen.face.prompt if screen.face else None
        if before is not None and before != face.prompt:
            screen.other_ms = now_ms
        screen.face, screen.again, screen.next_ms = face, False, now_ms + APART_MS
        self._out.append(encode(face.status))

    def _show_again(self, number: int) -> None:
        screen = self._screens.setdefault(number, _Screen())
        screen.due = screen.again = True

    # ---- what it says --------------------------------------------------------------------------

    def receive(self, data: bytes, now_ms: int) -> list[Wish]:
        """What one frame of the device asks for."""
        said = decode(data)
        match said:
            case Rejected(reason=reason, spawn=spawn):
                if spawn:
                    self.spawned(0, m.SPAWN_FAILED)
                return [Ignored(reason)]
            case m.Auth():
                return [Ignored("it is known already who this is")]
            case m.Configure(auto_edit=on):
                for number in self.slots:
                    self._show_again(number)
                return [] if on is None else [AutoEdit(on)]
            case m.SpawnRequest(slot=number):
                return self._wish(number)
            case m.Say(command=text) if text.strip() == m.SPAWN:
                return [Spawn(None)]
            case m.Say() | m.Action():
                return self._to_slot(said, now_ms)
            case _:
                assert_never(said)

    def _wish(self, number: int) -> list[Wish]:
        if 0 <= number < self._board.count and self.may_see(number):
            return [Spawn(number)]
        self.spawned(min(max(number, -1), 2**31 - 1), m.SPAWN_FAILED)
        return [Ignored(f"there is no slot {number}")]

    def _to_slot(self, said: m.Say | m.Action, now_ms: int) -> list[Wish]:
        number = self._board.meant(said.agent, said.slot)
        if number is None or not self.may_see(number):
            return [Ignored(f"there is no slot {said.slot}")]
        slot = self._board.slots.get(number)
        if slot is None or not slot.active:
            return [Ignored(f"nobody is in slot {number}")]
        if isinstance(said, m.Say):
            command = c.SendInput(content=(Text(said.command),))
            return [Pressed(self._submit(slot, command), slot)]
        if said.action == "escape":
            return self._escape(slot)
        return self._answer(slot, said.action, now_ms)

    def _escape(self, slot: Slot) -> list[Wish]:
        if not slot.busy:
            return [Ignored("there is nothing to interrupt")]
        return [Pressed(self._submit(slot, c.Interrupt(turn=slot.turn)), slot)]

    def _answer(self, slot: Slot, press: Literal["yes", "always", "no"], now_ms: int) -> list[Wish]:
        prompt = slot.prompt
        if prompt is None:
            return [Ignored("nothing waits for an answer")]
        reason = self._why_not(slot.number, prompt, press, now_ms)
        if reason:
            self._show_again(slot.number)
            return [Ignored(reason)]
        submit = self._submit(slot, answer(prompt, press, self.name), f"press:{prompt.prompt}")
        if press != "always" or prompt.rules:
            return [Pressed(submit, slot)]
        if prompt.whole_tool:
            return [Pressed(submit, slot, rule=prompt.tool)]
        return [Pressed(submit, slot, note=_no_rule(prompt.tool))]

    def _why_not(self, number: int, prompt: Prompt, press: str, now_ms: int) -> str:
        screen = self._screens.get(number)
        if screen is None or screen.face is None or screen.face.prompt != prompt:
            return "the device does not show what waits now"
        if screen.other_ms is not None and now_ms - screen.other_ms < GUARD_MS:
            return "the device showed something else a moment ago"
        if prompt.kind == "question":
            return "a question cannot be answered with a button"
        if press == "always" and prompt.cut:
            return "not all of it is on the screen: once or never, not always"
        return ""

    def _submit(self, slot: Slot, command: c.Command, request: str = "") -> Submit:
        self._count += 1
        name = request or f"{self._prefix}:{self._count}"
        return Submit(
            ref=name, session=slot.session, command=command, request=name, until=Stage.ACCEPTED
        )


def _no_rule(tool: str) -> str:
    return (
        f"No rule was kept for {tool}: a device keeps none that could run or write more than it "
        "shows. Choose a rule in the browser or the chat."
    )


def _with_note(face: Face, note: str) -> Face:
    """The same face with a note in the fields that a device draws."""
    status = msgspec.structs.replace(
        face.status, message=note, prompt_tool_type=ALLOWED_ONCE, prompt_tool_detail=note
    )
    return msgspec.structs.replace(face, status=status)
