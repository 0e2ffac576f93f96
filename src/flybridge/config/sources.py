"""What a person may set, and where: files, environment, command line.

Later wins: built-in < user file < project file < ``FLYBRIDGE_*`` < command line. Every source
is brought into one flat form first, ``{"keeper.orphan_s": Setting(...)}``, so that merging is
a union of dicts and every complaint can name the place it came from.

A project file comes with a repository, that is, from a stranger. What it may say is a list of
what is allowed (``PROJECT_KEYS``), never of what is forbidden: it cannot choose programs,
environment, modes or limits, and saying so is an error and not a silence.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args, get_origin

import msgspec

from flybridge.agents.kinds import AgentSettings
from flybridge.agents.registry import REGISTRY
from flybridge.config.document import parse_document, read_document
from flybridge.config.schema import (
    KEYS,
    PROJECT_KEYS,
    AgentConfig,
    Config,
    built_in_agents,
    section,
)
from flybridge.errors import AgentKindError, ConfigError

MAX_TITLE = 200


class Setting(msgspec.Struct, frozen=True):
    """A value, and the place to name when something is wrong with it."""

    value: object
    where: str


Settings: TypeAlias = dict[str, Setting]


def load(
    cwd: Path | None, *, env: Mapping[str, str], overrides: Mapping[str, object] | None = None
) -> Config:
    """Read what applies to a session in ``cwd`` (None: to no session in particular).

    ``overrides`` is the local command line, by dotted key; None values are skipped. Nothing
    that came over a socket may be put there: programs come from a local file only.

    Raises:
        ConfigError: a source says something it may not, or cannot be trusted.
    """
    settings: Settings = {}
    user = user_file(env)
    if user is not None and user.exists():
        settings |= _from_file(user)
    project = project_file(cwd) if cwd is not None else None
    if project is not None and project != user:
        settings |= _from_project(project)
    return _build(settings | _from_env(env) | _from_command_line(overrides or {}))


# ---- where the files are ---------------------------------------------------------------------


def user_file(env: Mapping[str, str]) -> Path | None:
    """The user's own file, whether or not it exists; None where there is no home."""
    for name, below in (("XDG_CONFIG_HOME", ""), ("HOME", ".config")):
        base = Path(env.get(name, ""))
        if base.is_absolute():  # a relative one is to be ignored, says the XDG specification
            return base / below / "flybridge" / "config.yaml"
    return None


def project_file(cwd: Path) -> Path | None:
    """The nearest project file between ``cwd`` and the root of its git checkout.

    Outside a checkout only ``cwd`` itself is looked at: what lies above belongs to others.
    """
    cwd = cwd.resolve()  # the folders above a link are not those above what it leads to
    folders = [cwd, *cwd.parents]
    roots = [depth for depth, folder in enumerate(folders) if (folder / ".git").exists()]
    for folder in folders[: roots[0] + 1 if roots else 1]:
        found = folder / ".flybridge" / "config.yaml"
        if found.is_symlink() or found.exists():
            return found
    return None


# ---- from each source to the flat form -------------------------------------------------------


def _from_file(path: Path) -> Settings:
    data = parse_document(str(path), read_document(path, foreign=False))
    return dict(_flatten(data, Config, str(path)))


def _from_project(path: Path) -> Settings:
    data = parse_document(str(path), read_document(path, foreign=True))
    allowed = sorted(PROJECT_KEYS)
    for key in _leaves(data):
        top = key.partition(".")[0]
        if top in Config.__struct_fields__ and top not in PROJECT_KEYS:
            reason = f"a project file may not set this, only {', '.join(allowed)}"
            raise ConfigError(f"{path}: {key}", reason)
        if top not in PROJECT_KEYS:
            raise ConfigError(f"{path}: {key}", _unknown(top, allowed))
    return dict(_flatten(data, Config, str(path)))


