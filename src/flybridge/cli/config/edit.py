"""Changing one key of a configuration file, and nothing else in it: comments stay."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flybridge import config
from flybridge.agents.registry import REGISTRY
from flybridge.config.document import parse_document, read_document
from flybridge.config.schema import KEYS, PROJECT_KEYS
from flybridge.errors import ConfigError

SHORT = {"output": "output.adhoc_output"}  # what people say → the key


def key_of(said: str) -> str:
    """The key that is meant.

    Raises:
        ConfigError: there is none of that name.
    """
    key = SHORT.get(said, said)
    parts = key.split(".")
    is_option = len(parts) == 4 and parts[2] == "options"
    if key in KEYS or (parts[0] == "agents" and (len(parts) == 3 or is_option)):
        return key
    raise ConfigError(said, f"unknown key; the keys are {', '.join(sorted(KEYS))}")


def changed(path: Path, key: str, value: str, *, foreign: bool) -> str:
    """The text of the file with the key set.

    Raises:
        ConfigError: the file, as it is, cannot be read, or the value is a kind of agent that no
            installed package provides.
    """
    from ruamel.yaml import YAML

    text = read_document(path, foreign=foreign) if path.exists() else ""
    said = parse_document(str(path), text)
    if said is not None and not isinstance(said, dict):
        raise ConfigError(str(path), "expected keys and values here")
    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    tree: Any = yaml.load(text) if said else {}
    place = tree
    *headings, name = key.split(".")
    for heading in headings:
        if not isinstance(place.get(heading), dict):
            place[heading] = {}
        place = place[heading]
    place[name] = parse_document("the value", value)
    # A file may name such a kind, because its package may have been removed since.
    if headings[:1] == ["agents"] and name == "kind" and not REGISTRY.knows(str(place[name])):
        raise ConfigError(f"{path}: {key}", f"must be one of {', '.join(REGISTRY.names())}")
    out = io.StringIO()
    yaml.dump(tree, out)
    # a file of comments alone is no tree: they are kept before it
    return out.getvalue() if said else f"{text}{out.getvalue()}"


def check(path: Path, text: str, env: Mapping[str, str], *, project: bool) -> None:
    """See that a file with this text can be loaded.

    Raises:
        ConfigError: it says something it may not.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        where = home / "flybridge" / "config.yaml"
        cwd = None
        own = config.user_file(env)
        if project:
            cwd = Path(folder) / "repo"
            _put(cwd / ".flybridge" / "config.yaml", text)
            if own is not None and own.exists():
                _put(where, read_document(own, foreign=False))
        else:
            _put(where, text)
        try:
            config.load(cwd, env={"XDG_CONFIG_HOME": str(home)})
        except ConfigError as error:
            shown = error.where
            for one in (where, (cwd or home) / ".flybridge" / "config.yaml"):
                shown = shown.replace(str(one), str(path))
            raise ConfigError(shown, error.reason) from error


def write(path: Path, text: str) -> None:
    """Put the file in its place: whole, or not at all, and for nobody else to read."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    target = path.resolve()
    _, name = made = tempfile.mkstemp(dir=target.parent, prefix=".config-")
    try:
        with os.fdopen(made[0], "w") as file:  # mkstemp made it 0600
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def may_project(key: str) -> None:
    """Refuse what comes with a repository and would choose for whoever clones it.

    Raises:
        ConfigError: a project file may not say that.
    """
    if key.partition(".")[0] not in PROJECT_KEYS:
        allowed = ", ".join(sorted(PROJECT_KEYS))
        raise ConfigError(key, f"a project file may not set this, only {allowed}")


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text)
    path.chmod(0o600)
