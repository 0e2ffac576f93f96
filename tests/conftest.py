"""What every test can rely on: its own home, no real keys, and nothing left over at the end.

``@pytest.mark.needs("strace")`` skips a test where the machine cannot run it; the last lines
of every run say how many could not, and for want of what. ``@pytest.mark.slow`` leaves a test to
`make test-all`, and in ``SLOW_FOLDERS`` all are slow; `make test` runs those of them that are
marked ``@pytest.mark.sample`` too.
"""

from __future__ import annotations

import functools
import os
import shutil
import socket
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from flybridge.auth.peer import SO_PEERPIDFD
from tests.harness import leftovers
from tests.harness.browsers import chromium

settings.register_profile(
    "ci",
    derandomize=True,
    max_examples=50,
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow],  # how slow depends on what else is running
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

HERE = Path(__file__).parent
COULD_NOT_RUN = "could not run: needs "
GRACE_S = 3.0
ROOT = HERE.parent
PAGE = ROOT / "src" / "flybridge" / "frontends" / "http" / "built"
_run = pytest.StashKey[str]()
_base = pytest.StashKey[Path]()
_left = pytest.StashKey[list[str]]()


# ---- what the machine has --------------------------------------------------------------------


def _program(name: str) -> Callable[[], bool]:
    return lambda: shutil.which(name) is not None


def _can_trace() -> bool:
    """Whether strace works here: many containers forbid it."""
    if not shutil.which("strace"):
        return False
    done = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, timeout=20)
    return done.returncode == 0


def _system_program(name: str) -> bool:
    """Whether a program is there that may not be in an ordinary user's path."""
    return bool(shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin"))


def _runs(*argv: str) -> bool:
    """Whether this can be run here: many containers allow no namespaces."""
    if not shutil.which(argv[0]):
        return False
    return subprocess.run(argv, capture_output=True, timeout=20).returncode == 0


def _has_peer_pidfd() -> bool:
    """Whether the kernel tells the peer of a Unix socket as a pidfd (since Linux 6.5)."""
    left, right = socket.socketpair()
    with left, right:
        try:
            os.close(left.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD))
        except OSError:
            return False
    return True


NEEDS: dict[str, Callable[[], bool]] = {
    "strace": _program("strace"),
    "ptrace": _can_trace,
    "git": _program("git"),
    "cc": _program("cc"),
    "curl": _program("curl"),
    "jq": _program("jq"),
    "openssl": _program("openssl"),
    "claude": _program("claude"),
    "chromium": lambda: chromium() is not None,
    "page": (PAGE / "index.html").is_file,
    "page-tools": (ROOT / "web" / "node_modules" / "vite" / "package.json").is_file,
    "sshd": lambda: _system_program("sshd") and _program("ssh")(),
    "nginx": lambda: _system_program("nginx"),
    "bwrap": lambda: _runs("bwrap", "--unshare-user", "--dev-bind", "/", "/", "true"),
    "userns": lambda: _runs("unshare", "--user", "--map-current-user", "--pid", "--fork", "true"),
    "root": lambda: os.geteuid() == 0,
    "ordinary-user": lambda: os.geteuid() != 0,
    "peer-pidfd": _has_peer_pidfd,
    "linux": lambda: Path("/proc/self/stat").exists(),
    "full": lambda: Path("/dev/full").exists(),
}


@functools.cache
def _has(name: str) -> bool:
    return NEEDS[name]()


def _needs(item: pytest.Item) -> list[str]:
    """Return the names of what a test needs of the machine."""
    names = [str(name) for mark in item.iter_markers("needs") for name in mark.args]
    return [*names, "ptrace"] if item.get_closest_marker("strace") else names


def pytest_runtest_setup(item: pytest.Item) -> None:
    for name in _needs(item):
        if name not in NEEDS:
            pytest.fail(f"needs({name!r}): known are {', '.join(NEEDS)}", pytrace=False)
        if not _has(name):
            pytest.skip(COULD_NOT_RUN + name)


# ---- two tiers: `make test`, and the rest of `make test-all` -------------------------------------

# A slow test starts and kills many programs, beside two other groups of tests: the usual minute
# ends some of them on a busy machine.
SLOW_TIMEOUT_S = 300
SLOW_FOLDERS = ("abuse", "agents", "crash", "web")  # below tests; what is in them is slow


