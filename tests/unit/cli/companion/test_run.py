"""The handheld for scripts: frames out, words in."""

from __future__ import annotations

import json
import subprocess

from flybridge.cli.companion.run import keys_of
from flybridge.cli.chat.keys import Key
from tests.harness.terminal_home import STEADY, WAIT_S, Home
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
        with subprocess.Popen(
            home.argv("companion", "run"),  # c10: with a token, and no address
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**home.env, "FLYBRIDGE_DEVICE_TOKEN": token},
            start_new_session=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None

            def state(wanted: str) -> None:
                assert process.stdout is not None
                while json.loads(process.stdout.readline())["state"] != wanted:
                    pass

            def say(line: str) -> None:
                assert process.stdin is not None
                process.stdin.write(line + "\n")
                process.stdin.flush()

            state("idle")
            say("say run echo hello")
            state("waiting")
            say("yes")
            state("idle")
            say("quit")
            assert process.wait(WAIT_S) == 0


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
