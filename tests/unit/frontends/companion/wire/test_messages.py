"""What the structs look like on the wire: as the handheld's own server wrote them."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from flybridge.frontends.companion.wire.decode import Rejected, decode, decode_for_device
from flybridge.frontends.companion.wire.messages import AgentStatus, Auth, Configure, SpawnResult

GOLDEN = Path(__file__).parents[4] / "golden" / "companion"
SERVER = (GOLDEN / "server-says.jsonl").read_bytes().splitlines()
APP = [
    line["text"].encode()
    for line in map(json.loads, (GOLDEN / "client-sends.jsonl").read_bytes().splitlines())
    if line["type"] == "sent_text"
]

RECORDED = {  # by the original server, while a permission waited
    "type": "agent_status",
    "agent": "claude-sonnet-4-5-20250929",
    "state": "waiting",
    "progress": -1,
    "message": "Bash: rm -f zz.txt",
    "contextPercent": 0,
    "promptToolType": "Bash",
    "promptToolDetail": "rm -f zz.txt",
    "promptDescription": "",
    "autoEdit": False,
    "slot": 0,
    "active": True,
}


def test_a_status_is_written_as_the_original_server_wrote_it() -> None:
    status = msgspec.json.decode(json.dumps(RECORDED), type=AgentStatus)
    assert list(json.loads(msgspec.json.encode(status)).items()) == list(RECORDED.items())


@pytest.mark.parametrize("line", SERVER)
def test_what_the_original_server_said_is_read_and_written_the_same(line: bytes) -> None:
    message = decode_for_device(line)
    assert not isinstance(message, Rejected)
    assert list(json.loads(msgspec.json.encode(message)).items()) == list(json.loads(line).items())


@pytest.mark.parametrize("text", APP)
def test_what_the_real_app_says_is_read_unless_it_is_no_json(text: bytes) -> None:
    is_json = b'"best"' not in text  # it does not escape the names it was given
    assert isinstance(decode(text), Rejected) is not is_json


def test_a_status_without_a_prompt_has_no_fields_for_one() -> None:
    status = AgentStatus(agent="a", state="idle", slot=0, active=True)
    assert "prompt" not in msgspec.json.encode(status).decode()


def test_a_spawn_that_went_well_has_no_error() -> None:
    said = json.loads(msgspec.json.encode(SpawnResult(slot=1, success=True)))
    assert said == {"type": "spawn_result", "slot": 1, "success": True}


def test_what_a_device_may_leave_out_it_may_leave_out() -> None:
    assert msgspec.json.decode(b'{"type":"config"}', type=Configure).auto_edit is None
    assert msgspec.json.decode(b'{"type":"auth","token":"t"}', type=Auth).token == "t"