def _from_env(env: Mapping[str, str]) -> Settings:
    found: Settings = {}
    for key, kind in KEYS.items():
        name = variable(key)
        if name in env and get_origin(kind) is not dict:
            value: object = env[name]
            if get_origin(kind) is tuple:  # a list, with commas between its members
                value = [part for part in map(str.strip, env[name].split(",")) if part]
            found[key] = Setting(_convert(value, kind, name, strict=False), name)
    return found


def _from_command_line(overrides: Mapping[str, object]) -> Settings:
    found: Settings = {}
    for key, value in overrides.items():
        if value is None:
            continue
        nested: object = value
        for part in reversed(key.split(".")):
            nested = {part: nested}
        found |= dict(_flatten(nested, Config, "command line"))
    return found


def variable(key: str) -> str:
    """The environment variable that sets a key: ``FLYBRIDGE_KEEPER_ORPHAN_S``."""
    return "FLYBRIDGE_" + key.replace(".", "_").upper()


def _flatten(
    data: object, struct: type[msgspec.Struct], source: str, prefix: str = ""
) -> Iterator[tuple[str, Setting]]:
    """Walk ``data`` along ``struct``: every leaf typed, every key known."""
    fields = {field.name: field.type for field in msgspec.structs.fields(struct)}
    for name, value in _mapping(data, source, prefix).items():
        key = f"{prefix}{name}"
        where = f"{source}: {key}"
        if name not in fields:
            raise ConfigError(where, _unknown(name, list(fields)))
        kind = fields[name]
        if name == "agents" and struct is Config:
            for agent, said in _mapping(value, source, "agents.").items():
                _check_name(agent, f"{where}.{agent}")
                if said is None:
                    raise ConfigError(f"{where}.{agent}", "says nothing about this agent")
                yield from _flatten(said, AgentConfig, source, f"agents.{agent}.")
        elif inner := section(kind):
            yield from _flatten(value, inner, source, f"{key}.")
        else:
            yield key, Setting(_convert(value, kind, where), where)


def _mapping(data: object, source: str, prefix: str) -> dict[str, object]:
    where = f"{source}: {prefix.rstrip('.')}" if prefix else source
    if data is None:  # a heading with nothing below it
        return {}
    if not isinstance(data, dict):
        raise ConfigError(where, "expected keys and values here")
    for name in data:
        if not isinstance(name, str):
            raise ConfigError(where, f"the key {name!r} is not a word")
    return data


def _leaves(data: object, prefix: str = "") -> Iterator[str]:
    """Every dotted key that a file mentions, known or not."""
    if isinstance(data, dict) and data:
        for name, value in data.items():
            yield from _leaves(value, f"{prefix}.{name}" if prefix else str(name))
    elif prefix:
        yield prefix


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, 1, 0.5)
    return f"unknown key; did you mean {near[0]!r}?" if near else "unknown key"


def _convert(value: object, kind: Any, where: str, *, strict: bool = True) -> object:
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        if get_origin(kind) is Literal:
            raise ConfigError(where, f"must be one of {', '.join(get_args(kind))}") from None
        raise ConfigError(where, str(error)) from None


# ---- from the flat form to a Config ----------------------------------------------------------


def _build(settings: Settings) -> Config:
    agents = _agents(settings)
    tree: dict[str, Any] = {"agents": agents}
    for key, setting in settings.items():
        heading, _, name = key.rpartition(".")
        if not heading:
            tree[key] = setting.value
        elif not heading.startswith("agents."):
            tree.setdefault(heading, {})[name] = setting.value
    config = msgspec.convert(tree, Config)
    if config.default_agent not in agents:
        where = settings["default_agent"].where
        raise ConfigError(where, f"no agent {config.default_agent!r} is configured")
    _check_words(settings)
    return config


