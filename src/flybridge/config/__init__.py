"""What a person may set, and where: files, environment, command line."""

from __future__ import annotations

from flybridge.config.environment import AGENT_ENV, agent_environment
from flybridge.config.schema import (
    AgentConfig,
    Config,
    KeeperConfig,
    LimitsConfig,
    RetentionConfig,
)
from flybridge.config.sources import load, project_file, user_file

__all__ = [
    "AGENT_ENV",
    "AgentConfig",
    "Config",
    "KeeperConfig",
    "LimitsConfig",
    "RetentionConfig",
    "agent_environment",
    "load",
    "project_file",
    "user_file",
]
