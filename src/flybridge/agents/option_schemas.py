"""List the options of the built-in kinds, for programs that must start quickly.

``flybridge --help`` generates flags from these schemas and cannot afford the registry, which
imports what agents are built with. A test compares this list with the registry.
"""

from __future__ import annotations

from collections.abc import Mapping

from flybridge.agents.claude.options import SCHEMA as CLAUDE
from flybridge.model.options import OptionSchema

# by kind; a kind that shares the options of another, as the demo does, is not listed
BUILT_IN_SCHEMAS: Mapping[str, OptionSchema] = {"claude": CLAUDE}
