"""Run tiers of the tests, one after the other: `make test`, `make test-rest`, `make test-all`.

    python -m tools.run_tests [fast] [rest]

``fast`` is what `make test` runs: the tests of the page, and every pytest test that is not marked
``slow``, or is marked ``sample``. ``rest`` is every other test; CONTRIBUTING.md says more. A tier
is cut into groups of test modules, and each group is one pytest process. A few of them run at a
time, because most tests wait for other processes. A line tells how each group ended, followed by
its output if it failed. The last lines of a tier repeat what failed in which group. The exit
status is 1 when anything failed; a failure does not keep the next tier from running.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from tools.node import node

ROOT = Path(__file__).parents[1]


class Tier(NamedTuple):
    """A share of the tests. ``parts``: into how many groups the modules of a folder below
    ``tests`` are cut, the longest first; the modules of all other folders are one group before."""

    command: str
    marks: str
    minutes: int  # on two quiet cores
    parts: dict[str, int]


TIERS = {
    "fast": Tier(
        "make test",
        "sample or not slow",
        6,
        {"unit": 18, "web": 1, "crash": 1, "contracts": 1, "repo": 1},
    ),
    "rest": Tier(
        "make test-rest",
        "slow and not sample",
        35,
        {"agents": 4, "crash": 3, "unit": 3, "web": 3, "abuse": 3},
    ),
}
OTHERS = "all other folders"
POLL_S = 0.1
ENDING_S = 30.0
NO_TESTS = 5  # pytest's exit status for a group that has no test of the tier
PROGRESS = re.compile(r"[.sxXFE]+ +\[ *\d+%\]")
COUNTS = re.compile(r"(\d+) (failed|errors?|passed|skipped)")
CLOSING = re.compile(r"=* ?(?:Tests +)?\d+ (?:failed|passed|skipped|deselected|error).*")
COULD_NOT_RUN = re.compile(r"could not run: \d+ tests(?: \((.*)\))?")
SUMMARY = re.compile(r"=+ short test summary info =+")
REASON = re.compile(r"(?:FAILED|ERROR|left over:| *FAIL ) *\S.*")  # " FAIL " is vitest's
REPEATED = 24  # how many lines of the failed groups are repeated in the last lines of a tier
LAST_LINES = 3  # how many lines are repeated of a group that ended without naming a failure
LINE_CHARS = 200


class Group(NamedTuple):
    name: str
    argv: list[str]
    cwd: Path


class Result(NamedTuple):
    """How a group ended, and what it printed."""

    group: Group
    status: int
    output: str
    seconds: float

    @property
    def failed(self) -> bool:
        return self.status not in (0, NO_TESTS)

    @property
    def counts(self) -> Counter[str]:
        """Return how many tests had which outcome."""
        lines = [line.strip() for line in self.output.splitlines()]
        closing = [line for line in lines if CLOSING.fullmatch(line)]
        found = COUNTS.findall(closing[-1]) if closing else []
        return Counter({name.removesuffix("s"): int(count) for count, name in found})

    @property
    def missing(self) -> Counter[str]:
        """Return how many tests could not run, by what they need."""
        found = COULD_NOT_RUN.search(self.output)
        pairs = [pair.rpartition(": ") for pair in (found[1] or "").split(", ")] if found else []
        return Counter({name: int(count) for name, _, count in pairs if name})

    @property
    def remarks(self) -> list[str]:
        """Return the lines that the test suites themselves add at the end of a run."""
        lines = SUMMARY.split(self.output)[0].splitlines()
        usual = (PROGRESS, COULD_NOT_RUN, CLOSING)
        return [line for line in lines if line and not any(one.fullmatch(line) for one in usual)]

    @property
    def reasons(self) -> list[str]:
        """Return the lines that name what failed, or the last lines if there are none."""
        lines = [line.rstrip() for line in self.output.splitlines() if line.strip()]
        found = list(dict.fromkeys(line.strip() for line in lines if REASON.fullmatch(line)))
        found.sort(key=lambda line: line.startswith("left over:"))  # the tests that failed first
        return [line[:LINE_CHARS] for line in found or lines[-LAST_LINES:]]


# ---- what a tier consists of ---------------------------------------------------------------------


def groups(tier: Tier, root: Path = ROOT) -> list[Group]:
    """Return the groups of a tier. Every test module is in one of them."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", tier.marks]
    found = [Group(name, [*command, *modules], root) for name, modules in cut(tier, root)]
    return [*found, page_tests(root)] if tier is TIERS["fast"] else found


def cut(tier: Tier, root: Path = ROOT) -> Iterator[tuple[str, list[str]]]:
    """Yield the names and the test modules of a tier's pytest groups."""
    paths = sorted((root / "tests").rglob("test_*.py"))
    modules = [path.relative_to(root).as_posix() for path in paths]
    modules = [module for module in modules if "/node_modules/" not in module]
    if others := [module for module in modules if module.split("/")[1] not in tier.parts]:
        yield OTHERS, others
    for folder, count in tier.parts.items():
        inside = [module for module in modules if module.startswith(f"tests/{folder}/")]
        for part in range(count):
            number = f", part {part + 1} of {count}" if count > 1 else ""
            if share := inside[part::count]:
                yield f"tests/{folder}{number}", share


