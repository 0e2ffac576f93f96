# ruff: noqa: T201
# A program for people: what it says goes to their terminal.
"""``python -m tests.engines``: walk through the page in Firefox and WebKit, where they are there.

    python -m tests.engines              in all of them
    python -m tests.engines firefox      in one

The other tests of the page run in Chromium. What cannot run is said; it is no failure.
"""

from __future__ import annotations

import re
import sys
import tempfile
import traceback
from pathlib import Path

from tests.engines.page import Page
from tests.engines.remote import ENGINES, Firefox, RemoteError, WebKit
from tests.engines.walk import STEPS_OF_IT
from tests.web.rig import Served

# what Firefox says that is right: it does not know all of our policy, a connection was cut (by us),
# somebody left a page before its font was there
KNOWN = re.compile(
    r"unknown directive|can.t establish a connection|was interrupted while|status=2152398850"
)


def main(words: list[str]) -> int:
    failed = 0
    for make in ENGINES:
        if words and make.name not in words:
            continue
        if make.program() is None:
            print(f"{make.name}: could not run, it is not installed (Debian: {make.package})")
            continue
        with tempfile.TemporaryDirectory(prefix="engine-", ignore_cleanup_errors=True) as home:
            failed += in_one(make, Path(home))
    return 1 if failed else 0


def in_one(make: type[Firefox] | type[WebKit], home: Path) -> int:
    """Walk in one browser; how many steps failed."""
    (home / "gateway").mkdir()
    (home / "browser").mkdir()
    gateway = Served(home / "gateway")
    try:
        gateway.serve()
        engine = make(home / "browser")
        try:
            page = Page(engine, gateway)
            page.resize(1360, 860)
            return walk(page, gateway)
        finally:
            engine.close()
    finally:
        gateway.close()


def walk(page: Page, gateway: Served) -> int:
    engine, failed = page.engine, 0
    for step in STEPS_OF_IT:
        try:
            step(page, gateway)
            wrong = page.wrong()
        except (AssertionError, RemoteError, OSError):
            wrong = [traceback.format_exc()]
        failed += bool(wrong)
        print(f"{engine.name} {engine.version}: {step.__name__}:", "wrong" if wrong else "right")
        for one in wrong:
            print("   ", one)
        wrong.clear()
    said = [one for one in engine.complaints() if gateway.address in one and not KNOWN.search(one)]
    print(*(f"    {one}" for one in said), sep="\n", end="\n" if said else "")
    return failed + bool(said)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
