"""The page for real: the program serves it, and a Chromium without a screen looks at it.

What a person would see as broken fails the test it happens in: a message on the console, an
exception nobody caught, anything our content security policy or Trusted Types refuse.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import tempfile
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

from tests.harness import leftovers
from tests.harness.browsers import chromium
from tests.harness.gateway_process import GatewayProcess
from tests.harness.login import headers_in
from tests.harness.terminal_home import FAST, Home
from tests.harness.waiting import WAIT_S, wait_until
from tests.repo.tree import ROOT

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
Theme = Literal["dark", "light"]
SIZES = {"desk": (1360, 860), "tablet": (900, 1100), "phone": (390, 844), "narrow": (320, 640)}
Size = Literal["desk", "tablet", "phone", "narrow"]
# A page on a loaded machine, or with a real agent behind it, takes seconds. Playwright's own bound
# of an expectation is 5 s.
PAGE_WAIT_MS = 30_000
SAY_WAIT_MS = 50_000  # the gateway answers before the request for it ends
expect.set_options(timeout=PAGE_WAIT_MS)
# the console says nothing about some violations; the document always has an event
REPORT = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`);
});
"""


def port_of(address: str) -> int:
    return int(re.sub(r"^.*:(\d+).*$", r"\1", address))


class Place(Protocol):
    """A gateway that serves, whatever agents it has."""

    @property
    def address(self) -> str: ...

    @property
    def port(self) -> int: ...

    def link(self) -> str: ...


class Served(Home):
    """A gateway that serves, and one login at it."""

    def __init__(self, base: Path, *args: str) -> None:
        super().__init__(base)
        self._args = args
        self._gateway = GatewayProcess(base, env=self.env)
        self.login: Any = None  # what a browser keeps of it

    @property
    def address(self) -> str:
        return self._gateway.address

    @property
    def port(self) -> int:
        return self._gateway.port

    def serve(self, port: int = 0) -> None:
        self._gateway.env = self.env
        self._gateway.serve(*self._args, port=port)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        self._gateway.send(how)
        self._gateway.wait()

    def restart(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it, by default without a word, and start it at the same place."""
        self.stop(how)
        self.serve(self.port)

    def link(self) -> str:
        """A link that logs one browser in, once: as a person at a terminal gets it."""
        terminal = self.at_terminal("open", "--print")
        assert terminal.wait_end() == 0, terminal.seen
        return "".join(terminal.seen.split())

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Ask the gateway's HTTP interface, with the login of the browser."""
        request = urllib.request.Request(
            f"{self.address}/api/v1{path}",
            None if body is None else json.dumps(body).encode(),
            {"content-type": "application/json", **headers_in(self.login)},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            return json.loads(answer.read() or b"null")

    def new_session(self, request: str, **more: Any) -> str:
        """Open a session with the demo agent, which does not wait between words; its id."""
        body = {"agent": "demo", "cwd": str(self.work), "model": FAST, "request": request, **more}
        return str(self.call("POST", "/sessions", {"folder": "trust", **body})["session"])

    def say(self, session: str, text: str, request: str, until: str = "done") -> Any:
        """Send a message, as another device would; by default wait for the end of the turn."""
        command = {"type": "send_input", "content": [{"type": "text", "text": text}]}
        body = {"command": command, "request": request, "until": until, "wait_ms": SAY_WAIT_MS}
        outcome = self.call("POST", f"/sessions/{session}/commands", body)
        assert outcome.get("error") != "in_progress", outcome
        return outcome

    def answer(self, session: str, **decision: Any) -> None:
        """Decide the oldest open permission of a session, as another device would: by default
        it is allowed. Waits until one is open."""
        found = wait_until(lambda: self._asked_by(session), "an open permission")
        prompt = {name: found[0][name] for name in ("prompt", "digest")}
        command = {"type": "answer_permission", "decision": "allow", **prompt, **decision}
        body = {"command": command, "request": f"answer-{prompt['prompt']}", "until": "accepted"}
        self.call("POST", f"/sessions/{session}/commands", body)

    def _asked_by(self, session: str) -> list[Any]:
        return [one for one in self.call("GET", "/prompts")["prompts"] if one["session"] == session]

    def close(self) -> None:
        """End everything, and see that it ended. The browser is none of it."""
        for terminal in self.terminals:
            terminal.close()
        with ThreadPoolExecutor(1) as thread:  # the browser's loop is this thread's
            thread.submit(asyncio.run, self._end_all()).result(WAIT_S)
        if self._gateway.is_running:
            self._gateway.wait()
        leftovers.expect_none_below(self.base)


class Visit:
    """Somebody's browser: its own cookies, its own pages, and what went wrong in them."""

    def __init__(
        self, browser: Browser, gateway: Place, *, theme: Theme, size: Size, login: Any
    ) -> None:
        width, height = SIZES[size]
        on_phone = size in ("phone", "narrow")
        self.gateway = gateway
        self.wrong: list[str] = []
        self._expected: list[str] = []
        self.context: BrowserContext = browser.new_context(
            color_scheme=theme,
            viewport={"width": width, "height": height},
            has_touch=on_phone,
            is_mobile=on_phone,
            storage_state=login,
            locale="en-GB",
            timezone_id="UTC",
        )
        self.context.set_default_timeout(PAGE_WAIT_MS)
        self.context.add_init_script(REPORT)

    def expect(self, pattern: str) -> None:
        """This is meant to go wrong: a message that matches is no failure."""
        self._expected.append(pattern)

    def page(self) -> Page:
        """An empty page that is watched."""
        page = self.context.new_page()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.wrong.append(f"exception: {error}"))
        page.on("crash", lambda _: self.wrong.append("the page crashed"))
        return page

    def open(self, path: str = "/") -> Page:
        """A page at one of our paths."""
        page = self.page()
        page.goto(f"{self.gateway.address}{path}")
        return page

    def log_in(self) -> Page:
        """Follow a link from the terminal, to the page behind the login."""
        self.expect(r"api/v1/me")  # nobody is logged in, at first
        page = self.page()
        # the login leaves for the page as soon as it can, maybe before it is loaded itself
        page.goto(self.gateway.link(), wait_until="commit")
        page.wait_for_url(f"{self.gateway.address}/")
        return page

    def login(self) -> Any:
        """What this browser keeps: with it, another one is logged in too."""
        return self.context.storage_state(indexed_db=True)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"{message.type}: {message.text} {message.location.get('url', '')}")

    def check(self) -> None:
        """Nothing went wrong that was not meant to."""
        known = [re.compile(one) for one in self._expected]
        found = [one for one in self.wrong if not any(every.search(one) for every in known)]
        assert not found, "\n".join(found)


