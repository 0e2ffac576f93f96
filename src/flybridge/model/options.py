"""Describe the options that an agent publishes, and check values against that description.

A schema is the only list of an agent's options: command-line flags, the page's form, keys of
the configuration, the HTTP API and the documentation are generated from it. The module imports
nothing that is slow, because ``flybridge --help`` reads it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from flybridge.errors import InvalidOptionError

OptionType: TypeAlias = Literal["flag", "text", "number", "choice", "list", "json", "path"]
PathKind: TypeAlias = Literal["file", "folder", "file_or_json"]
Value: TypeAlias = bool | int | float | str | tuple[str, ...]
AgentOptions: TypeAlias = dict[str, Value]  # by name
ProblemCode: TypeAlias = Literal[
    "unknown_option", "wrong_type", "not_a_choice", "out_of_range", "too_long", "not_json"
]

MAX_TEXT_BYTES = 128_000  # no program on Linux takes a longer argument
MAX_ITEMS = 256
MAX_PROBLEMS = 10
MAX_BUDGET_USD = 1e9
_SHOWN = 64

# Groups that hold common options, too; an agent may have groups of its own.
MODEL, LIMITS, AROUND = "Model", "Limits", "What it finds"

# Options whose names the product knows. An agent that has such a setting uses the name.
FAST = "fast"  # follows the command set_fast
SKIP_PERMISSIONS = "skip_permissions"  # the agent asks for no permission: no mode is a surprise
NO_PERSISTENCE = "no_persistence"  # the agent keeps no record that could be forked


@dataclass(frozen=True, kw_only=True)
class Option:
    """Describe one option of an agent.

    ``grants``: the option can let the agent do more than it would have to ask for, so only an
    administrator may set it. That is the default: an option of unknown effect grants.
    """

    name: str
    type: OptionType
    label: str  # in the form: short, sentence case
    description: str = ""
    grants: bool = True
    default: Value | None = None  # None: the agent's own choice
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    integer: bool = False  # a number without a fraction
    long: bool = False  # text of several lines
    path: PathKind | Literal[""] = ""  # of a path, or of the items of a list
    commas: bool = False  # a list given as one word on a command line: NAME,NAME
    group: str = ""  # heading in the form and in the help
    hint: str = ""  # an example, or the format
    flag: str = ""  # on the command line; "": made from the name
    advanced: bool = True  # shown in the form only on request
    modes: tuple[str, ...] = ()  # a session opened in one of these modes keeps the flag set

    @property
    def command_line_flag(self) -> str:
        """Return the flag that sets this option."""
        return self.flag or "--" + self.name.replace("_", "-")


@dataclass(frozen=True)
class Problem:
    """Say why one value cannot be used."""

    code: ProblemCode
    option: str
    message: str


@dataclass(frozen=True)
class OptionSchema:
    """Hold the options of an agent, in the order in which a form shows them.

    ``common``: which of the options that every agent may have (``effort``, ``budget_usd``) this
    agent takes. Others are refused, because ignoring a limit would be worse.
    """

    options: tuple[Option, ...] = ()
    common: frozenset[Literal["effort", "budget_usd"]] = field(default_factory=frozenset)

    def __iter__(self) -> Iterator[Option]:
        return iter(self.options)

    def get(self, name: str) -> Option | None:
        """Return the option of that name, or None."""
        return next((option for option in self.options if option.name == name), None)

    def check(self, values: Mapping[str, Any]) -> tuple[dict[str, Value], list[Problem]]:
        """Return the values that can be used, typed, and one problem for each other value.

        A value that is the option's default, an empty text and a flag that is off are left out.
        """
        typed: dict[str, Value] = {}
        problems: list[Problem] = []
        for name, given in values.items():
            option = self.get(name)
            if option is None:
                problems.append(self._unknown(name))
                continue
            value = _typed(option, given)
            if isinstance(value, Problem):
                problems.append(value)
            elif not _is_unset(option, value):
                typed[name] = value
        return typed, problems

    def validate(self, values: Mapping[str, Any], agent: str) -> dict[str, Value]:
        """Return the values, typed.

        Raises:
            InvalidOptionError: the agent has no such option, or a value is not one of its values.
        """
        typed, problems = self.check(values)
        if problems:
            raise InvalidOptionError(
                agent,
                option=problems[0].option,
                reason=problems[0].code,
                messages=[problem.message for problem in problems[:MAX_PROBLEMS]],
            )
        return typed

    def check_common(self, agent: str, *, effort: str, budget_usd: float) -> None:
        """Refuse a common option that this agent does not take, or that makes no sense.

        Raises:
            InvalidOptionError: the agent has no such option, or not with that value.
        """
        for name, value in (("effort", effort), ("budget_usd", budget_usd)):
            if value and name not in self.common:
                raise InvalidOptionError(
                    agent,
                    option=name,
                    reason="unknown_option",
                    messages=[f"this agent has no option {name!r}"],
                )
        if not 0 <= budget_usd <= MAX_BUDGET_USD:
            raise InvalidOptionError(
                agent,
                option="budget_usd",
                reason="out_of_range",
                messages=[f"budget_usd: must be at least 0 and at most {_plain(MAX_BUDGET_USD)}"],
            )

    def granting(self, values: Mapping[str, object]) -> str:
        """Return the name of the first value that grants something, or "".

        An option that the schema does not have is of unknown effect, so it grants. Switching off
        what is on by default, a sandbox for example, can grant as much as switching something on.
        """
        for name, value in values.items():
            option = self.get(name)
            if option is None or (option.grants and not _is_unset(option, value)):
                return name
        return ""

    def kept_in(self, mode: str) -> dict[str, Value]:
        """Return the flags that a session opened in this permission mode keeps set."""
        return {option.name: True for option in self.options if mode and mode in option.modes}

    def _unknown(self, name: str) -> Problem:
        near = near_names(name, [option.name for option in self.options])
        shown = name[:_SHOWN]
        if near:
            names = " or ".join(repr(found) for found in near)
            message = f"this agent has no option {shown!r}; did you mean {names}?"
        elif self.options:
            names = ", ".join(option.name for option in self.options)
            message = f"this agent has no option {shown!r}; its options are: {names}"
        else:
            message = f"this agent has no option {shown!r}; it has no options"
        return Problem("unknown_option", shown, message)


def near_names(name: str, known: Sequence[str]) -> list[str]:
    """Return up to two known names that a person may have meant."""
    import difflib

    return difflib.get_close_matches(name[:_SHOWN].replace("-", "_"), known, 2, 0.6)


def _is_unset(option: Option, value: object) -> bool:
    if option.default is not None:
        return value == option.default
    return value is False or value == ""


def _typed(option: Option, value: Any) -> Value | Problem:
    match option.type:
        case "flag":
            return value if isinstance(value, bool) else _wrong_type(option, "true or false")
        case "number":
            return _number(option, value)
        case "list":
            return _list(option, value)
        case "json":
            return _json(option, value)
        case "choice":
            return _choice(option, value)
        case _:
            return _text(option, value)


def _wrong_type(option: Option, expected: str) -> Problem:
    return Problem("wrong_type", option.name, f"{option.name}: expected {expected}")


def _number(option: Option, value: Any) -> Value | Problem:
    kind = "a whole number" if option.integer else "a number"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return _wrong_type(option, kind)
    if option.integer and value != int(value):
        return _wrong_type(option, kind)
    low, high = option.minimum, option.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = " and ".join(
            text
            for text in (
                f"at least {_plain(low)}" if low is not None else "",
                f"at most {_plain(high)}" if high is not None else "",
            )
            if text
        )
        return Problem("out_of_range", option.name, f"{option.name}: must be {bounds}")
    return int(value) if option.integer else float(value)


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


def _choice(option: Option, value: Any) -> Value | Problem:
    if not isinstance(value, str):
        return _wrong_type(option, f"one of {', '.join(option.choices)}")
    if value and value not in option.choices:
        shown = f"{option.name}: {value[:_SHOWN]!r} is not one of {', '.join(option.choices)}"
        return Problem("not_a_choice", option.name, shown)
    return value


def _text(option: Option, value: Any) -> Value | Problem:
    if not isinstance(value, str):
        return _wrong_type(option, "text")
    problem = _about_text(option, value)
    if problem is None and option.path == "file_or_json":
        problem = _about_json(option, value)
    return problem or value


def _list(option: Option, value: Any) -> Value | Problem:
    if isinstance(value, str) or not isinstance(value, list | tuple):
        return _wrong_type(option, "a list of texts")
    if not all(isinstance(item, str) for item in value):
        return _wrong_type(option, "a list of texts")
    if len(value) > MAX_ITEMS:
        message = f"{option.name}: at most {MAX_ITEMS} values"
        return Problem("too_long", option.name, message)
    for item in value:
        problem = _about_text(option, item)
        if problem is None and not item.strip():
            problem = _wrong_type(option, "no empty value in the list")
        if problem is None and option.path == "file_or_json":
            problem = _about_json(option, item)
        if problem is None and option.choices and item not in option.choices:
            problem = _choice(option, item)  # type: ignore[assignment]
        if problem is not None:
            return problem
    return tuple(value)


def _json(option: Option, value: Any) -> Value | Problem:
    """Take JSON as text, as it travels to an agent, or as an object."""
    import msgspec

    if isinstance(value, dict):
        try:
            value = msgspec.json.encode(value).decode()
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
            return Problem("not_json", option.name, f"{option.name}: expected a JSON object")
    if not isinstance(value, str):
        return _wrong_type(option, "a JSON object, or its text")
    problem = _about_text(option, value)
    if problem is not None or not value:
        return problem or value
    return value if _is_json_object(value) else _not_json(option, "expected a JSON object")


def _about_text(option: Option, value: str) -> Problem | None:
    try:
        size = len(value.encode())
    except UnicodeError:
        return _wrong_type(option, "valid Unicode text")
    if "\0" in value:
        return _wrong_type(option, "text without a null character")
    if size > MAX_TEXT_BYTES:
        message = f"{option.name}: at most {MAX_TEXT_BYTES} bytes"
        return Problem("too_long", option.name, message)
    return None


def _about_json(option: Option, value: str) -> Problem | None:
    if value.lstrip().startswith("{") and not _is_json_object(value):
        return _not_json(option, "neither a file nor a JSON object")
    return None


def _not_json(option: Option, reason: str) -> Problem:
    return Problem("not_json", option.name, f"{option.name}: {reason}")


def _is_json_object(value: str) -> bool:
    import msgspec

    try:
        return isinstance(msgspec.json.decode(value), dict)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
