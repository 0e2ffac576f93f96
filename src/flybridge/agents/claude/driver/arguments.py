"""The command line of Claude Code: pure, and refused here rather than by a program that died.

A value is a word of its own only where it cannot be taken for a flag; the flags that take
several values get each as ``--flag=value``, because as words they would swallow what follows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from uuid import UUID

from flybridge.agents.claude.driver.versions import LAST_OLD, Traits, traits_of
from flybridge.agents.claude.options import ARGUMENTS as OPTION_ARGUMENTS
from flybridge.agents.claude.options import BYPASS, SCHEMA, Argument, Values
from flybridge.errors import AgentStartError, TransportRefusedError
from flybridge.model.capabilities import OpenSpec
from flybridge.model.options import MAX_TEXT_BYTES

# No -p: our stdout is a pipe, and with a pipe no version needs it.
ARGUMENTS = (
    "--output-format",
    "stream-json",
    "--input-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool",
    "stdio",
    "--replay-user-messages",
)
MAX_VALUE_BYTES = MAX_TEXT_BYTES
LAST_OLD_NAME = ".".join(str(one) for one in LAST_OLD)


def build_args(spec: OpenSpec, version: str) -> list[str]:
    """The arguments after the program's name.

    Raises:
        AgentStartError: they make no sense together, or not to this version.
        TransportRefusedError: this version does not connect to us.
    """
    traits = traits_of(version)
    if spec.transport not in traits.transports:
        raise TransportRefusedError(spec.agent, version=version, last=LAST_OLD_NAME)
    for reason in (*_about_session(spec), *_about_options(spec, traits)):
        raise AgentStartError(spec.agent, reason=reason)
    words = [*_value("--sdk-url", spec.dial_in), *ARGUMENTS, *_session(spec)]
    words += _value("--model", spec.model)
    words += _value("--permission-mode", spec.mode)
    words += _options(values_of(spec))
    for word in words:
        if "\0" in word or len(word.encode("utf-8", "surrogatepass")) > MAX_VALUE_BYTES:
            flag = word.partition("=")[0] if word.startswith("--") else "a value"
            raise AgentStartError(spec.agent, reason=f"{flag[:64]} cannot be an argument")
    return words


def values_of(spec: OpenSpec) -> Values:
    """Return the options of a session, with the common ones that are arguments as well."""
    common = {"effort": spec.effort, "budget_usd": spec.budget_usd}
    return Values({**spec.agent_options, **common})


# ---- words -------------------------------------------------------------------------------------


def _session(spec: OpenSpec) -> list[str]:
    words: list[str] = []
    if spec.continue_latest:
        words.append("--continue")
    elif spec.from_pr:
        words.append(f"--from-pr={spec.from_pr}")  # its value is optional
    elif spec.resume:
        words += _value("--resume", spec.agent_session)
    if spec.fork:
        words.append("--fork-session")
        words += _value("--session-id", spec.fork_session)
    elif not (spec.continue_latest or spec.from_pr or spec.resume):
        words += _value("--session-id", spec.agent_session)
    return words


def _options(values: Values) -> list[str]:
    return [word for argument in OPTION_ARGUMENTS for word in _words(argument, values)]


def _words(argument: Argument, values: Values) -> list[str]:
    name, flag, form = argument
    match form:
        case "switch":
            return [flag] if values.flag(name) else []
        case "each":
            return [f"{flag}={item}" for item in values.items(name)]
        case "joined":
            return _value(flag, ",".join(values.items(name)))
        case "joined_or_empty":
            return [f"{flag}={','.join(values.items(name))}"] if values.is_given(name) else []
        case _:
            return _value(flag, values.text(name) or _decimal(values.number(name)))


def _value(flag: str, value: str) -> list[str]:
    if value.startswith("-"):  # as a word of its own it would be taken for a flag
        return [f"{flag}={value}"]
    return [flag, value] if value else []


def _decimal(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".") if value else ""


# ---- what makes no sense -----------------------------------------------------------------------


def _about_session(spec: OpenSpec) -> Iterable[str]:
    """Why these cannot be said together: the CLI would take one and ignore the other."""
    ways = (spec.resume, spec.continue_latest, bool(spec.from_pr))
    if spec.resume and not spec.agent_session:
        yield "no conversation to resume was named"
    if sum(ways) > 1:
        yield "resume, continue and from_pr exclude each other"
    if spec.fork and not any(ways):
        yield "there is no conversation to fork"
    if spec.fork_session and not spec.fork:
        yield "fork_session names a fork that was not asked for"
    new = spec.fork_session or ("" if any(ways) else spec.agent_session)
    if new and not _is_uuid(new):
        yield "the id of a new conversation has to be a UUID"


def _about_options(spec: OpenSpec, traits: Traits) -> Iterable[str]:
    values = values_of(spec)
    if spec.mode and spec.mode not in traits.modes:
        yield f"this version has no mode {spec.mode[:64]!r}"
    if values.flag("skip_permissions") and spec.mode not in ("", BYPASS):
        yield f"skip_permissions and the mode {spec.mode} exclude each other"
    if spec.effort and spec.effort not in traits.efforts:
        yield f"this version has no effort {spec.effort[:64]!r}"
    if values.flag("fast") and not traits.fast:
        yield "this version has a fast mode only in its own terminal"
    if values.text("main_agent") and not traits.main_agents:
        yield "this version reads no input where a main agent is named"
    if values.text("fallback_model") and values.text("fallback_model") == spec.model:
        yield "the model to fall back to is the model itself"
    if not math.isfinite(spec.budget_usd) or not 0 <= spec.budget_usd <= 1e9:
        yield "budget_usd is no sum of money"
    for problem in SCHEMA.check(spec.agent_options)[1]:
        yield problem.message
    yield from _about_lists(values)


def _about_lists(values: Values) -> Iterable[str]:
    rules = (*values.items("allowed_tools"), *values.items("disallowed_tools"))
    if any(not _is_rule(rule) for rule in rules):
        yield "a rule about a tool has brackets that do not match"
    names = (*values.items("tools"), *values.items("setting_sources"))
    if any("," in name for name in names):
        yield "a name holds a comma"


def _is_rule(rule: str) -> bool:
    """Whether the CLI cannot take one rule for two: it splits at commas outside brackets."""
    depth = 0
    for one in rule:
        depth += {"(": 1, ")": -1}.get(one, 0)
        if depth < 0 or (depth == 0 and one in ", "):
            return False
    return depth == 0


def _is_uuid(value: str) -> bool:
    try:
        return str(UUID(value)) == value.lower()
    except ValueError:
        return False
