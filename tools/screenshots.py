"""Take the pictures of the page that the documentation shows.

    python -m tools.screenshots            all of them, into docs/images
    python -m tools.screenshots phone      those whose name has this word

The built-in demo agent plays; nothing is drawn by hand. Run it when the page looks different,
and look at what comes out.
"""

from __future__ import annotations

import base64
import itertools
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.harness.browsers import chromium
from tests.web.rig import SIZES, Served, Size, Theme, Visit

IMAGES = Path(__file__).parents[1] / "docs" / "images"
LARGEST = 150_000  # bytes: a page of documentation is read over a phone's network, too
QUALITY = 88
SHARP = 1.5  # pixels for each of the page's
Sessions = dict[str, str]


def main(words: list[str]) -> int:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        gateway = Served(Path(tempfile.mkdtemp(prefix="harbour-")))
        try:
            gateway.serve()
            first = Visit(browser, gateway, theme="dark", size="desk", login=None)
            first.log_in()
            gateway.login = first.login()
            sessions = play(gateway)
            for name, (theme, size, pose) in PICTURES.items():
                if not words or any(word in name for word in words):
                    take(browser, gateway, name, theme, size, partial(pose, sessions))
        finally:
            gateway.close()
            browser.close()
    return 0


# ---- what there is to see ------------------------------------------------------------------------


def play(gateway: Served) -> Sessions:
    """An afternoon's work: sessions that work, that are done, and that wait for somebody."""
    made: Sessions = {}
    numbers = itertools.count()

    def begin(name: str, title: str, **more: str) -> str:
        folder = gateway.base / name
        folder.mkdir(parents=True)
        made[name] = gateway.new_session(f"new-{name}", cwd=str(folder), title=title, **more)
        return made[name]

    def say(name: str, *texts: str, until: str = "done") -> None:
        for text in texts:
            gateway.say(made[name], text, f"say-{next(numbers)}", until=until)

    begin("charts", "Tables for the pilot book")
    say("charts", "think about tables", "markdown", "price")
    begin("ropes", "Sort the rope locker")
    say("ropes", "tasks", "price")
    begin("paint", "Choose the paint")
    say("paint", "question", until="written")
    begin("helm", "A louder greeting")
    say("helm", "tasks")
    say("helm", "edit", until="written")
    gateway.answer(made["helm"])
    gateway.answer(made["helm"])
    say("helm", "edit", until="written")
    begin("log", "Count the waves", model="")
    say("log", "count", until="written")
    return made


def chat(sessions: Sessions, page: Page) -> None:
    page.goto(f"{page.url}s/{sessions['helm']}")
    expect(page.get_by_role("button", name="Allow once")).to_have_attribute(
        "aria-disabled", "false"
    )


def board(sessions: Sessions, page: Page) -> None:
    expect(page.get_by_role("button", name="Allow once")).to_have_attribute(
        "aria-disabled", "false"
    )


def question(sessions: Sessions, page: Page) -> None:
    page.goto(f"{page.url}s/{sessions['paint']}")
    page.get_by_role("radio", name="Red").check()
    expect(page.get_by_role("button", name="Send answer")).to_have_attribute(
        "aria-disabled", "false"
    )


def tasks(sessions: Sessions, page: Page) -> None:
    page.goto(f"{page.url}s/{sessions['ropes']}")
    expect(page.get_by_role("tabpanel")).to_contain_text("3 of 3 done")


def context(sessions: Sessions, page: Page) -> None:
    page.goto(f"{page.url}s/{sessions['charts']}")
    page.get_by_role("tab", name="Context").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("Messages")
    for name in ("python", "javascript", "shell"):  # each has its grammar fetched first
        expect(
            page.get_by_role("group", name=f"Code, {name}").locator("span").first
        ).to_be_visible()


PICTURES: dict[str, tuple[Theme, Size, Callable[[Sessions, Page], None]]] = {
    "chat-dark": ("dark", "desk", chat),
    "chat-light": ("light", "desk", chat),
    "board-light": ("light", "desk", board),
    "question-dark": ("dark", "desk", question),
    "tasks-light": ("light", "desk", tasks),
    "context-dark": ("dark", "desk", context),
    "phone-permission": ("dark", "phone", chat),
    "phone-question": ("light", "phone", question),
    "phone-board": ("dark", "phone", board),
}


# ---- a picture -----------------------------------------------------------------------------------


def take(
    browser: Browser,
    gateway: Served,
    name: str,
    theme: Theme,
    size: Size,
    pose: Callable[[Page], None],
) -> None:
    visit = Visit(browser, gateway, theme=theme, size=size, login=gateway.login)
    page = visit.open("/")
    page.emulate_media(reduced_motion="reduce")
    pose(page)
    page.evaluate("document.fonts.ready")
    width, height = SIZES[size]
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": SHARP}
    how = {"format": "webp", "quality": QUALITY, "clip": clip, "captureBeyondViewport": False}
    told = visit.context.new_cdp_session(page).send("Page.captureScreenshot", how)
    picture = base64.b64decode(told["data"])
    assert len(picture) <= LARGEST, f"{name}: {len(picture)} bytes"
    (IMAGES / f"{name}.webp").write_bytes(picture)
    visit.check()
    visit.context.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
