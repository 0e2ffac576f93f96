"""The page without a mouse: everything is reached, and it is always seen what has the focus."""

from __future__ import annotations

import itertools
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import Visitor
from tests.web.rig import Served

MOST_STOPS = 90
_names = (f"keyboard-{number}" for number in itertools.count())
# What has the focus, in a few words, and whether it can be seen: it lies in the window, and it or
# something around it looks different without the focus.
FOCUSED = """
async () => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  if (window.firstStop === one) return { again: true };
  window.firstStop ??= one;
  const chain = [one, one.parentElement, one.parentElement?.parentElement].filter(Boolean);
  const looks = () => chain.map((each) => {
    const { outline, boxShadow, borderColor, backgroundColor } = getComputedStyle(each);
    return [outline, boxShadow, borderColor, backgroundColor].join();
  }).join();
  const isInside = () => {
    const box = one.getBoundingClientRect();
    return box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0
      && box.left < innerWidth;
  };
  for (let frame = 0; frame < 30 && !isInside(); frame += 1) {  // it may come in from the edge
    await new Promise((painted) => requestAnimationFrame(painted));
  }
  const inside = isInside();
  const focused = looks();
  one.blur();
  const differs = looks() !== focused;
  one.focus({ preventScroll: true });
  const name = one.getAttribute("aria-label") || one.textContent || one.id;
  const what = `${one.tagName} ${name.trim().slice(0, 50)}`;
  return { what, seen: inside && differs, inside, differs };
}
"""


def message(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message").first


def command(page: Page, name: str) -> None:
    """Choose a command by its name."""
    page.keyboard.press("Control+/")
    expect(page.get_by_role("combobox", name="Command or session")).to_be_focused()
    page.keyboard.type(name)
    chosen = page.get_by_role("listbox", name="Commands").get_by_role("option", selected=True)
    expect(chosen).to_contain_text(name)
    page.keyboard.press("Enter")


def stops(page: Page) -> list[str]:
    """Go through the page with Tab, from where the focus is round to there again; all that is
    focused on the way, and nothing of it unseen."""
    page.emulate_media(reduced_motion="reduce")
    found: list[str] = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused is None:  # past the end, where the browser's own controls are
            continue
        if "again" in focused:
            return found
        assert focused["seen"], f"not seen: {focused}, after {found}"
        found.append(focused["what"])
    raise AssertionError(f"no end of {found}")


def test_a_whole_session_without_a_mouse(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open()
    expect(page.get_by_role("button", name="Start a session")).to_be_visible()
    page.keyboard.press("Alt+s")
    dialog = page.get_by_role("dialog", name="New session")
    expect(dialog.get_by_label("Folder")).to_be_focused()
    page.keyboard.type(str(gateway.work))
    expect(dialog.get_by_role("button", name="Open session")).to_be_enabled()
    page.keyboard.press("Enter")
    expect(message(page)).to_be_focused()

    page.keyboard.type("run echo ahoy")
    page.keyboard.press("Enter")
    dock = page.get_by_role("region", name="Waiting for you")
    expect(dock.get_by_role("button", name="Allow once")).to_have_attribute(
        "aria-disabled", "false"
    )
    page.keyboard.press("Alt+p")
    expect(dock).to_be_focused()
    page.keyboard.press("y")
    expect(page.get_by_role("log")).to_contain_text("Done. It said")
    expect(message(page)).to_be_focused()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)  # that turn is over

    page.keyboard.type("long")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("log")).to_contain_text("Interrupted")
    expect(message(page)).to_be_focused()

    command(page, "Settings")
    expect(page.get_by_role("dialog", name="Settings")).to_be_visible()
    page.keyboard.press("Escape")
    expect(message(page)).to_be_focused()
    page.keyboard.press("Alt+b")
    expect(page.get_by_role("heading", name="Sessions", level=1)).to_be_visible()


def test_the_first_stop_leads_past_the_list(gateway: Served, visitor: Visitor) -> None:
    page = visitor().open()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()


@pytest.mark.parametrize("words", [("markdown", "run echo ahoy"), ("edit",), ("questions",)])
def test_every_stop_in_a_session_is_seen(
    gateway: Served, visitor: Visitor, words: tuple[str, ...]
) -> None:
    session = gateway.new_session(next(_names))
    for one in words[:-1]:
        gateway.say(session, one, next(_names))
    gateway.say(session, words[-1], next(_names), until="written")
    page = visitor().open(f"/s/{session}")
    dock = page.get_by_role("region", name="Waiting for you")
    expect(dock.get_by_role("button").first).to_be_visible()
    found = stops(page)
    wanted = "Send answers" if words == ("questions",) else "Allow once"
    assert any(wanted in one for one in found), found
    assert any("Message" in one for one in found), found


