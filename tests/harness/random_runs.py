"""Runs that something happens to: one story for each seed, and what must hold at its end."""

from __future__ import annotations

import random
import signal

from flybridge.runtime.keeper.keeper_program import processes, read_file
from tests.harness import leftovers
from tests.harness.agent_programs import steps
from tests.harness.run_script import Frame, Script, finished, marker
from tests.harness.terminal_home import Home

HAPPENINGS = ("nothing", "agent", "eof", "cancel", "term", "kill", "kill twice", "gateway")
EXITS = {"run.completed": 0, "run.cancelled": 0, "run.failed": 1}


class Story:
    """A run with two questions, and one thing that happens after a random frame of it."""

    def __init__(self, home: Home, seed: int) -> None:
        self.home = home
        self.run = f"run_story_{seed}"
        chance = random.Random(seed)
        self.happening = chance.choice(HAPPENINGS)
        self.at = chance.randint(1, 5)
        self.question: Frame | None = None
        self.script = Script(home)
        self.known: list[str] = []  # ids of everything this run has told anybody
        self.script.start(
            steps(
                {"say": "one"},
                {"say": "two", "deltas": 3},
                {"say": f"three {marker({'question': 'Name?', 'freeText': True})}"},
            ),
            run=self.run,
            stream=chance.random() < 0.3,
        )

    def play(self) -> list[str]:
        """What broke; nothing, if all is well."""
        frames = 0
        happened = False
        while (frame := self.script.next_or_none()) is not None:
            frames += 1
            self._hear(frame)
            if frames >= self.at and not happened:
                happened = True
                self._happen()
        return self._check()

    def _hear(self, frame: Frame | None) -> None:
        if frame is not None and frame["type"] == "run.question":
            self.question = frame
            self.script.answer(frame, "Ada")

    def _happen(self) -> None:
        match self.happening:
            case "agent":
                _kill_agent(self.home)
            case "gateway":
                _kill_gateway(self.home)
            case "eof":
                self.script.close_input()
            case "cancel":
                self.script.say("run.cancel", {"reason": "chance"})
            case "term":
                self.script.kill(signal.SIGTERM)
            case "kill":
                self._come_back()
            case "kill twice":
                self._come_back()
                self._hear(self.script.next_or_none())
                self._come_back()

    def _come_back(self) -> None:
        """The script dies without a word, and another goes on behind its last frame."""
        self.script.kill()
        self.script.end()
        self.known += self.script.ids
        asked = [one for one in self.script.frames if one["type"] == "run.question"]
        self.question = asked[0] if asked else self.question
        last = self.known[-1]
        self.script = Script(self.home, "--attach", self.run, "--after", last)
        if self.question is not None:  # whether the one that died passed it on, nobody knows
            self.script.answer(self.question, "Ada")

    def _check(self) -> list[str]:
        status, _ = self.script.end()
        broken: list[str] = []
        self.known += self.script.ids
        whole = finished(self.home, "--attach", self.run)
        if len(whole.terminal) != 1 or whole.frames[-1] != whole.terminal[0]:
            broken.append(f"ends: {[one['type'] for one in whole.terminal]}")
        if whole.process.returncode != EXITS[whole.types[-1]]:
            broken.append(f"the script that came back exited with {whole.process.returncode}")
        if status != EXITS[whole.types[-1]]:
            broken.append(f"exit status {status} after {self.script.types}")
        broken += _differences(self.known, whole.frames)
        return [f"{self.happening} after {self.at}: {one}" for one in broken]


def _differences(known: list[str], whole: list[Frame]) -> list[str]:
    """Everything was told once and in order; what is not in the log, at most once."""
    ids = [one["id"] for one in whole]
    lasting = [one for one in known if len(one) == len(ids[0])]
    broken = [] if lasting == ids else [f"told {lasting}, the log has {ids}"]
    if len(set(known)) != len(known):
        broken.append("an id was used twice")
    return broken


def _kill_agent(home: Home) -> None:
    """All agents of this home: there is one run at a time."""
    for one in processes():
        environ = read_file(f"/proc/{one.pid}/environ", 1 << 16)
        mine = f"XDG_CONFIG_HOME={home.base}/".encode() in environ
        if mine and b"FLYBRIDGE_SESSION=" in environ and one.group == one.pid and not one.dead:
            leftovers.kill(one.pid)


def _kill_gateway(home: Home) -> None:
    """At once: whoever asks it for its pid gives it time."""
    state = str(home.state).encode()
    for one in processes():
        words = read_file(f"/proc/{one.pid}/cmdline", 1 << 16).split(b"\0")
        if state in words and b"gateway" in words and not one.dead:
            leftovers.kill(one.pid)