@pytest.hookimpl(tryfirst=True)  # before pytest's own -m looks at the marks
def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what is in a slow folder as slow."""
    if any(item.path.is_relative_to(HERE / folder) for folder in SLOW_FOLDERS):
        item.add_marker(pytest.mark.slow)
    if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
        item.add_marker(pytest.mark.timeout(SLOW_TIMEOUT_S))


# ---- the stage that .ci/run runs as root ---------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--root-stage",
        action="store_true",
        help="run only what needs root, and tests/abuse (which ordinary users run as well)",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--root-stage"):
        return
    abuse = HERE / "abuse"
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        as_root = abuse in item.path.parents or "root" in _needs(item)
        (kept if as_root else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


# ---- one run: a mark for its processes, a folder for its files ---------------------------------


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        "needs(name): skipped, and counted, where it is missing",
        "slow: left out of `make test`; every test in tests/abuse, agents, crash and web is slow",
        "sample: slow, but run by `make test` all the same",
    ):
        config.addinivalue_line("markers", line)
    # short, and outside the long path pytest would choose: a Unix socket's path has 107 bytes
    base = Path(tempfile.mkdtemp(prefix="fb-", dir="/tmp"))
    config.stash[_base] = base
    config.stash[_run] = base.name
    os.environ[leftovers.MARK] = base.name
    if config.option.basetemp is None:
        config.option.basetemp = str(base / "t")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    run, base = session.config.stash[_run], session.config.stash[_base]
    processes = leftovers.wait_until_gone(run, base, GRACE_S)
    left = [f"process {one.pid} {one.why}: {one.command}" for one in processes]
    left += [f"socket {path}" for path in leftovers.find_sockets(base, 0 if processes else GRACE_S)]
    for one in processes:
        leftovers.kill(one.pid)
    session.config.stash[_left] = left
    if left and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if session.exitstatus == pytest.ExitCode.OK:
        shutil.rmtree(base, ignore_errors=True)


def pytest_unconfigure(config: pytest.Config) -> None:
    try:  # a run that was only asked for help never had a session to finish
        config.stash[_base].rmdir()
    except OSError:
        pass


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for line in config.stash.get(_left, []):
        terminalreporter.write_line(f"left over: {line}", red=True)
    base = config.stash[_base]
    if base.exists() and any(base.iterdir()):
        terminalreporter.write_line(f"files of this run are kept in {base}")
    reasons = Counter(map(_want, terminalreporter.stats.get("skipped", [])))
    details = ", ".join(f"{name}: {count}" for name, count in sorted(reasons.items()))
    terminalreporter.write_line(
        f"could not run: {reasons.total()} tests{f' ({details})' if details else ''}"
    )


def _want(report: pytest.TestReport) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
    _, found, name = reason.partition(COULD_NOT_RUN)
    return name if found else "other"


# ---- one test: its own home -----------------------------------------------------------------


@pytest.fixture
def short_tmp(request: pytest.FixtureRequest) -> Iterator[Path]:
    """An empty folder with a path short enough for Unix sockets; gone afterwards."""
    folder = Path(tempfile.mkdtemp(dir=request.config.stash[_base]))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def _own_home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing a test starts can find the user's files, keys or running gateway."""
    home = Path(tempfile.mkdtemp(dir=request.config.stash[_base]))
    for name in list(os.environ):
        if name.startswith(("FLYBRIDGE_", "XDG_", "ANTHROPIC_", "CLAUDE")):
            monkeypatch.delenv(name)
    monkeypatch.setenv(leftovers.MARK, request.config.stash[_run])
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(home))
    for name in ("CONFIG_HOME", "STATE_HOME", "DATA_HOME", "CACHE_HOME", "RUNTIME_DIR"):
        monkeypatch.setenv(f"XDG_{name}", str(home / name.partition("_")[0].lower()))
    yield
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[str, str]:
    """The files of a certificate for this machine, and of its key."""
    if not _has("openssl"):
        pytest.skip(COULD_NOT_RUN + "openssl")
    cert, key = str(tmp_path / "c.pem"), str(tmp_path / "k.pem")
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    names = ["-subj", "/CN=boat", "-addext", "subjectAltName=IP:127.0.0.1"]
    argv = [*words.split(), *names, "-keyout", key, "-out", cert]
    subprocess.run(argv, check=True, capture_output=True, timeout=30)
    return cert, key
