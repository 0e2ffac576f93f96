"""What came of the probes: pure, and the same for people and for programs."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

import msgspec

Verdict: TypeAlias = Literal["same", "changed", "broken"]


NOT_TRIED = "not tried"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one probe found; what could not be tried is broken until somebody sees that it works."""

    probe: str
    about: str
    expected: str
    found: str
    verdict: Verdict
    seconds: float = 0.0

    @property
    def was_tried(self) -> bool:
        return not self.found.startswith(NOT_TRIED)


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All findings about one program. ``against`` is the measured version it is held to."""

    agent: str
    program: tuple[str, ...]
    version: str
    against: str
    offline: bool  # in a namespace without a network, not merely told to stay at home
    findings: tuple[Finding, ...] = ()
    seconds: float = 0.0
    fields: dict[str, list[str]] = {}  # every kind of message, and what stood in it

    def those(self, verdict: Verdict) -> list[Finding]:
        """What was tried and found to be so."""
        return [one for one in self.findings if one.verdict == verdict and one.was_tried]

    @property
    def untried(self) -> list[Finding]:
        return [one for one in self.findings if not one.was_tried]

    @property
    def is_fine(self) -> bool:
        """Whether everything that we rely on was seen to work."""
        return not self.those("broken") and not self.untried


def judge(expected: str, found: str, also: tuple[str, ...] = ()) -> Verdict:
    if found == expected:
        return "same"
    return "changed" if any(fnmatchcase(found, one) for one in also) else "broken"


def summary(report: Report) -> list[str]:
    """What changed against the measured version, in plain words."""
    broken, changed, untried = report.those("broken"), report.those("changed"), report.untried
    if report.is_fine and not changed:
        return [f"nothing changed against {report.against}"]
    lines = [f"what changed against {report.against}:"]
    lines += [f"- {one.about}: {one.found} (was: {one.expected})" for one in (*broken, *changed)]
    if untried:
        things = "1 more thing" if len(untried) == 1 else f"{len(untried)} more things"
        lines.append(f"- {things} could not be tried")
    if report.is_fine:
        return [*lines, "everything that Flybridge relies on works"]
    return [*lines, "Flybridge relies on what is broken: stay with a version that was measured"]
