from __future__ import annotations

from pathlib import Path

from flybridge.store.folders import resolved


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert resolved(tmp_path / "link" / "x" / "..") == (tmp_path / "real").resolve()


def test_what_cannot_be_resolved_counts_as_written(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    assert resolved(f"{tmp_path}/a\0b") == Path(f"{tmp_path}/a\0b")
    assert resolved(loop).name == "loop"
