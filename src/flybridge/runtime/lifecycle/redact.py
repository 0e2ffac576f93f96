"""Keeps secrets out of what is recorded of an agent's stderr."""

from __future__ import annotations

import re
from collections.abc import Mapping

HIDDEN = "[hidden]"
SHORTEST = 8  # a shorter value is as likely a word as a secret
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)
_SECRET_SHAPE = re.compile(
    r"(?i)(?<=bearer )[\w.~+/=-]{8,}|\bsk-[\w-]{16,}|\bgh[pousr]_\w{20,}|\bxox[a-z]-[\w-]{10,}"
)


def redact(text: str, environment: Mapping[str, str]) -> str:
    """Hide the values of secret-looking variables, and what looks like a credential itself."""
    for name, value in environment.items():
        if len(value) >= SHORTEST and _SECRET_NAME.search(name):
            text = text.replace(value, HIDDEN)
    return _SECRET_SHAPE.sub(HIDDEN, text)
