"""Whatever happens in two slots, and whenever somebody presses what: an answer is for the prompt
that this device shows, and for one that was alone on its screen for 700 ms; ``always`` never for a
cut one; no status is too large, and no slot has more than two of them in a second.

An input is a story: prompts that come and go, texts, ends, time that passes, frames of the device.
The device here keeps nothing but what it was sent, as the real one does.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import msgspec

from flybridge.frontends.companion.board import Board
from flybridge.frontends.companion.device import APART_MS, GUARD_MS, DeviceAdapter, Pressed, Wish
from flybridge.frontends.companion.slot import Slot
from flybridge.frontends.companion.wire.budget import DETAIL_BYTES, SCREEN_BYTES, fit
from flybridge.frontends.companion.wire.messages import MAX_FRAME_BYTES
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId, SessionId, TurnId
from fuzz.frames import FoundError

COMMANDS = ["ls", "rm -rf /", "x" * 541, "\U0001f600" * 2000, 'say "hi"\\\n', "\u202e\0"]
PRESSES = ["yes", "always", "no", "escape", "maybe"]
LIFE = IncarnationId("inc")


class Shown:
    """What is on the device's screen for one slot, and since when nothing else was."""

    def __init__(self) -> None:
        self.detail: str | None = None
        self.alone_since_ms = 0
        self.last_ms = -APART_MS


class Story:
    """Two slots, one device, one clock."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.now_ms = 1_000_000
        self.board = Board(2)
        self.slots = [self._slot(0), self._slot(1)]
        self.asked: dict[PromptId, str] = {}
        self.screens = [Shown(), Shown()]
        self.device = DeviceAdapter(self.board, name="box", slots=frozenset(), prefix="d")
        self.endings: Counter[str] = Counter()
        self._names = 0
        self.look()

    def _slot(self, number: int) -> Slot:
        slot = self.board.make(number, "agent", SessionId(f"ses_{number}"), "/p")
        slot.apply(e.AgentConnected(incarnation=LIFE))
        slot.apply(e.InputAccepted(key=InputKey("k"), kind="message", by="me", fingerprint="f"))
        slot.apply(e.TurnStarted(turn=TurnId("trn_1")))
        self.board.put(slot)
        return slot

    def happen(self, slot: Slot) -> None:
        """Something in the session."""
        roll = self.chance.random()
        if roll < 0.45:
            self._names += 1
            prompt, command = PromptId(f"prm_{self._names}"), self.chance.choice(COMMANDS)
            given = msgspec.Raw(msgspec.json.encode({"command": command}))
            self.asked[prompt] = command
            slot.apply(
                e.PermissionRequested(prompt=prompt, tool="Bash", input=given, digest=str(prompt))
            )
        elif roll < 0.8 and slot.prompts:
            prompt = self.chance.choice(list(slot.prompts))
            slot.apply(e.PermissionClosed(prompt=prompt, how="allowed"))
        else:
            slot.apply(e.TextDone(item=ItemId("i"), text=self.chance.choice(COMMANDS)))
        self.device.changed(slot.number)

    def look(self) -> None:
        """The device takes what it is sent."""
        for payload in self.device.take(self.now_ms):
            if len(payload) > MAX_FRAME_BYTES or b"\\u" in payload:
                raise FoundError(f"a frame that no device can read: {payload[:80]!r}")
            told: dict[str, Any] = json.loads(payload)
            screen = self.screens[told["slot"]]
            if self.now_ms - screen.last_ms < APART_MS:
                raise FoundError("more than two statuses in a second")
            screen.last_ms = self.now_ms
            detail = told.get("promptToolDetail")
            if screen.detail is not None and detail != screen.detail:
                screen.alone_since_ms = self.now_ms
            screen.detail = detail

    def press(self) -> None:
        said: dict[str, object] = {"type": "action", "action": self.chance.choice(PRESSES)}
        number = self.chance.randrange(2)
        if self.chance.random() < 0.5:
            said |= {"agent": self.slots[number].name, "slot": 0}  # as older devices say it
        else:
            said |= {"slot": number}
        for wish in self.device.receive(json.dumps(said).encode(), self.now_ms):
            self.judge(wish, number, str(said["action"]))

    def judge(self, wish: Wish, number: int, action: str) -> None:
        if not isinstance(wish, Pressed) or not isinstance(wish.submit.command, c.AnswerPermission):
            self.endings[type(wish).__name__.lower()] += 1
            return
        screen, answer = self.screens[number], wish.submit.command
        slot = self.slots[number]
        if answer.prompt not in slot.prompts or wish.submit.session != slot.session:
            raise FoundError("an answer to what waits no more, or elsewhere")
        if fit(self.asked[answer.prompt], DETAIL_BYTES)[0] != screen.detail:
            raise FoundError(f"{screen.detail!r} is shown, and something else is answered")
        if self.now_ms - screen.alone_since_ms < GUARD_MS and screen.alone_since_ms:
            raise FoundError("answered before anybody can have read it")
        if action == "always" and len(str(screen.detail).encode()) > SCREEN_BYTES:
            raise FoundError("always, for something that was not all there")
        if (answer.decision == "allow") is (action == "no"):
            raise FoundError(f"{action} became {answer.decision}")
        self.endings[f"answered {answer.decision}"] += 1

    def go_on(self) -> None:
        roll = self.chance.random()
        if roll < 0.35:
            self.happen(self.chance.choice(self.slots))
        elif roll < 0.65:
            self.press()
        else:
            self.now_ms += self.chance.choice([1, 10, 100, 300, 500, 700, 2000])
        if self.chance.random() < 0.8:  # else the device is slow
            self.look()


async def run(seed: int, first: int, count: int) -> Counter[str]:
    """Run stories; how often each kind of end was found.

    Raises:
        FoundError: one of them did what none may do; its text names the number.
    """
    endings: Counter[str] = Counter()
    for number in range(first, first + count):
        story = Story(random.Random(f"{seed}:{number}"))
        try:
            for _ in range(40):
                story.go_on()
        except Exception as error:
            raise FoundError(f"seed {seed}, number {number}: {error!r}") from error
        endings += story.endings
    return endings
