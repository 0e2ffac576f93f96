"""Generate the flags of a new session's options from the schemas that agents publish.

Nothing slow is imported, so that ``--help`` takes no time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

import click

from flybridge.agents.option_schemas import BUILT_IN_SCHEMAS
from flybridge.model.options import AROUND, LIMITS, MODEL, Option

if TYPE_CHECKING:
    from flybridge.model.capabilities import StartOptions

Kind: TypeAlias = Literal[
    "word",  # as it is
    "text",  # as it is, or @FILE
    "switch",
    "count",
    "money",
    "words",  # the flag may be repeated
    "list",  # one value, parted by commas
    "directories",  # repeated, and told from here
    "file",  # a file, told from here; or JSON; or @FILE
    "files",  # the same, repeated
    "directory",  # told from here
    "choice",
    "way",  # stdio or socket
]
MAX_FILE_BYTES = 128_000  # no program takes a longer argument
_Command = TypeVar("_Command", bound=Callable[..., Any])


class Flag(NamedTuple):
    field: str
    flag: str
    kind: Kind
    group: str
    about: str
    metavar: str = ""
    choices: tuple[str, ...] = ()


# Options that are no agent's own: every agent that takes them takes them by these flags.
COMMON = (
    Flag("effort", "--effort", "word", MODEL, "How hard it tries: low, medium, high …", "LEVEL"),
    Flag("budget_usd", "--max-budget-usd", "money", LIMITS, "Stop when this was spent."),
    Flag(
        "transport",
        "--transport",
        "way",
        AROUND,
        "How it is reached; socket: it connects to us (only some agents and versions can).",
    ),
)


def flag_of(option: Option) -> Flag:
    """Return the flag that is generated from an option of an agent."""
    kind, metavar = _kind(option)
    about = option.description or f"{option.label}."
    flag = option.command_line_flag
    return Flag(option.name, flag, kind, option.group, about, metavar, option.choices)


def _kind(option: Option) -> tuple[Kind, str]:
    match option.type:
        case "flag":
            return "switch", ""
        case "number":
            return ("count" if option.integer else "money"), ""
        case "json":
            return "text", "JSON"
        case "choice":
            return "choice", ""
        case "path" if option.path == "folder":
            return "directory", "DIR"
        case "path":
            return "file", "FILE|JSON" if option.path == "file_or_json" else "FILE"
        case "list" if option.path == "folder":
            return "directories", "DIR"
        case "list" if option.path:
            return "files", "FILE|JSON" if option.path == "file_or_json" else "FILE"
        case "list" if option.commas:
            return "list", "NAME,NAME"
        case "list":
            return "words", ""
        case _:
            return ("text" if option.long else "word"), ""


def _all_flags() -> tuple[Flag, ...]:
    """Return the flags of all built-in kinds; of two with the same name, the first.

    The options of every agent, also of a kind that is not built in, can be given with
    ``--agent-option``.
    """
    found = {flag.flag: flag for flag in COMMON}
    for schema in BUILT_IN_SCHEMAS.values():
        for option in schema:
            found.setdefault(option.command_line_flag, flag_of(option))
    return tuple(found.values())


FLAGS = _all_flags()
GOES_ON = "A conversation the agent had before"
_DIRECTORY = click.Path(exists=True, file_okay=False, path_type=Path)
_OPENING: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("--agent", "agent", "Which agent; the default is in the configuration.", {}),
    (
        "--cwd",
        "cwd",
        "The directory it works in.",
        {"type": _DIRECTORY, "default": ".", "show_default": "here"},
    ),
    ("--title", "title", "A title for the session.", {}),
    ("--team", "team", "The team whose members may steer it.", {}),
    ("--model", "model", "The agent's model.", {}),
    ("--mode", "mode", "The agent's permission mode.", {}),
    (
        "--folder",
        "folder",
        "Settings that the directory brings: ask about, trust or restrict (ignore) them.",
        {"type": click.Choice(("ask", "trust", "restrict")), "default": "ask"},
    ),
    (
        "--continue",
        "continue_latest",
        "Go on with the latest one of the directory.",
        {"is_flag": True, "group": GOES_ON},
    ),
    (
        "--resume",
        "resume",
        "Go on with this one; `flybridge history list` has them.",
        {"metavar": "ID", "group": GOES_ON},
    ),
    (
        "--from-pr",
        "from_pr",
        "Go on with the one of a pull request.",
        {"metavar": "NUMBER|URL", "group": GOES_ON},
    ),
    (
        "--fork",
        "fork",
        "Go on in a copy: the conversation stays as it is.",
        {"is_flag": True, "group": GOES_ON},
    ),
)
_REPEATED = ("words", "directories", "files")
_TYPES: dict[str, type | click.Choice[str]] = {
    "count": int,
    "money": float,
    "way": click.Choice(("stdio", "socket")),
}


class GroupedOption(click.Option):
    """An option that stands below a heading in ``--help``."""

    def __init__(self, *args: Any, group: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.group = group


class GroupedCommand(click.Command):
    """A command whose grouped options have headings of their own."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {"Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                heading = getattr(param, "group", "") or "Options"
                groups.setdefault(heading, []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def session_options(command: _Command) -> _Command:
    """Give a command a flag for every option; they come to it as keyword arguments."""
    for row in reversed(FLAGS):
        command = click.option(row.flag, row.field, cls=GroupedOption, **_settings(row))(command)
    return click.option(
        "-o",
        "--agent-option",
        "agent_option",
        cls=GroupedOption,
        multiple=True,
        metavar="NAME=VALUE",
        help="An option of the agent by its name; `GET /api/v1/agents` lists them. Repeat it.",
    )(command)


def opening_options(command: _Command) -> _Command:
    """Everything that can be said about a session that is to be opened."""
    command = session_options(command)
    for flag, name, about, more in reversed(_OPENING):
        settings: dict[str, Any] = {"help": about, **more}
        command = click.option(flag, name, cls=GroupedOption, **settings)(command)
    return command


def _settings(row: Flag) -> dict[str, Any]:
    again = " Repeat it for more." if row.kind in _REPEATED else ""
    settings: dict[str, Any] = {"group": row.group, "help": row.about + again}
    if row.kind == "switch":
        return settings | {"is_flag": True}
    if row.kind in _REPEATED:
        settings["multiple"] = True
    if row.kind == "choice":
        return settings | {"type": click.Choice(row.choices)}
    if row.kind in ("directory", "directories"):
        return settings | {
            "metavar": row.metavar,
            "type": click.Path(exists=True, file_okay=False, resolve_path=True),
        }
    return settings | {"type": _TYPES.get(row.kind, str), "metavar": row.metavar or None}


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the flags that were given, by the names of their options.

    Raises:
        click.UsageError: a file cannot be read.
    """
    found: dict[str, Any] = {}
    for row in FLAGS:
        value = values[row.field]
        if value is not None and value is not False and value != ():
            found[row.field] = value_of(row, value)
    return found


def flags_of(fields: Mapping[str, Any]) -> str:
    """How these fields are said on the command line."""
    return ", ".join(row.flag for row in FLAGS if row.field in fields)


def options_of(fields: Mapping[str, Any], base: StartOptions | None = None) -> StartOptions:
    """Return the options of a new session; what was not given is as in ``base``."""
    import msgspec

    from flybridge.model.capabilities import StartOptions

    common = {row.field for row in COMMON}
    start = base or StartOptions()
    own = {name: value for name, value in fields.items() if name not in common}
    return msgspec.structs.replace(
        start,
        agent_options={**start.agent_options, **own},
        **{name: value for name, value in fields.items() if name in common},
    )


def value_of(row: Flag, value: Any) -> Any:
    """Return what was given on the command line as the value of an option.

    Raises:
        click.UsageError: a file cannot be read.
    """
    match row.kind:
        case "text":
            return _text(row, value)
        case "file":
            return _file(row, value)
        case "files":
            return tuple(_file(row, one) for one in value)
        case "words" | "directories":
            return tuple(value)
        case "list":
            return tuple(part.strip() for part in value.split(",")) if value else ()
        case _:
            return value


def _text(row: Flag, value: str) -> str:
    """``@FILE`` stands for what is in the file, ``@@`` for an at sign."""
    if value.startswith("@@") or not value.startswith("@"):
        return value.removeprefix("@") if value.startswith("@@") else value
    return _read(row, Path(value[1:]))


def _file(row: Flag, value: str) -> str:
    """The agent is started somewhere else: a file's name is made one from everywhere."""
    if value.startswith("@"):
        return _read(row, Path(value[1:]))
    if value.lstrip().startswith("{") or not value:
        return value
    path = Path(value).expanduser().absolute()
    if not path.is_file():
        raise click.UsageError(f"{row.flag}: no such file: {value}")
    return str(path)


def _read(row: Flag, path: Path) -> str:
    try:
        with path.expanduser().open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        text = data.decode()
    except OSError as error:
        raise click.UsageError(f"{row.flag}: cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{row.flag}: {path} is no text") from error
    if len(data) > MAX_FILE_BYTES:
        raise click.UsageError(f"{row.flag}: {path} is longer than {MAX_FILE_BYTES} bytes")
    return text.strip()
