"""Claude Code before it runs: how it is found, what it can do, how it is started."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Raw

from flybridge.agents.claude.driver.arguments import build_args
from flybridge.agents.claude.driver.convert.query_results import to_models
from flybridge.agents.claude.driver.driver import ClaudeDriver
from flybridge.agents.claude.driver.trust import TRUST_FILES, restricted
from flybridge.agents.claude.driver.versions import MODES, traits_of
from flybridge.agents.claude.options import SCHEMA
from flybridge.model.capabilities import Capabilities, Launch, OpenSpec
from flybridge.model.options import AgentOptions
from flybridge.model.queries import Models

_NAMED = re.compile(r"(\d+(?:\.\d+)+) \(Claude Code\)")
_VERSION = re.compile(r"(\d+(?:\.\d+)+)")  # of a program that does not say what it is


class ClaudeAgent:
    """Claude Code over its own stdin and stdout."""

    trust_files = TRUST_FILES
    options = SCHEMA

    def __init__(
        self,
        *,
        name: str = "claude",
        kind: str = "claude",
        program: Sequence[str] = ("claude",),
        env: Mapping[str, str] = {},
    ) -> None:
        self.name = name
        self.kind = kind
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
            names_conversations=True,
            commands=traits.commands,
            at_start=traits.at_start,
            queries=traits.queries,
            modes=traits.modes,
            known_modes=MODES,
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
        return Launch(argv=argv, env=env, cwd=spec.cwd)

    def driver(self, capabilities: Capabilities) -> ClaudeDriver:
        return ClaudeDriver(capabilities)

    def models(self, detail: Raw) -> Models:
        """Return the models that the CLI named when it started."""
        return to_models(detail)

    def restricted(self, agent_options: AgentOptions) -> AgentOptions:
        """Return the options with the settings of the folder left out; every version can."""
        return restricted(agent_options)
