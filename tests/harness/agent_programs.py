"""Agents for tests: the recorder and the demo agent, as a configuration names them.

The recorder does what a message tells it (``steps``) and writes all it was told to its record,
which ``flybridge.testing.recorder`` reads. The demo agent has scenes of its own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flybridge.testing import recorder

DIALLER = Path(__file__).with_name("dialler.py")
DEMO = (sys.executable, "-P", "-m", "flybridge.agents.demo")


def recorder_program(record: Path | str, *flags: str) -> list[str]:
    """Return the command line of a recorder that writes to ``record``."""
    return [sys.executable, "-I", recorder.__file__, "--record", str(record), *flags]


def dialler_program(record: Path | str) -> list[str]:
    """Return the command line of a recorder that connects to the gateway itself."""
    return [sys.executable, str(DIALLER), recorder.__file__, "--record", str(record)]


def steps(*steps: dict[str, Any], text: str = "go") -> str:
    """Return a message that tells the recorder what to do."""
    return f"{text}\n@@ {json.dumps(list(steps))}"


def agent(name: str, program: Sequence[str], *, kind: str = "claude", **more: object) -> str:
    """Return the entry of an agent below ``agents:`` in a configuration file."""
    fields = {"program": list(program), **more}
    lines = [f"    {key}: {json.dumps(value)}\n" for key, value in fields.items()]
    return f"  {name}:\n    kind: {kind}\n{''.join(lines)}"
