"""The command line: Claude's own flags, of which the demo honours a few and ignores the rest."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence

import msgspec

VERSION = "2.1.325"
DEFAULT_MODEL = "flybridge-demo"
DEFAULT_PACE_MS = 25.0
MODES = ("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan")


class UsageError(Exception):
    """The command line asks for something that cannot be."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str
    resumed: bool = False
    model: str = DEFAULT_MODEL
    mode: str = "default"
    may_bypass: bool = False
    asks: bool = False  # permission prompts go to the host; without it they are refused
    partial: bool = False
    replay: bool = False
    state_events: bool = False
    version: bool = False
    pace_s: float = DEFAULT_PACE_MS / 1000


def parse_options(argv: Sequence[str], env: Mapping[str, str]) -> Options:
    """Read the command line and the two environment variables that matter.

    Raises:
        UsageError: a session id is not a UUID, or the permission mode is unknown.
    """
    flags = _flags(argv)
    mode = flags.get("--permission-mode", "default") or "default"
    if mode == "manual":
        mode = "default"
    if mode not in MODES:
        raise UsageError(f"unknown permission mode: {mode}")
    skips = "--dangerously-skip-permissions" in flags
    if skips:
        mode = "bypassPermissions"
    return Options(
        session_id=_session_id(flags),
        resumed="--resume" in flags,
        model=resolve_model(flags.get("--model", "")),
        mode=mode,
        may_bypass=mode == "bypassPermissions" or "--allow-dangerously-skip-permissions" in flags,
        asks=flags.get("--permission-prompt-tool") == "stdio",
        partial="--include-partial-messages" in flags,
        replay="--replay-user-messages" in flags,
        state_events=env.get("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") == "1",
        version="--version" in flags or "-v" in flags,
        # a flag as well, because a gateway passes no variable of ours on to an agent
        pace_s=_pace(flags.get("--speed") or env.get("FLYBRIDGE_DEMO_SPEED", "")) / 1000,
    )


def resolve_model(name: str) -> str:
    return name if name not in ("", "default") else DEFAULT_MODEL


def _flags(argv: Sequence[str]) -> dict[str, str]:
    """Take whatever follows a flag as its value, so that flags we never heard of do no harm."""
    flags: dict[str, str] = {}
    name = ""
    for word in argv:
        if word.startswith("-") and word != "-":
            name, _, value = word.partition("=")
            name = {"-r": "--resume"}.get(name, name)
            flags[name] = value
        elif name and not flags[name]:
            flags[name] = word
    return flags


def _session_id(flags: Mapping[str, str]) -> str:
    asked = flags.get("--session-id", "")
    resumed = flags.get("--resume", "")
    if asked and resumed and "--fork-session" not in flags:
        raise UsageError("--session-id goes with --resume only if --fork-session is there too")
    if asked:
        try:
            return str(uuid.UUID(asked))
        except ValueError:
            raise UsageError(f"not a valid UUID: {asked}") from None
    if resumed and "--fork-session" not in flags:
        return resumed
    return str(uuid.uuid4())


def _pace(text: str) -> float:
    """Milliseconds a word takes; nonsense means the usual pace."""
    try:
        pace = float(text)
    except ValueError:
        return DEFAULT_PACE_MS
    return pace if 0 <= pace <= 10_000 else DEFAULT_PACE_MS