@pytest.mark.parametrize("path", ["/", "/history", "/access"])
def test_every_stop_of_a_view_is_seen(gateway: Served, visitor: Visitor, path: str) -> None:
    page = visitor().open(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("button", name="Connected")).to_be_visible()
    assert len(stops(page)) > 6


@pytest.mark.parametrize("panel", ["Settings", "Help", "Keys", "New session"])
def test_a_panel_keeps_the_focus_and_gives_it_back(
    gateway: Served, visitor: Visitor, panel: str
) -> None:
    page = visitor().open(f"/s/{gateway.new_session(next(_names))}")
    message(page).focus()
    command(page, panel)
    dialog = page.get_by_role("dialog", name=panel)
    expect(dialog).to_be_visible()
    for _ in range(8):
        page.keyboard.press("Tab")
        assert page.evaluate(
            "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
        )
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(message(page)).to_be_focused()


def test_the_menu_of_a_row_without_a_mouse(gateway: Served, visitor: Visitor) -> None:
    gateway.new_session(next(_names), title="Has a menu")
    page = visitor().open()
    more = page.get_by_role("button", name="More for Has a menu")
    more.focus()
    page.keyboard.press("Enter")
    menu = page.get_by_role("menu", name="Has a menu")
    expect(menu.get_by_role("menuitem", name="Rename")).to_be_focused()
    page.keyboard.press("ArrowUp")  # round to the end
    expect(menu.get_by_role("menuitem", name="Delete")).to_be_focused()
    page.keyboard.press("a")
    expect(menu.get_by_role("menuitem", name="Archive")).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    expect(more).to_be_focused()
    page.keyboard.press("Enter")
    expect(menu.get_by_role("menuitem", name="Rename")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_label("Title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(more).to_be_focused()


def test_a_row_that_moves_keeps_the_focus(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(next(_names), title="Goes to the top")
    page = visitor().open()
    rail = page.get_by_role("navigation", name="Sessions")
    row = rail.get_by_role("link", name="Goes to the top")
    row.focus()
    gateway.say(session, "run ls", next(_names), until="written")
    needs = rail.get_by_role("group", name="Needs you")
    expect(needs.get_by_role("link", name="Goes to the top")).to_be_focused()
    gateway.call("DELETE", f"/sessions/{session}")
    expect(row).to_have_count(0)
    expect(rail.locator(":focus")).to_have_count(1)


def test_what_is_heard_is_said_once_and_says_whose_it_is(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(next(_names), title="Hear me")
    gateway.say(session, "run ls", next(_names), until="written")
    asked = gateway.new_session(next(_names), title="Ask me")
    gateway.say(asked, "questions", next(_names), until="written")
    page = visitor().open()
    row = page.get_by_role("navigation", name="Sessions").get_by_role("link", name="Hear me")
    expect(row).to_have_accessible_name("Hear me now Wants to run a command")
    board = page.get_by_role("main")
    expect(board.get_by_role("group", name="Wants to run a command: Hear me")).to_be_visible()
    colour = "Colour Which colour should the boat have?"
    questions = board.get_by_role("group", name="Has questions for you: Ask me")
    expect(questions.get_by_role("group", name=colour, exact=True)).to_be_visible()
    row.click()
    expect(page).to_have_title(re.compile(r"\) Hear me · Flybridge$"))
    log = page.get_by_role("log")
    expect(log.get_by_role("article", name="You")).to_have_text("run ls")
    expect(log.get_by_role("article", name="Agent")).to_contain_text("I would like to run")
    tool = log.get_by_role("button", name="waits for you")
    expect(tool).to_have_accessible_name("Run ls waits for you")
    page.get_by_role("link", name="History").click()
    expect(page).to_have_title(re.compile(r"\) History · Flybridge$"))
    expect(page.get_by_role("link", name="History")).to_have_attribute("aria-current", "page")


def test_another_view_has_the_focus_and_says_its_name(gateway: Served, visitor: Visitor) -> None:
    gateway.new_session(next(_names), title="Somewhere to go")
    page = visitor().open()
    main = page.get_by_role("main")
    main.get_by_role("link", name="Somewhere to go").focus()
    page.keyboard.press("Enter")
    expect(main).to_be_focused()
    expect(page.get_by_role("status").filter(has_text="Somewhere to go")).to_be_attached()
    expect(message(page)).to_be_enabled()
    page.keyboard.press("Tab")
    expect(main.locator(":focus")).to_have_count(1)
    page.keyboard.press("Alt+b")
    expect(main).to_be_focused()
