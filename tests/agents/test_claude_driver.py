"""The driver and the real CLI with nothing in between: what needs options of its own."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from msgspec import UNSET, Raw

from flybridge.drivers.claude.agent import ClaudeAgent
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.capabilities import OpenSpec, Options
from flybridge.model.content import Text
from flybridge.model.deliveries import Answer
from flybridge.model.facts import TurnOver
from flybridge.model.ids import IncarnationId, InputKey, SessionId
from flybridge.session.ports import Out
from flybridge.testing.messages_api import MessagesApi
from tests.agents.rig import VERSIONS, RealClaude
from tests.agents.talk import scripted

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]

WAIT_S = 30.0
SESSION = SessionId("ses_driven")
T = TypeVar("T")


class Driven:
    """One CLI and the driver that speaks with it; ``out`` is all that came of it."""

    def __init__(self, claude: RealClaude, options: Options) -> None:
        agent = ClaudeAgent(program=claude.argv)
        capabilities = agent.capabilities(claude.version.encode())
        spec = OpenSpec(agent="claude", cwd=str(claude.cwd), options=options)
        launch = agent.launch(spec, capabilities)
        self.out: list[Out] = []
        self.driver = agent.driver(capabilities)
        self.driver.attach(SESSION, IncarnationId("inc_driven"), spec, b"")
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._process = subprocess.Popen(
            launch.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=launch.cwd,
            env={**claude.env, **launch.env},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.driver.connected(_now_ms())
        self._take()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip(b"\n"))

    def _take(self) -> None:
        output = self.driver.take()
        self.out += [what for _, what in output.out]
        assert self._process.stdin is not None
        for line in output.lines:
            self._process.stdin.write(line.data + b"\n")
        self._process.stdin.flush()

    def say(self, text: str, *answers: object) -> None:
        command = c.SendInput(content=(Text(scripted(text, *answers)),))
        self.driver.send(SESSION, command, InputKey(f"test:{text}"), _now_ms())
        self._take()

    def ask(self, ref: str, name: str) -> None:
        self.driver.query(SESSION, ref, name, Raw(b"{}"))
        self._take()

    def get(self, kind: type[T], where: Callable[[T], bool] = lambda what: True) -> T:
        """The first of its kind, as soon as the CLI has said it."""
        deadline = time.monotonic() + WAIT_S
        while True:
            for what in self.out:
                if isinstance(what, kind) and where(what):
                    return what
            assert time.monotonic() < deadline, [type(one).__name__ for one in self.out]
            try:
                line = self._lines.get(timeout=0.2)
            except queue.Empty:
                continue
            self.driver.receive([line], _now_ms())
            self._take()

    def all(self, kind: type[T]) -> list[T]:
        return [one for one in self.out if isinstance(one, kind)]

    def close(self) -> None:
        self._process.kill()
        self._process.wait(WAIT_S)
        self._reader.join(WAIT_S)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture(params=VERSIONS)
def claude(request: pytest.FixtureRequest, short_tmp: Path) -> Iterator[RealClaude]:
    socket = short_tmp / "api.sock"
    api = MessagesApi(unix=str(socket)).start()
    yield RealClaude(request.param, short_tmp, api, socket)
    api.close()


@pytest.fixture
def drive(claude: RealClaude) -> Iterator[Callable[..., Driven]]:
    driven: list[Driven] = []

    def start(**options: object) -> Driven:
        driven.append(Driven(claude, Options(**options)))  # type: ignore[arg-type]
        return driven[-1]

    yield start
    for one in driven:
        one.close()


def test_tasks_are_one_list_that_changes(claude: RealClaude, drive: Callable[..., Driven]) -> None:
    old = claude.version == "2.1.38"
    if old:
        claude.env["CLAUDE_CODE_ENABLE_TASKS"] = "1"
    driven = drive() if old else drive(tools=("TaskCreate", "TaskUpdate", "TaskList"))
    given = {"subject": "Sail", "description": "away", "activeForm": "Sailing"}
    create = {"tool": "TaskCreate", "input": given}
    update = {"tool": "TaskUpdate", "input": {"taskId": "1", "status": "in_progress"}}
    listed = {"tool": "TaskList", "input": {}}
    driven.say("tasks", create, update, listed, {"say": "Done."})
    driven.get(TurnOver)
    lists = [json.loads(bytes(one.tasks)) for one in driven.all(e.Tasks)]
    one = {"id": "1", "content": "Sail", "activeForm": "Sailing"}
    assert lists == [[{**one, "status": "pending"}], [{**one, "status": "in_progress"}]]
    assert driven.all(e.Unrecognised) == []


def test_what_a_rule_denies_is_told(drive: Callable[..., Driven]) -> None:
    driven = drive(disallowed_tools=("Bash(touch:*)",))
    call = {"tool": "Bash", "input": {"command": "touch denied", "description": "a test"}}
    driven.say("denied", call, {"say": "Pity."})
    driven.get(TurnOver)
    (denied,) = driven.all(e.PermissionAuto)
    assert (denied.tool, denied.decision) == ("Bash", "deny")
    assert driven.all(e.Unrecognised) == []


def test_queries_are_answered_by_the_versions_that_can(
    claude: RealClaude, drive: Callable[..., Driven]
) -> None:
    server = {"mcpServers": {"none": {"command": "false"}}}
    driven = drive(mcp_config=(json.dumps(server),))
    driven.say("query", {"say": "Hello."})
    driven.get(TurnOver)
    names = ("mcp", "context", "usage", "models", "settings", "plan")
    known = ("mcp",) if claude.version == "2.1.38" else names
    for name in names:
        driven.ask(name, name)
        answer = driven.get(Answer, lambda one, name=name: one.ref == name)  # type: ignore[misc]
        assert answer.error == ("" if name in known else "not_supported")
        if name in known:
            assert answer.value is not UNSET
    assert driven.driver.deadline_ms is None
    mcp = json.loads(bytes(driven.get(Answer, lambda one: one.ref == "mcp").value))  # type: ignore[arg-type]
    assert "none" in [one["name"] for one in mcp["mcpServers"]]
