from __future__ import annotations

import msgspec
import pytest
from msgspec import UNSET, Raw

from flybridge.cli.rendering.closings import TOO_LONG, changed_rows, closing
from flybridge.model import events as ev
from flybridge.model.ids import PromptId

PROMPT = PromptId("p")
ASKED = {"command": "ls", "timeout": 5}


def allowed(given: object = None, **more: str) -> ev.PermissionClosed:
    raw = UNSET if given is None else Raw(msgspec.json.encode(given))
    return ev.PermissionClosed(
        prompt=PROMPT, how="allowed", edited=True, input=raw, blob=more.get("blob", "")
    )


def rows(event: ev.PermissionClosed, asked: object = ASKED, limit: int = 5) -> list[str]:
    return changed_rows(msgspec.json.encode(asked), event, limit=limit)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"command": "ls -l", "timeout": 5}, ["command: ls -l"]),
        ({"command": "ls"}, ["timeout: (left out)"]),
        ({"command": "ls", "timeout": 5, "n": [1]}, ["n: [1]"]),
        ({"command": "a\nb"}, ["command:", "    a", "    b", "timeout: (left out)"]),
        ({"command": "ls", "timeout": True}, ["timeout: true"]),
    ],
)
def test_a_change_is_told_by_the_fields_that_differ(given: object, told: list[str]) -> None:
    assert rows(allowed(given)) == told


def test_a_change_of_what_is_no_object_is_told_whole() -> None:
    assert rows(allowed({"command": "ls"}), asked="ls") == ["command: ls"]


def test_a_long_change_is_cut() -> None:
    assert rows(allowed({"command": "a\nb\nc\nd"}), limit=2) == [
        "command:",
        "    a",
        "… 4 more lines",
    ]
    assert rows(allowed(blob="d")) == [TOO_LONG]


def test_of_a_change_that_nobody_wrote_down_nothing_is_told() -> None:
    assert rows(allowed()) == []
    assert closing(allowed(), "by ada") == "allowed by ada, with changes"
