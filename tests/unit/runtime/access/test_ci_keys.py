"""Whom a CI key lets open a session in a mode that asks less, and whom it does not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from flybridge.auth.peer import ALL, OPEN, TALK
from flybridge.errors import NotAllowedError
from flybridge.model.ci_key import CiKey
from flybridge.runtime.access.ci_keys import check_key, digest_of
from flybridge.session.authorisation import Caller

SECRET = "s" * 43
GIVEN = f"fbc_abc.{SECRET}"
KEY = CiKey(
    id="abc",
    name="nightly",
    modes=("acceptEdits",),
    digest=digest_of(SECRET),
    created_ms=0,
    expires_ms=1000,
)
JOB = Caller(principal="me", scopes=OPEN, process="8:1:boot")


class Keys:
    def all(self) -> tuple[CiKey, ...]:
        return (KEY,)

    def replace(self, keys: tuple[CiKey, ...]) -> None:
        raise NotImplementedError


def test_c03_a_key_allows_the_modes_that_a_person_named() -> None:
    assert check_key(Keys(), JOB, GIVEN, kind="claude", mode="acceptEdits", now_ms=999) == KEY
    assert check_key(Keys(), JOB, "", kind="claude", mode="acceptEdits", now_ms=999) is None
    with pytest.raises(NotAllowedError, match="allows acceptEdits, but not bypassPermissions"):
        check_key(Keys(), JOB, GIVEN, kind="claude", mode="bypassPermissions", now_ms=999)


def test_c03_a_key_is_for_one_kind_of_agent() -> None:
    """A mode of the same name can grant more in another agent."""
    with pytest.raises(NotAllowedError, match="the kind claude, demo, not courier"):
        check_key(Keys(), JOB, GIVEN, kind="courier", mode="acceptEdits", now_ms=0)
    assert check_key(Keys(), JOB, GIVEN, kind="demo", mode="acceptEdits", now_ms=0) == KEY


@pytest.mark.parametrize(
    "given",
    ["x", "fbc_", "fbc_abc.", "fbc_abc", f"fbc_abd.{SECRET}", f"fbc_abc.{SECRET}x", "\ud800"],
)
def test_c03_what_is_no_key_allows_nothing(given: str) -> None:
    with pytest.raises(NotAllowedError, match="unknown, expired or revoked"):
        check_key(Keys(), JOB, given, kind="claude", mode="acceptEdits", now_ms=0)
    with pytest.raises(NotAllowedError):
        check_key(None, JOB, GIVEN, kind="claude", mode="acceptEdits", now_ms=0)


def test_c03_a_key_that_is_over_allows_nothing() -> None:
    with pytest.raises(NotAllowedError, match="unknown, expired or revoked"):
        check_key(Keys(), JOB, GIVEN, kind="claude", mode="acceptEdits", now_ms=1000)


@pytest.mark.parametrize(
    "changed",
    [
        {"of_agent": True, "scopes": TALK},
        {"of_agent": True, "scopes": ALL},  # whatever else went wrong
        {"door": "http"},
        {"process": ""},
    ],
)
def test_c03_an_agent_or_somebody_from_elsewhere_cannot_use_a_key(changed: dict[str, Any]) -> None:
    caller = msgspec.structs.replace(JOB, **changed)
    with pytest.raises(NotAllowedError):
        check_key(Keys(), caller, GIVEN, kind="claude", mode="acceptEdits", now_ms=0)
