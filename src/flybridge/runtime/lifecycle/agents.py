"""The agents on this machine: which there are, and what their versions can do."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping

from flybridge.errors import (
    AgentError,
    AgentNotFoundError,
    AgentStartError,
    AgentUnavailableError,
)
from flybridge.model.agent_kinds import FIRST_KIND, KINDS_OF_0_1
from flybridge.model.capabilities import Capabilities
from flybridge.runtime.services import Installed
from flybridge.session.ports import Agent

VERSION_S = 10.0
VERSION_BYTES = 4096


class AgentShelf:
    """Asks each agent for its version when it is first wanted, and again when it changed."""

    def __init__(
        self,
        agents: Mapping[str, tuple[Agent, dict[str, str]]],
        *,
        make: Callable[[str, str], Agent | None] = lambda name, kind: None,
    ) -> None:
        """``make`` builds an agent that is not configured (any more) from its name and kind."""
        self._agents = agents  # with the environment each is to run in
        self._make = make
        self._known: dict[str, Installed] = {}
        self._asking = asyncio.Lock()

    async def get(self, name: str) -> Installed:
        """Find an agent by name.

        Raises:
            AgentNotFoundError: it is not configured, or its program is not installed.
            AgentStartError: its program cannot be run.
        """
        async with self._asking:
            if name not in self._known:
                self._known[name] = await self._look(name)
            return self._known[name]

    def agent(self, name: str) -> Agent:
        """Return a configured agent, installed or not.

        Raises:
            AgentNotFoundError: no such agent is configured.
        """
        if name not in self._agents:
            raise AgentNotFoundError(name, available=self.names())
        return self._agents[name][0]

    def names(self) -> list[str]:
        """Every agent that is configured, installed or not."""
        return sorted(self._agents)

    async def capabilities(self, name: str) -> Capabilities:
        """Return what an agent can do; for one that is not installed, what its newest version can.

        An agent that is not configured can do nothing.
        """
        try:
            return (await self.get(name)).capabilities
        except AgentError:
            return self.newest(name)

    def newest(self, name: str) -> Capabilities:
        """Return what the newest version of a configured agent can do, without asking it."""
        known = self._agents.get(name)
        return known[0].capabilities(b"") if known else Capabilities(agent=name)

    async def modes(self, name: str) -> frozenset[str]:
        """Return the permission modes of an agent; of one that is not installed, the newest."""
        return (await self.capabilities(name)).modes

    def kind_of(self, name: str) -> str:
        """Return the kind of a configured agent; "" if no agent of that name is configured."""
        return self._agents[name][0].kind if name in self._agents else ""

    def running(self, name: str, kind: str, version: str) -> Installed | None:
        """Return an agent that was started earlier, as the version it was then.

        None: no driver of this gateway speaks to that kind.
        """
        kind = self._recorded(name, kind)
        if self.kind_of(name) == kind:
            agent, environment = self._agents[name]
        else:
            made = self._make(name, kind)
            if made is None:
                return None
            agent, environment = made, {}
        return Installed(agent, agent.capabilities(version.encode()), environment)

    def refusal(self, name: str, kind: str, *, runs: bool) -> AgentUnavailableError | None:
        """Return why a session of this agent takes no input; None: it does."""
        kind, configured = self._recorded(name, kind), self.kind_of(name)
        if configured == kind:
            return None
        if self._make(name, kind) is None:
            reason = (
                f"its agent {name!r} is of the kind {kind!r}, which this gateway does not know. "
                f"Install the package that provides {kind!r}, then restart the gateway"
            )
        elif runs:
            return None  # started before the configuration changed, and its driver is here
        elif not configured:
            reason = (
                f"no agent {name!r} is configured. Add an agent of that name and of the kind "
                f"{kind!r} to your config.yaml, then restart the gateway"
            )
        else:
            reason = (
                f"its agent {name!r} was of the kind {kind!r} and is now of the kind "
                f"{configured!r}. Give that agent another name in your config.yaml and restart "
                f"the gateway, or open a new session"
            )
        return AgentUnavailableError(name, kind, reason=reason)

    def _recorded(self, name: str, kind: str) -> str:
        """Return the kind a session was opened with.

        Sessions of version 0.1 recorded none. Theirs is the configured kind, if that existed
        then, else the first that was driven.
        """
        if kind:
            return kind
        configured = self.kind_of(name)
        return configured if configured in KINDS_OF_0_1 else FIRST_KIND

    async def _look(self, name: str) -> Installed:
        agent = self.agent(name)
        environment = self._agents[name][1]
        argv = list(agent.version_argv())
        program = shutil.which(argv[0], path=environment.get("PATH"))
        if program is None:
            raise AgentNotFoundError(name, program=argv[0])
        try:
            output = await _output_of([program, *argv[1:]], environment)
        except OSError as error:
            raise AgentStartError(name, reason=str(error)) from error
        return Installed(agent, agent.capabilities(output), environment)


async def _output_of(argv: list[str], environment: dict[str, str]) -> bytes:
    """What a program says about its version; nothing when it will not say it in time."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    assert process.stdout is not None
    output = b""
    try:
        async with asyncio.timeout(VERSION_S):
            while chunk := await process.stdout.read(VERSION_BYTES - len(output)):
                output += chunk
            await process.wait()
    except TimeoutError:
        output = b""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return output
