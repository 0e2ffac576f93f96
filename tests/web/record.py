"""Records what the page hears while the demo agent plays, for the tests of its store.

Run by hand when the protocol changed: ``.venv/bin/python -m tests.web.record``. It writes
``web/tests/fixtures/<name>.json``: the lines of one session, as they came over the socket.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, WebSocket, sync_playwright

from tests.harness.browsers import chromium
from tests.harness.terminal_home import STEADY
from tests.harness.waiting import WAIT_S
from tests.repo.tree import ROOT
from tests.web.rig import Served, Visit

FIXTURES = ROOT / "web" / "tests" / "fixtures"
KEPT = ("event", "preview", "gauge", "view")
SCENES = {
    "talk": ("think boats", "markdown", "hidden"),
    "tools": ("run echo hello", "edit", "parallel", "read notes.md"),
    "asking": ("question", "choices", "plan"),
    "team": ("agents", "tasks", "todos"),
    "trouble": ("retry", "unknown", "compact", "error 529", "crash"),
}
ANSWERS = {
    "permission": {"type": "answer_permission", "decision": "allow"},
    "question": {"type": "answer_question"},
}


def main() -> None:
    FIXTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        gateway = Served(Path(tempfile.mkdtemp()))
        try:
            gateway.serve()
            first = Visit(browser, gateway, theme="dark", size="desk", login=None)
            page = first.page()
            page.goto(gateway.link())
            page.wait_for_url(f"{gateway.address}/")
            gateway.login = first.login()
            for name, scenes in SCENES.items():
                _record(gateway, page, name, scenes)
        finally:
            gateway.close()
            browser.close()


def _record(gateway: Served, page: Page, name: str, scenes: tuple[str, ...]) -> None:
    session = gateway.new_session(name, agent=STEADY, model="", title=name)
    lines: list[dict[str, Any]] = []

    def heard(frame: str | bytes) -> None:
        for line in str(frame).splitlines():
            message = json.loads(line)
            if message["type"] in KEPT and message.get("session") == session:
                lines.append(message)

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", heard)

    page.once("websocket", listen)
    page.goto(f"{gateway.address}/s/{session}")
    for number, scene in enumerate(scenes):
        gateway.say(session, scene, f"{name}-{number}", until="accepted")
        _play(gateway, page, session)
    text = json.dumps(_trimmed(lines), ensure_ascii=False, separators=(",", ":"))
    text = text.replace(str(gateway.base), "/home/you").replace('},{"type"', '},\n{"type"')
    (FIXTURES / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _play(gateway: Served, page: Page, session: str) -> None:
    """Answer whatever is asked until nothing happens any more."""
    deadline, quiet = time.monotonic() + WAIT_S, 0
    while quiet < 5:
        assert time.monotonic() < deadline
        page.wait_for_timeout(80)  # the browser's events are handed over meanwhile
        view = gateway.call("GET", f"/sessions/{session}")
        quiet = 0 if view["status"] in ("running", "starting") or view["queue"] else quiet + 1
        for one in gateway.call("GET", "/prompts")["prompts"]:
            bound = {"prompt": one["prompt"], "digest": one["digest"]}
            answer: dict[str, Any] = {**ANSWERS[one["kind"]], **bound}
            if one["kind"] == "question":
                answer["answers"] = {
                    each["question"]: [each["options"][0]["label"] if each["options"] else "yes"]
                    for each in one["questions"]
                }
            body = {"command": answer, "request": f"answer-{one['prompt']}", "until": "written"}
            gateway.call("POST", f"/sessions/{session}/commands", body)


def _trimmed(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without what no test reads, and with the last of the many views only."""
    last = max(place for place, line in enumerate(lines) if line["type"] == "view")
    return [line for place, line in enumerate(lines) if line["type"] != "view" or place == last]


if __name__ == "__main__":
    main()
