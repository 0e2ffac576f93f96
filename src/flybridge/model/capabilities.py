"""What is wanted of an agent, and what an agent can do: known before there is a link."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from flybridge.model.options import Value

# "socket": the agent connects to us instead of using its pipes. "by_hand": so it does, and a
# person starts it; only its first life, all later ones are "socket".
Transport: TypeAlias = Literal["stdio", "socket", "by_hand"]


class Options(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Hold Claude's options as 0.1 wrote and read them; kept for one release.

    Everything inside uses ``StartOptions``, which this form is converted to.
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


class StartOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Hold what else an agent is started with, in every life of its session.

    ``agent_options`` are the agent's own: the schema that it publishes says which there are.
    An agent that cannot do one of these does not start.
    """

    effort: str = ""
    budget_usd: float = 0.0  # 0: no limit
    transport: Transport = "stdio"
    agent_options: dict[str, Value] = {}


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
    effort: str = ""
    budget_usd: float = 0.0  # 0: no limit
    transport: Transport = "stdio"
    agent_options: dict[str, Value] = {}  # as the agent's schema types them


class Mode(msgspec.Struct, frozen=True, omit_defaults=True):
    """A permission mode of an agent.

    ``freedom`` orders the modes of one agent by how much it may do without asking: 0 is what it
    may do by default, a negative number is less, a positive number is more. The first mode with
    0 is the default mode. A mode that an agent does not publish counts as granting everything.
    """

    id: str
    freedom: int
    plans: bool = False  # it only plans, until somebody approves the plan
    name: str = ""  # as people read it; "": they read the id
    description: str = ""  # one sentence: what the agent does in this mode without asking


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What this version of this agent can do. Anything not named here is refused early."""

    agent: str
    version: str = ""
    echoes_input: bool = False  # proves that it read a message
    resumes: bool = False
    steers: bool = True  # takes a message while a turn runs
    # takes the id of a new conversation from us; else it chooses one, and AgentReady tells it
    names_conversations: bool = False
    commands: frozenset[str] = frozenset()  # tags of commands it takes beyond send_input
    at_start: frozenset[str] = frozenset()  # of those, the ones it takes only when it starts
    queries: frozenset[str] = frozenset()
    modes: frozenset[str] = frozenset()  # permission modes that can be chosen
    known_modes: tuple[Mode, ...] = ()  # these and others that it may report
    efforts: frozenset[str] = frozenset()
    transports: frozenset[str] = frozenset({"stdio"})


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    env: dict[str, str] = {}  # added to the allow-listed environment
    cwd: str


class LinkEnd(msgspec.Struct, frozen=True, kw_only=True):
    why: Literal["exit", "keeper_died", "socket", "reboot", "not_started"]
    status: int = 0
    read_upto: int = 0
