"""The token a program brings to a gateway it reaches by URL: where it comes from.

Never from the command line: other users see that. From the caller, from the environment, or
from a file that nobody else can read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping

from flybridge.errors import GatewayError

MAX_BYTES = 1024
_FORM = re.compile(r"fbt_([A-Za-z0-9]{1,64})\.([A-Za-z0-9_-]{16,256})")


class Token:
    """A token in its two parts. Shown, it shows no secret."""

    def __init__(self, text: str) -> None:
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise GatewayError("that is no token of ours: one begins with fbt_")
        self.id, self.secret = found.groups()

    @property
    def text(self) -> str:
        """All of it, to be sent to those who proved to know it."""
        return f"fbt_{self.id}.{self.secret}"

    def __repr__(self) -> str:
        return f"Token({self.id})"


def find_token(
    given: str | None = None,
    file: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Token:
    """``given``, else from ``file``, else $FLYBRIDGE_TOKEN, else from $FLYBRIDGE_TOKEN_FILE.

    Raises:
        GatewayError: there is none, it is none, or others can read its file.
    """
    if given is not None:
        return Token(given)
    if file is not None:
        return read_token(file)
    if text := environ.get("FLYBRIDGE_TOKEN"):
        return Token(text)
    if path := environ.get("FLYBRIDGE_TOKEN_FILE"):
        return read_token(path)
    raise GatewayError(
        "a gateway behind a URL wants a token: make one with `flybridge token create`, then set "
        "FLYBRIDGE_TOKEN_FILE or FLYBRIDGE_TOKEN"
    )


def read_token(path: str | os.PathLike[str]) -> Token:
    """The token in a file of this user's that nobody else can read.

    Raises:
        GatewayError: it cannot be read, others can read it, or it holds no token.
    """
    name = os.fspath(path)
    try:
        # a name may belong to a pipe, which would keep us waiting
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            found = os.fstat(fd)
            data = file.read(MAX_BYTES + 1) if stat.S_ISREG(found.st_mode) else b""
    except OSError as error:
        raise GatewayError(f"cannot read the token in {name}: {error.strerror}") from error
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise GatewayError(f"others can read the token in {name}; run: chmod 600 {name}")
    if len(data) > MAX_BYTES:
        raise GatewayError(f"there is more than a token in {name}")
    return Token(data.decode("ascii", "replace"))
