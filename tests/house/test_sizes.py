"""A file of more than 500 lines is usually two ideas."""

from __future__ import annotations

from tests.repo.tree import files, name

MAX_LINES = 500
# file → why it may be longer
LONGER: dict[str, str] = {
    "src/flybridge/model/events.py": "one vocabulary: who reads a log finds every event here",
    "src/flybridge/runtime/keeper/keeper_program.py": "one stdlib file by design: it is run by its path",
    "src/flybridge/testing/recorder.py": "one stdlib file by design: it is run by its path",
}


def test_no_source_file_is_longer_than_500_lines() -> None:
    long = {
        name(path): lines
        for path in files(".py")
        if name(path).startswith("src/")
        and (lines := path.read_bytes().count(b"\n")) > MAX_LINES
        and name(path) not in LONGER
    }
    assert long == {}
