"""What a browser has to load, at most: bytes as they are sent with gzip."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.repo.tree import PACKAGE

BUILT = PACKAGE / "frontends" / "http" / "built"
KB = 1000
FIRST_SCRIPTS = 200 * KB
STYLES = 20 * KB
FONTS = 60 * KB
ALL_SCRIPTS = 350 * KB  # without the grammars, which come one by one

pytestmark = pytest.mark.needs("page")


def assets(pattern: str) -> list[Path]:
    return sorted((BUILT / "assets").glob(pattern))


def sent(paths: Iterable[Path]) -> int:
    return sum(len(gzip.compress(path.read_bytes(), 9)) for path in paths)


def first() -> tuple[set[str], set[str]]:
    """The scripts and styles that the page begins with."""
    manifest: dict[str, Any] = json.loads((BUILT / "manifest.json").read_text())
    scripts: set[str] = set()
    styles: set[str] = set()
    left = ["index.html"]
    while left:
        one = manifest[left.pop()]
        if one["file"] not in scripts:
            scripts.add(one["file"])
            styles.update(one.get("css", ()))
            left += one.get("imports", ())
    return scripts, styles


def test_the_scripts_of_the_first_load_are_small() -> None:
    scripts, _ = first()
    assert sent(BUILT / name for name in scripts) <= FIRST_SCRIPTS


def test_all_styles_are_small() -> None:
    assert sent(assets("*.css")) <= STYLES


def test_all_fonts_are_small() -> None:
    assert sum(path.stat().st_size for path in assets("*.woff2")) <= FONTS


def test_all_scripts_but_grammars_are_small() -> None:
    scripts = [path for path in assets("*.js") if not path.name.startswith("lang-")]
    assert sent(scripts) <= ALL_SCRIPTS


def test_every_text_has_its_compressed_twins_and_they_are_it() -> None:
    texts = [path for path in assets("*") if path.suffix in (".js", ".css")]
    large = [path for path in texts if path.stat().st_size >= 1024]
    assert large
    for path in large:
        assert gzip.decompress(Path(f"{path}.gz").read_bytes()) == path.read_bytes()
        assert Path(f"{path}.br").stat().st_size < path.stat().st_size


def test_the_built_page_breaks_no_policy() -> None:
    text = (BUILT / "index.html").read_text()
    assert not re.search(r"<style|style=|\son\w+=|<script>|<script [^>]*>[^<]", text)
    assert not re.search(r"(?:src|href)=\"(?!\./)", text)  # the gateway knows where it is
    assert 'data-theme="" data-base=""' in text


def test_nothing_is_inlined_and_nothing_comes_from_elsewhere() -> None:
    for path in assets("*.css"):
        assert not re.search(r"url\((?![\"']?(?:\./|data:,))|@import", path.read_text()), path.name


def test_the_licences_of_what_is_in_it_go_along() -> None:
    text = (BUILT / "licenses.md").read_text()
    assert "react" in text
    assert "MIT" in text
    assert "SIL OPEN FONT LICENSE" in (BUILT / "licenses-fonts.txt").read_text().upper()
