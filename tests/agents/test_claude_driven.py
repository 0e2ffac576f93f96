"""The driver and the real CLI with nothing in between: what no client may ask a gateway for."""

from __future__ import annotations

import queue
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.capabilities import OpenSpec, Options
from flybridge.model.content import Text
from flybridge.model.facts import (
    InputConfirmed,
    InputEchoed,
    InputRejected,
    PermissionAsked,
    TurnBegan,
    TurnOver,
)
from flybridge.model.ids import IncarnationId, InputKey, SessionId
from flybridge.model.legacy_options import from_legacy, start_fields
from flybridge.probes.messages_api import MessagesApi
from flybridge.session.ports import Out
from tests.agents.rig import PINNED, RealClaude
from tests.agents.talk import bash, scripted
from tests.harness.waiting import WAIT_S

pytestmark = [pytest.mark.needs("claude-cli"), pytest.mark.needs("linux")]

SESSION = SessionId("ses_driven")
T = TypeVar("T")


class Driven:
    """One CLI and the driver that speaks with it; ``out`` is all that came of it."""

    def __init__(self, claude: RealClaude, options: Options) -> None:
        agent = ClaudeAgent(program=claude.argv)
        capabilities = agent.capabilities(claude.version.encode())
        spec = OpenSpec(agent="claude", cwd=str(claude.cwd), **start_fields(from_legacy(options)))
        launch = agent.launch(spec, capabilities)
        self.out: list[Out] = []
        self._driver = agent.driver(capabilities)
        self._driver.attach(SESSION, IncarnationId("inc_driven"), spec, b"")
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
        self._driver.connected(_now_ms())
        self._take()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip(b"\n"))

    def _take(self) -> None:
        output = self._driver.take()
        self.out += [what for _, what in output.out]
        assert self._process.stdin is not None
        for line in output.lines:
            self._process.stdin.write(line.data + b"\n")
        self._process.stdin.flush()

    def tell(self, command: c.Command, key: str) -> None:
        self._driver.send(SESSION, command, InputKey(key), _now_ms())
        self._take()

    def say(self, text: str, *answers: object) -> None:
        self.tell(c.SendInput(content=(Text(scripted(text, *answers)),)), f"test:{text}")

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
            self._driver.receive([line], _now_ms())
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


@pytest.fixture(params=PINNED)
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


def test_permissions_can_be_bypassed_where_that_was_allowed(drive: Callable[..., Driven]) -> None:
    driven = drive(allow_bypass=True)
    driven.tell(c.SetMode(mode="bypassPermissions"), "test:bypass")
    driven.get(InputConfirmed)
    driven.say("bypass", bash("touch bypassed"), {"say": "Done."})
    driven.get(TurnOver)
    assert driven.all(PermissionAsked) == []
    assert [one.mode for one in driven.all(e.ModeChanged)] == ["bypassPermissions"]


def test_an_input_that_waits_in_the_cli_is_taken_back_where_it_can(
    claude: RealClaude, drive: Callable[..., Driven], tmp_path: Path
) -> None:
    go = tmp_path / "go"
    driven = drive()
    driven.say("runs", {"say": "Slowly.", "hold": str(go)})
    driven.get(TurnBegan)
    driven.say("waits", {"say": "Never."})
    driven.tell(c.CancelQueued(key="test:waits"), "test:cancel")
    if claude.version == "2.1.38":
        assert "takes back nothing" in driven.get(InputRejected).reason
        return
    driven.get(InputConfirmed, lambda one: one.key == "test:cancel")
    taken = driven.get(InputRejected)
    assert (taken.key, taken.reason) == ("test:waits", "cancelled")
    go.touch()
    driven.get(TurnOver)
    driven.say("after", {"say": "Here."})
    driven.get(InputEchoed, lambda one: one.key == "test:after")
    driven.tell(c.CancelQueued(key="test:after"), "test:late")
    late = driven.get(InputRejected, lambda one: one.key == "test:late")
    assert late.reason == "it is not waiting any more"
    assert [one.key for one in driven.all(InputEchoed)] == ["test:runs", "test:after"]
    assert driven.all(e.Unrecognised) == []
