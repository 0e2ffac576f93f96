"""How every benchmark ends: beside the run before it, kept where it lies, with a status."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from bench import report
from bench.report import Results


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """Where the results of a benchmark lie, and where its table begins on the page."""

    kept: Path
    latest: Path
    page: Path = report.PAGE
    begin: str = report.BEGIN


def say(text: str = "") -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def finish(
    results: Results, files: Files, *, keep: bool, explain: Callable[[Results], None]
) -> int:
    """Say what was measured, and ``explain`` what was missed; the exit status is 1 then."""
    say(f"\n{results.machine}\n\n{report.table(results, report.load(files.kept))}")
    report.save(files.latest, results)
    if keep:
        report.save(files.kept, results)
        text = files.page.read_text()
        files.page.write_text(report.with_table(text, results, begin=files.begin))
    if results.missing:
        say(f"\ncould not run: {len(results.missing)}\n  " + "\n  ".join(results.missing))
    explain(results)
    missed = results.with_verdict("missed")
    close = len(results.with_verdict("close"))
    met = len(results.with_verdict("met"))
    say(f"\ngoals: {met} met, {close} met by the best round only, {len(missed)} missed")
    return 1 if missed else 0
