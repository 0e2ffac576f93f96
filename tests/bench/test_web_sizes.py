"""What counts as the first view, and what does not count at all."""

from __future__ import annotations

import json
from pathlib import Path

from bench.web.sizes import KIB, sizes

LISTED = {
    "index.html": {
        "file": "assets/index.js",
        "isEntry": True,
        "imports": ["_base.js"],
        "dynamicImports": ["src/help.tsx"],
        "css": ["assets/index.css"],
    },
    "_base.js": {"file": "assets/base.js", "imports": ["index.html"]},
    "src/help.tsx": {"file": "assets/help.js", "css": ["assets/help.css"]},
    "lang": {"file": "assets/lang-python.js"},
}
FILES = {
    "index.js.gz": 3,
    "base.js.gz": 2,
    "help.js.gz": 4,
    "lang-python.js.gz": 90,
    "index.css.gz": 1,
    "help.css.gz": 1,
    "sans.woff2": 20,
    "index.js": 9,
    "base.js": 9,
    "help.js": 9,
    "lang-python.js": 99,
}


def test_the_first_view_is_the_entry_with_its_imports_and_grammars_count_nowhere(
    tmp_path: Path,
) -> None:
    assets = tmp_path / "assets"
    assets.mkdir()
    (tmp_path / "manifest.json").write_text(json.dumps(LISTED))
    for name, kib in FILES.items():
        (assets / name).write_bytes(bytes(kib * KIB))
    assert sizes(tmp_path) == {
        "first_js_kib": 5,
        "css_kib": 2,
        "all_js_kib": 9,
        "fonts_kib": 20,
    }
