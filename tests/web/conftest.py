"""A browser for each module, a gateway for each module, visitors for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest
from playwright.sync_api import Browser, Page

from tests.web.rig import Served, Size, Theme, Visit, findings, launched, served

HERE = Path(__file__).parent


class Visitor(Protocol):
    """Somebody comes: logged in unless told otherwise."""

    def __call__(
        self, *, theme: Theme = "dark", size: Size = "desk", logged_in: bool = True
    ) -> Visit: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE) and "gateway" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.needs("chromium"))
            item.add_marker(pytest.mark.needs("page"))


@pytest.fixture(scope="module")
def browser_args() -> list[str]:
    """What else the browser of a module is started with: its own fixture of this name says."""
    return []


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, browser_args: list[str]) -> Iterator[Browser]:
    """One Chromium. It ends with its module, for the sake of tests that are async."""
    with launched(tmp_path_factory.mktemp("browser"), *browser_args) as browser:
        yield browser


@pytest.fixture(scope="module")
def gateway(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A gateway of its own that serves on a free port, and one login at it."""
    with served(browser, tmp_path_factory) as gateway:
        yield gateway


@pytest.fixture
def visitor(browser: Browser, gateway: Served) -> Iterator[Visitor]:
    """Makes visitors; at the end, nothing may have gone wrong in any of their pages."""
    visits: list[Visit] = []

    def come(*, theme: Theme = "dark", size: Size = "desk", logged_in: bool = True) -> Visit:
        login = gateway.login if logged_in else None
        visits.append(Visit(browser, gateway, theme=theme, size=size, login=login))
        return visits[-1]

    try:
        yield come
        for visit in visits:
            visit.check()
    finally:
        for visit in visits:
            visit.context.close()


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """The first view, in the dark, on a desk."""
    return visitor().open()


@pytest.fixture
def axe() -> Callable[..., list[str]]:
    """What axe finds on a page: ``assert axe(page) == []``."""
    return findings
