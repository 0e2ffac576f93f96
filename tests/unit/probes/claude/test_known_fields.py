from __future__ import annotations

import json
from pathlib import Path

import pytest

from flybridge.agents.claude.measured import MEASURED
from flybridge.probes.claude.fields import Fields
from flybridge.probes.claude.known_fields import KNOWN

GOLDEN = Path(__file__).parents[3] / "golden" / "claude"


def test_every_measured_version_has_its_list() -> None:
    assert tuple(KNOWN) == MEASURED


@pytest.mark.parametrize("version", MEASURED, ids="of {}".format)
def test_everything_in_the_recordings_is_known(version: str) -> None:
    seen = Fields()
    for file in (GOLDEN / version).glob("*.jsonl"):
        for row in map(json.loads, file.read_text().splitlines()[1:]):
            if row["dir"] == "out" and row["line"].startswith("{"):
                seen.note(row["line"].encode())
    assert len(seen.seen) > 5
    assert seen.new_fields(KNOWN[version]) == "none"
