"""Two people at one session while wires are cut and gateways killed: a story for each seed.

What must hold at its end: both pages show what a fresh one shows, and what a person sent was
carried out once.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError

from playwright.sync_api import Error, Locator, Page

from tests.harness.terminal_home import STEADY
from tests.harness.waiting import WAIT_S
from tests.web.rig import Served
from tests.web.wire import Wire

STEPS = 14
SETTLE_S = 60.0
SCENES = ("think about {}", "think about {}", "run echo {}", "long", "question", "edit", "agents")


class Story:
    """``near`` reaches the gateway, ``far`` through a wire that can be cut."""

    def __init__(self, gateway: Served, wire: Wire, near: Page, far: Page, seed: int) -> None:
        self.gateway = gateway
        self.wire = wire
        self.pages = {"near": near, "far": far}
        self.seed = seed
        self.chance = random.Random(seed)
        wire.target = gateway.port
        self.session = gateway.new_session(f"story-{seed}", agent=STEADY, model="")
        self.sent: list[str] = []
        self.happened: list[str] = []

    def play(self, fresh: Callable[[str], Page]) -> list[str]:
        """What broke; nothing, if all is well."""
        for name, page in self.pages.items():
            page.goto(self._address(name))
        steps: list[Callable[[], None]] = [
            self._send,
            self._send,
            self._send,
            self._answer,
            self._press,
            self._cut,
            self._take_down,
            self._put_to_sleep,
            self._mend,
            self._kill_gateway,
            self._reload,
            self._look_elsewhere,
            self._stop,
        ]
        for _ in range(STEPS):
            step = self.chance.choice(steps)
            self.happened.append(step.__name__.strip("_"))
            step()
        self.wire.mend()
        self._settle()
        return [*self._check_sent(), *self._check_shown(fresh(f"/s/{self.session}"))]

    def _address(self, name: str) -> str:
        host = "localhost" if name == "far" else "127.0.0.1"
        return f"http://{host}:{self.gateway.port}/s/{self.session}"

    def _any_page(self) -> Page:
        return self.pages[self.chance.choice(("near", "far"))]

    # ---- what people do ------------------------------------------------------------------------

    def _send(self) -> None:
        page = self._any_page()
        text = self.chance.choice(SCENES).format(f"{self.seed}-{len(self.sent)}")
        box = page.get_by_label("Message", exact=True)
        box.fill(text)
        box.press("Enter")
        self.sent.append(text)

    def _answer(self) -> None:
        """As another device would, if something is asked."""
        for one in self.gateway.call("GET", "/prompts")["prompts"]:
            if one["session"] == self.session:
                self._decide(one)
                return

    def _decide(self, prompt: Any) -> None:
        command = {"prompt": prompt["prompt"], "digest": prompt["digest"]}
        if prompt["kind"] == "question":
            command |= {"type": "answer_question", "cancelled": True}
        else:
            decision = self.chance.choice(("allow", "deny"))
            command |= {"type": "answer_permission", "decision": decision}
        body = {"command": command, "request": f"answer-{prompt['prompt']}", "until": "accepted"}
        try:
            self.gateway.call("POST", f"/sessions/{self.session}/commands", body)
        except HTTPError as error:
            if error.code != 409:  # somebody at a page was quicker
                raise

    def _press(self) -> None:
        """A person at a page presses what is offered, if anything is."""
        dock = self._any_page().get_by_role("region", name="Waiting for you")
        self._click(dock, self.chance.choice(("Allow once", "Deny")))

    def _reload(self) -> None:
        name = self.chance.choice(("near", "far"))
        if name == "near" or not self.wire.is_down:
            self.wire.cut()  # a browser keeps connections, and one that sleeps answers nobody
            self.pages[name].goto(self._address(name))

    def _look_elsewhere(self) -> None:
        page = self._any_page()
        page.get_by_role("link", name="Board").first.click()
        page.go_back()

    def _stop(self) -> None:
        self._click(self._any_page(), "Stop")

    def _click(self, within: Page | Locator, name: str) -> None:
        button = within.get_by_role("button", name=name)
        if button.count() > 0:
            try:
                button.first.click(timeout=500)
            except Error:
                self.happened.append("too late")  # it is answered, or over

    # ---- what happens to them ------------------------------------------------------------------

    def _cut(self) -> None:
        self.wire.cut()

    def _take_down(self) -> None:
        self.wire.take_down()

    def _put_to_sleep(self) -> None:
        """Its connection dies without a word."""
        self.wire.numb()

    def _mend(self) -> None:
        self.wire.mend()

    def _kill_gateway(self) -> None:
        self.gateway.restart(self.chance.choice((signal.SIGKILL, signal.SIGTERM)))

    # ---- what must hold ------------------------------------------------------------------------

    def _settle(self) -> None:
        """Wait until both pages have nothing to send and the agent nothing to do."""
        deadline = time.monotonic() + SETTLE_S
        while not self._is_quiet():
            assert time.monotonic() < deadline, (self.seed, "never quiet", self.happened)
            self._answer()
            self.pages["near"].wait_for_timeout(100)

    def _is_quiet(self) -> bool:
        for page in self.pages.values():
            if page.get_by_role("button", name="Connected").count() == 0:
                return False
            if page.get_by_text("When the connection is back").count() > 0:
                return False
        state = self.gateway.call("GET", f"/sessions/{self.session}")
        return state["status"] == "idle" and len(self._carried_out()) >= len(self.sent)

    def _carried_out(self) -> list[str]:
        events = self.gateway.call("GET", f"/sessions/{self.session}/events")["events"]
        return [
            part["text"]
            for line in events
            if (one := line["event"])["type"] == "input.accepted"
            for part in one.get("content", [])
        ]

    def _check_sent(self) -> list[str]:
        wanted, found = Counter(self.sent), Counter(self._carried_out())
        return (
            [] if wanted == found else [f"sent {wanted - found}, more than sent {found - wanted}"]
        )

    def _check_shown(self, fresh: Page) -> list[str]:
        log = fresh.get_by_role("log")
        deadline = time.monotonic() + WAIT_S
        while True:
            wanted = log.inner_text()
            shown = {name: one.get_by_role("log").inner_text() for name, one in self.pages.items()}
            wrong = [name for name, text in shown.items() if text != wanted]
            if not wrong and wanted:
                return []
            if time.monotonic() > deadline:
                return [f"{name} shows\n{shown[name]}\nand not\n{wanted}" for name in wrong]
            fresh.wait_for_timeout(50)
