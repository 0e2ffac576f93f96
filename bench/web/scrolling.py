"""Somebody reads backwards: nothing may move but by the wheel."""

from __future__ import annotations

from bench.cases import Figures
from bench.web.browser import Chromium, Tab
from bench.web.figures import jumps
from bench.web.gateway import PageGateway
from bench.web.loads import Loads, Long

STEP = 240
SETTLED = """() => new Promise((done) => {
  const box = document.querySelector('[role="log"]');
  let last = NaN, still = 0;
  const look = () => {
    still = box.scrollTop === last ? still + 1 : 0;
    last = box.scrollTop;
    if (still >= 4) done(); else requestAnimationFrame(look);
  };
  look();
})"""
# Remembers the line in the middle of what is seen, and says where it is.
HOLD = """() => {
  const box = document.querySelector('[role="log"]');
  const { top, height } = box.getBoundingClientRect();
  const middle = top + height / 2;
  bench.held = [...box.querySelectorAll('[data-entry]')].find(
    (one) => one.getBoundingClientRect().bottom > middle);
  return [bench.held.getBoundingClientRect().top, box.scrollTop];
}"""
HELD = "() => bench.held.isConnected ? bench.held.getBoundingClientRect().top : null"


async def scroll(gateway: PageGateway, browser: Chromium, loads: Loads, long: Long) -> Figures:
    """Up through a long session, idle; then through another one while its agent talks."""
    return {
        "jumps": await _up(browser, long.sessions[2], loads.steps),
        "stream_jumps": await _while_streaming(gateway, browser, loads, long.sessions[3]),
    }


async def _while_streaming(
    gateway: PageGateway, browser: Chromium, loads: Loads, session: str
) -> float:
    await gateway.begin(session, f"prose {loads.steps * loads.rate} {loads.rate} 0")
    try:
        return await _up(browser, session, loads.steps)
    finally:
        await gateway.end(session)


async def _up(browser: Chromium, session: str, steps: int) -> float:
    async with browser.tab(f"/s/{session}") as tab:
        await tab.shows(session)
        box = await tab.page.locator('[role="log"]').bounding_box()
        assert box is not None
        await tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        await tab.page.mouse.wheel(0, -STEP)  # from here on it does not follow the stream
        await tab.page.evaluate(SETTLED)
        return jumps([await _step(tab) for _ in range(steps)])


async def _step(tab: Tab) -> tuple[float, float, float]:
    before, room = await tab.page.evaluate(HOLD)
    await tab.page.mouse.wheel(0, -STEP)
    await tab.page.evaluate(SETTLED)
    after = await tab.page.evaluate(HELD)
    # a line that is not there any more went somewhere else
    return STEP, room, float("inf") if after is None else after - before
