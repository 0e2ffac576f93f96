from __future__ import annotations

import os
import pwd

import pytest

from flybridge.cli.rendering.who import by, name_of

US = f"uid:{os.getuid()}"


def test_a_user_of_this_machine_has_a_name() -> None:
    assert name_of(US) == pwd.getpwuid(os.getuid()).pw_name


@pytest.mark.parametrize(
    ("principal", "name"),
    [
        ("uid:4123456789", "user 4123456789"),
        ("uid:99999999999999", "uid:99999999999999"),
        ("uid:x", "uid:x"),
        ("token:ci\x1b[2J", "token:ci^[[2J"),
        ("past", "you, before"),
    ],
)
def test_anybody_else_is_called_what_the_gateway_calls_them(principal: str, name: str) -> None:
    assert name_of(principal) == name


@pytest.mark.parametrize(
    ("principal", "here", "said"),
    [
        (US, True, "by you"),
        (US, False, "by you, elsewhere"),
        ("token:ci", False, "by token:ci"),
        ("", False, ""),
    ],
)
def test_who_did_it(principal: str, here: bool, said: str) -> None:
    assert by(principal, here=here, us=US) == said
