"""Everything that can be set, with its type, its bounds and its default."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from flybridge.agents.registry import REGISTRY
from flybridge.model.agent_kinds import DEFAULT_KIND

PROJECT_KEYS = frozenset({"default_agent", "title", "labels", "output"})

Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=10**8)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=10**6)]
User: TypeAlias = int | str  # a uid or a user name


class AgentConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One agent people can open sessions with."""

    kind: str  # which driver speaks to it: a kind of flybridge.agents.registry
    program: tuple[str, ...]  # a bare name to look up, or an absolute path; then arguments
    env: tuple[str, ...] = ()  # names of variables to pass on beyond AGENT_ENV
    # for new sessions, where their opener did not choose: options that the kind publishes
    options: dict[str, Any] = {}


class KeeperConfig(msgspec.Struct, frozen=True, kw_only=True):
    orphan_s: Seconds = 900.0  # no gateway and no output for this long: the agent is ended
    hello_s: Seconds = 30.0  # a keeper that nobody greets in this time ends itself


class LimitsConfig(msgspec.Struct, frozen=True, kw_only=True):
    line_bytes: Annotated[int, msgspec.Meta(ge=2**16, le=2**30)] = 128 * 2**20
    held_inputs: Count = 32  # waiting in one session
    sessions: Count = 100  # with a living agent, at one time
    idle_s: Seconds = 3600.0  # an agent idle for so long is put away; 0: never


class ServeConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Where browsers and other programs come in, once `flybridge serve` runs."""

    host: str = ""  # empty: this machine only; anything else needs TLS
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 8420
    names: tuple[str, ...] = ()  # other names it goes by, say behind a proxy
    base_path: str = ""  # where a proxy puts it
    client_header: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9-]{0,64}$")] = ""  # its client
    tls_cert: str = ""
    tls_key: str = ""
    forwarders: tuple[User, ...] = ()  # other Unix users whose programs pass connections on
    users: tuple[User, ...] = ()  # other Unix users who may sign in on this machine
    companion_host: str = ""  # where small devices come in, unencrypted; empty: nowhere
    companion_port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 3333


class ControlConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Steering live sessions by control messages, at both ends."""

    team: Annotated[str, msgspec.Meta(min_length=1, max_length=256)] = "default"  # of sessions
    folder: str = ""  # where content_ref files are; empty: `inbox` in the state directory
    max_age_s: Seconds = 300.0  # of a message
    skew_s: Seconds = 60.0  # a message may be this far ahead of our clock
    soft_bytes: Annotated[int, msgspec.Meta(ge=1, le=8 << 20)] = 64 << 10  # a sender warns
    hard_bytes: Annotated[int, msgspec.Meta(ge=1, le=8 << 20)] = 1 << 20  # above: content_ref
    ack_timeout_s: Annotated[float, msgspec.Meta(gt=0, le=600)] = 2.0  # a sender's patience
    retries: Annotated[int, msgspec.Meta(ge=0, le=100)] = 1
    backoff_s: Annotated[float, msgspec.Meta(ge=0, le=60)] = 0.25  # twice that the next time
    log_text: bool = False  # what messages say goes to the audit log, too


class RetentionConfig(msgspec.Struct, frozen=True, kw_only=True):
    days: Annotated[int, msgspec.Meta(ge=0, le=36_500)] = 0  # 0: for ever


class OutputConfig(msgspec.Struct, frozen=True, kw_only=True):
    adhoc_output: Literal["cli", "json"] = "cli"  # of `flybridge adhoc` without --output


class IpcConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What `flybridge ipc` does that no flag says."""

    permission_mode: Literal["default", "acceptEdits", "plan", "dontAsk", "delegate"] = (
        "acceptEdits"  # of a session it opens
    )


def built_in_agents() -> dict[str, AgentConfig]:
    """Return the agents that are there without any configuration: one of each built-in kind."""
    return {
        kind.name: AgentConfig(kind=kind.name, program=kind.program)
        for kind in REGISTRY.built_in.values()
    }


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be set. ``Config()`` is what holds without any file."""

    agents: dict[str, AgentConfig] = msgspec.field(default_factory=built_in_agents)
    default_agent: str = DEFAULT_KIND
    title: str = ""  # of a new session
    labels: dict[str, str] = {}  # of a new session
    # settings, agents, skills … that a folder brings, where its opener did not choose
    folder_settings: Literal["ask", "trust", "restrict"] = "ask"
    idle_exit_s: Seconds = 60.0  # the gateway ends this long after the last client
    keeper: KeeperConfig = KeeperConfig()
    limits: LimitsConfig = LimitsConfig()
    retention: RetentionConfig = RetentionConfig()
    output: OutputConfig = OutputConfig()
    ipc: IpcConfig = IpcConfig()
    serve: ServeConfig = ServeConfig()
    control: ControlConfig = ControlConfig()
    log_level: Literal["debug", "info", "warning", "error"] = "info"


def section(kind: Any) -> type[msgspec.Struct] | None:
    """The struct a key stands for, when it is a heading with keys of its own."""
    return kind if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else None


def _keys(struct: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for field in msgspec.structs.fields(struct):
        if inner := section(field.type):
            yield from _keys(inner, f"{prefix}{field.name}.")
        elif field.name != "agents":
            yield f"{prefix}{field.name}", field.type


KEYS: dict[str, Any] = dict(_keys(Config))  # every key but those of agents, and its type
