"""Stories of buttons pressed at the wrong moment, and proof that a wrong answer would be found."""

from __future__ import annotations

import pytest

from flybridge.frontends.companion.device import DeviceAdapter
from fuzz import buttons
from fuzz.frames import FoundError


@pytest.mark.abuse(32, 33, 36)
async def test_no_button_answers_what_that_device_does_not_show() -> None:
    endings = await buttons.run(1, 0, 400)
    for name in ("ignored", "answered allow", "answered deny"):
        assert endings[name] > 100, endings


async def test_a_story_is_the_same_every_time() -> None:
    assert await buttons.run(7, 3, 20) == await buttons.run(7, 3, 20)


async def test_it_finds_a_device_that_answers_whatever_is_pending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(DeviceAdapter, "_why_not", lambda *_: "")
    with pytest.raises(FoundError, match="number"):
        await buttons.run(1, 0, 400)


@pytest.mark.parametrize("name", ["GUARD_MS", "APART_MS"])
async def test_it_finds_a_device_that_is_in_a_hurry(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(f"flybridge.frontends.companion.device.{name}", 0)
    with pytest.raises(FoundError, match="number"):
        await buttons.run(1, 0, 400)
