"""The command line of Claude Code: pure, and refused here rather than by a program that died.

A value is a word of its own only where it cannot be taken for a flag; the flags that take
several values get each as ``--flag=value``, because as words they would swallow what follows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from uuid import UUID

from msgspec import Raw

from flybridge.agents.claude.driver.versions import LAST_OLD, Traits, traits_of
from flybridge.errors import AgentStartError, TransportRefusedError
from flybridge.model.capabilities import OpenSpec, Options
from flybridge.agents.claude.wire.decode import fields

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
MAX_VALUE_BYTES = 128_000  # Linux takes no longer single argument
MAX_VALUES = 256
BYPASS = "bypassPermissions"
LAST_OLD_NAME = ".".join(str(one) for one in LAST_OLD)


def build_args(spec: OpenSpec, version: str) -> list[str]:
    """The arguments after the program's name.

    Raises:
        AgentStartError: they make no sense together, or not to this version.
        TransportRefusedError: this version does not connect to us.
    """
    traits = traits_of(version)
    if spec.options.transport not in traits.transports:
        raise TransportRefusedError(spec.agent, version=version, last=LAST_OLD_NAME)
    for reason in (*_about_session(spec), *_about_options(spec, traits)):
        raise AgentStartError(spec.agent, reason=reason)
    words = [*_value("--sdk-url", spec.dial_in), *ARGUMENTS, *_session(spec)]
    words += _value("--model", spec.model)
    words += _value("--permission-mode", spec.mode)
    words += _options(spec.options)
    for word in words:
        if "\0" in word or len(word.encode("utf-8", "surrogatepass")) > MAX_VALUE_BYTES:
            flag = word.partition("=")[0] if word.startswith("--") else "a value"
            raise AgentStartError(spec.agent, reason=f"{flag[:64]} cannot be an argument")
    return words


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


def _options(options: Options) -> list[str]:
    words = [flag for flag, is_set in _switches(options) if is_set]
    for flag, value in _values(options):
        words += _value(flag, value)
    for flag, values in _lists(options):
        words += [f"{flag}={one}" for one in values]
    if options.tools is not None:
        words.append(f"--tools={','.join(options.tools)}")
    return words


def _switches(options: Options) -> Iterable[tuple[str, bool]]:
    return (
        ("--dangerously-skip-permissions", options.skip_permissions),
        ("--allow-dangerously-skip-permissions", options.allow_bypass),
        ("--strict-mcp-config", options.strict_mcp_config),
        ("--no-session-persistence", options.no_persistence),
        ("--disable-slash-commands", options.disable_slash_commands),
    )


def _values(options: Options) -> Iterable[tuple[str, str]]:
    return (
        ("--effort", options.effort),
        ("--fallback-model", options.fallback_model),
        ("--max-turns", str(options.max_turns or "")),
        ("--max-budget-usd", _decimal(options.max_budget_usd)),
        ("--max-thinking-tokens", str(options.max_thinking_tokens or "")),
        ("--system-prompt", options.system_prompt),
        ("--append-system-prompt", options.append_system_prompt),
        ("--settings", options.settings),
        ("--setting-sources", ",".join(options.setting_sources)),
        ("--agents", options.agents),
        ("--agent", options.main_agent),
        ("--json-schema", options.json_schema),
    )


def _lists(options: Options) -> Iterable[tuple[str, tuple[str, ...]]]:
    return (
        ("--allowedTools", options.allowed_tools),
        ("--disallowedTools", options.disallowed_tools),
        ("--add-dir", options.add_dirs),
        ("--mcp-config", options.mcp_config),
        ("--plugin-dir", options.plugin_dirs),
        ("--betas", options.betas),
    )


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
    options = spec.options
    if spec.mode and spec.mode not in traits.modes:
        yield f"this version has no mode {spec.mode[:64]!r}"
    if options.skip_permissions and spec.mode not in ("", BYPASS):
        yield f"skip_permissions and the mode {spec.mode} exclude each other"
    if options.effort and options.effort not in traits.efforts:
        yield f"this version has no effort {options.effort[:64]!r}"
    if options.fast and not traits.fast:
        yield "this version has a fast mode only in its own terminal"
    if options.main_agent and not traits.main_agents:
        yield "this version reads no input where a main agent is named"
    if options.fallback_model and options.fallback_model == spec.model:
        yield "the model to fall back to is the model itself"
    if options.max_turns < 0 or options.max_thinking_tokens < 0:
        yield "a limit cannot be negative"
    if not math.isfinite(options.max_budget_usd) or not 0 <= options.max_budget_usd <= 1e9:
        yield "max_budget_usd is no sum of money"
    yield from _about_lists(options)
    yield from _about_json(options)


def _about_lists(options: Options) -> Iterable[str]:
    for flag, values in (*_lists(options), ("--tools", options.tools or ())):
        if len(values) > MAX_VALUES or not all(one.strip() for one in values):
            yield f"{flag} has too many values, or an empty one"
    if any(not _is_rule(one) for one in (*options.allowed_tools, *options.disallowed_tools)):
        yield "a rule about a tool has brackets that do not match"
    if any("," in one for one in (*(options.tools or ()), *options.setting_sources)):
        yield "a name holds a comma"


def _about_json(options: Options) -> Iterable[str]:
    for name, value in (("agents", options.agents), ("json_schema", options.json_schema)):
        if value and not _is_object(value):
            yield f"{name} is no JSON object"
    for name, value in (
        ("settings", options.settings),
        *(("mcp_config", one) for one in options.mcp_config),
    ):
        if value.lstrip().startswith("{") and not _is_object(value):
            yield f"{name} is neither a file nor a JSON object"


def _is_rule(rule: str) -> bool:
    """Whether the CLI cannot take one rule for two: it splits at commas outside brackets."""
    depth = 0
    for one in rule:
        depth += {"(": 1, ")": -1}.get(one, 0)
        if depth < 0 or (depth == 0 and one in ", "):
            return False
    return depth == 0


def _is_object(value: str) -> bool:
    try:
        data = value.encode()
    except UnicodeError:
        return False
    return bool(fields(Raw(data))) or value.strip() == "{}"


def _is_uuid(value: str) -> bool:
    try:
        return str(UUID(value)) == value.lower()
    except ValueError:
        return False
