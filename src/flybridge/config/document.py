"""Reading one YAML file that may be hostile: who may have written it, and how big it may get."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flybridge.errors import ConfigError

MAX_FILE_BYTES = 2**20
MAX_FOREIGN_BYTES = 2**16  # parsing costs up to 3 s per MiB, and a repository is opened often
MAX_NODES = 10_000  # a real file has some dozens
MAX_DEPTH = 16


def read_document(path: Path, *, foreign: bool) -> str:
    """The text of a file that nobody but this user (or root) can have written.

    ``foreign``: it came with a repository. It may not point elsewhere, and must be short.

    Raises:
        ConfigError: it cannot be read, cannot be trusted, or is too long.
    """
    # O_NONBLOCK: a pipe put in its place must not hang us
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (os.O_NOFOLLOW if foreign else 0)
    max_bytes = MAX_FOREIGN_BYTES if foreign else MAX_FILE_BYTES
    try:
        descriptor = os.open(path, flags)
        with os.fdopen(descriptor, "rb") as file:
            _check_trust(str(path), os.fstat(descriptor))
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read: {error.strerror}") from error
    if len(data) > max_bytes:
        raise ConfigError(str(path), f"longer than {max_bytes} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}", "not UTF-8") from error


def _check_trust(where: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ConfigError(where, "not a regular file")
    if found.st_uid not in (os.geteuid(), 0):
        raise ConfigError(where, f"belongs to user {found.st_uid}, not to you")
    if found.st_mode & 0o022:
        raise ConfigError(where, "others may write to it: chmod go-w")


def parse_document(source: str, text: str) -> object:
    """YAML 1.2 without anchors, aliases and tags: what is written is what is meant.

    Raises:
        ConfigError: with the line, where the parser knows it.
    """
    from ruamel.yaml import YAML  # slow to import, and most people have no file
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    def reader() -> Any:
        return YAML(typ="safe", pure=True)

    try:
        _check_shape(source, reader().parse(text))
        return reader().load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{source}:{mark.line + 1}" if mark else source
        raise ConfigError(where, str(error.problem or error.context)) from error
    except (YAMLError, ValueError) as error:  # ValueError: a date that is none
        raise ConfigError(source, " ".join(str(error).split())) from error


def _check_shape(source: str, events: Iterator[Any]) -> None:
    """Refuse what could grow or nest without end, before anything is built from it."""
    depth = 0
    for count, event in enumerate(events):
        kind = type(event).__name__
        depth += kind.endswith("StartEvent")
        depth -= kind.endswith("EndEvent")
        where = f"{source}:{event.start_mark.line + 1}"
        if count > MAX_NODES or depth > MAX_DEPTH:
            raise ConfigError(where, "too long or too deeply nested")
        if kind == "AliasEvent" or getattr(event, "anchor", None):
            raise ConfigError(where, "anchors and aliases are not understood here")
        if getattr(event, "tag", None):
            raise ConfigError(where, "tags are not understood here")
        if (getattr(event, "version", None) or (1, 2)) != (1, 2):
            raise ConfigError(where, "only YAML 1.2 is understood here")
