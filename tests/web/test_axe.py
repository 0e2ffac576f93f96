"""What axe finds, by every rule and of any impact: nothing, in any view or state, in the dark and
in the light, on a desk and in a hand."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, expect

from tests.web.conftest import Visitor
from tests.web.looking import BOTH, Looking
from tests.web.past import write_down
from tests.web.rig import Served, Size, Visit

# what is said in each session, how often it is allowed, and what is there at the end
SAID = {
    "markdown": (["think about boats", "markdown"], 0, "Markdown"),
    "edit": (["edit"], 2, "Done"),
    "editing": (["edit"], 0, "Wants to change a file"),
    "permission": (["run echo ahoy"], 0, "Allow once"),
    "question": (["questions"], 0, "Send answers"),
    "plan": (["plan"], 0, "Approve the plan"),
    "subagents": (["agents"], 0, "Allow once"),
    "tasks": (["tasks", "price"], 0, "Done"),
    "trouble": (["unknown", "limit", "compact", "error 529", "crash"], 0, "The agent ended"),
    "tools": (["parallel"], 2, "Done"),
}
OLD: FilePayload = {"name": "old.bmp", "mimeType": "image/bmp", "buffer": b"BM\0\0\0"}
TABLE: FilePayload = {"name": "table.csv", "mimeType": "text/csv", "buffer": b"a,b"}
_names = (f"axe-{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def opened(browser: Browser, gateway: Served) -> Iterator[Looking]:
    visit = Visit(browser, gateway, theme="dark", size="desk", login=gateway.login)
    yield Looking(visit)
    visit.context.close()


@pytest.fixture
def looking(opened: Looking, gateway: Served) -> Iterator[Looking]:
    """The same page for all; nothing may have gone wrong in it."""
    opened.visit.wrong.clear()  # what another test was told already
    opened.turn("desk")
    if opened.page.get_by_role("dialog").count() > 0:  # another test ended in the middle
        opened.page.reload()
    yield opened
    opened.visit.check()


@pytest.fixture(scope="module")
def scenes(gateway: Served) -> dict[str, str]:
    """A session for everything that one can show, by name."""
    made = {"empty": gateway.new_session(next(_names))}
    for name, (said, allowed, _) in SAID.items():
        made[name] = gateway.new_session(next(_names), title=f"All about {name}")
        for text in said[:-1]:
            gateway.say(made[name], text, next(_names))
        gateway.say(made[name], said[-1], next(_names), until="written")
        for _ in range(allowed):
            gateway.answer(made[name])
    made["queue"] = gateway.new_session(next(_names), model="")  # at a talking pace
    gateway.say(made["queue"], "count", next(_names), until="written")
    command = {"type": "send_input", "content": [{"type": "text", "text": "then this"}]}
    later = {"command": command | {"mode": "queue"}, "request": next(_names)}
    gateway.call("POST", f"/sessions/{made['queue']}/commands", later | {"until": "accepted"})
    return made


def none(found: list[str]) -> None:
    assert not found, "\n".join(found)


def command(page: Page, name: str) -> Locator:
    """What opens when this is chosen among the commands."""
    page.keyboard.press("Control+/")
    box = page.get_by_role("combobox", name="Command or session")
    box.fill(name)
    page.get_by_role("option", name=name).first.click()
    dialog = page.get_by_role("dialog").filter(has_not=box)
    expect(dialog).to_be_visible()
    return dialog


def close(page: Page) -> None:
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


# ---- before there is anything --------------------------------------------------------------------


def test_an_empty_board(looking: Looking) -> None:
    expect(looking.page.get_by_role("button", name="Start a session")).to_be_visible()
    none(looking.wrong("empty board"))


def test_the_login(gateway: Served, visitor: Visitor) -> None:
    visit = visitor(logged_in=False)
    visit.expect(r"api/v1/(me|login)")  # it asks whether somebody is logged in
    looking = Looking(visit)
    page = looking.page
    page.wait_for_url("**/login")
    expect(page.get_by_role("heading").first).to_be_visible()
    found = looking.wrong("login")
    page.get_by_label("Password").fill("not it")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("status")).not_to_contain_text("Open the link")
    none(found + looking.wrong("login, refused"))


# ---- a session -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*SAID, "empty", "queue"])
def test_a_session(scenes: dict[str, str], looking: Looking, name: str) -> None:
    page = looking.go(f"/s/{scenes[name]}")
    if name == "empty":
        expect(page.get_by_role("log").locator("p")).to_be_visible()
    else:
        shown = SAID[name][2] if name in SAID else "then this"
        expect(page.get_by_text(shown).last).to_be_visible()
    page.keyboard.press("Alt+o")  # every tool is open
    none(looking.wrong(name))


def test_the_forms_of_a_prompt(scenes: dict[str, str], looking: Looking) -> None:
    page = looking.go(f"/s/{scenes['permission']}")
    dock = page.get_by_role("region", name="Waiting for you")
    found: list[str] = []
    for name in ("Deny", "Edit"):
        dock.get_by_role("button", name=name, exact=True).click()
        expect(dock.get_by_role("textbox").first).to_be_focused()
        found += looking.wrong(f"{name} with words")
        page.keyboard.press("Escape")
        expect(dock.get_by_role("textbox")).to_have_count(0)
    none(found)


def test_the_composer_in_use(scenes: dict[str, str], gateway: Served, looking: Looking) -> None:
    (gateway.work / "rudder.py").write_text("pass\n")
    page = looking.go(f"/s/{scenes['markdown']}")
    field = page.get_by_label("Message", exact=True)
    found: list[str] = []
    for typed, offered in (("/mark", "/markdown"), ("read @rudd", "rudder.py")):
        field.fill("")
        field.press_sequentially(typed)
        expect(page.get_by_role("option", name=offered)).to_be_visible()
        found += looking.wrong(f"suggestions for {typed}")
    field.fill("look at this")
    page.locator("input[type=file]").set_input_files([TABLE])
    expect(page.get_by_role("list", name="Attached")).to_contain_text("table.csv")
    page.locator("input[type=file]").set_input_files([OLD])
    expect(page.get_by_role("region", name="Messages")).to_contain_text("old.bmp")
    found += looking.wrong("attached, and refused")
    page.get_by_role("button", name="Dismiss").first.click()
    field.fill("")
    none(found)


@pytest.mark.parametrize("size", BOTH)
def test_what_stands_beside_a_session(scenes: dict[str, str], looking: Looking, size: Size) -> None:
    found: list[str] = []
    for name, tabs in {"tasks": ("Tasks", "Context", "MCP"), "edit": ("Changes",)}.items():
        page = looking.go(f"/s/{scenes[name]}")
        looking.turn(size)
        expect(page.get_by_text("Done").last).to_be_visible()
        if size == "phone":
            page.get_by_role("navigation", name="Places").get_by_text("Inspector").click()
        for tab in tabs:
            page.get_by_role("tab", name=tab).click()
            panel = page.get_by_role("tabpanel", name=tab)
            expect(panel).to_be_visible()
            found += looking.wrong(tab, [size])
            if tab == "Tasks":
                panel.get_by_role("button", name="As a board").click()
                found += looking.wrong("tasks as a board", [size])
                panel.get_by_role("button", name="As a list").click()
        if size == "phone":
            close(page)
    none(found)


# ---- the other views -----------------------------------------------------------------------------


def test_the_board(scenes: dict[str, str], looking: Looking) -> None:
    page = looking.go("/")
    expect(page.get_by_role("region", name="Needs you")).to_be_visible()
    expect(page.get_by_role("region", name="Spent")).to_be_visible()
    none(looking.wrong("board"))


def test_a_session_that_is_not_there(looking: Looking) -> None:
    page = looking.go("/s/nowhere")
    expect(page.get_by_role("heading", name="This session is not here")).to_be_visible()
    none(looking.wrong("no session"))


def test_the_history(gateway: Served, looking: Looking) -> None:
    page = looking.go("/history")
    expect(page.get_by_text("None yet")).to_be_visible()
    found = looking.wrong("no history")
    write_down(gateway)
    looking.go("/")
    looking.go("/history")
    expect(page.get_by_text("Where is the lighthouse?")).to_be_visible()
    found += looking.wrong("history")
    for words, shown in (("northern pier", "On the northern pier."), ("no such", "Nothing")):
        page.get_by_role("searchbox", name="Search everything that was said").fill(words)
        page.keyboard.press("Enter")
        expect(page.get_by_text(shown).first).to_be_visible()
        found += looking.wrong(f"search for {words}")
    none(found)


def test_who_may_come_in(scenes: dict[str, str], looking: Looking) -> None:
    page = looking.go("/access")
    page.get_by_label("Name of a new token").fill("robot")
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("button", name="Revoke the token robot")).to_be_visible()
    found = looking.wrong("access")
    looking.go("/devices")
    page.get_by_label("Name").fill("button box")
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("button", name="Revoke button box")).to_be_visible()
    none(found + looking.wrong("devices"))


# ---- the list of sessions ------------------------------------------------------------------------


@pytest.mark.parametrize("size", BOTH)
def test_the_list_of_sessions(
    gateway: Served, scenes: dict[str, str], looking: Looking, size: Size
) -> None:
    page = looking.go("/")
    looking.turn(size)
    if size == "phone":
        page.get_by_role("button", name="All sessions").click()
    rail = page.get_by_role("navigation", name="Sessions")
    rail.get_by_role("button", name="More for All about tools").click()
    expect(page.get_by_role("menu")).to_be_visible()
    found = looking.wrong("menu of a row", [size])
    page.get_by_role("menuitem", name="Archive").click()
    told = page.get_by_role("region", name="Messages")
    rail.get_by_role("button", name="Show archived").click()
    told.get_by_role("button", name="Undo").hover()  # it stays while somebody is at it
    found += looking.wrong("archived, and told", [size])
    told.get_by_role("button", name="Dismiss").click()
    rail.get_by_role("button", name="Hide archived").click()
    rail.get_by_role("searchbox").fill("no such thing")
    expect(rail.get_by_text("No session matches that.")).to_be_visible()
    found += looking.wrong("no match", [size])
    rail.get_by_role("button", name="Clear the search").click()
    gateway.call("PATCH", f"/sessions/{scenes['tools']}", {"archived": False})
    expect(rail.get_by_role("button", name="More for All about tools")).to_be_visible()
    if size == "phone":
        close(page)
    none(found)


# ---- what opens over the page --------------------------------------------------------------------


def test_the_commands(scenes: dict[str, str], looking: Looking) -> None:
    page = looking.go(f"/s/{scenes['empty']}")
    page.keyboard.press("Control+/")
    box = page.get_by_role("combobox", name="Command or session")
    expect(box).to_be_focused()
    found = looking.wrong("commands")
    box.fill("no such thing")
    expect(page.get_by_role("listbox", name="Commands").get_by_role("option")).to_have_count(0)
    found += looking.wrong("no such command")
    close(page)
    none(found)


@pytest.mark.parametrize(
    "name", ["Settings", "Keys", "Rename this session", "Export this session", "Help"]
)
def test_a_dialog(scenes: dict[str, str], looking: Looking, name: str) -> None:
    page = looking.go(f"/s/{scenes['empty']}")
    dialog = command(page, name)
    if name == "Keys":
        dialog.get_by_role("button", name="Keys for Clear the view").click()
        page.keyboard.press("Control+/")
        expect(dialog.get_by_role("alert").filter(has_text="Commands")).to_be_visible()
    if name == "Help":
        dialog.get_by_role("button", name="Commands (").click()
    found = looking.wrong(name)
    page.keyboard.press("Escape")
    if name == "Keys":  # the first one was for the keys that were asked for
        page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    none(found)


def test_a_session_is_deleted(scenes: dict[str, str], looking: Looking) -> None:
    page = looking.go("/")
    page.get_by_role("button", name="More for All about tools").click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_role("dialog", name="Delete session")).to_be_visible()
    found = looking.wrong("delete")
    close(page)
    none(found)


def test_a_new_session(gateway: Served, scenes: dict[str, str], looking: Looking) -> None:
    page = looking.go("/new")
    form = page.get_by_role("dialog", name="New session")
    form.get_by_label("Agent").select_option("demo")
    found = looking.wrong("new session")
    form.get_by_role("button", name="More").click()
    form.get_by_label("Folder", exact=True).fill("/no/such/folder")
    form.get_by_role("button", name="Open session").click()
    expect(form.get_by_role("alert").filter(has_text="No such directory")).to_be_visible()
    found += looking.wrong("new session, refused")
    folder = gateway.base / "brings"
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude" / "settings.json").write_text(json.dumps({"hooks": {}}))
    form.get_by_label("Folder", exact=True).fill(str(folder))
    form.get_by_role("button", name="Open session").click()
    brings = page.get_by_role("dialog", name="This folder brings its own settings")
    expect(brings).to_be_visible()
    found += looking.wrong("a folder with settings")
    page.keyboard.press("Escape")
    close(page)
    none(found)


# ---- other ways of looking -----------------------------------------------------------------------


def test_without_a_network(scenes: dict[str, str], looking: Looking) -> None:
    page = looking.go(f"/s/{scenes['empty']}")
    looking.visit.expect(r"WebSocket|ERR_INTERNET_DISCONNECTED")
    looking.visit.context.set_offline(True)
    expect(page.get_by_text("this device has no network")).to_be_visible()
    page.get_by_label("Message", exact=True).fill("hello")
    page.keyboard.press("Enter")
    expect(page.get_by_text("When the connection is back")).to_be_visible()
    found = looking.wrong("offline")
    looking.visit.context.set_offline(False)
    expect(page.get_by_role("button", name="Connected")).to_be_visible()
    none(found)


@pytest.mark.parametrize(
    "kept",
    [{"contrast": "more"}, {"density": "compact", "diff": "split"}],
    ids=["contrast", "compact"],
)
def test_other_settings(
    gateway: Served, scenes: dict[str, str], visitor: Visitor, kept: dict[str, str]
) -> None:
    visit = visitor()
    visit.context.add_init_script(
        f"localStorage.setItem('flybridge.settings', {json.dumps(kept)!r})"
    )
    looking = Looking(visit)
    found: list[str] = []
    for name in ("markdown", "edit", "permission"):
        page = looking.go(f"/s/{scenes[name]}")
        expect(page.get_by_text(SAID[name][2]).last).to_be_visible()
        found += looking.wrong(name)
    none(found)


def test_on_paper(scenes: dict[str, str], looking: Looking) -> None:
    found: list[str] = []
    looking.page.emulate_media(media="print")
    for name in ("markdown", "edit"):
        page = looking.go(f"/s/{scenes[name]}")
        expect(page.get_by_text(SAID[name][2]).last).to_be_visible()
        found += looking.wrong(name, ["desk"])
    looking.page.emulate_media(media="screen")
    none(found)
