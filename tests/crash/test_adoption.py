"""A living agent is adopted, whatever became of its program or of the settings meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.crash.evidence import send_input
from tests.crash.rig import Rig


def is_missing(rig: Rig) -> None:
    rig.program.unlink()


def is_half_written(rig: Rig) -> None:
    rig.program.write_bytes(b"\0half of a program")


def may_not_run(rig: Rig) -> None:
    rig.program.chmod(0o644)


def has_another_name(rig: Rig) -> None:
    config = rig.gateway.config.read_text()
    rig.gateway.configure(config.replace("recorder:", "another:"))


@pytest.mark.parametrize("change", [is_missing, is_half_written, may_not_run, has_another_name])
def test_an_agent_whose_program_changed_is_adopted(rig: Rig, change: Callable[[Rig], None]) -> None:
    gate = rig.base / "gate"
    client = rig.start()
    session = rig.open(client, "one")
    steps = {"say": "before"}, {"wait_file": str(gate)}, {"say": "after"}
    client.submit(session, "q", send_input("q", *steps))
    client.until(lambda: client.transcripts[session].text == "before")
    rig.kill_gateway()
    client.close()
    change(rig)
    client = rig.start()
    gate.touch()
    client.until(lambda: client.transcripts[session].ended)
    assert client.transcripts[session].text == "before\nafter"
    assert rig.finish(client).broken == []
