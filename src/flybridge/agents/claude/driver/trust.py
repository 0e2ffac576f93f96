"""The files of a project that Claude Code obeys, and how it is started without its settings.

Measured with real versions (docs/explanation/folders.md): permissions, hooks, servers and shell
commands are taken from settings, agents, skills and commands alike, and a newer version may read
files that are not known yet. So everything in ``.claude`` counts, except what is known to be text.
"""

from __future__ import annotations

from flybridge.model.options import AgentOptions
from flybridge.model.trust import TrustFile, TrustFiles

TRUST_FILES = TrustFiles(
    settings=(
        TrustFile(
            path=".claude",
            kind="folder",
            above="repository_or_all",
            nested=True,  # skills below are known once a file beside them was read
            harmless=("CLAUDE.md", "README.md", ".gitignore", ".gitkeep"),
            own_in_home=True,
        ),
        TrustFile(path=".mcp.json", above="all"),  # servers start from every folder above
    ),
    instructions=tuple(
        TrustFile(path=path, above="repository")
        for path in ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md")
    ),
)


def restricted(agent_options: AgentOptions) -> AgentOptions:
    """Return the options with the settings and servers of the folder left out."""
    return {**agent_options, "setting_sources": ("user",), "strict_mcp_config": True}
