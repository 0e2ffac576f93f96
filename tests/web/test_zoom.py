"""Small windows and large letters: nothing but code is wider than the page, whatever is said."""

from __future__ import annotations

import itertools

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import Visitor
from tests.web.rig import SIZES, Served

# the smallest phone, and a desk at 200 %: half as many pixels, each twice as large
WINDOWS = {"phone": SIZES["narrow"], "zoom": tuple(one // 2 for one in SIZES["desk"])}
windows = pytest.mark.parametrize("window", ["phone", "zoom"])
_names = (f"zoom-{number}" for number in itertools.count())
WIDER = """
() => [...document.querySelectorAll("main *, dialog *")].filter((one) => {
  const box = one.getBoundingClientRect();
  if (box.right <= innerWidth + 1 || box.width === 0) return false;
  for (let above = one; above; above = above.parentElement) {
    if (/auto|scroll|hidden|clip/.test(getComputedStyle(above).overflowX) && above !== one
      && above.getBoundingClientRect().right <= innerWidth + 1) return false;
  }
  return true;
}).map((one) => one.outerHTML.slice(0, 120))
"""
# How far from the right edge the first line of a text begins.
LEFT_OUT = """
(one) => {
  const range = document.createRange();
  range.selectNodeContents(one);
  const [first, ...rest] = range.getClientRects();
  const line = [first, ...rest.filter((box) => box.top === first.top)];
  return one.getBoundingClientRect().right - Math.max(...line.map((box) => box.right));
}
"""


def opened(gateway: Served, visitor: Visitor, window: str, path: str) -> Page:
    width, height = WINDOWS[window]
    page = visitor(size="narrow" if window == "phone" else "desk").page()
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{gateway.address}{path}")
    return page


def assert_fits(page: Page) -> None:
    """The page does not scroll sideways, and nothing sticks out unreachably."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url
    assert page.evaluate(WIDER) == [], page.url


def whole(found: Locator) -> None:
    """All of it is on the screen."""
    expect(found).to_be_in_viewport(ratio=0.99)


def above(upper: Locator, lower: Locator) -> None:
    """Neither lies on the other, low as the screen is."""
    one, other = upper.bounding_box(), lower.bounding_box()
    assert one is not None
    assert other is not None
    assert one["y"] + one["height"] <= other["y"] + 1, (one, other)


@windows
def test_the_answer_to_a_long_command_stays_on_the_screen(
    gateway: Served, visitor: Visitor, window: str
) -> None:
    session = gateway.new_session(next(_names))
    command = "\n".join(f"echo line {number} of a command that is long" for number in range(200))
    gateway.say(session, f"run {command}", next(_names), until="written")
    page = opened(gateway, visitor, window, f"/s/{session}")
    dock = page.get_by_role("region", name="Waiting for you")
    expect(dock).to_contain_text("line 199")
    whole(dock.get_by_role("button", name="Allow once"))
    whole(dock.get_by_role("button", name="Deny"))
    above(page.get_by_role("form", name="Message to the agent"), page.get_by_label("Places"))
    assert_fits(page)
    dock.get_by_role("button", name="Deny").click()
    whole(dock.get_by_role("button", name="Deny").last)


@windows
@pytest.mark.parametrize("word", ["edit", "questions", "plan", "markdown"])
def test_every_kind_of_prompt_fits(
    gateway: Served, visitor: Visitor, window: str, word: str
) -> None:
    session = gateway.new_session(next(_names))
    gateway.say(session, word, next(_names), until="done" if word == "markdown" else "written")
    page = opened(gateway, visitor, window, f"/s/{session}")
    if word != "markdown":
        dock = page.get_by_role("region", name="Waiting for you")
        whole(dock.locator("button").last)
    else:
        expect(page.get_by_text("That is all of it.")).to_be_visible()
    assert_fits(page)


@windows
def test_long_names_and_other_scripts_fit(gateway: Served, visitor: Visitor, window: str) -> None:
    session = gateway.new_session(next(_names), title="A-title-without-a-gap-" * 8)
    hebrew, arabic = "שלום, סיפון.", "مرحبا أيها القبطان."
    gateway.say(session, f"{hebrew}\n\n{arabic} https://{'long' * 60}.example/", next(_names))
    gateway.say(session, "x" * 3000, next(_names))
    for path in (f"/s/{session}", "/"):
        page = opened(gateway, visitor, window, path)
        expect(page.get_by_text("A-title-without-a-gap").first).to_be_visible()
        assert_fits(page)
    page = opened(gateway, visitor, window, f"/s/{session}")
    said = page.get_by_text(hebrew)
    expect(said).to_be_attached()
    assert said.evaluate(LEFT_OUT) < 30, "it begins at the left"


@windows
@pytest.mark.parametrize("path", ["/", "/new", "/settings", "/help", "/history", "/access"])
def test_every_view_fits(gateway: Served, visitor: Visitor, window: str, path: str) -> None:
    page = opened(gateway, visitor, window, path)
    expect(page.get_by_role("heading").first).to_be_visible()
    if path in ("/new", "/settings", "/help"):
        expect(page.get_by_role("dialog")).to_be_visible()
    assert_fits(page)


@windows
def test_a_megabyte_is_cut_short_until_somebody_wants_it(
    gateway: Served, visitor: Visitor, window: str
) -> None:
    session = gateway.new_session(next(_names))
    lines = "\n".join(f"line {number} of very many" for number in range(40_000))
    gateway.say(session, f"hello\n{lines}", next(_names))
    page = opened(gateway, visitor, window, f"/s/{session}")
    expect(page.get_by_role("heading", name="Hello from the demo agent")).to_be_attached()
    expect(page.get_by_text("line 0 of very many").first).to_be_attached()
    assert page.evaluate("document.body.textContent.length") < 300_000
    assert_fits(page)
    page.get_by_role("textbox", name="Message").first.fill("still quick")


def test_all_of_a_session_is_printed(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session(next(_names))
    for word in ("markdown", "hello", "markdown"):
        gateway.say(session, word, next(_names))
    page = visitor().open(f"/s/{session}")
    expect(page.get_by_text("That is all of it.")).to_have_count(2)
    page.emulate_media(media="print")
    expect(page.get_by_role("navigation")).to_have_count(0)
    expect(page.get_by_role("form", name="Message to the agent")).to_have_count(0)
    sheets = page.pdf().count(b"/Type /Page\n")
    assert sheets > 1, "no more than what is on the screen"
