"""The page where a proxy has it below a path."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.web.conftest import Visitor
from tests.web.rig import Served, served


@pytest.fixture(scope="module")
def gateway(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(browser, tmp_path_factory, "--base-path", "/boat") as gateway:
        yield gateway


def test_everything_the_page_asks_for_is_below_it(gateway: Served, visitor: Visitor) -> None:
    assert gateway.address.endswith("/boat")
    session = gateway.new_session("boat-1", title="Below")
    visit = visitor()
    page = visit.page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url.replace("ws:", "http:")))
    page.goto(f"{gateway.address}/s/{session}")
    page.get_by_text("Below").first.wait_for()
    assert len(asked) > 3
    assert [url for url in asked if not url.startswith(f"{gateway.address}/")] == []


def test_a_login_leads_back_below_it(gateway: Served, visitor: Visitor) -> None:
    page = visitor(logged_in=False).log_in()
    assert page.url == f"{gateway.address}/"
    page.wait_for_selector("#root > *")