def page_tests(root: Path) -> Group:
    """Return the page's own tests, which vitest runs."""
    program, script = node(), root / "web" / "node_modules" / "vitest" / "vitest.mjs"
    if program is None or not script.is_file():
        lines = "could not run: 1 tests (vitest: 1)", "1 skipped"
        return Group("the page", ["printf", r"%s\n", *lines], root)
    return Group("the page", [str(program), str(script), "run", "--reporter=dot"], root / "web")


# ---- running it ----------------------------------------------------------------------------------


def main(names: Sequence[str], root: Path = ROOT) -> int:
    if not names or not set(names) <= set(TIERS):
        sys.stderr.write(f"usage: python -m tools.run_tests [{'] ['.join(TIERS)}]\n")
        return 2
    failed = [name for name in names if not run_tier(TIERS[name], root)]
    return int(bool(failed))


def run_tier(tier: Tier, root: Path = ROOT) -> bool:
    """Run the groups of a tier, print how they end, and return whether nothing failed."""
    chosen, began = groups(tier, root), time.monotonic()
    at_once = 1 + (os.cpu_count() or 1)
    write(
        f"{tier.command}: {len(chosen)} groups of tests, {at_once} at a time;"
        f" about {tier.minutes} minutes on two quiet cores"
    )
    results: list[Result] = []
    for result in run_groups(chosen, at_once):
        results.append(result)
        write(f"[{len(results)}/{len(chosen)}, {clock(time.monotonic() - began)}] {tell(result)}")
    write("\n".join(closing_lines(tier, results, time.monotonic() - began)))
    return not any(result.failed for result in results)


def run_groups(chosen: Sequence[Group], at_once: int) -> Iterator[Result]:
    """Run groups, so many at a time, and yield each result as it comes."""
    waiting, running = deque(chosen), list[Running]()
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(Running(waiting.popleft()))
            ended = [run for run in running if run.process.poll() is not None]
            running = [run for run in running if run not in ended]
            yield from [run.result() for run in ended]
            time.sleep(0 if ended else POLL_S)
    finally:  # interrupted: each cleans up after itself
        for run in running:
            run.process.send_signal(signal.SIGINT)
        for run in running:
            run.end()


class Running:
    """A group while it runs."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by result()
        self._began = time.monotonic()
        env = {**os.environ, "NO_COLOR": "1"}
        self.process = subprocess.Popen(
            group.argv, cwd=group.cwd, env=env, stdout=self._output, stderr=self._output
        )

    def result(self) -> Result:
        seconds = time.monotonic() - self._began
        with self._output as file:
            file.seek(0)
            output = file.read().decode(errors="replace")
        return Result(self.group, self.process.wait(), output, seconds)

    def end(self) -> None:
        """Wait for its end, and kill it if that takes too long."""
        try:
            self.process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._output.close()


# ---- telling what came of it ---------------------------------------------------------------------


def tell(result: Result) -> str:
    """Describe a group that ended: a line and the remarks, or all of its output if it failed."""
    counts = in_words(result.counts) or "no tests"
    line = f"{result.group.name}: {counts} in {clock(result.seconds)}"
    if result.failed:
        return f"{line}, exit status {result.status}\n{result.output}"
    remarks = [] if result.group.argv[1:2] != ["-m"] else result.remarks
    return "\n    ".join([line, *remarks])


def closing_lines(tier: Tier, results: Sequence[Result], seconds: float) -> list[str]:
    """Return the last lines of a tier: what failed, what could not run, the counts."""
    counts, missing = Counter[str](), Counter[str]()
    for result in results:
        counts += result.counts
        missing += result.missing
    details = ", ".join(f"{name}: {count}" for name, count in sorted(missing.items()))
    failed = failed_lines([result for result in results if result.failed])
    could_not_run = f"could not run: {missing.total()} tests{f' ({details})' if details else ''}"
    return [*failed, could_not_run, f"{tier.command}: {in_words(counts)} in {clock(seconds)}"]


def failed_lines(failed: Sequence[Result]) -> list[str]:
    """Return the names of the groups that failed, each with what failed in it, within a bound."""
    lines: list[str] = []
    share = max(1, REPEATED // max(1, len(failed)))
    for result in failed:
        reasons = result.reasons
        more = [f"and {len(reasons) - share} more"] if len(reasons) > share else []
        lines.append(f"failed: {result.group.name}")
        lines += [f"    {line}" for line in (*reasons[:share], *more)]
    return lines


def in_words(counts: Counter[str]) -> str:
    names = ("failed", "error", "passed", "skipped")
    return ", ".join(f"{counts[name]} {name}" for name in names if counts[name])


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02} min"


def write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    # pytest cleans up when it is interrupted; a shell may have that ignored in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main(sys.argv[1:]))
