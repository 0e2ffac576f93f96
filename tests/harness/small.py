"""Probing the small CLI, well-behaved or with faults."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from flybridge.probes.claude.run import run_probes
from flybridge.probes.report import Finding

PROGRAM = Path(__file__).with_name("small_cli.py")


def program(*faults: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(PROGRAM), *faults, "--"]


def probe(name: str, *faults: str) -> Finding:
    """What one probe finds in a CLI with these faults."""
    (finding,) = run_probes(program(*faults), path=os.environ["PATH"], only=(name,)).findings
    return finding


def verdict(name: str, *faults: str) -> tuple[str, str]:
    found = probe(name, *faults)
    return found.verdict, found.found
