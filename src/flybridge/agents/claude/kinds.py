"""Define the kinds ``claude`` and ``demo``: Claude Code, and the program that imitates it."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from flybridge.agents.history import History
from flybridge.agents.kinds import About, AgentKind, AgentSettings, Records
from flybridge.model.capabilities import Capabilities
from flybridge.session.ports import Agent, Conversations

TMPDIR_ENV = "CLAUDE_CODE_TMPDIR"


def _build(kind: str, settings: AgentSettings) -> Agent:
    from flybridge.agents.claude.agent import ClaudeAgent  # only who starts one pays for it

    # What the CLI leaves in the shared temporary folder, others could find.
    env = {TMPDIR_ENV: settings.scratch} if settings.scratch else {}
    return ClaudeAgent(name=settings.name, kind=kind, program=settings.program, env=env)


def _conversations(records: Records) -> Conversations:
    from flybridge.agents.claude.conversations import ClaudeConversations

    return ClaudeConversations(records.agents, keepers=records.keepers, locks=records.locks)


def _history(environ: Mapping[str, str]) -> History:
    from flybridge.agents.claude.history import ClaudeHistory
    from flybridge.agents.claude.records import ClaudeRecords

    return ClaudeRecords(ClaudeHistory.of(environ))


def _about_claude(capabilities: Capabilities) -> About:
    from flybridge.agents.claude.driver.versions import NEW, OLD
    from flybridge.agents.claude.measured import MEASURED, standing

    commands = (OLD.commands | NEW.commands) - capabilities.commands
    queries = {*OLD.queries, *NEW.queries} - capabilities.queries
    lacks = [f"cannot {', '.join(sorted(commands))}"] if commands else []
    lacks += [f"does not tell {', '.join(sorted(queries))}"] if queries else []
    return About(
        text=f"{capabilities.version}, {standing(capabilities.version)}",
        lacks="; ".join(lacks).replace("_", " "),
        measured=capabilities.version in MEASURED,
    )


CLAUDE = AgentKind(
    name="claude",
    program=("claude",),
    build=lambda settings: _build("claude", settings),
    conversations=_conversations,
    history=_history,
    config_env="CLAUDE_CONFIG_DIR",
    about=_about_claude,
    probe="flybridge.probes.claude.run:PROBE",
)

# The demo keeps no records, and must not be given the user's own.
# -P: the session's folder must not be on the demo's import path, a repository could hold
# a folder named like one of our modules.
DEMO = AgentKind(
    name="demo",
    program=(sys.executable, "-P", "-m", "flybridge.agents.demo"),
    build=lambda settings: _build("demo", settings),
    about=lambda capabilities: About(text="comes with Flybridge, needs no key"),
    bundled=True,
)
