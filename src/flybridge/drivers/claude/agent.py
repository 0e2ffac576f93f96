"""Claude Code before it runs: how it is found, what it can do, how it is started."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from uuid import uuid5

from flybridge.drivers.claude.arguments import build_args
from flybridge.drivers.claude.driver import NAMESPACE, ClaudeDriver
from flybridge.drivers.claude.versions import traits_of
from flybridge.model.capabilities import Capabilities, Launch, OpenSpec
from flybridge.model.ids import SessionId

_VERSION = re.compile(r"\d+(?:\.\d+)+")


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
        # Newer versions then say when they are idle; older ones do not know the variable.
        self._env = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1", **env}

    def version_argv(self) -> Sequence[str]:
        return (*self._program, "--version")

    def capabilities(self, version_output: bytes) -> Capabilities:
        """An unreadable version is no reason to refuse: unknown is treated as new."""
        found = _VERSION.search(version_output.decode("utf-8", "replace"))
        version = found[0] if found else ""
        traits = traits_of(version)
        return Capabilities(
            agent=self.name,
            version=version,
            echoes_input=True,
            resumes=True,
            commands=traits.commands,
            queries=frozenset(traits.queries),
            modes=traits.modes,
            efforts=traits.efforts,
        )

    def launch(self, spec: OpenSpec, capabilities: Capabilities) -> Launch:
        """How to start it.

        Raises:
            AgentStartError: what is wanted makes no sense, or not to this version.
        """
        argv = (*self._program, *build_args(spec, capabilities.version))
        return Launch(argv=argv, env=dict(self._env), cwd=spec.cwd)

    def driver(self, capabilities: Capabilities) -> ClaudeDriver:
        return ClaudeDriver(capabilities)


def new_agent_session(session: SessionId) -> str:
    """Claude's id for a new conversation of ours: always the same for the same session."""
    return str(uuid5(NAMESPACE, session))
