"""Convert between the options of 0.1 and common options with ``agent_options``.

Events, snapshots and requests of 0.1 hold one struct ``options`` with Claude's flags. Reading
converts it; writing still fills it, for one release, for clients that read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from flybridge.model.capabilities import Options, StartOptions
from flybridge.model.options import Value

_BUDGET = "max_budget_usd"
_COMMON = frozenset({"effort", _BUDGET, "transport"})
_TYPES = {found.name: found.type for found in msgspec.structs.fields(Options)}
_DEFAULTS = Options()


def from_legacy(options: Options) -> StartOptions:
    """Return the same options in today's form."""
    values: dict[str, Value] = {
        name: getattr(options, name)
        for name in _TYPES
        if name not in _COMMON and getattr(options, name) != getattr(_DEFAULTS, name)
    }
    return StartOptions(
        effort=options.effort,
        budget_usd=options.max_budget_usd,
        transport=options.transport,
        agent_options=values,
    )


def to_legacy(start: StartOptions) -> Options:
    """Return as much of the options as the old struct can hold."""
    fields: dict[str, Any] = {"effort": start.effort, "transport": start.transport}
    if start.budget_usd:  # 0.0 is left out of a row only where it is the default itself
        fields[_BUDGET] = start.budget_usd
    for name, value in start.agent_options.items():
        if name not in _TYPES or name in _COMMON:
            continue
        try:
            fields[name] = msgspec.convert(value, _TYPES[name])
        except msgspec.ValidationError:  # another agent's option of the same name
            continue
    return Options(**fields)


def legacy_fields(start: StartOptions) -> Mapping[str, Any]:
    """Return the old form as a keyword argument of an event; nothing where nothing is set."""
    options = to_legacy(start)
    return {} if options == _DEFAULTS else {"options": options}


def joined(start: StartOptions, options: Options | None) -> StartOptions:
    """Return options that came in both forms as one; today's form wins."""
    if options is None or options == _DEFAULTS:
        return start
    old = from_legacy(options)
    return StartOptions(
        effort=start.effort or old.effort,
        budget_usd=start.budget_usd or old.budget_usd,
        transport=start.transport if start.transport != "stdio" else old.transport,
        agent_options={**old.agent_options, **start.agent_options},
    )


def recorded(start: StartOptions, options: Options | None) -> StartOptions:
    """Return the options of a stored record: today's form where it was written, else the old."""
    if options is None or start != StartOptions():
        return start
    return from_legacy(options)


def after_change(start: StartOptions, change: Any) -> StartOptions:
    """Return the options after a ``session.changed`` event, of today or of 0.1."""
    if change.effort is None and change.agent_options is None:
        return start if change.options is None else from_legacy(change.options)
    return msgspec.structs.replace(
        start,
        effort=start.effort if change.effort is None else change.effort,
        agent_options=start.agent_options if change.agent_options is None else change.agent_options,
    )


def start_options(source: Any) -> StartOptions:
    """Return the options of anything that has them as fields of its own."""
    return StartOptions(
        effort=source.effort,
        budget_usd=source.budget_usd,
        transport=source.transport,
        agent_options=source.agent_options,
    )


def start_fields(start: StartOptions) -> Mapping[str, Any]:
    """Return the options that are set, as keyword arguments for what has them as fields."""
    return {name: value for name, value in msgspec.structs.asdict(start).items() if value}
