"""The box with four buttons, against a server and the demo agent."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.harness.handheld import Handheld
from tests.harness.line_process import LineProcess
from tests.harness.terminal_home import STEADY, Home, home_in
from tests.unit.cli.companion.test_command import DEVICES
from tests.unit.cli.companion.test_devices import listed, person
from tests.unit.cli.gateway.test_serve import serving

BOX = Path(__file__).parents[2] / "examples" / "button_box.py"


def test_a_button_says_yes_to_what_the_box_shows(short_tmp: Path) -> None:
    with home_in(short_tmp) as home:
        home.env["FLYBRIDGE_DEFAULT_AGENT"] = STEADY
        with serving(home, *DEVICES):
            _press(home)


async def _prompt(port: int, token: str) -> None:
    """Somebody says something; where does not matter."""
    held = await Handheld.connect(port, token=token)
    await held.wait_for("idle")
    held.prompt("run echo hello")
    await held.wait_for("waiting")
    held.close()


def _press(home: Home) -> None:
    flags = ("--may", "approve", "--may", "input")
    token = person(home, "devices", "pair", "--token", "--name", "box", *flags)
    address = listed(home)["listening"]
    env = {**home.env, "DEVICE_TOKEN": token}
    with LineProcess([sys.executable, str(BOX), address], env=env) as box:
        assert box.line() == f"[0] {STEADY} idle\n".encode()
        asyncio.run(_prompt(int(address.rpartition(":")[2]), token))
        box.until_line(f"[0] {STEADY} waiting Bash echo hello")
        box.write(b"y\n")
        box.until_line(f"[0] {STEADY} idle")
        box.close_input()
        assert box.exit_code() == 0
