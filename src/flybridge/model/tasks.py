"""What an agent plans to do, and what it runs beside the conversation."""

from __future__ import annotations

import msgspec

MAX_TASKS = 200
MAX_LINKS = 16
TEXT_CHARS = 512


class AgentTask(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of the agent's list of tasks."""

    id: str = ""  # "": the entries have no names of their own
    text: str = ""
    status: str = "pending"  # pending, in_progress, completed, or a word of the agent's own
    active_text: str = ""  # what to show instead of the text while it is in progress
    owner: str = ""  # the sub-agent it belongs to
    blocks: tuple[str, ...] = ()  # ids of the tasks that wait for this one
    blocked_by: tuple[str, ...] = ()


class BackgroundTask(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A command or a sub-agent that runs beside the conversation."""

    id: str  # what the command stop_task names
    kind: str = ""  # execute, agent, or a word of the agent's own
    title: str = ""
    status: str = "running"
