"""Every exception Flybridge raises, in one tree.

FlybridgeError
├── ProtocolError
│   ├── LocalProtocolError      our side asked for something the protocol forbids
│   └── RemoteProtocolError     the peer sent something the protocol forbids
├── RefusedError                well-formed, but not now or not by you; nothing happened
│   ├── InvalidRequestError     the request makes no sense as written
│   │   └── InvalidOptionError  the agent has no such option, or not with that value
│   ├── NotAllowedError         the caller lacks the scope
│   ├── NotAuthenticatedError   no credential, or none that is good
│   │   └── LoginIncompleteError  a good cookie without the login key that belongs to it
│   ├── TooManyTriesError       too many that were not
│   ├── PairingOverError        no device shows this code, or not any more
│   ├── FolderNotTrustedError   the folder brings settings that nobody agreed to
│   ├── SessionNotFoundError    no such session, or none this caller may see
│   ├── SessionClosedError      the session was closed for good
│   ├── NotLiveError            no agent runs in it, and none is to be started
│   ├── AgentUnavailableError   this gateway cannot drive the session's agent
│   ├── RequestReusedError      the same request id came with another body
│   ├── BusyError               a bounded queue is full
│   ├── PromptClosedError       the prompt is no longer open
│   ├── PromptDecidedError      somebody else's answer was committed first
│   ├── StalePromptError        the answer is bound to another input than the one asked about
│   ├── StaleTurnError          the turn an interrupt was meant for is over
│   └── NotSupportedError       this agent, or this version of it, cannot do that
├── AgentError
│   ├── AgentNotFoundError      the agent's program is not installed
│   ├── AgentKindError          no package provides this kind of agent, or it cannot be loaded
│   ├── AgentStartError         the agent's process could not be started
│   ├── TransportRefusedError   this version of the agent does not connect to us
│   ├── AgentExitedError        the agent's process ended before it could be done
│   └── QueryFailedError        the agent was asked something, and said no or nothing
├── KeeperError                 the process that holds an agent's channels refused, or is gone
├── StorageError                the journal could not take it; nothing was acknowledged
│   ├── StorageFullError        no space left
│   ├── StorageVersionError     written by another version of Flybridge
│   └── StorageCorruptError     the file fails its integrity check
├── GatewayError
│   ├── GatewayRunningError     another gateway holds this state directory
│   └── GatewayUnreachableError no gateway answers
└── ConfigError                 a configuration file says something it may not

``code`` goes on the wire and is stable; the text is for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal


class FlybridgeError(Exception):
    """The root. ``str(error)`` is a sentence for people, ``code`` is for programs."""

    code = "internal"


class ProtocolError(FlybridgeError):
    code = "protocol"


class LocalProtocolError(ProtocolError):
    """Our side asked for something the protocol forbids."""

    code = "protocol_local"


class RemoteProtocolError(ProtocolError):
    """The peer sent something the protocol forbids."""

    code = "protocol_remote"


class RefusedError(FlybridgeError):
    """A well-formed request that was not carried out; it left no trace in the session."""

    code = "refused"


class InvalidRequestError(RefusedError):
    code = "invalid_request"


class InvalidOptionError(InvalidRequestError):
    """The agent has no such option, or not with that value."""

    code = "invalid_option"

    def __init__(self, agent: str, *, option: str, reason: str, messages: Sequence[str]) -> None:
        super().__init__(f"{agent}: {'; '.join(messages)}")
        self.agent = agent
        self.option = option
        self.reason = reason
        self.problems = "\n".join(messages)


class NotAllowedError(RefusedError):
    """The caller lacks the scope."""

    code = "not_allowed"

    def __init__(self, scope: str, *, why: str = "", message: str = "") -> None:
        default = f"this needs the right to {scope}{': ' if why else ''}{why}"
        super().__init__(message or default)
        self.scope = scope
        self.why = why


class NotAuthenticatedError(RefusedError):
    """No credential, or none that is good. Always the same words, whatever was wrong with it."""

    code = "not_authenticated"

    def __init__(self, message: str = "log in first") -> None:
        super().__init__(message)


class LoginIncompleteError(NotAuthenticatedError):
    """A good cookie came without the login key that belongs to it."""

    code = "login_incomplete"

    def __init__(self) -> None:
        super().__init__("the login key of this browser is missing or wrong: sign in again")


class TooManyTriesError(RefusedError):
    code = "too_many_tries"

    def __init__(self, wait_s: int) -> None:
        super().__init__(f"too many wrong tries; wait {wait_s} s")
        self.wait_s = wait_s


class PairingOverError(RefusedError):
    """A code holds once, and for two minutes."""

    code = "pairing_over"


class FolderNotTrustedError(RefusedError):
    """The folder brings files that an agent would obey, and nobody agreed to them."""

    code = "folder_not_trusted"

    def __init__(
        self,
        folder: str,
        *,
        files: list[str],
        instructions: list[str] | None = None,
        agent: str = "",
        restrict: Literal["supported", "unsupported"] = "supported",
    ) -> None:
        can_restrict = restrict == "supported"
        more = f" and {len(files) - 5} more" if len(files) > 5 else ""
        named = f" --agent {agent}" if agent else ""
        without = "pass --folder restrict to start without them, " if can_restrict else ""
        values = "restrict or trust" if can_restrict else "trust"
        super().__init__(
            f"{folder} brings its own settings: {', '.join(files[:5])}{more}. Choose what to do "
            f"with them: {without}pass --folder trust (in a terminal) to obey them, run "
            f"`flybridge trust add{named}` in a terminal, or, also for CI, set folder_settings to "
            f"{values} in your config.yaml"
        )
        self.folder = folder
        self.files = "\n".join(files)
        self.instructions = "\n".join(instructions or [])  # read in any case, never asked about
        self.agent = agent
        self.restrict = restrict


class SessionNotFoundError(RefusedError):
    code = "session_not_found"

    def __init__(self, session: str) -> None:
        super().__init__(f"no session {session!r}")
        self.session = session


class SessionClosedError(RefusedError):
    code = "session_closed"

    def __init__(self, session: str) -> None:
        super().__init__(f"session {session} is closed")
        self.session = session


class NotLiveError(RefusedError):
    """No agent runs in the session, and this does not start one."""

    code = "not_live"


class AgentUnavailableError(RefusedError):
    """This gateway cannot drive the agent of the session, which can be read and not be used."""

    code = "agent_unavailable"

    def __init__(self, agent: str, kind: str, *, reason: str) -> None:
        super().__init__(f"this session is read-only: {reason}")
        self.agent = agent
        self.kind = kind
        self.reason = reason


class RequestReusedError(RefusedError):
    """The key is taken by a request with another body: neither is changed."""

    code = "request_id_reused"

    def __init__(self, key: str) -> None:
        request = key.rpartition(":")[2].removeprefix("control/")
        super().__init__(f"Request ID {request} was already used with different content.")
        self.key = key


class BusyError(RefusedError):
    code = "busy"


class PromptClosedError(RefusedError):
    code = "already_closed"

    def __init__(self, prompt: str) -> None:
        super().__init__(f"prompt {prompt} is no longer open")
        self.prompt = prompt


class PromptDecidedError(RefusedError):
    """Somebody else's answer was committed first; ``choice`` is what they chose."""

    code = "already_decided"

    def __init__(self, prompt: str, *, choice: str, by: str) -> None:
        super().__init__(f"prompt {prompt} was already decided: {choice} by {by}")
        self.prompt = prompt
        self.choice = choice
        self.by = by


