"""The handheld for scripts: frames out, words in."""

from __future__ import annotations

from flybridge.cli.chat.keys import Key
from flybridge.cli.companion.run import keys_of
from tests.harness.run_handheld import handheld
from tests.harness.terminal_home import STEADY, Home
from tests.unit.cli.companion.test_command import DEVICES
from tests.unit.cli.companion.test_devices import listed, person
from tests.unit.cli.gateway.test_serve import serving


def test_a_script_presses_buttons_with_words(home: Home) -> None:
    home.env["FLYBRIDGE_DEFAULT_AGENT"] = STEADY
    with serving(home, *DEVICES):
        flags = ("--may", "input", "--may", "approve")
        token = person(home, "devices", "pair", "--token", "--name", "script", *flags)
        assert not listed(home)["listening"].endswith(":3333")
        home.env["FLYBRIDGE_SERVE_COMPANION_PORT"] = listed(home)["listening"].rpartition(":")[2]
        url = f"ws://{listed(home)['listening']}/"
        copied = home.run("companion", "run", "--address", url, "--token", token)
        assert copied.returncode == 0, copied  # the server was reached; then the input ended
        with handheld(home, token) as device:  # c10: with a token, and no address
            device.state("idle")
            device.say("say run echo hello")
            device.state("waiting")
            device.say("yes")
            device.state("idle")


def test_words_stand_for_keys() -> None:
    assert keys_of("yes") == [Key("char", "a")]
    assert keys_of("escape") == [Key("esc")]
    assert keys_of("slot 2") == [Key("char", "2")]
    assert keys_of("say hi there") == [
        Key("char", "i"),
        Key("paste", "hi there"),
        Key("enter"),
    ]
    assert keys_of("perhaps") == keys_of("") == keys_of("slot") == []