def _agents(settings: Settings) -> dict[str, AgentConfig]:
    agents = built_in_agents()
    said: dict[str, dict[str, Setting]] = {}
    for key, setting in settings.items():
        if key.startswith("agents."):
            _, name, field = key.split(".")
            _check_agent(field, setting)
            said.setdefault(name, {})[field] = setting
    for name, fields in said.items():
        agents[name] = _agent(fields, agents.get(name))
    return agents


def _agent(fields: dict[str, Setting], known: AgentConfig | None) -> AgentConfig:
    values = {field: setting.value for field, setting in fields.items()}
    if "kind" not in values and known is None:
        where = next(iter(fields.values())).where.rpartition(".")[0]
        raise ConfigError(where, "a new agent needs its kind")
    tree = msgspec.structs.asdict(known) if known else {}
    kind = values.get("kind", tree.get("kind"))
    if kind != tree.get("kind"):  # another kind's program would be the wrong one
        tree["program"] = _program_of(str(kind))
    if not (tree | values)["program"]:
        where = fields["kind"].where if "kind" in fields else next(iter(fields.values())).where
        raise ConfigError(where, f"an agent of the kind {kind} needs its program")
    agent = msgspec.convert(tree | values, AgentConfig)
    if "options" not in fields:
        return agent
    return msgspec.structs.replace(agent, options=_options(agent, fields["options"]))


def _options(agent: AgentConfig, setting: Setting) -> dict[str, Any]:
    """Return the options that are set for an agent, as its kind types them.

    The options of a kind that cannot be used stay as they are: no session can be opened.
    """
    if not REGISTRY.knows(agent.kind):
        return agent.options
    try:
        built = REGISTRY.build(agent.kind, AgentSettings(name=agent.kind, program=agent.program))
    except AgentKindError:
        return agent.options
    schema = built.options
    typed, problems = schema.check(agent.options)
    for problem in problems:
        raise ConfigError(f"{setting.where}.{problem.option}", problem.message)
    return dict(typed)


def _program_of(kind: str) -> tuple[str, ...]:
    """Return the program of a kind; of one that cannot be loaded, a program of the same name."""
    known = REGISTRY.find(kind)
    return known.program if known is not None else (kind,)


_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _check_name(name: str, where: str) -> None:
    if not _NAME.fullmatch(name):
        raise ConfigError(where, "a name is up to 32 of a-z, 0-9, - and _")


def _check_agent(field: str, setting: Setting) -> None:
    match field, setting.value:
        case "kind", str(kind):
            # A kind that no package provides (any more) costs its agents, not the gateway: they
            # are left out, and doctor tells why.
            if not _NAME.fullmatch(kind) and not REGISTRY.knows(kind):
                raise ConfigError(setting.where, f"must be one of {', '.join(REGISTRY.names())}")
        case "program", tuple(program):
            if not program or "\0" in "".join(program):
                raise ConfigError(setting.where, "needs at least the program's name")
            # "./agent" would be the repository's own file, wherever a session is opened
            if not program[0] or ("/" in program[0] and not program[0].startswith("/")):
                raise ConfigError(setting.where, "the program is a bare name or an absolute path")
        case "env", tuple(names):
            for name in names:
                if not _VARIABLE.fullmatch(name):
                    raise ConfigError(setting.where, f"{name!r} is not the name of a variable")
                if name.upper().startswith("FLYBRIDGE_"):
                    raise ConfigError(setting.where, f"{name} is never passed to an agent")
        case _:
            pass


def _check_words(settings: Settings) -> None:
    """Titles and labels are shown to people and matched by programs: keep them tame."""
    for key in ("title", "labels"):
        setting = settings.get(key)
        if setting is None:
            continue
        labels = setting.value if isinstance(setting.value, dict) else {}
        for name in labels:
            # labels of our own (slots, runs) have a dot in their names, so no file can claim one
            _check_name(name, f"{setting.where}.{name}")
        for text in labels.values() or [str(setting.value)]:
            if len(text) > MAX_TITLE or not text.isprintable():
                raise ConfigError(setting.where, f"at most {MAX_TITLE} printable characters")
