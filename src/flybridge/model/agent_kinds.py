"""Name the kinds of agents that stored data and defaults have to know without the registry.

Everything else learns which kinds there are from :mod:`flybridge.agents.registry`.
"""

from __future__ import annotations

KINDS_OF_0_1 = ("claude", "demo")  # what 0.1 could drive, and did not record
FIRST_KIND = KINDS_OF_0_1[0]  # the only one for which 0.1 kept trust in folders
DEFAULT_KIND = "claude"  # where nothing names a kind; its agent has the same name by default
