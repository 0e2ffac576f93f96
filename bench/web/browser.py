"""The system's Chromium without a screen, logged in at a gateway, and what its pages note down."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from playwright.async_api import Browser, BrowserContext, CDPSession, Page, async_playwright

from bench.pieces import NotThereError
from bench.web.gateway import PageGateway

PROBE = Path(__file__).parent / "probe.js"
VIEWPORT = {"width": 1360, "height": 860}
SHOWN_MS = 30_000
ARGS = ("--no-sandbox", "--disable-dev-shm-usage", "--disable-smooth-scrolling")


class Notes(msgspec.Struct):
    """What a page saw while it was watched; times in milliseconds."""

    frames: list[float]
    longs: list[tuple[float, float]]
    inputs: list[tuple[float, float]]
    late: list[float]


class Tab:
    """A page that is measured."""

    def __init__(self, page: Page, cdp: CDPSession) -> None:
        self.page = page
        self.cdp = cdp

    async def watch(self) -> None:
        await self.page.evaluate("bench.watch()")

    async def stop(self) -> Notes:
        return msgspec.convert(await self.page.evaluate("bench.stop()"), Notes, strict=False)

    async def metrics(self) -> dict[str, float]:
        """What the browser counts of this page, by its names; times in seconds."""
        told = await self.cdp.send("Performance.getMetrics")
        return {one["name"]: float(one["value"]) for one in told["metrics"]}

    async def cpu_ms(self) -> float:
        """What its main thread has used of the processor, whoever else wanted it."""
        return (await self.metrics())["TaskDuration"] * 1000

    async def heap_mib(self) -> float:
        """What is left of its JavaScript heap after a collection."""
        for _ in range(2):  # what the first finds dead may hold what the second finds
            await self.cdp.send("HeapProfiler.collectGarbage")
            await asyncio.sleep(0.1)
        return float((await self.cdp.send("Runtime.getHeapUsage"))["usedSize"]) / 2**20

    async def slow_down(self, times: int) -> None:
        await self.cdp.send("Emulation.setCPUThrottlingRate", {"rate": times})

    async def shows(self, session: str) -> float:
        """When the transcript of a session was there, since the page was asked for."""
        return await self.until("(one) => bench.shows(one)", session)

    async def until(self, done: str, arg: object = None) -> float:
        """When ``done``, a function of ``arg`` in JavaScript, was painted."""
        script = f"(arg) => bench.until(() => ({done})(arg))"
        return float(await self.page.evaluate(script, arg))

    async def timed(self, act: str, done: str, arg: object = None) -> float:
        """From ``act`` until ``done`` is painted, both functions of ``arg`` in JavaScript."""
        script = f"(arg) => bench.timed(() => ({act})(arg), () => ({done})(arg))"
        return float(await self.page.evaluate(script, arg))


class Chromium:
    """One browser, and the login of its visitors."""

    def __init__(self, browser: Browser, address: str, login: Any) -> None:
        self._browser = browser
        self._address = address
        self._login = login

    @property
    def version(self) -> str:
        return self._browser.version

    @asynccontextmanager
    async def tab(self, path: str | None = None, *, logged_in: bool = True) -> AsyncIterator[Tab]:
        """A visitor with empty caches; at ``path``, or at an empty page."""
        context = await self._context(self._login if logged_in else None)
        try:
            page = await context.new_page()
            cdp = await context.new_cdp_session(page)
            # time of the processor, not of the clock: neighbours are none of the page's cost
            await cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
            await cdp.send("HeapProfiler.enable")
            if path is not None:
                await page.goto(f"{self._address}{path}", wait_until="commit")
            yield Tab(page, cdp)
        finally:
            await context.close()

    async def _context(self, login: Any = None) -> BrowserContext:
        context = await self._browser.new_context(viewport=VIEWPORT, storage_state=login)  # type: ignore[arg-type]
        context.set_default_timeout(SHOWN_MS)
        await context.add_init_script(path=PROBE)
        return context

    async def log_in(self, gateway: PageGateway) -> None:
        context = await self._context()
        await follow(await context.new_page(), gateway)
        self._login = await context.storage_state(indexed_db=True)
        await context.close()


@asynccontextmanager
async def chromium(gateway: PageGateway) -> AsyncIterator[Chromium]:
    """A browser that is logged in there.

    Raises:
        NotThereError: there is none on this machine.
    """
    program = program_path()
    with tempfile.TemporaryDirectory(prefix="fb-bench-") as home:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=program, args=list(ARGS), env={**os.environ, "HOME": home}
            )
            try:
                visitors = Chromium(browser, gateway.address, None)
                await visitors.log_in(gateway)
                yield visitors
            finally:
                await browser.close()


class Door:
    """A browser that other programs may come into, by a port of its own."""

    def __init__(self, context: BrowserContext, gateway: PageGateway, port: int) -> None:
        self._context = context
        self._gateway = gateway
        self.port = port

    @property
    def address(self) -> str:
        return self._gateway.address

    async def log_in(self) -> None:
        await follow(await self._context.new_page(), self._gateway)


@asynccontextmanager
async def listening(gateway: PageGateway) -> AsyncIterator[Door]:
    """A browser with an empty profile, which is nobody's yet and listens.

    Raises:
        NotThereError: there is none on this machine.
    """
    program = program_path()
    with tempfile.TemporaryDirectory(prefix="fb-bench-") as home:
        async with async_playwright() as playwright:
            context = await playwright.chromium.launch_persistent_context(
                home,
                executable_path=program,
                args=[*ARGS, "--remote-debugging-port=0"],
                env={**os.environ, "HOME": home},
            )
            try:
                said = (Path(home) / "DevToolsActivePort").read_text()
                yield Door(context, gateway, int(said.split()[0]))
            finally:
                await context.close()


async def follow(page: Page, gateway: PageGateway) -> None:
    """Log a browser in, by the link that somebody at a terminal gets."""
    await page.goto(await gateway.link(), wait_until="commit")
    await page.wait_for_url(f"{gateway.address}/")
    await page.close()


def program_path() -> str:
    """The browser that $CHROMIUM names, or the system's own.

    Raises:
        NotThereError: there is none.
    """
    named = os.environ.get("CHROMIUM", "chromium")
    found = shutil.which(named) or shutil.which("chromium-browser")
    if found is None:
        raise NotThereError("no Chromium: install it, or name it in $CHROMIUM")
    return found
