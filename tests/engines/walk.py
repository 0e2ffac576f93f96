"""A walk through the page: what a day with it takes, in a browser that other tests do not have."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

from tests.engines.page import CONTROL, ENTER, ESCAPE, SHIFT, Page
from tests.harness.terminal_home import STEADY
from tests.web.rig import Served

LOG = "document.querySelector('[role=log]')"
FIELD = "form textarea"
STEP = 240
STEPS = 80
JUMP = 4.0
# the first line below the middle, by name, and where it is; how far there is to scroll
HELD = f"""(() => {{
  const box = {LOG}, edge = box.getBoundingClientRect();
  const all = [...box.querySelectorAll("[data-entry]")];
  const held = all.find((one) => one.getBoundingClientRect().bottom > edge.top + edge.height / 2);
  return {{ name: held.dataset.entry, top: held.getBoundingClientRect().top, room: box.scrollTop }};
}})()"""
TOP_OF = """(() => {
  const held = document.querySelector(`[data-entry="${CSS.escape(NAME)}"]`);
  return held === null ? null : held.getBoundingClientRect().top;
})()"""
TOO_WIDE = """
const canvas = document.createElement("canvas"), field = document.querySelector("input[type=file]");
[canvas.width, canvas.height] = [8400, 8];
canvas.getContext("2d").fillRect(0, 0, 4200, 8);
canvas.toBlob((picture) => {
  const files = new DataTransfer();
  files.items.add(new File([picture], "horizon.png", { type: "image/png" }));
  field.files = files.files;
  field.dispatchEvent(new Event("change", { bubbles: true }));
});
"""
READ_KEY = """
indexedDB.open("flybridge").onsuccess = (opened) => {
  const store = opened.target.result.transaction("login").objectStore("login");
  store.get("/").onsuccess = (found) => { window.loginKey = found.target.result; };
};
"""
_numbers = itertools.count()


def number() -> str:
    return f"walk-{next(_numbers)}"


def log_in(page: Page, gateway: Served) -> None:
    page.open(gateway.link())
    page.wait("location.pathname === '/'")
    page.see("New session")
    page.engine.ask("ExecuteScript", script=READ_KEY, args=[])
    page.wait("window.loginKey")
    gateway.login = {
        "cookies": page.engine.ask("GetCookies"),
        "key": page.get("window.loginKey"),
    }


def start_a_session(page: Page, gateway: Served) -> None:
    page.open("/")
    page.press("New session")
    page.wait("document.querySelector('dialog[open] input')")
    page.press_at("dialog[open] input")
    page.keys(CONTROL + "a")
    page.type(str(gateway.work))
    page.press("Open session")
    page.wait("location.pathname.startsWith('/s/')")


def write_and_read(page: Page, gateway: Served) -> None:
    session = gateway.new_session(number())
    page.open(f"/s/{session}")
    page.press_at(FIELD)
    low = page.get(f"document.querySelector('{FIELD}').offsetHeight")
    page.type("a line")
    page.keys(SHIFT + ENTER)
    page.type("and another one")
    page.wait(f"document.querySelector('{FIELD}').offsetHeight > {low}")  # it grows with its text
    page.keys(ESCAPE)  # clears it
    page.type("markdown")
    page.keys(ENTER)
    page.see("That is all of it.", "[role=log]")
    page.wait(f"{LOG}.querySelector('table') && {LOG}.querySelector('.syn-keyword')")
    assert page.get("matchMedia('(prefers-color-scheme: dark)').matches")
    red, *_ = page.get("getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g)")
    assert float(red) < 0.5, red  # a dark grey, written as oklch


def complete_and_find(page: Page, gateway: Served) -> None:
    session = gateway.new_session(number())
    page.open(f"/s/{session}")
    page.press_at(FIELD)
    page.type("/help")
    page.wait("document.querySelector('[role=option]')")
    page.keys(ESCAPE, CONTROL + "/")
    page.see("All sessions", "dialog[open]")
    assert page.get("getComputedStyle(document.querySelector('dialog')).boxShadow") != "none"
    page.keys(ESCAPE)
    page.wait("document.querySelector('dialog[open]') === null")
    assert page.get(f"document.querySelector('{FIELD}').value") == "/help"


def follow_the_stream(page: Page, gateway: Served) -> None:
    """The end stays in sight while it grows, and the reader who leaves it is left alone."""
    session = gateway.new_session(number(), agent=STEADY, model="")
    gateway.say(session, "markdown", number())
    page.open(f"/s/{session}")
    page.see("That is all of it.", "[role=log]")
    for _ in range(3):  # one after the other: enough for a slow machine, too
        gateway.say(session, "long", number(), until="written")
    _grow(page)
    assert page.get(f"{LOG}.dataset.following") == "true"
    page.wait(f"{LOG}.scrollHeight - {LOG}.clientHeight - {LOG}.scrollTop < 4")
    page.wheel(-STEP)
    page.wait(f"{LOG}.dataset.following === 'false'")
    _still(page)
    before = page.get(f"{LOG}.scrollTop")
    _grow(page)
    assert abs(page.get(f"{LOG}.scrollTop") - before) < JUMP
    page.press("Latest")
    page.wait(f"{LOG}.dataset.following === 'true'")


def _grow(page: Page) -> None:
    """Wait for some more lines."""
    page.wait(f"{LOG}.scrollHeight > {page.get(f'{LOG}.scrollHeight') + 60}")


def stop_a_turn(page: Page, gateway: Served) -> None:
    session = gateway.new_session(number(), model="")
    page.open(f"/s/{session}")
    page.press_at(FIELD)
    page.type("count")
    page.keys(ENTER)
    page.see("1 2 3", "[role=log]")
    page.keys(ESCAPE)
    page.see("Interrupted", "[role=log]")


def read_backwards(page: Page, gateway: Served) -> None:
    """Older lines come, pages far away go, and what is read stays where it is."""
    session = gateway.new_session(number())
    for word in ("markdown", "think about boats", "context", "tasks", "hello") * 12:
        gateway.say(session, word, number())
    page.open(f"/s/{session}")
    page.wait(f"{LOG}?.scrollTop > 4000")
    page.engine.run(f"{LOG}.scrollBy(0, -{STEP})")  # a wheel would come when it likes
    page.wait(f"{LOG}.dataset.following === 'false'")
    _still(page)
    moved = [_turn(page) for _ in range(STEPS)]
    jumps = [one for one in moved if abs(one) > JUMP]
    assert not jumps, jumps


def _turn(page: Page) -> float:
    held = page.get(HELD)
    page.engine.run(f"{LOG}.scrollBy(0, -{STEP})")
    _still(page)
    top = page.get(TOP_OF.replace("NAME", repr(held["name"])))
    if held["room"] < STEP:  # how far it goes depends on whether older lines come just then
        return 0.0
    return float("inf") if top is None else float(top - held["top"] - STEP)


def _still(page: Page) -> None:
    """Wait until it scrolls no further."""
    last, same = -1.0, 0
    deadline = time.monotonic() + 10
    while same < 4:
        now = page.get(f"{LOG}.scrollTop")
        same = same + 1 if now == last else 0
        last = now
        assert time.monotonic() < deadline, "it does not come to rest"


def allow_a_change(page: Page, gateway: Served) -> None:
    session = gateway.new_session(number())
    gateway.say(session, "write sails.txt", number(), until="written")
    page.open(f"/s/{session}")
    page.see("Wants to", "section[aria-label='Waiting for you']")
    page.wait("document.querySelector(\"[aria-label^='Changes in']\")")
    page.press("Allow once")
    page.see("Done", "[role=log]")


def answer_questions(page: Page, gateway: Served) -> None:
    session = gateway.new_session(number())
    gateway.say(session, "question", number(), until="written")
    page.open(f"/s/{session}")
    page.press("Blue")
    page.press("Send answer")
    page.see("Done", "[role=log]")


def come_back(page: Page, gateway: Served) -> None:
    """The gateway goes and comes: the page says so, and what was said meanwhile is there."""
    session = gateway.new_session(number())
    page.open(f"/s/{session}")
    page.see("Connected")
    gateway.restart()
    gateway.say(session, "hello", number())
    page.see("Hello from the demo agent", "[role=log]")
    page.see("Connected")
    page.engine.run("window.wrong = window.wrong.filter((one) => !/WebSocket/.test(one))")


def rename_from_a_menu(page: Page, gateway: Served) -> None:
    gateway.new_session(number(), title="Old name")
    page.open("/")
    page.press("More for Old name")
    page.press("Rename")
    page.wait("document.activeElement?.matches('dialog input')")
    page.keys(CONTROL + "a")
    page.type("New name")
    page.keys(ENTER)
    page.see("New name", "nav")


def copy_code(page: Page, gateway: Served) -> None:
    session = gateway.new_session(number())
    gateway.say(session, "markdown", number())
    page.open(f"/s/{session}")
    page.see("That is all of it.", "[role=log]")
    page.press("Copy code")
    page.press_at(FIELD)
    page.keys(CONTROL + "v")
    page.wait(f"document.querySelector('{FIELD}').value.length > 10")


def attach_a_picture(page: Page, gateway: Served) -> None:
    """One that is too large is made smaller, and is no PNG then: a photograph would be huge."""
    session = gateway.new_session(number())
    page.open(f"/s/{session}")
    page.wait("document.querySelector('input[type=file]')")
    page.engine.run(TOO_WIDE)
    page.see("made smaller")
    page.press_at(FIELD)
    page.type("image")
    page.keys(ENTER)
    page.see("Thank you, I see", "[role=log]")
    assert page.get(f"/image.(webp|jpeg),/.test({LOG}.innerText)"), page.text()


def see_every_view(page: Page, gateway: Served) -> None:
    views = {
        "/": "Sessions",
        "/history": "History",
        "/settings": "Theme",
        "/help": "Help",
        "/access": "Audit log",
        "/devices": "Pair a device",
    }
    for path, text in views.items():
        page.open(path)
        page.see(text)


def fit_a_phone(page: Page, gateway: Served) -> None:
    """Nothing is wider than the window, and only what is inside of it scrolls."""
    session = gateway.new_session(number())
    gateway.say(session, "questions", number(), until="written")
    page.resize(390, 844)
    for path in ("/", f"/s/{session}"):
        page.open(path)
        page.see("Has questions for you")
        size = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        assert page.get(size) == page.get("[innerWidth, innerHeight]"), path


STEPS_OF_IT: tuple[Callable[[Page, Served], None], ...] = (
    log_in,
    start_a_session,
    write_and_read,
    complete_and_find,
    follow_the_stream,
    stop_a_turn,
    read_backwards,
    allow_a_change,
    answer_questions,
    rename_from_a_menu,
    copy_code,
    attach_a_picture,
    see_every_view,
    come_back,
    fit_a_phone,
)
