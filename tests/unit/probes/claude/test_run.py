from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

from flybridge.errors import AgentNotFoundError
from flybridge.probes.claude.run import PROBES, run_probes
from flybridge.probes.report import Finding, Report
from tests.harness import small

PATH = os.environ["PATH"]


@pytest.fixture(autouse=True)
def _own_folder(short_tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(short_tmp))


def temporary() -> list[Path]:
    return list(Path(tempfile.gettempdir()).iterdir())


def test_a_program_that_is_as_it_was_has_nothing_broken() -> None:
    told: list[Finding] = []
    begun: list[Report] = []
    report = run_probes(small.program(), path=PATH, begun=begun.append, told=told.append)
    assert [one.probe for one in report.findings] == [*PROBES, "messages", "fields"]
    assert report.findings == tuple(told)
    assert report.is_fine
    # the small one waits for its sub-agent, as the old one does
    assert [one.probe for one in report.those("changed")] == ["subagent"]
    assert [one.version for one in begun] == [report.version] == ["2.1.325"]
    assert "system/init" in report.fields
    assert temporary() == []


def test_only_what_was_asked_for_is_tried() -> None:
    report = run_probes(small.program(), path=PATH, only=("mode", "fields"))
    assert [one.probe for one in report.findings] == ["mode", "fields"]


def test_nothing_more_is_tried_on_a_program_that_does_not_start() -> None:
    report = run_probes(small.program("does-not-start"), path=PATH)
    first = report.findings[0]
    assert (first.probe, first.verdict) == ("start", "broken")
    assert "unknown option" in first.found
    assert len(report.untried) == len(PROBES) - 1
    assert not report.is_fine
    assert temporary() == []


def test_one_broken_probe_does_not_spoil_the_next() -> None:
    report = run_probes(small.program("not-stopped"), path=PATH, only=("interrupt", "text"))
    assert {one.probe: one.verdict for one in report.findings} == {
        "text": "same",
        "interrupt": "broken",
    }


def test_a_newer_version_is_held_against_the_newest_that_was_measured() -> None:
    report = run_probes(small.program("newer"), path=PATH, only=("text",))
    assert (report.version, report.against) == ("9.8.7", "2.1.325")


def test_the_whole_of_it_ends_in_time() -> None:
    report = run_probes(small.program(), path=PATH, whole_s=0.0)
    assert {one.found for one in report.untried} == {"not tried: the time was up"}
    assert len(report.untried) == len(PROBES)


def test_a_silent_program_is_broken_in_bounded_time() -> None:
    code = "import sys, time; '--version' in sys.argv or time.sleep(600)"
    silent = [sys.executable, "-c", code]
    report = run_probes(silent, path=PATH, whole_s=1.0, only=("start", "text"))
    if not report.findings[0].was_tried:  # a busy machine needs longer to begin
        report = run_probes(silent, path=PATH, whole_s=30.0, only=("start", "text"))
    assert [one.verdict for one in report.findings] == ["broken", "broken"]
    assert report.findings[0].found == "an answer to initialize did not come in time"
    assert report.version == ""
    assert temporary() == []


def test_a_program_that_is_not_there_leaves_nothing() -> None:
    with pytest.raises(AgentNotFoundError):
        run_probes(["nowhere-claude"], path=PATH)
    assert temporary() == []


def test_whoever_stops_listening_leaves_nothing_running() -> None:
    def stop(finding: Finding) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run_probes(small.program(), path=PATH, told=stop)
    assert temporary() == []
