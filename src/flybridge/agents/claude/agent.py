"""Claude Code before it runs: how it is found, what it can do, how it is started."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from flybridge.agents.claude.driver.arguments import build_args
from flybridge.agents.claude.driver.driver import ClaudeDriver
from flybridge.agents.claude.driver.versions import traits_of
from flybridge.model.capabilities import Capabilities, Launch, OpenSpec

_NAMED = re.compile(r"(\d+(?:\.\d+)+) \(Claude Code\)")
_VERSION = re.compile(r"(\d+(?:\.\d+)+)")  # of a program that does not say what it is


class ClaudeAgent:
    """Claude Code over its own stdin and stdout."""

    def __init__(
        self,
        *,
        name: str = "claude",
        program: Sequence[str] = ("claude",),
        env: Mapping[str, str] = {},
    ) -> None:
        self.name = name
        self._program = tuple(program)
        self._env = dict(env)

    def version_argv(self) -> Sequence[str]:
        return (*self._program, "--version")

    def capabilities(self, version_output: bytes) -> Capabilities:
        """An unreadable version is no reason to refuse: unknown is treated as new."""
        said = version_output.decode("utf-8", "replace")  # a wrapper may have had its say first
        found = _NAMED.search(said) or _VERSION.search(said)
        version = found[1] if found else ""
        traits = traits_of(version)
        return Capabilities(
            agent=self.name,
            version=version,
            echoes_input=True,
            resumes=True,
            commands=traits.commands,
            at_start=traits.at_start,
            queries=traits.queries,
            modes=traits.modes,
            efforts=traits.efforts,
            transports=traits.transports,
        )

    def launch(self, spec: OpenSpec, capabilities: Capabilities) -> Launch:
        """How to start it.

        Raises:
            AgentStartError: what is wanted makes no sense, or not to this version.
            TransportRefusedError: this version cannot be reached like that.
        """
        argv = (*self._program, *build_args(spec, capabilities.version))
        env = {**traits_of(capabilities.version).env, **self._env}
        dials_in = spec.options.transport != "stdio"
        link: Literal["stdio", "dials-in"] = "dials-in" if dials_in else "stdio"
        return Launch(argv=argv, env=env, cwd=spec.cwd, link=link)

    def driver(self, capabilities: Capabilities) -> ClaudeDriver:
        return ClaudeDriver(capabilities)