class StalePromptError(RefusedError):
    code = "stale_prompt"

    def __init__(self, prompt: str) -> None:
        super().__init__(f"the answer to {prompt} is bound to another input than the one asked for")
        self.prompt = prompt


class StaleTurnError(RefusedError):
    code = "stale_turn"

    def __init__(self, turn: str) -> None:
        super().__init__(f"turn {turn} is over" if turn else "no turn is running")
        self.turn = turn


class NotSupportedError(RefusedError):
    code = "not_supported"


class AgentError(FlybridgeError):
    code = "agent"


class AgentNotFoundError(AgentError):
    code = "agent_not_found"

    def __init__(self, agent: str, *, program: str = "", available: Iterable[str] = ()) -> None:
        names = f" Available: {', '.join(available)}." if available else ""
        unknown = f"Unknown agent {agent!r}.{names}"
        super().__init__(f"{agent}: program {program!r} not found" if program else unknown)
        self.agent = agent
        self.program = program
        self.available = tuple(available)


class AgentKindError(AgentError):
    """A kind of agent that no package provides, that two provide, or that cannot be loaded."""

    code = "agent_kind"

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(f"agents of the kind {kind!r} cannot be used: {reason}")
        self.kind = kind
        self.reason = reason


class AgentStartError(AgentError):
    code = "agent_start"

    def __init__(self, agent: str, *, reason: str) -> None:
        super().__init__(f"{agent} did not start: {reason}")
        self.agent = agent
        self.reason = reason


class TransportRefusedError(AgentError):
    """This version of the agent cannot be reached in that way; ``last`` is the last that could."""

    code = "transport_refused"

    def __init__(self, agent: str, *, version: str, last: str) -> None:
        super().__init__(
            f"{agent} {version or 'of an unknown version'} does not connect to us: its maker "
            f"closed --sdk-url after {last}; use stdio, which carries everything"
        )
        self.agent = agent
        self.version = version
        self.last = last


class AgentExitedError(AgentError):
    code = "agent_exited"

    def __init__(self, agent: str, *, status: int, stderr_tail: str = "") -> None:
        super().__init__(f"{agent} exited with status {status}")
        self.agent = agent
        self.status = status
        self.stderr_tail = stderr_tail


class QueryFailedError(AgentError):
    """The agent was asked something beside the conversation, and said no or nothing."""

    code = "query_failed"


class KeeperError(FlybridgeError):
    code = "keeper"


class StorageError(FlybridgeError):
    """The journal could not take it. Nothing that failed this way was acknowledged."""

    code = "storage_failed"


class StorageFullError(StorageError):
    code = "storage_full"


class StorageVersionError(StorageError):
    code = "storage_version"


class StorageCorruptError(StorageError):
    code = "storage_corrupt"


class GatewayError(FlybridgeError):
    code = "gateway"


class GatewayRunningError(GatewayError):
    code = "gateway_running"


class GatewayUnreachableError(GatewayError):
    code = "gateway_unreachable"


class ConfigError(FlybridgeError):
    """A configuration file says something it may not; ``where`` names file and key."""

    code = "config"

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason
