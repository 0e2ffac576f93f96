"""What every session of one gateway shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from flybridge.errors import AgentUnavailableError
from flybridge.model.agent_kinds import DEFAULT_KIND
from flybridge.model.audit import Record
from flybridge.model.capabilities import Capabilities
from flybridge.model.options import Value
from flybridge.runtime.access.ci_keys import CiKeys
from flybridge.runtime.access.folders import Policy, Trusted
from flybridge.runtime.broadcaster import Hub
from flybridge.runtime.keeper.starter import KeeperStarter
from flybridge.runtime.lifecycle.conversation_ids import ConversationIds
from flybridge.runtime.links.dial_in import DialIns
from flybridge.session.ports import Agent, Blobs, Conversations, Journal


class Installed(msgspec.Struct, frozen=True):
    """An agent on this machine, and what its version can do."""

    agent: Agent
    capabilities: Capabilities
    environment: dict[str, str]  # built from an allow-list; no secret of ours is in it


class Shelf(Protocol):
    """The agents there are."""

    async def get(self, name: str) -> Installed:
        """Find an agent and ask it for its version, once.

        Raises:
            AgentNotFoundError: no such agent is configured.
        """

    def agent(self, name: str) -> Agent:
        """Return a configured agent, installed or not.

        Raises:
            AgentNotFoundError: no such agent is configured.
        """

    def names(self) -> list[str]:
        """Every agent that is configured, installed or not."""

    async def capabilities(self, name: str) -> Capabilities:
        """Return what an agent can do; for one that is not installed, what its newest version can.

        An agent that is not configured can do nothing.
        """

    def newest(self, name: str) -> Capabilities:
        """Return what the newest version of a configured agent can do, without asking it."""

    async def modes(self, name: str) -> frozenset[str]:
        """Return the permission modes of an agent; of one that is not installed, the newest."""

    def kind_of(self, name: str) -> str:
        """Return the kind of a configured agent; "" if no agent of that name is configured."""

    def running(self, name: str, kind: str, version: str) -> Installed | None:
        """Return what is needed to talk to an agent that runs already, whatever became of its
        program or its place in the configuration since it was started.

        ``kind`` is the recorded one, "" for a session opened before kinds were recorded. None:
        no driver of this gateway speaks to that kind.
        """

    def refusal(self, name: str, kind: str, *, runs: bool) -> AgentUnavailableError | None:
        """Return why a session of this agent takes no input; None: it does.

        ``runs``: its agent runs already, so that nothing has to be started.
        """


class Timing(msgspec.Struct, frozen=True):
    """How long things may take. Tests shorten them."""

    hello_s: float = 30
    orphan_s: float = 900
    grace_s: float = 5
    draft_s: float = 1.0
    draft_bytes: int = 256 * 1024
    dial_in_s: float = 60  # for an agent to connect to us, where it does that
    accept_s: float = 120  # for a connected agent to say that it takes messages, if any wait
    idle_s: float = 0  # how long an agent may be idle before it is put away; 0: for ever


class Limits(msgspec.Struct, frozen=True):
    """How much of everything there may be."""

    line_bytes: int = 128 * 2**20
    held_inputs: int = 32
    agents: int = 100


class Services(msgspec.Struct):
    journal: Journal
    blobs: Blobs
    hub: Hub
    shelf: Shelf
    keepers: Path  # where their sockets are
    boot: str
    now_ms: Callable[[], int]
    new_id: Callable[[str], str]  # a fresh id with that prefix
    new_secret: Callable[[], str]
    timing: Timing = Timing()
    limits: Limits = Limits()
    conversations: Conversations | None = None  # None: nobody reads what agents keep themselves
    trusted: Trusted | None = None  # None: every folder is
    folder_settings: Policy = "ask"  # for a folder that brings settings, where nobody chose
    # agent → what the owner's configuration sets for its sessions
    agent_defaults: Mapping[str, Mapping[str, Value]] = {}
    default_agent: str = DEFAULT_KIND  # where a request may name an agent, and does not
    ci_keys: CiKeys | None = None  # None: there are none
    audit: Callable[[Record], None] = lambda record: None
    conversation_ids: ConversationIds | None = None  # set with the sessions
    agents: int = 0  # how many live or are being started
    dial_ins: DialIns | None = None  # None: no agent can connect to us
    starter: KeeperStarter | None = None  # None: keepers are children of this process
