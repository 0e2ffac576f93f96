"""A script that drives `flybridge companion run`: frames out, words in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.harness.line_process import LineProcess
from tests.harness.terminal_home import Home


class Handheld(LineProcess):
    """A device without a terminal."""

    def state(self, wanted: str) -> dict[str, Any]:
        """Wait for a frame with this state, and return it."""
        return self.until(lambda frame: frame["state"] == wanted)[-1]

    def say(self, line: str) -> None:
        self.write(line.encode() + b"\n")


@contextmanager
def handheld(home: Home, token: str, *args: str) -> Iterator[Handheld]:
    """Run a device with a token until it is told to quit; it has to end well."""
    env = {**home.env, "FLYBRIDGE_DEVICE_TOKEN": token}
    with Handheld(home.argv("companion", "run", *args), env=env, start_new_session=True) as device:
        yield device
        device.say("quit")
        assert device.exit_code() == 0, device.errors()
