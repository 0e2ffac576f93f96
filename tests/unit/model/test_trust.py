from __future__ import annotations

import pytest

from flybridge.model.trust import TrustFile, TrustFiles

FILES = TrustFiles(
    settings=(TrustFile(path=".tool", kind="folder"), TrustFile(path=".x/y.toml")),
    instructions=(TrustFile(path="READ.md"),),
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".tool", True),
        (".tool/a/b", True),
        ("sub/.tool/a", True),
        (".TOOL/a", True),
        (".x/y.toml", True),
        ("a/.X/Y.toml", True),
        (".x", False),
        (".x/z.toml", False),
        ("y.toml", False),
        (".toolbox/a", False),
        ("READ.md", False),
        ("", False),
    ],
)
def test_a_path_is_a_setting_at_any_depth_and_in_any_case(path: str, expected: bool) -> None:
    assert FILES.is_setting(tuple(path.split("/"))) is expected
