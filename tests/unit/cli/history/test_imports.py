from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flybridge.cli.history.imports import Line, import_conversations, import_lines
from flybridge.config.state_dir import StateDir
from flybridge.errors import BusyError, InvalidRequestError
from tests.harness.scripted_gateway import ScriptedGateway

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"


def test_a_table_says_what_became_of_each() -> None:
    lines = [
        Line(conversation=ONE, session="ses_0123456789", title="boats", turns=3),
        Line(conversation=TWO, session="ses_9876543210", turns=9, left_out=40),
        Line(conversation=ONE, session="ses_0123456789", known=True),
        Line(conversation=TWO, error="it is\x1b[2J open"),
        Line(conversation=TWO, skipped="nothing was said in it"),
    ]
    heading, *rows = import_lines(lines)
    assert heading.split() == ["ID", "SESSION", "TITLE", "TURNS", "WHAT"]
    assert [row.split(maxsplit=4) for row in rows] == [
        ["11111111", "ses_01234567", "boats", "3", "imported"],
        ["22222222", "ses_98765432", "-", "9", "imported, without 40 older turns"],
        ["11111111", "ses_01234567", "-", "-", "was there"],
        ["22222222", "-", "-", "-", rows[3].split(maxsplit=4)[4]],
        ["22222222", "-", "-", "-", "nothing was said in it"],
    ]
    assert "\x1b" not in rows[3]
    assert import_lines([]) == ["no conversations"]


@pytest.mark.parametrize(
    ("refusal", "code", "field"),
    [(BusyError("somebody has it"), 1, "error"), (InvalidRequestError("empty"), 0, "skipped")],
)
async def test_what_refuses_one_conversation_does_not_stop_the_rest(
    short_tmp: Path,
    capsys: pytest.CaptureFixture[str],
    refusal: Exception,
    code: int,
    field: str,
) -> None:
    gateway = ScriptedGateway(StateDir(str(short_tmp / "s")))

    def answer(params: dict[str, Any]) -> object:
        if params["conversation"] == ONE:
            raise refusal
        return {"session": "ses_1", "conversation": TWO, "turns": 1}

    gateway.asks["import"] = answer
    await gateway.start()
    status = await import_conversations(
        [ONE, TWO], agent="claude", active=False, as_json=True, state=short_tmp / "s"
    )
    await gateway.stop()
    first, second = json.loads(capsys.readouterr().out)
    assert status == code
    assert first[field] == str(refusal)
    assert (second["session"], second["error"]) == ("ses_1", "")
