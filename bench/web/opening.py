"""Cases that open something: the first view, a long session, another session, a lost connection."""

from __future__ import annotations

from bench.cases import Figures
from bench.web.browser import Chromium, Tab
from bench.web.figures import blocking
from bench.web.gateway import PageGateway
from bench.web.loads import Loads, Long

BOARD_THERE = "() => document.querySelectorAll('main a[href*=\"/s/\"]').length > 0"
FIRST_PAINT = """() => new Promise((resolve) => {
  const look = () => {
    const [one] = performance.getEntriesByName('first-contentful-paint');
    if (one) resolve(one.startTime); else setTimeout(look, 10);
  };
  look();
})"""
# A plain page of the same gateway, and a loop that only computes: what the machine makes of those.
LOOP = """() => {
  const began = performance.now();
  let sum = 0;
  for (let i = 0; i < 3e7; i += 1) sum = (sum + i * 7) % 1000003;
  return performance.now() - began + (sum < 0 ? 1 : 0);
}"""
CLICK = "(one) => document.querySelector(`a[href$='/s/${one}']`).click()"
SHOWN = "(one) => bench.shows(one)"


async def first(gateway: PageGateway, browser: Chromium, loads: Loads, long: Long) -> Figures:
    """The board, by a visitor who was never here; and the plain page of the login."""
    figures: Figures = {}
    async with browser.tab() as tab:
        figures["loop_ms"] = float(await tab.page.evaluate(LOOP))
    async with browser.tab("/login", logged_in=False) as tab:
        figures["plain_paint_ms"] = float(await tab.page.evaluate(FIRST_PAINT))
    async with browser.tab("/") as tab:
        figures["paint_ms"] = float(await tab.page.evaluate(FIRST_PAINT))
        there = await tab.until(BOARD_THERE)
        await tab.page.wait_for_timeout(500)
        longs = await tab.page.evaluate("bench.longs")
        ends = [began + took for began, took in longs]
        figures["interactive_ms"] = max([there, *ends])
        figures["blocking_ms"] = blocking(longs, figures["paint_ms"])
    return figures


async def opened(gateway: PageGateway, browser: Chromium, loads: Loads, long: Long) -> Figures:
    """A long session: by its address, from the board, and from another one that is open too."""
    one, other = long.sessions[0], long.sessions[1]
    figures: Figures = {}
    async with browser.tab(f"/s/{one}") as tab:
        figures["cold_ms"] = await tab.shows(one)
        figures["cold_cpu_ms"] = await tab.cpu_ms()
    async with browser.tab("/") as tab:
        await tab.until(BOARD_THERE)
        await tab.page.wait_for_timeout(300)
        before = await tab.cpu_ms()
        figures["inside_ms"] = await tab.timed(CLICK, SHOWN, one)
        figures["inside_cpu_ms"] = await tab.cpu_ms() - before
        await tab.timed(CLICK, SHOWN, other)
        await tab.page.wait_for_timeout(300)
        before = await tab.cpu_ms()
        figures["switch_ms"] = await tab.timed(CLICK, SHOWN, one)
        figures["switch_cpu_ms"] = await tab.cpu_ms() - before
    return figures


async def memory(gateway: PageGateway, browser: Chromium, loads: Loads, long: Long) -> Figures:
    """The heap: with all of one long session, and with ten of them open one after the other."""
    figures: Figures = {}
    async with browser.tab(f"/s/{long.sessions[0]}") as tab:
        await tab.shows(long.sessions[0])
        figures["nodes"] = await _read_all(tab)
        figures["heap_one_mib"] = await tab.heap_mib()
    async with browser.tab(f"/s/{long.sessions[0]}") as tab:
        await tab.shows(long.sessions[0])
        for session in long.sessions[1:]:
            await tab.timed(CLICK, SHOWN, session)
        figures["heap_ten_mib"] = await tab.heap_mib()
    return figures


async def _read_all(tab: Tab) -> float:
    """Go back to the first line; the most nodes that the transcript ever had on the way."""
    return float(
        await tab.page.evaluate(
            """async () => {
              const box = document.querySelector('[role="log"]');
              const pause = (ms) => new Promise((done) => setTimeout(done, ms));
              const first = () => box.querySelector('[data-page="0"]') !== null;
              let most = 0;
              for (let step = 0; !first(); step += 1) {
                if (step > 500) throw new Error("the first line never came");
                box.scrollTop = 0;
                await pause(60);
                let count = 0;
                const walker = document.createTreeWalker(box, NodeFilter.SHOW_ALL);
                while (walker.nextNode()) count += 1;
                most = Math.max(most, count);
              }
              return most;
            }"""
        )
    )
