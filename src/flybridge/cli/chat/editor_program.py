"""A text in the editor a person likes, while the chat stands aside."""

from __future__ import annotations

import asyncio
import os
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path

from flybridge.errors import InvalidRequestError

MAX_TEXT_BYTES = 4 << 20
NAME = "message.md"
USUAL = "vi"


def editor_argv(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The program and its arguments.

    Raises:
        InvalidRequestError: the variable makes no sense.
    """
    said = environ.get("VISUAL") or environ.get("EDITOR") or USUAL
    try:
        argv = shlex.split(said)
    except ValueError as error:
        raise InvalidRequestError(f"$EDITOR makes no sense: {error}") from error
    return argv or [USUAL]


async def edit(text: str, environ: Mapping[str, str] = os.environ) -> str:
    """Let a person change ``text``; the terminal is the editor's until this returns.

    The file is this user's alone and is gone afterwards.

    Raises:
        InvalidRequestError: there is no editor, it failed, or it left no text.
    """
    argv = editor_argv(environ)
    with tempfile.TemporaryDirectory(prefix="flybridge-") as folder:
        path = _write(Path(folder, NAME), text)
        try:
            process = await asyncio.create_subprocess_exec(*argv, str(path))
        except OSError as error:
            raise InvalidRequestError(f"cannot run {argv[0]}: {error.strerror}") from error
        try:
            status = await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if status:
            raise InvalidRequestError(f"{argv[0]} ended with status {status}; nothing was changed")
        return _read(path)


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", errors="replace")
    return path


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_TEXT_BYTES + 1)
    except OSError as error:
        raise InvalidRequestError(f"the editor left no text: {error.strerror}") from error
    if len(data) > MAX_TEXT_BYTES:
        raise InvalidRequestError(f"the text is longer than {MAX_TEXT_BYTES} bytes")
    return data.decode(errors="replace").removesuffix("\n")
