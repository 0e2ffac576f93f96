"""The probes and the real CLIs: each is what it was measured to be, and a change is noticed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from flybridge.probes.claude.run import run_probes
from flybridge.probes.report import Finding, Report
from tests.agents import rig
from tests.agents.rig import PINNED

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]

new_one = pytest.mark.parametrize("version", ["2.1.325"])  # the fast one
PATH = "/usr/local/bin:/usr/bin:/bin"
# Between a CLI and whoever started it: every line of the CLI's in which all of the words stand
# is left out, said twice, or has one word replaced by another.
MEDDLER = """\
import subprocess, sys
how, words, old, new, *program = sys.argv[1:]
cli = subprocess.Popen(program, stdout=subprocess.PIPE)
for line in cli.stdout:
    if all(word in line.decode() for word in words.split()):
        line = {"drop": b"", "twice": line * 2}.get(how, line.replace(old.encode(), new.encode()))
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
sys.exit(cli.wait())
"""


def program(version: str) -> list[str]:
    found = rig.program(version)
    assert found is not None
    return found


def meddled(
    version: str, folder: Path, how: str, words: str, old: str = "", new: str = ""
) -> list[str]:
    script = folder / "meddler.py"
    script.write_text(MEDDLER)
    return [sys.executable, "-I", str(script), how, words, old, new, *program(version)]


def one(report: Report, name: str) -> Finding:
    (found,) = [finding for finding in report.findings if finding.probe == name]
    return found


@pytest.mark.parametrize("version", PINNED)
def test_a_measured_version_is_what_it_was(
    version: str, short_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(short_tmp))
    report = run_probes(program(version), path=PATH)
    different = [finding for finding in report.findings if finding.verdict != "same"]
    assert different == []
    assert (report.version, report.against) == (version, version)
    assert list(short_tmp.iterdir()) == []


@new_one
def test_a_type_that_was_renamed_is_noticed(version: str, tmp_path: Path) -> None:
    words = '"subtype":"session_state_changed"'
    argv = meddled(version, tmp_path, "replace", words, "session_state_changed", "mood_changed")
    report = run_probes(argv, path=PATH, only=("text", "messages", "fields"))
    assert report.is_fine
    assert one(report, "messages").found.startswith("unrecognised: system/mood_changed (")
    assert one(report, "fields").found == "new: system/mood_changed"


@new_one
def test_a_field_that_is_new_is_noticed(version: str, tmp_path: Path) -> None:
    argv = meddled(
        version, tmp_path, "replace", '"type":"result"', '"type"', '"weather":"fair","type"'
    )
    report = run_probes(argv, path=PATH, only=("text", "fields"))
    assert one(report, "fields").verdict == "changed"
    assert one(report, "fields").found == "new: result weather"


@new_one
def test_an_answer_that_never_comes_is_noticed(version: str, tmp_path: Path) -> None:
    argv = meddled(version, tmp_path, "drop", '"type":"control_response" "mode"')
    report = run_probes(argv, path=PATH, only=("mode",), whole_s=5.0)
    assert one(report, "mode").verdict == "broken"
    assert not report.is_fine


@new_one
def test_an_echo_that_is_missing_is_noticed(version: str, tmp_path: Path) -> None:
    argv = meddled(version, tmp_path, "drop", '"isReplay":true')
    lifecycle = [sys.executable, "-I", argv[2], "drop", '"type":"command_lifecycle"', "", ""]
    report = run_probes([*lifecycle, *argv], path=PATH, only=("echo",))
    assert one(report, "echo").found == "not named back"
    assert one(report, "echo").verdict == "broken"


@pytest.mark.parametrize("version", ["2.1.38"])
def test_an_old_program_that_calls_itself_new_is_not_taken_for_it(
    version: str, tmp_path: Path
) -> None:
    script = tmp_path / "claude"
    words = " ".join(json.dumps(word) for word in program(version))
    script.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo 2.1.325 && exit\nexec {words} "$@"\n'
    )
    script.chmod(0o700)
    names = ("start", "echo", "slash", "question", "queue", "strange")
    report = run_probes([str(script)], path=PATH, only=names)
    assert {finding.probe: finding.verdict for finding in report.findings} == {
        "start": "changed",
        "echo": "changed",
        "slash": "changed",
        "question": "same",  # it passes on whatever it is given
        "queue": "changed",
        "strange": "changed",
    }
