"""The agents on this machine: which there are, and what their versions can do."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping

from flybridge.errors import AgentError, AgentNotFoundError, AgentStartError
from flybridge.runtime.services import Installed
from flybridge.session.ports import Agent

VERSION_S = 10.0
VERSION_BYTES = 4096


class AgentShelf:
    """Asks each agent for its version when it is first wanted, and again when it changed."""

    def __init__(
        self, agents: Mapping[str, tuple[Agent, dict[str, str]]], *, strangers: Agent
    ) -> None:
        self._agents = agents  # with the environment each is to run in
        self._strangers = strangers  # speaks for an agent that is not configured any more
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

    def names(self) -> list[str]:
        """Every agent that is configured, installed or not."""
        return sorted(self._agents)

    async def modes(self, name: str) -> frozenset[str]:
        """Return the permission modes of an agent; of one that is not installed, the newest."""
        try:
            return (await self.get(name)).capabilities.modes
        except AgentError:
            return self.running(name, "").capabilities.modes

    def running(self, name: str, version: str) -> Installed:
        """An agent that was started earlier, as the version it was then."""
        agent, environment = self._agents.get(name, (self._strangers, {}))
        return Installed(agent, agent.capabilities(version.encode()), environment)

    async def _look(self, name: str) -> Installed:
        if name not in self._agents:
            raise AgentNotFoundError(name, available=self.names())
        agent, environment = self._agents[name]
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
