"""One open page, looked at in every way: both themes, on a desk and in a hand.

A new page for each way costs more than what axe does: the same one is turned round instead, and
goes from view to view without being loaded again.
"""

from __future__ import annotations

from collections.abc import Sequence

from playwright.sync_api import Page

from tests.web.rig import SIZES, Size, Theme, Visit, findings

BOTH: tuple[Size, ...] = ("desk", "phone")
THEMES: tuple[Theme, ...] = ("dark", "light")
PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
GO = "(path) => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')) }"


class Looking:
    """Somebody who looks at one page, and whatever is wrong in any way of looking at it."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.page: Page = visit.open()
        self.page.emulate_media(reduced_motion="reduce")  # nothing half faded in
        self._browser = visit.context.new_cdp_session(self.page)

    def go(self, path: str) -> Page:
        """Another view of the same page."""
        self.page.evaluate(GO, path)
        return self.page

    def turn(self, size: Size) -> None:
        """The same page in another window; the small ones are touched."""
        width, height = SIZES[size]
        touched = {"enabled": size in ("phone", "narrow"), "maxTouchPoints": 1}
        self._browser.send("Emulation.setTouchEmulationEnabled", touched)
        self.page.set_viewport_size({"width": width, "height": height})

    def wrong(self, what: str, sizes: Sequence[Size] = BOTH) -> list[str]:
        """What axe finds, by every rule; and whether the page fits its window. Ends as it began:
        on a desk, in the dark."""
        found: list[str] = []
        for size in sizes:
            self.turn(size)
            for theme in THEMES:
                self.page.emulate_media(color_scheme=theme)
                self.page.evaluate(PAINTED)
                found += [f"{what}, {size}, {theme}: {one}" for one in findings(self.page)]
            if self.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append(f"{what}, {size}: wider than the screen")
            if (titles := self.page.locator("h1").count()) != 1:
                found.append(f"{what}, {size}: {titles} headings of the first level")
        self.page.emulate_media(color_scheme="dark")
        if tuple(sizes) == BOTH:
            self.turn("desk")
        return found
