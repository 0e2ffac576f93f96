"""Where a person speaks: words, files, commands, and what is not sent yet."""

from __future__ import annotations

import base64
import itertools
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.harness.terminal_home import SLOW
from tests.web.conftest import Visitor
from tests.web.rig import Served, Size, Theme

_requests = (f"composer-{number}" for number in itertools.count())
PATIENT = "flybridge-demo"  # the demo agent at the pace of a reader
GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")


def field(page: Page) -> Locator:
    return page.get_by_label("Message", exact=True)


def log(page: Page) -> Locator:
    return page.get_by_role("log")


def opened(gateway: Served, visitor: Visitor, *words: str, **more: Any) -> tuple[str, Page]:
    session = gateway.new_session(next(_requests), **more)
    for one in words:
        gateway.say(session, one, next(_requests))
    page = visitor().open(f"/s/{session}")
    expect(field(page)).to_be_enabled()
    return session, page


def say(page: Page, text: str) -> None:
    field(page).fill(text)
    page.keyboard.press("Enter")


def png(width: int, height: int) -> bytes:
    """A picture that cannot be pressed together: every row is different."""
    rows = b"".join(
        b"\0" + bytes((row * 31 + at * at * 7) & 255 for at in range(width * 3))
        for row in range(height)
    )

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
        )

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


# ---- words ---------------------------------------------------------------------------------------


def test_enter_sends_and_a_line_is_made_with_shift(gateway: Served, visitor: Visitor) -> None:
    _, page = opened(gateway, visitor)
    field(page).press_sequentially("think of")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("boats")
    expect(field(page)).to_have_value("think of\nboats")
    page.keyboard.press("Enter")
    expect(field(page)).to_have_value("")
    expect(log(page)).to_contain_text("boats")
    expect(log(page)).to_contain_text("Done")
    page.keyboard.press("ArrowUp")
    expect(field(page)).to_have_value("think of\nboats")


def test_on_a_phone_enter_makes_a_line_and_a_button_sends(
    gateway: Served, visitor: Visitor
) -> None:
    session = gateway.new_session(next(_requests))
    page = visitor(size="phone").open(f"/s/{session}")
    field(page).fill("hello")
    page.keyboard.press("Enter")
    expect(field(page)).to_have_value("hello\n")
    page.get_by_role("button", name="Send").tap()
    expect(log(page)).to_contain_text("Hello from the demo agent")


def test_a_draft_survives_a_reload_and_stays_in_its_session(
    gateway: Served, visitor: Visitor
) -> None:
    session, page = opened(gateway, visitor)
    field(page).fill("half a thought")
    other = gateway.new_session(next(_requests))
    page.goto(f"{gateway.address}/s/{other}")
    expect(field(page)).to_have_value("")
    page.goto(f"{gateway.address}/s/{session}")
    expect(field(page)).to_have_value("half a thought")


def test_what_is_said_without_a_gateway_is_said_once_it_is_back(
    gateway: Served, visitor: Visitor
) -> None:
    session = gateway.new_session(next(_requests))
    visit = visitor()
    visit.expect("WebSocket|ERR_CONNECTION_REFUSED")
    page = visit.open(f"/s/{session}")
    expect(page.get_by_text("Connected")).to_be_visible()
    port = gateway.port
    gateway.stop()
    expect(page.get_by_text("Connected")).to_have_count(0)
    say(page, "hello")
    expect(page.get_by_text("When the connection is back")).to_be_visible()
    gateway.serve(port)
    expect(log(page)).to_contain_text("Hello from the demo agent")
    expect(log(page).get_by_role("article", name="You")).to_have_count(1)


# ---- while a turn runs ---------------------------------------------------------------------------


def test_a_message_waits_for_the_end_of_the_turn_and_can_be_changed(
    gateway: Served, visitor: Visitor
) -> None:
    _, page = opened(gateway, visitor, agent=SLOW, model="")
    say(page, "long")
    page.get_by_label("When to send").select_option("After this turn")
    say(page, "thimk")
    waiting = page.get_by_role("list", name="Messages that wait")
    expect(waiting).to_contain_text("thimk")
    page.get_by_role("button", name="Change this message").click()
    page.get_by_label("Changed message").fill("hidden")
    page.keyboard.press("Enter")
    expect(waiting).to_contain_text("hidden")
    say(page, "never mind")
    expect(waiting).to_contain_text("never mind")
    page.get_by_role("button", name="Take this message back").last.click()
    expect(waiting).not_to_contain_text("never mind")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(waiting).not_to_be_visible()
    expect(log(page)).not_to_contain_text("That was all of it")
    expect(log(page)).to_contain_text("hidden")


# ---- commands and files --------------------------------------------------------------------------


@pytest.mark.conforms("audit: component, slash command completion")
def test_commands_are_found_and_completed(gateway: Served, visitor: Visitor) -> None:
    _, page = opened(gateway, visitor, "hello")
    field(page).press_sequentially("/mark")
    option = page.get_by_role("option", name="/markdown")
    expect(option).to_have_attribute("aria-selected", "true")
    chosen = option.get_attribute("id")
    assert chosen is not None
    expect(field(page)).to_have_attribute("aria-activedescendant", chosen)
    page.keyboard.press("Tab")
    expect(field(page)).to_have_value("/markdown ")
    page.keyboard.press("Enter")
    expect(log(page).get_by_role("table")).to_be_visible()


