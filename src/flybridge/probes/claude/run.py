"""Runs the probes against an installed CLI, one after the other, in bounded time."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeAlias

import msgspec

from flybridge.agents.claude.measured import stands_for
from flybridge.probes.claude import asking, lives, steering, turns
from flybridge.probes.claude.bench import Bench
from flybridge.probes.claude.conversation import NotSeenError
from flybridge.probes.claude.expectations import EXPECTED
from flybridge.probes.claude.known_fields import KNOWN
from flybridge.probes.claude.world import World
from flybridge.probes.kinds import AgentProbe
from flybridge.probes.report import NOT_TRIED, Finding, Report, judge

Probe: TypeAlias = Callable[[Bench], str]

WHOLE_S = 50.0
PROBE_S = 15.0
START_S = 20.0  # the first one may have to be read from a cold disk
FOUND_CHARS = 300

# In this order: the first asks whether it starts at all, the last ones end lives.
PROBES: dict[str, Probe] = {
    one.__name__: one
    for one in (
        turns.start,
        turns.text,
        turns.echo,
        turns.repeat,
        turns.usage,
        turns.model,
        turns.mode,
        turns.queries,
        turns.slash,
        turns.api_error,
        asking.allow,
        asking.deny,
        asking.edit,
        asking.several,
        asking.withdraw,
        asking.question,
        asking.plan,
        asking.diff,
        asking.subagent,
        steering.interrupt,
        steering.queue,
        steering.steer,
        steering.strange,
        lives.end,
        lives.resume,
        lives.repeat_resumed,
        lives.fork,
        lives.lost,
    )
}


def run_probes(
    program: Sequence[str],
    *,
    path: str,
    agent: str = "claude",
    only: Collection[str] = (),
    whole_s: float = WHOLE_S,
    begun: Callable[[Report], None] = lambda report: None,
    told: Callable[[Finding], None] = lambda finding: None,
) -> Report:
    """Try a program that is meant to be Claude Code, offline, in a world of its own.

    ``begun`` hears what is to be tried, ``told`` each finding as it comes. ``only``: these
    probes and no others. Afterwards nothing is left of what was started and written.

    Raises:
        AgentNotFoundError: there is no such program.
    """
    began = time.monotonic()
    with World(program, path=path, agent=agent) as world:
        bench = Bench(world)
        report = Report(
            agent=agent,
            program=world.program,
            version=bench.capabilities.version,
            against=stands_for(bench.capabilities.version),
            offline=world.offline,
        )
        begun(report)
        findings: list[Finding] = []
        try:
            for finding in _findings(bench, report.against, only, began + whole_s):
                findings.append(finding)
                told(finding)
        finally:
            bench.drop()
        return msgspec.structs.replace(
            report,
            findings=tuple(findings),
            seconds=round(time.monotonic() - began, 1),
            fields=bench.fields.seen,
        )


def _findings(bench: Bench, against: str, only: Collection[str], until: float) -> Iterator[Finding]:
    starts = True
    for name, probe in PROBES.items():
        if only and name not in only:
            continue
        began = time.monotonic()
        limit = min(began + (START_S if name == "start" else PROBE_S), until)
        if not starts:
            found = f"{NOT_TRIED}: it does not start"
        elif began >= until:
            found = f"{NOT_TRIED}: the time was up"
        else:
            found = _try(bench, probe, limit)
        finding = _finding(name, against, found, time.monotonic() - began)
        if finding.verdict == "broken":
            bench.drop()
            starts = starts and (name != "start" or not finding.was_tried)
        yield finding
    overall = {
        "messages": bench.fields.unknown_messages(),
        "fields": bench.fields.new_fields(KNOWN[against]),
    }
    for name, found in overall.items():
        if not only or name in only:
            yield _finding(name, against, found)


def _try(bench: Bench, probe: Probe, deadline: float) -> str:
    bench.begin(deadline)
    try:
        return probe(bench)
    except NotSeenError as error:
        return str(error)
    except Exception as error:  # a CLI can be strange in ways that no probe foresaw
        return f"{type(error).__name__}: {error}"


def _finding(name: str, against: str, found: str, seconds: float = 0.0) -> Finding:
    expected = EXPECTED[name]
    wanted = expected.of(against)
    return Finding(
        probe=name,
        about=expected.about,
        expected=wanted,
        found=found[:FOUND_CHARS],
        verdict=judge(wanted, found, expected.also),
        seconds=round(seconds, 3),
    )


PROBE = AgentProbe(run=run_probes, subjects=tuple(expected.about for expected in EXPECTED.values()))
