"""``flybridge doctor``: what is there, what works, and whether an agent is still what it was."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from flybridge.cli.doctor.text import Check
    from flybridge.probes.kinds import AgentProbe
    from flybridge.probes.report import Finding, Report

TERMINATED = 143


@click.command()
@click.option("--probe", metavar="AGENT", help="Try this agent's program, offline.")
@click.option(
    "--program",
    type=click.Path(path_type=Path),
    help="With --probe: this program instead of the configured one.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--state", type=click.Path(path_type=Path), help="State directory.")
def doctor(probe: str | None, program: Path | None, as_json: bool, state: Path | None) -> None:
    """Say what is there and what works. Exit status 1 if there are problems.

    Nothing is started or changed. With --probe an agent is run in a folder of its own, with a
    made-up key and a scripted model, and compared with the versions that were measured.
    """
    if probe is not None:
        _probe(probe, program, as_json)
    elif program is not None:
        raise click.UsageError("--program goes with --probe")
    else:
        from flybridge.cli.running import run

        sys.exit(run(_examine(as_json, state)))


async def _examine(as_json: bool, state: Path | None) -> int:
    from flybridge.cli.doctor.checks import examine
    from flybridge.config.state_dir import StateDir

    checks = await examine(StateDir.resolve(state), os.environ, _here())
    problems = sum(one.status == "problem" for one in checks)
    if as_json:
        _print_json({"problems": problems, "checks": checks})
    else:
        _print_checks(checks)
    return 1 if problems else 0


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:  # somebody removed it
        return Path("/")


def _print_checks(checks: list[Check]) -> None:
    from flybridge.cli.doctor.text import check_lines
    from flybridge.cli.output import look_of

    _print(check_lines(checks, look_of(sys.stdout), _width()))


# ---- probes --------------------------------------------------------------------------------------


def _probe(agent: str, program: Path | None, as_json: bool) -> None:
    import signal

    from flybridge.cli.running import INTERRUPTED, fail
    from flybridge.errors import FlybridgeError

    # however we are asked to end: what was started and written goes first
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        report = _try(agent, program, as_json)
    except FlybridgeError as error:
        fail(str(error), error.code)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # whoever read us has enough; click knows what to do
        raise
    except OSError as error:
        fail(f"cannot be tried here: {error}", "internal")
    sys.exit(0 if report.is_fine else 1)


def _try(agent: str, program: Path | None, as_json: bool) -> Report:
    import msgspec

    from flybridge.cli.output import look_of
    from flybridge.probes.report import summary

    argv, probe = _target(agent, program)
    path = os.environ.get("PATH", os.defpath)
    if as_json:
        report = probe.run(
            argv, path=path, agent=agent, begun=lambda report: None, told=lambda finding: None
        )
        _print_json({**msgspec.to_builtins(report), "summary": summary(report)})
        return report
    from flybridge.cli.doctor.text import opening_line, summary_lines

    report = probe.run(
        argv,
        path=path,
        agent=agent,
        begun=lambda report: _print([opening_line(report), ""]),
        told=_teller(probe),
    )
    _print(summary_lines(report, look_of(sys.stdout), _width()))
    return report


def _target(agent: str, program: Path | None) -> tuple[tuple[str, ...], AgentProbe]:
    """Return what to run, and the probe of its kind.

    Raises:
        AgentNotFoundError: no such agent is configured.
        AgentKindError: its kind cannot be used.
        InvalidRequestError: its kind has no probe.
    """
    from flybridge.agents.registry import REGISTRY
    from flybridge.config import load
    from flybridge.errors import AgentNotFoundError
    from flybridge.probes.kinds import probe_of

    agents = load(None, env=os.environ).agents
    known = agents.get(agent)
    if known is None:
        raise AgentNotFoundError(agent, available=sorted(agents))
    probe = probe_of(known.kind, agent, REGISTRY)
    return (known.program if program is None else (str(program.absolute()),)), probe


def _teller(probe: AgentProbe) -> Callable[[Finding], None]:
    """Say each finding as it comes."""
    from flybridge.cli.doctor.text import finding_lines
    from flybridge.cli.output import look_of

    second = max((len(subject) for subject in probe.subjects), default=0) + 2
    look, width = look_of(sys.stdout), _width()
    return lambda finding: _print(finding_lines(finding, second, look, width))


# ---- output --------------------------------------------------------------------------------------


def _width() -> int | None:
    from flybridge.cli.terminal import size_of

    return size_of(sys.stdout.fileno())[0] - 1 if sys.stdout.isatty() else None


def _print(lines: list[str]) -> None:
    from flybridge.cli.output import writer

    writer(sys.stdout)("".join(f"{line}\n" for line in lines))


def _print_json(value: object) -> None:
    import msgspec

    _print([msgspec.json.encode(value).decode()])
