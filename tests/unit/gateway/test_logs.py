from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from flybridge.gateway import logs


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def written(*, as_json: bool) -> str:
    stream = io.StringIO()
    logs.set_up("info", stream, as_json=as_json)
    log = logging.getLogger("flybridge.x")
    log.debug("not this")
    log.info("name: %s", 'a\n2026-01-01 info forged "x"\u2028\x1b[2J')
    try:
        raise ValueError("boom")
    except ValueError:
        log.exception("it broke")
    return stream.getvalue()


def test_abuse_61_a_record_is_a_line_whatever_is_in_it() -> None:
    lines = written(as_json=True).strip("\n").split("\n")
    assert len(lines) == 2
    first, second = (json.loads(line) for line in lines)
    assert (first["level"], first["from"]) == ("info", "flybridge.x")
    assert first["message"].endswith("\x1b[2J")
    assert first["at"].endswith("Z")
    assert "ValueError: boom" in second["traceback"]


def test_for_people_what_is_not_a_record_is_set_in() -> None:
    lines = written(as_json=False).split("\n")
    records = [line for line in lines if line and not line.startswith("    ")]
    assert len(records) == 2
    assert "name: a" in records[0]
