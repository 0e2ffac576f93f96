"""``flybridge config``: what is set, where it is set, and setting it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

_project = click.option("--project", is_flag=True, help="The file of this directory's project.")


@click.group()
def config() -> None:
    """What can be set: show it, change it."""


@config.command("get")
@click.argument("key")
def get(key: str) -> None:
    """Print the value that holds here."""
    click.echo(_shown(_guarded(lambda: _value(key))))


@config.command("set")
@click.argument("key")
@click.argument("value")
@_project
def set_(key: str, value: str, project: bool) -> None:
    """Set a key in your own file, or in the project's. All else in it stays as it is."""
    path = _guarded(lambda: _set(key, value, project=project))
    click.echo(f"set in {path}")


@config.command("list")
def list_() -> None:
    """Print every key with the value that holds here."""
    for key, value in _guarded(_values).items():
        click.echo(f"{key}: {_shown(value)}")


@config.command("path")
@_project
def path(project: bool) -> None:
    """Print where the file is, or would be."""
    click.echo(str(_guarded(lambda: _path(project=project))))


def _guarded(work: Callable[[], Any]) -> Any:
    from flybridge.cli.running import fail
    from flybridge.errors import FlybridgeError

    try:
        return work()
    except FlybridgeError as error:
        fail(str(error), error.code)
    except OSError as error:
        fail(f"cannot be written: {error}", "config")


def _path(*, project: bool) -> Path:
    from flybridge.config import project_file, user_file
    from flybridge.errors import ConfigError

    if project:
        here = Path.cwd()
        return project_file(here) or here / ".flybridge" / "config.yaml"
    found = user_file(os.environ)
    if found is None:
        raise ConfigError("HOME", "there is no home to keep a file in")
    return found


def _values() -> dict[str, object]:
    import msgspec

    from flybridge.config import load

    tree = msgspec.to_builtins(load(Path.cwd(), env=os.environ))
    flat: dict[str, object] = {}
    for name, value in tree.items():
        if name == "agents":
            flat |= {f"agents.{one}.{k}": v for one, said in value.items() for k, v in said.items()}
            flat |= {
                f"agents.{one}.options.{k}": v
                for one, said in value.items()
                for k, v in said["options"].items()
            }
        elif isinstance(value, dict) and name != "labels":
            flat |= {f"{name}.{k}": v for k, v in value.items()}
        else:
            flat[name] = value
    return flat


def _value(said: str) -> object:
    from flybridge.cli.config.edit import key_of
    from flybridge.errors import ConfigError

    key = key_of(said)
    values = _values()
    if key not in values:
        raise ConfigError(said, "unknown key")
    return values[key]


def _set(said: str, value: str, *, project: bool) -> Path:
    from flybridge.cli.config import edit

    key = edit.key_of(said)
    if project:
        edit.may_project(key)
    path = _path(project=project)
    text = edit.changed(path, key, value, foreign=project)
    edit.check(path, text, os.environ, project=project)
    edit.write(path, text)
    return path


def _shown(value: object) -> str:
    import msgspec

    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
