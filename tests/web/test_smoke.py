from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Visitor
from tests.web.rig import Served

pytestmark = pytest.mark.sample  # what `make test` tries in a browser


def test_a_link_from_the_terminal_leads_to_the_page(visitor: Visitor) -> None:
    page = visitor(logged_in=False).log_in()
    page.wait_for_selector("#root > *")
    expect(page).to_have_title(re.compile("^Flybridge"))


def test_the_login_asks_a_browser_only_that_was_in_before(
    gateway: Served, visitor: Visitor
) -> None:
    stranger = visitor(logged_in=False).page()  # a refusal on the console would fail this
    stranger.goto(f"{gateway.address}/login", wait_until="networkidle")
    stranger.get_by_label("Password").wait_for()
    known = visitor().page()
    known.goto(f"{gateway.address}/login", wait_until="commit")
    known.wait_for_url(f"{gateway.address}/")


@pytest.mark.parametrize("path", ["/", "/history", "/settings"])
def test_a_view_begins_without_a_word_on_the_console(visitor: Visitor, path: str) -> None:
    visitor().open(path).wait_for_selector("#root > *")


def test_a_page_that_breaks_our_policy_fails_its_test(visitor: Visitor) -> None:
    visit = visitor()
    page = visit.open()
    with page.expect_console_message(lambda one: "style-src" in one.text):
        page.evaluate("document.body.setAttribute('style', 'color: red')")
    with page.expect_console_message(lambda one: "trusted-types" in one.text.lower()):
        page.evaluate("try { document.body.innerHTML = '<p>' } catch {}")
    with page.expect_event("pageerror"):
        page.evaluate("setTimeout(() => { throw new Error('nobody catches this') })")
    with pytest.raises(AssertionError, match="nobody catches this"):
        visit.check()
    assert any("style-src" in one for one in visit.wrong)
    assert any("trusted-types" in one.lower() for one in visit.wrong)
    visit.wrong.clear()


def test_the_theme_is_there_before_the_first_script(gateway: Served, visitor: Visitor) -> None:
    visit = visitor(theme="dark")
    visit.context.add_cookies(
        [{"name": "flybridge-theme", "value": "light", "url": gateway.address}]
    )
    answer = visit.page().goto(gateway.address)
    assert answer
    assert '<html lang="en" data-theme="light"' in answer.text()


def test_the_page_of_a_phone_fits_it(visitor: Visitor) -> None:
    page = visitor(size="narrow").open()
    page.wait_for_selector("#root > *")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_server_says_that_files_are_good_for_ever(page: Page) -> None:
    with page.expect_response(lambda answer: "/assets/" in answer.url) as found:
        page.reload()
    assert "immutable" in found.value.headers["cache-control"]


def test_sessions_that_others_open_are_there(gateway: Served, visitor: Visitor) -> None:
    session = gateway.new_session("smoke-1", title="Smoke")
    gateway.say(session, "hello", "smoke-2")
    page = visitor().open(f"/s/{session}")
    page.get_by_text("Smoke").first.wait_for()


def test_a_phone_draws_its_bars_in_the_colour_of_the_page(visitor: Visitor) -> None:
    page = visitor(size="phone", theme="light").open()
    page.wait_for_selector("#root > *")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        expect(page.locator("meta[name=theme-color]")).to_have_attribute("content", ground)
