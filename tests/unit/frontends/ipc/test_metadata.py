"""The agent's own words about itself, kept apart: those of its start and those of a turn."""

from __future__ import annotations

import json

import msgspec
import pytest

from flybridge.frontends.ipc.metadata import About
from flybridge.model import events as ev
from tests.unit.frontends.ipc.session_kit import raw, ready


@pytest.mark.conforms("ipc: metadata")
def test_the_last_introduction_counts_and_nothing_is_forgotten() -> None:
    about = About("/here")
    about.ready(ev.AgentReady(model="first", detail=raw({"models": [1]})), {})
    assert about.message().cwd == "/here"
    about.ready(ready("conv-1", mode="plan", output_style="plain"), {})
    said = json.loads(msgspec.json.encode(about.message()))
    assert (said["session_id"], said["cwd"], said["permissionMode"]) == (
        "conv-1",
        "/project",
        "plan",
    )
    assert (said["version"], said["output_style"]) == ("9.9.9", "plain")
    assert bytes(about.offered["models"]) == b"[1]"
    about.ready(ev.AgentReady(mode="default", detail=raw({"_blob": "b"})), {"b": b'{"tools":[]}'})
    assert (about.mode, bytes(about.told["tools"])) == ("default", b"[]")


def test_d04_a_new_list_of_commands_replaces_the_list_and_nothing_else() -> None:
    about = About("/here")
    about.ready(ev.AgentReady(detail=raw({"models": [1], "commands": [{"name": "a"}]})), {})
    about.ready(ready("conv-1", slash_commands=["a"]), {})
    told = {"commands": [{"name": "a"}, {"name": "b"}], "slash_commands": ["a", "b"]}
    about.ready(ev.AgentReady(commands={"a": "local", "b": "prompt"}, detail=raw(told)), {})
    said = json.loads(msgspec.json.encode(about.message()))
    assert (said["session_id"], said["slash_commands"]) == ("conv-1", ["a", "b"])
    assert bytes(about.offered["models"]) == b"[1]"
    assert "tools" in about.told
    assert about.commands == {"a": "local", "b": "prompt"}
