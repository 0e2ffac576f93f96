"""A storm: random requests to several sessions of one rig, and random kills all the while."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from flybridge.client.transcript import Prompt
from tests.crash.checker import GUARDED, Verdict
from tests.crash.evidence import (
    GatewayGoneError,
    Json,
    Sent,
    answer,
    interrupt,
    send_input,
)
from tests.crash.rig import Rig

SESSIONS = 4
OUTSTANDING = 4  # inputs of one session without an end
VICTIMS = {"gateway": 67, "agent": 20, "keeper": 10, "stopped": 3}  # stopped: gateway, cleanly
RECOVERY_KILLED = 0.12  # of all restarts: the new gateway is killed while it starts
REBOOT = 0.01
FINAL = ("done", "refused_by_agent", "cancelled", "expired", "lost", "outcome_unknown")
QUESTION: Json = {
    "questions": [{"question": "Which?", "header": "W", "options": [{"label": "this"}]}]
}
ALPHABET = 'abc déf 漢字 🚤\\"\u2028\t'


class Storm:
    """One rig from its start to its verdict. The same seed makes the same choices."""

    def __init__(self, base: Path, seed: int) -> None:
        self.rig = Rig(base, apart=True)
        self.kills: Counter[str] = Counter()
        self._chance = random.Random(seed)
        self._count = 0
        self._client = self.rig.start()
        self._sessions = self._open()

    def run(self, kills: int, over: Callable[[], bool]) -> Verdict:
        """Kill so often (or until it is over), let everything end, and judge it."""
        try:
            while self.kills.total() < kills and not over():
                self._weather()
            return self._calm()
        finally:
            self.rig.close()

    def _open(self) -> list[str]:
        return [self.rig.open(self._client, self._name()) for _ in range(SESSIONS)]

    # ---- one gust ----------------------------------------------------------------------------

    def _weather(self) -> None:
        chance = self._chance
        try:
            for _ in range(chance.randint(1, 6)):
                self._act(chance.choice(self._sessions))
                self._client.read(chance.choice((0, 0, 0.001, 0.003, 0.01)))
            self._client.read(chance.choice((0, 0.005, 0.02, 0.1)))
        except GatewayGoneError:  # it was killed by nobody but us, and we know
            raise AssertionError("the gateway died by itself") from None
        if chance.random() < REBOOT:
            self._reboot()
            return
        victim = chance.choices([*VICTIMS], [*VICTIMS.values()])[0]
        if victim == "gateway":
            self._kill_gateway()
            return
        if victim == "stopped":
            self.rig.stop_gateway()
            self.kills["stopped"] += 1
            self._client.close()
            self._come_back()
            return
        lives = self.rig.lives()
        if lives:
            life = chance.choice(lives)
            kill = self.rig.kill_agent if victim == "agent" else self.rig.kill_keeper
            kill(life)
            self.kills[victim] += 1

    def _kill_gateway(self) -> None:
        self.rig.kill_gateway()
        self.kills["gateway"] += 1
        self._client.close()
        if self._chance.random() < 0.1:  # what became of the agent while nobody looked
            for life in self._chance.sample(lives := self.rig.lives(), min(1, len(lives))):
                self.rig.kill_agent(life)
                self.kills["agent"] += 1
        while self._chance.random() < RECOVERY_KILLED:
            self.rig.launch()
            self.rig.wait_gateway(self._chance.uniform(0.15, 0.45))
            self.rig.kill_gateway()
            self.kills["recovery"] += 1
        self._come_back()

    def _reboot(self) -> None:
        self._client.close()
        self._sessions = []
        self.rig.reboot(f"boot-{self.rig.starts}")
        self.kills["reboot"] += 1
        self._come_back()
        # whoever opened a session before the reboot cannot be alive: nobody here may approve there
        self._sessions = self._open()

    def _come_back(self) -> None:
        """A client that got no reply asks again under the same id."""
        self._client = self.rig.start()
        for sent in self._unanswered():
            if self._chance.random() < 0.8:
                self._client.submit(sent.session, sent.request, sent.command, until="done")

    def _unanswered(self) -> list[Sent]:
        recent = list(self.rig.evidence.sent.values())[-40:]
        return [one for one in recent if one.session in self._sessions and not _is_over(one)]

    # ---- what clients do ---------------------------------------------------------------------

    def _act(self, session: str) -> None:
        chance = self._chance
        transcript = self._client.transcripts[session]
        if transcript.prompts and chance.random() < 0.7:
            prompt = chance.choice(list(transcript.prompts.values()))
            self._submit(session, self._answer(prompt))
        elif transcript.turn and chance.random() < 0.25:
            self._submit(session, interrupt(transcript.turn))
        elif chance.random() < 0.05:
            self._submit(session, {"type": "set_model", "model": f"model-{chance.randint(1, 9)}"})
        elif chance.random() < 0.1 and (
            waiting := self._client.views.get(session, {}).get("queue")
        ):
            self._submit(session, {"type": "cancel_queued", "key": chance.choice(waiting)["key"]})
        elif chance.random() < 0.2 and (again := self._unanswered()):
            sent = chance.choice(again)
            self._client.submit(sent.session, sent.request, sent.command, until="done")
        elif self._outstanding(session) < OUTSTANDING:
            self._speak(session)

    def _answer(self, prompt: Prompt) -> Json:
        if prompt.kind == "question":
            head: Json = {"type": "answer_question", "prompt": prompt.id, "digest": prompt.digest}
            return {**head, "answers": {"Which?": ["this"]}}
        decision = self._chance.choice(("allow", "allow", "deny"))
        return answer(prompt.id, prompt.digest, decision)

    def _outstanding(self, session: str) -> int:
        blocks = self._client.transcripts[session].blocks.values()
        inputs = [one for one in blocks if one.kind == "input"]
        return sum(
            one.status in ("accepted", "dispatched", "written", "consumed") for one in inputs
        )

    def _speak(self, session: str) -> None:
        chance = self._chance
        token = self._name()
        steps = [self._step(token) for _ in range(chance.randint(1, 3))]
        mode = chance.choices(("auto", "queue"), (3, 1))[0]
        pad = chance.choices((0, chance.randint(1, 300_000)), (9, 1))[0]
        self._submit(session, send_input(token, *steps, mode=mode, pad=pad), token)

    def _step(self, token: str) -> Json:
        chance = self._chance
        words = "".join(chance.choices(ALPHABET, k=chance.randint(1, 400)))
        say: Json = {"say": f"{token} {words}", "deltas": chance.randint(1, 60)}
        tool: Json = {"tool": GUARDED, "ask": True, "input": {"command": token, "text": words}}
        free: Json = {"tool": "Free", "input": {"command": token}, "result": words}
        flood: Json = {"flood": chance.randint(1_000, 1_500_000), "line": chance.randint(10, 900)}
        flood["whole"] = chance.random() < 0.5  # else its text is what was streamed, and no more
        steps: list[tuple[int, Json]] = [
            (8, say),
            (3, tool),
            (1, {"tool": "AskUserQuestion", "ask": True, "input": QUESTION}),
            (3, free),
            (2, flood),
            (1, {"think": words}),
            (1, {"stall": chance.uniform(0, 0.2)}),
            (1, {"stop_reading": chance.uniform(0, 0.2)}),
            (1, {"big_line": chance.randint(1_000_000, 1_500_000)}),
            (1, {"stderr": words}),
        ]
        return chance.choices([one for _, one in steps], [weight for weight, _ in steps])[0]

    def _submit(self, session: str, command: Json, request: str = "") -> None:
        until = self._chance.choice(("accepted", "written", "observed", "done"))
        self._client.submit(session, request or self._name(), command, until=until)

    def _name(self) -> str:
        self._count += 1
        return f"q{self._count}"

    # ---- the end -----------------------------------------------------------------------------

    def _calm(self) -> Verdict:
        """No more kills: answer what waits, until nothing is open."""
        deadline = time.monotonic() + 30
        while True:
            self.rig.settle(self._client, 30, but=("permission", "question"))
            self._client.read(0.01)
            for session in self._sessions:
                for prompt in list(self._client.transcripts[session].prompts.values()):
                    self._submit(session, self._answer(prompt))
            listed = self._client.ask("list", {})["sessions"]
            waiting = [one for one in listed if one["why"] != "nothing"]
            if not waiting:
                return self.rig.finish(self._client)
            assert time.monotonic() < deadline, f"I3 still open: {waiting}"


def _is_over(sent: Sent) -> bool:
    """Whether its client knows how it ended; what was not delivered may be tried again."""
    return any(one.stage == "done" or one.error in FINAL for one in sent.replies)
