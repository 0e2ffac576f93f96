"""How much of the page is sent: from the list that its build left."""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec

from bench.cases import Figures

KIB = 1024


class Chunk(msgspec.Struct):
    file: str
    imports: list[str] = []
    css: list[str] = []
    isEntry: bool = False  # noqa: N815  as it is written there


def sizes(built: Path) -> Figures:
    """In KiB: what the first view loads, all scripts without grammars, and the fonts."""
    listed = msgspec.json.decode((built / "manifest.json").read_bytes(), type=dict[str, Chunk])
    entries = [name for name, one in listed.items() if one.isEntry]
    first = _with_imports(listed, entries)
    styles = {name for one in listed.values() for name in one.css}
    scripts = [one for one in (built / "assets").glob("*.js") if not one.name.startswith("lang-")]
    return {
        "first_js_kib": sum(_packed(built / listed[name].file) for name in first),
        "css_kib": sum(_packed(built / name) for name in styles),
        "all_js_kib": sum(map(_packed, scripts)),
        "fonts_kib": sum(one.stat().st_size for one in built.glob("assets/*.woff2")) / KIB,
    }


def _with_imports(listed: dict[str, Chunk], names: list[str]) -> set[str]:
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += listed[name].imports
    return found


def _packed(path: Path) -> float:
    ready = path.with_name(path.name + ".gz")
    size = ready.stat().st_size if ready.is_file() else len(gzip.compress(path.read_bytes()))
    return size / KIB