@pytest.mark.parametrize(
    ("words", "title"), [("/help", "Help"), ("/config", "Settings"), ("/keys", "Keys")]
)
def test_commands_of_the_page_open_its_panels(
    gateway: Served, visitor: Visitor, words: str, title: str
) -> None:
    _, page = opened(gateway, visitor)
    say(page, words)
    expect(page.get_by_role("dialog", name=title)).to_be_visible()
    expect(log(page).get_by_role("article", name="You")).to_have_count(0)


def test_a_command_nobody_knows_is_sent_as_it_is(gateway: Served, visitor: Visitor) -> None:
    _, page = opened(gateway, visitor, "hello")
    say(page, "/nonsense now")
    expect(log(page)).to_contain_text("is no command of mine")


def test_files_are_found_and_named(gateway: Served, visitor: Visitor) -> None:
    (gateway.work / "boats").mkdir(exist_ok=True)
    (gateway.work / "boats" / "second helm.py").write_text("pass\n")
    _, page = opened(gateway, visitor)
    field(page).press_sequentially("read @helm")
    expect(page.get_by_role("option", name="boats/second helm.py")).to_be_visible()
    page.keyboard.press("Enter")
    expect(field(page)).to_have_value('read @"boats/second helm.py" ')


# ---- what goes along -----------------------------------------------------------------------------


def attach(page: Page, *files: FilePayload) -> None:
    page.locator("input[type=file]").set_input_files(list(files))


def test_a_small_picture_goes_with_the_message(gateway: Served, visitor: Visitor) -> None:
    _, page = opened(gateway, visitor)
    attach(page, {"name": "dot.gif", "mimeType": "image/gif", "buffer": GIF})
    row = page.get_by_role("list", name="Attached")
    expect(row).to_contain_text("dot.gif")
    expect(row).not_to_contain_text("reading")  # only what was read is kept
    expect(row.get_by_role("img")).to_have_count(0)  # it says nothing that its name does not
    page.reload()
    expect(row).to_contain_text("dot.gif")
    say(page, "")
    expect(log(page)).to_contain_text("1 x 1")
    expect(row).to_have_count(0)


def test_a_large_picture_is_made_smaller_and_uploaded(gateway: Served, visitor: Visitor) -> None:
    _, page = opened(gateway, visitor)
    attach(page, {"name": "sea.png", "mimeType": "image/png", "buffer": png(1500, 1200)})
    row = page.get_by_role("list", name="Attached")
    expect(row).to_contain_text("made smaller")
    thumb = row.locator("img")
    expect(thumb).to_have_js_property("complete", True)
    assert thumb.evaluate("(one) => one.naturalWidth") > 0
    say(page, "image")
    expect(log(page)).to_contain_text("Thank you, I see")


def test_what_no_model_takes_is_refused_with_words(gateway: Served, visitor: Visitor) -> None:
    _, page = opened(gateway, visitor)
    attach(page, {"name": "old.bmp", "mimeType": "image/bmp", "buffer": b"BM\x00\x00\x00"})
    told = page.get_by_role("region", name="Messages")
    expect(told).to_contain_text("old.bmp: BMP pictures are not taken")
    expect(page.get_by_role("list", name="Attached")).to_have_count(0)


def test_a_pasted_file_of_text_is_a_document(gateway: Served, visitor: Visitor) -> None:
    session, page = opened(gateway, visitor)
    field(page).focus()
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(["a,b"], "table.csv", { type: "text/csv" }));
          document.activeElement.dispatchEvent(
            new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }"""
    )
    expect(page.get_by_role("list", name="Attached")).to_contain_text("table.csv")
    say(page, "hello")
    expect(log(page)).to_contain_text("Hello from the demo agent")
    (sent,) = [
        one["event"]["content"]
        for one in gateway.events(session)
        if one["event"]["type"] == "input.accepted"
    ]
    assert [one["type"] for one in sent] == ["text", "document"]
    assert sent[1]["media_type"] == "text/plain"


# ---- how the agent is set ------------------------------------------------------------------------


def test_mode_and_model_are_changed_below_the_text(gateway: Served, visitor: Visitor) -> None:
    session, page = opened(gateway, visitor, "hello")
    page.get_by_label("Permission mode").select_option("acceptEdits")
    page.get_by_label("Model").select_option("Demo")
    expect(page.get_by_label("Model")).to_have_value("default")
    expect(page.get_by_label("Permission mode")).to_have_value("acceptEdits")
    view = gateway.call("GET", f"/sessions/{session}")
    assert (view["mode"], view["model"]) == ("acceptEdits", PATIENT)


@pytest.mark.parametrize(("size", "theme"), [("desk", "dark"), ("narrow", "light")])
def test_the_composer_is_for_everybody(
    gateway: Served, visitor: Visitor, axe: Callable[..., list[str]], size: Size, theme: Theme
) -> None:
    session = gateway.new_session(next(_requests))
    gateway.say(session, "hello", next(_requests))
    page = visitor(size=size, theme=theme).open(f"/s/{session}")
    attach(page, {"name": "dot.gif", "mimeType": "image/gif", "buffer": GIF})
    field(page).press_sequentially("/")
    expect(page.get_by_role("listbox")).to_be_visible()
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
