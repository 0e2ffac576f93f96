"""Cases in which text streams: a long answer beside somebody who types, ten sessions, cuts."""

from __future__ import annotations

import asyncio
import time

from bench.cases import Figures
from bench.web.browser import Chromium, Notes, Tab
from bench.web.figures import dropped, interactions, percentile
from bench.web.gateway import PageGateway
from bench.web.loads import Loads, Long
from bench.web.opening import BOARD_THERE

KEY_GAP_S = 0.08
MARGIN_S = 1.0  # nothing is measured so close to the end of a stream
BLANK_S = 3.0
CUT_GAP_S = 0.4
USED = ("ScriptDuration", "TaskDuration")
WORDS = "what somebody writes while the agent is still talking "
LETTERS_OF_PIECE = 3.5  # of what is seen; at least
SAID = """() => [...document.querySelectorAll('[role="log"] [data-status]')].at(-1)?.textContent"""
LONG_ENOUGH = """(letters) => {
  const all = document.querySelectorAll('[role="log"] [data-status="open"]');
  return all.length > 0 && all[all.length - 1].textContent.length > letters;
}"""


async def stream(gateway: PageGateway, browser: Chromium, loads: Loads, long: Long) -> Figures:
    """The end of a long answer while somebody types; before it, a page with nothing on it."""
    async with browser.tab() as tab:
        figures = {"blank_dropped": dropped((await _watched(tab, BLANK_S)).frames)}
    notes, used, keys = await _typed(gateway, browser, loads)
    return figures | {
        "inp_ms": percentile(interactions(notes.inputs, keys), 0.98),
        "stream_dropped": dropped(notes.frames),
        "stream_longs": len(notes.longs),
        "script_ms": used["ScriptDuration"],
        "task_ms": used["TaskDuration"],
        "late_p95_ms": percentile(notes.late, 0.95),
    }


async def slow(gateway: PageGateway, browser: Chromium, loads: Loads, long: Long) -> Figures:
    """The same in a page that gets a fraction of the processor; and an empty one that does."""
    async with browser.tab() as tab:
        await tab.slow_down(loads.slower)
        figures = {"blank_slow_dropped": dropped((await _watched(tab, BLANK_S)).frames)}
    notes, _, keys = await _typed(gateway, browser, loads, loads.slower)
    return figures | {
        "slow_inp_ms": percentile(interactions(notes.inputs, keys), 0.98),
        "slow_dropped": dropped(notes.frames),
        "slow_longest_ms": max((took for _, took in notes.longs), default=0.0),
    }


async def board(gateway: PageGateway, browser: Chromium, loads: Loads, long: Long) -> Figures:
    """The board while every session streams; and an empty page meanwhile."""
    seconds = loads.paced / loads.rate
    pieces = int((2 * seconds + BLANK_S) * loads.rate)
    sessions = [(await gateway.open())[0] for _ in range(loads.sessions)]
    try:
        async with browser.tab("/") as tab:
            await tab.until(BOARD_THERE)
            for one in sessions:
                await gateway.begin(one, f"prose {pieces} {loads.rate} 0")
            await tab.page.wait_for_timeout(500)
            notes = await _watched(tab, seconds)
        async with browser.tab() as tab:
            blank = await _watched(tab, BLANK_S)
    finally:
        for one in sessions:
            await gateway.end(one)
    return {
        "board_dropped": dropped(notes.frames),
        "blank_board_dropped": dropped(blank.frames),
    }


async def cuts(gateway: PageGateway, browser: Chromium, loads: Loads, long: Long) -> Figures:
    """Connections that are cut in the middle of an answer, until it goes on in sight.

    Raises:
        RuntimeError: the text is not what somebody sees who comes later.
    """
    session, _ = await gateway.open()
    pieces = int(loads.cuts * (CUT_GAP_S + 1.2) * loads.rate)
    async with browser.tab(f"/s/{session}") as tab:
        await gateway.begin(session, f"prose {pieces} {loads.rate} 0")
        await tab.until(LONG_ENOUGH, 100)
        took = []
        for _ in range(loads.cuts):
            took.append(float(await tab.page.evaluate("bench.cut()")))
            await asyncio.sleep(CUT_GAP_S)
        await tab.until("() => document.querySelector('[data-status=\"open\"]') === null")
        here = await tab.page.evaluate(SAID)
        async with browser.tab(f"/s/{session}") as later:
            await later.until(
                "() => document.querySelector('[role=\"log\"] [data-status]') !== null"
            )
            there = await later.page.evaluate(SAID)
    if here != there:
        raise RuntimeError(f"the text is another one after {loads.cuts} cuts")
    return {"caught_up_ms": percentile(took, 0.5), "caught_up_worst_ms": max(took)}


async def _typed(
    gateway: PageGateway, browser: Chromium, loads: Loads, slower: int = 1
) -> tuple[Notes, Figures, int]:
    """What was noted, what it used in a second, and how many keys were pressed."""
    session, _ = await gateway.open()
    at_once = loads.pieces - loads.paced
    async with browser.tab(f"/s/{session}") as tab:
        await tab.until("() => document.querySelector('[role=\"log\"]') !== null")
        await gateway.begin(session, f"prose {loads.pieces} {loads.rate} {at_once}")
        began = time.monotonic()
        await tab.until(LONG_ENOUGH, at_once * LETTERS_OF_PIECE)
        await tab.page.locator("textarea").focus()
        await tab.slow_down(slower)
        ends = began + loads.paced / loads.rate - MARGIN_S
        used = await _used(tab, time.monotonic() + (ends - time.monotonic()) / 3)
        await tab.watch()
        keys = await _type(tab, ends)
        notes = await tab.stop()
        await tab.slow_down(1)
    await gateway.end(session)
    return notes, used, keys


async def _used(tab: Tab, until: float) -> Figures:
    """Milliseconds of CPU a second while nothing is noted down, which takes some too."""
    before = await tab.metrics()
    await _type(tab, until)
    after = await tab.metrics()
    seconds = after["Timestamp"] - before["Timestamp"]
    return {name: (after[name] - before[name]) / seconds * 1000 for name in USED}


async def _type(tab: Tab, until: float) -> int:
    """Press keys until a moment; how many."""
    keys = 0
    while time.monotonic() < until:
        due = time.monotonic() + KEY_GAP_S
        await tab.page.keyboard.press(WORDS[keys % len(WORDS)].replace(" ", "Space"))
        keys += 1
        await asyncio.sleep(max(0.0, due - time.monotonic()))
    return keys


async def _watched(tab: Tab, seconds: float) -> Notes:
    await tab.watch()
    await asyncio.sleep(seconds)
    return await tab.stop()
