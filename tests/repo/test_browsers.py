"""Which browsers the page is built for, and that users are told."""

from __future__ import annotations

import re

from tests.repo.tree import ROOT


def test_the_oldest_browsers_are_written_down() -> None:
    config = (ROOT / "web" / "vite.config.ts").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "howto" / "serve.md").read_text(encoding="utf-8")
    found = re.search(r"const BROWSERS = \[(.*)\]", config)
    assert found is not None
    oldest = dict(re.findall(r'"([a-z]+)([0-9.]+)"', found[1]))
    told = dict(re.findall(r"(Chrome|Firefox|Safari)[a-zA-Z ]* from ([0-9.]+) on", page))
    assert {name.lower(): version for name, version in told.items()} == oldest
