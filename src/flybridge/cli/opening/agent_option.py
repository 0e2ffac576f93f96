"""Read ``-o NAME=VALUE``: options of any agent, typed by the schema that the gateway publishes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from flybridge.client import Client
    from flybridge.model.options import Option

MAX_PAIRS = 1000
_WORDS = {"true": True, "yes": True, "on": True, "1": True}
_WORDS |= {"false": False, "no": False, "off": False, "0": False}


def given_pairs(pairs: Sequence[str]) -> dict[str, list[str]]:
    """Return the values by name; a name alone stands for a flag that is set.

    Raises:
        click.UsageError: a name is missing, or there are too many.
    """
    if len(pairs) > MAX_PAIRS:
        raise click.UsageError(f"-o: at most {MAX_PAIRS} options")
    found: dict[str, list[str]] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name = name.strip().replace("-", "_")
        if not name:
            raise click.UsageError(f"-o: expected NAME=VALUE, not {pair[:64]!r}")
        found.setdefault(name, []).append(value if equals else "true")
    return found


async def agent_option_values(
    client: Client, agent: str, pairs: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return the values as the agent's schema types them.

    A name that the agent does not have stays as it is: the gateway refuses it, and says which
    name is near.

    Raises:
        click.UsageError: a file cannot be read.
    """
    if not pairs:
        return {}
    schema = await published(client, agent)
    return {name: _typed(schema.get(name), values) for name, values in pairs.items()}


async def published(client: Client, agent: str) -> dict[str, Option]:
    """Return the options that an agent publishes, by name."""
    import msgspec

    from flybridge.model.options import Option

    known: list[Any] = (await client.ask("agents")).get("agents", [])
    rows = [row.get("options", []) for row in known if row.get("name") == agent]
    return {
        option.name: option for option in msgspec.convert(rows[0] if rows else [], list[Option])
    }


def _typed(option: Option | None, values: Sequence[str]) -> Any:
    """Return the value; what is no value of that type stays text, for the gateway to refuse."""
    from flybridge.cli.opening.options import flag_of, value_of

    last = values[-1]
    if option is None:
        return last
    row = flag_of(option)
    match row.kind:
        case "switch":
            return _WORDS.get(last.lower(), last)
        case "count" | "money":
            return _number(last)
        case "list":
            return [part for value in values for part in value_of(row, value)]
        case "words" | "files":
            return list(value_of(row, [value for value in values if value]))
        case "directories":
            return [str(Path(value).expanduser().absolute()) for value in values if value]
        case "directory":
            return str(Path(last).expanduser().absolute())
        case _:
            return value_of(row, last)


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
