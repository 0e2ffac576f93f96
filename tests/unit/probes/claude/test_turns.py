"""Each fault of a plain turn is found by the probe that looks for it."""

from __future__ import annotations

import os

import pytest

from flybridge.probes.claude.run import PROBE_S, run_probes
from tests.harness.small import probe, program, verdict

FAULTS = [
    ("start", "no-agents", "changed", "tells commands, models"),
    ("text", "other-text", "broken", "closed as something else"),
    ("text", "no-stream", "changed", "closed as it was said"),
    ("echo", "no-echo", "broken", "not named back"),
    ("repeat", "runs-twice", "broken", "run 2 times"),
    ("usage", "no-cost", "changed", "tells tokens"),
    ("usage", "no-usage", "broken", "tells cost, context window"),
    ("model", "deaf", "broken", "answered, and not used"),
    ("mode", "refuses-mode", "broken", "refused: no such mode"),
    ("queries", "knows-less", "changed", "answers mcp"),
    ("slash", "user-slash", "changed", "shown, said in the name of the user"),
    ("slash", "no-slash", "broken", "not shown"),
    ("slash", "endless-slash", "broken", "/context never ends"),
    ("api_error", "plain-error", "broken", "ends the turn as done, called authentication_failed"),
]


@pytest.mark.parametrize(("name", "fault", "wanted", "found"), FAULTS)
def test_a_fault_is_found(name: str, fault: str, wanted: str, found: str) -> None:
    assert verdict(name, fault) == (wanted, found)


@pytest.mark.parametrize(
    ("name", "fault", "wanted"),
    [
        ("messages", "new-message", "unrecognised: weather (1)"),
        ("fields", "new-message", "new: weather"),
        ("fields", "new-field", "new: result weather"),
    ],
)
def test_what_was_never_seen_is_told_of_whatever_was_tried(
    name: str, fault: str, wanted: str
) -> None:
    report = run_probes(program(fault), path=os.environ["PATH"], only=("text", name))
    assert report.is_fine
    assert [(one.verdict, one.found) for one in report.findings[1:]] == [("changed", wanted)]


def test_d12_a_command_that_prints_and_never_ends_is_broken_within_a_bound() -> None:
    found = probe("slash", "endless-slash")
    assert (found.verdict, found.found) == ("broken", "/context never ends")
    assert found.seconds < PROBE_S
