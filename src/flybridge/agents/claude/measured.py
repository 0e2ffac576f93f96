"""Which versions were measured, and which of them stands for another."""

from __future__ import annotations

from flybridge.agents.claude.driver.versions import MIDDLE as MIDDLE_TRAITS
from flybridge.agents.claude.driver.versions import OLD as OLD_TRAITS
from flybridge.agents.claude.driver.versions import traits_of

OLDER, MIDDLE, NEWER = "2.1.38", "2.1.200", "2.1.325"
MEASURED = (OLDER, MIDDLE, NEWER)


def stands_for(version: str) -> str:
    """The measured version that this one is taken for, as the driver takes it."""
    traits = traits_of(version)
    if traits is OLD_TRAITS:
        return OLDER
    return MIDDLE if traits is MIDDLE_TRAITS else NEWER


def standing(version: str) -> str:
    """How well a version is known, in words."""
    if version in MEASURED:
        return "measured"
    if not version:
        return f"unknown, taken for {NEWER}"
    taken = stands_for(version)
    if _numbers(version) > _numbers(NEWER):
        return f"newer than any measured, taken for {taken}"
    if _numbers(version) < _numbers(OLDER):
        return f"older than any measured, taken for {taken}"
    return f"not measured, taken for {taken}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(one) for one in version.split(".") if one.isdecimal())
