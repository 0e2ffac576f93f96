"""What is wanted of an agent, and what an agent can do: known before there is a link."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

# "socket": the agent connects to us instead of using its pipes. "by_hand": so it does, and a
# person starts it; only its first life, all later ones are "socket".
Transport: TypeAlias = Literal["stdio", "socket", "by_hand"]


class Options(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What else may be wanted of an agent, in every life of its session.

    An agent that cannot do one of these does not start. JSON is given as text.
    """

    effort: str = ""
    fast: bool = False  # quicker answers for more money
    fallback_model: str = ""
    max_turns: int = 0  # 0: no limit, here and below
    max_budget_usd: float = 0.0
    max_thinking_tokens: int = 0
    allowed_tools: tuple[str, ...] = ()  # rules: these run without being asked about
    disallowed_tools: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None  # None: the agent's own choice; (): none at all
    skip_permissions: bool = False  # nobody is asked about anything
    allow_bypass: bool = False  # that may be switched on later
    system_prompt: str = ""
    append_system_prompt: str = ""
    add_dirs: tuple[str, ...] = ()
    mcp_config: tuple[str, ...] = ()  # files, or JSON
    strict_mcp_config: bool = False  # no servers but those
    plugin_dirs: tuple[str, ...] = ()
    settings: str = ""  # a file, or JSON
    setting_sources: tuple[str, ...] = ()
    agents: str = ""  # a JSON object
    main_agent: str = ""
    json_schema: str = ""
    betas: tuple[str, ...] = ()
    no_persistence: bool = False  # the agent keeps no record: nothing to resume
    disable_slash_commands: bool = False
    transport: Transport = "stdio"


class OpenSpec(msgspec.Struct, frozen=True, kw_only=True):
    """How a session's agent is to be started."""

    agent: str
    cwd: str
    title: str = ""
    labels: dict[str, str] = {}
    model: str = ""
    mode: str = ""
    agent_session: str = ""  # the agent's own id for the conversation
    resume: bool = False  # agent_session exists already: go on with it
    # Of the first life only: from the second on, there is a conversation to resume.
    continue_latest: bool = False  # go on with whatever was last talked about in cwd
    from_pr: str = ""  # go on with the conversation of a pull request
    fork: bool = False  # go on in a copy: the conversation itself stays as it is
    fork_session: str = ""  # the copy's id
    dial_in: str = ""  # where an agent that connects to us finds us; the runtime says it
    options: Options = Options()


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What this version of this agent can do. Anything not named here is refused early."""

    agent: str
    version: str = ""
    echoes_input: bool = False  # proves that it read a message
    resumes: bool = False
    steers: bool = True  # takes a message while a turn runs
    commands: frozenset[str] = frozenset()  # tags of commands it takes beyond send_input
    at_start: frozenset[str] = frozenset()  # of those, the ones it takes only when it starts
    queries: frozenset[str] = frozenset()
    modes: frozenset[str] = frozenset()
    efforts: frozenset[str] = frozenset()
    transports: frozenset[str] = frozenset({"stdio"})


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    env: dict[str, str] = {}  # added to the allow-listed environment
    cwd: str
    link: Literal["stdio", "unix-websocket", "dials-in"] = "stdio"
    shared: bool = False  # one process, many sessions


class LinkEnd(msgspec.Struct, frozen=True, kw_only=True):
    why: Literal["exit", "keeper_died", "socket", "reboot", "not_started"]
    status: int = 0
    read_upto: int = 0
