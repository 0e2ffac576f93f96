"""The starter as a process: who may speak to it, what it answers, how large it is."""

from __future__ import annotations

import json
import os
import py_compile
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flybridge.auth import peer
from flybridge.runtime.keeper import keeper_program as program
from tests.harness.keeper_bench import py
from tests.harness.keeper_starters import Gateway, Starters, is_dumpable
from tests.harness.processes import rss_kib
from tests.harness.waiting import until

CAT = ["/bin/cat"]
OLD_FOLDER = "flybridge/runtime"  # of versions before 0.2; a keeper of theirs may still run


@pytest.fixture
async def gateway(starters: Starters) -> Gateway:
    made = starters.gateway()
    await starters.start(made, CAT)
    return made


def secret_of(folder: Path) -> str:
    return str(json.loads((folder / "starter-1.key").read_text())["secret"])


def say(folder: Path, *messages: object) -> list[dict[str, Any]]:
    """Send these lines and return all answers, to the end or to a second of silence."""
    answers = b""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(20)
        sock.connect(str(folder / "starter-1.sock"))
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            sock.sendall(line + b"\n")
        sock.shutdown(socket.SHUT_WR)
        while piece := sock.recv(2**16):
            answers += piece
    return [json.loads(line) for line in answers.splitlines()]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"type": "hello", "proto": 1, "secret": "guess"}, "not_allowed"),
        ({"type": "hello", "proto": 1, "secret": 7}, "not_allowed"),
        ({"type": "spawn", "ref": 1, "argv": ["/bin/true"], "env": {}}, "hello_first"),
        ({"type": "bye"}, "hello_first"),
        ({"type": "hello"}, "bad_message"),
        (["hello"], "bad_message"),
        (b"\xff", "bad_message"),
        (b"[" * 60_000, "bad_message"),
    ],
)
async def test_a06_a_stranger_gets_nothing(
    starters: Starters, gateway: Gateway, message: object, code: str
) -> None:
    assert say(starters.folder, message) == [{"type": "refused", "code": code}]
    await starters.start(gateway, CAT)  # it still serves its gateway


async def test_a06_bad_requests_of_a_gateway_are_answered(starters: Starters) -> None:
    await starters.start(starters.gateway(), CAT)
    hello = {"type": "hello", "proto": 1, "secret": secret_of(starters.folder)}
    assert say(starters.folder, {**hello, "proto": 2})[0]["code"] == "proto"
    for bad in ({"type": "dance"}, {"type": "spawn", "ref": 1}):
        welcome, answer = say(starters.folder, hello, bad)
        assert welcome["type"] == "welcome"
        assert (answer["type"], answer.get("code")) in [
            ("refused", "bad_message"),
            ("failed", None),
        ]


async def test_a06_an_agent_is_refused_even_with_the_secret(starters: Starters) -> None:
    agent = """
import json, os, socket, sys
if os.fork() == 0: os.setsid()
secret = json.load(open("starter-1.key"))["secret"]
s = socket.socket(socket.AF_UNIX)
s.connect("starter-1.sock")
try: s.sendall(json.dumps({"type": "hello", "proto": 1, "secret": secret}).encode() + b"\\n")
except OSError: pass
os.write(1, s.recv(999))
sys.stdin.read()
"""
    spec, _ = await starters.start(starters.gateway(), py(agent))
    _, heard = await starters.keepers.link(spec)
    await heard.until(lambda: heard.output.count(b"\n") == 2)
    for line in heard.output.splitlines():
        assert json.loads(line) == {"type": "refused", "code": "not_allowed"}


async def test_a06_whoever_runs_below_the_starter_counts_as_an_agent(
    starters: Starters, gateway: Gateway
) -> None:
    starter = program.process(gateway.starter.pid)
    assert starter is not None
    assert program.is_keeper(starter)
    assert peer.is_keeper(starter)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("flybridge/runtime/keeper/keeper_program.py", True),
        ("flybridge/runtime/keeper/__pycache__/starter_program.cpython-311.pyc", True),
        (f"{OLD_FOLDER}/keeper_program.py", True),
        ("other/runtime/keeper_program.py", False),
        ("flybridge/runtime/keeper/process.py", False),
    ],
)
def test_a_keeper_is_known_by_its_path(short_tmp: Path, path: str, *, expected: bool) -> None:
    file = short_tmp / path
    file.parent.mkdir(parents=True)
    source = short_tmp / "source.py"
    source.write_text("import sys; print(flush=True); sys.stdin.read()")
    if file.suffix == ".pyc":
        py_compile.compile(str(source), cfile=str(file))
    else:
        source.rename(file)
    argv = [sys.executable, "-I", "-S", str(file)]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as keeper:
        assert keeper.stdout is not None
        keeper.stdout.readline()
        process = program.process(keeper.pid)
        assert process is not None
        assert program.is_keeper(process) is expected
        keeper.communicate()


async def test_a06_a_keeper_refuses_what_another_keeper_left_behind(starters: Starters) -> None:
    gateway = starters.gateway()
    stray = """
import json, os, socket, struct, sys
keeper = os.getppid()
if os.fork() == 0:
    os.setsid()
    secret, path = sys.argv[1:3]
    s = socket.socket(socket.AF_UNIX)
    os.kill(keeper, 9)
    while os.getppid() == keeper: pass
    try:
        s.connect(path)
        hello = json.dumps({"proto": 1, "generation": 99, "secret": secret, "after": 0}).encode()
        s.sendall(struct.pack("!BQI", 1, 0, len(hello)) + hello)
        with open("answer", "wb") as file: file.write(s.recv(999))
    finally:
        os._exit(0)
import signal; signal.pause()
"""
    spec, _ = await starters.start(gateway, CAT)
    link, heard = await starters.keepers.link(spec)
    await starters.start(gateway, [*py(stray), spec.secret, spec.socket])
    await until(lambda: gateway.alarms, "its keeper is dead")
    link.send_input(1, b"not taken over\n")
    await heard.until(lambda: heard.output == b"not taken over\n")
    answer = starters.folder / "answer"  # it may have been killed before it got one
    assert not answer.exists() or b"WELCOME" not in answer.read_bytes()
    assert not answer.exists() or b"agent_pid" not in answer.read_bytes()


async def test_a06_the_starter_is_small_and_cannot_be_debugged(
    starters: Starters, gateway: Gateway
) -> None:
    pid = gateway.starter.pid
    assert rss_kib(pid) <= 12 * 1024
    assert os.getsid(pid) == pid
    assert not is_dumpable(pid)
