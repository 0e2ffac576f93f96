"""Describe a kind of agent: everything the product asks of it, in one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from flybridge.agents.history import History
from flybridge.model.capabilities import Capabilities
from flybridge.session.ports import Agent, Conversations


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """One configured agent, as its kind is given it."""

    name: str
    program: tuple[str, ...]
    scratch: str = ""  # a private folder for temporary files; "": the kind's own choice


class Records(msgspec.Struct, frozen=True, kw_only=True):
    """The configured agents of one kind, and where their conversations are guarded."""

    agents: Mapping[str, Mapping[str, str]]  # name → environment it runs in
    keepers: Path  # this gateway's folder for keepers
    locks: Path  # a folder that all gateways of a user share


class About(msgspec.Struct, frozen=True, kw_only=True):
    """One installed version, as ``flybridge doctor`` describes it."""

    text: str
    lacks: str = ""  # what other versions of this kind can do
    measured: bool = True  # False: nobody has tried this version; doctor offers a probe


class AgentKind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of agent. A package publishes it under the entry point group ``flybridge.agents``.

    ``program`` is what an agent of this kind runs when the configuration names no program; ``()``
    means that the configuration has to name it.
    """

    name: str
    build: Callable[[AgentSettings], Agent]
    program: tuple[str, ...] = ()
    conversations: Callable[[Records], Conversations] | None = None  # None: it keeps no records
    # of a user, from that user's environment; None: it keeps nothing to list
    history: Callable[[Mapping[str, str]], History] | None = None
    config_env: str = ""  # the variable that names the agent's configuration directory
    probe: str = ""  # reference to an AgentProbe (flybridge.probes.kinds); "": there is none
    about: Callable[[Capabilities], About] | None = None  # None: doctor shows the version only
    # its program comes with the package: nobody installs it, and it has no version of its own
    bundled: bool = False