@contextmanager
def launched(home: Path, *args: str) -> Iterator[Browser]:
    """One Chromium, with its files in ``home``. While it lives, no test can be async."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(),
            args=["--no-sandbox", "--disable-dev-shm-usage", *args],
            env={**os.environ, "HOME": str(home)},
        )
        try:
            yield browser
        finally:
            browser.close()


def served(
    browser: Browser, folders: pytest.TempPathFactory, *args: str
) -> AbstractContextManager[Served]:
    """A gateway in a folder of this run."""
    above = folders.getbasetemp().parent  # short: Unix sockets lie below it
    return served_in(browser, Path(tempfile.mkdtemp(dir=above)), *args)


@contextmanager
def served_in(
    browser: Browser, base: Path, *args: str, make: type[Served] = Served
) -> Iterator[Served]:
    """A gateway that serves on a free port, with these options, and that a browser is logged in
    at; all of it ends at the end."""
    gateway = make(base, *args)
    try:
        gateway.serve()
        visit = Visit(browser, gateway, theme="dark", size="desk", login=None)
        visit.log_in()
        gateway.login = visit.login()
        visit.context.close()
        yield gateway
    finally:
        gateway.close()


def findings(page: Page, *, within: str = "") -> list[str]:
    """What axe finds on the page as it is, of any impact: the rule, and the elements."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    also = {"target-size": {"enabled": True}}  # not among the usual rules yet
    told = page.evaluate(
        "([within, how]) => axe.run(within || document, how)",
        [within, {"resultTypes": ["violations"], "rules": also}],
    )
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:200]} {node['failureSummary']}"
        for one in told["violations"]
        for node in one["nodes"]
    ]
