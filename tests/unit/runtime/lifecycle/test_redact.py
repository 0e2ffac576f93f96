from __future__ import annotations

import pytest

from flybridge.runtime.lifecycle.redact import HIDDEN, redact


def test_the_value_of_a_secret_variable_is_hidden_wherever_it_stands() -> None:
    environment = {"MY_API_KEY": "hunter2hunter2", "HOME": "/home/someone"}
    text = redact("key=hunter2hunter2 in /home/someone", environment)
    assert text == f"key={HIDDEN} in /home/someone"


def test_a_short_value_is_left_alone() -> None:
    assert redact("to be", {"TOKEN": "be"}) == "to be"


@pytest.mark.parametrize(
    "secret",
    [
        "sk-" + "z" * 24,
        "Authorization: Bearer abcdefgh.12345678",
        "ghp_0123456789abcdefghijklmn",
        "xoxb-1234567890-abc",
    ],
)
def test_what_looks_like_a_credential_is_hidden(secret: str) -> None:
    assert HIDDEN in redact(f"failed with {secret} there", {})
    assert secret.split()[-1] not in redact(f"failed with {secret} there", {})


def test_plain_text_stays() -> None:
    assert redact("exit 1: no such file", {}) == "exit 1: no such file"
