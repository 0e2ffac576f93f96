from __future__ import annotations

from typing import get_args

import pytest
from msgspec import UNSET

from flybridge.agents.claude.driver.convert.tools import describe
from flybridge.model.tools import ToolKind
from flybridge.session.old_tools import OLD_KINDS, kind_of


@pytest.mark.parametrize("name", [*OLD_KINDS, "mcp__files__read", "AskUserQuestion", "Brew", ""])
def test_an_old_call_has_the_kind_that_the_driver_would_give_it_today(name: str) -> None:
    assert kind_of("", name) == describe(name, UNSET)[0]


@pytest.mark.parametrize("kind", get_args(ToolKind))
def test_a_recorded_kind_counts_whatever_the_name_is(kind: ToolKind) -> None:
    assert kind_of(kind, "Bash") == kind
