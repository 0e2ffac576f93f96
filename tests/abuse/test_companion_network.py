"""A device on another machine, as far as one machine can be two: namespaces with a cable between.

The server runs in one network namespace, the device in another; the device has an address of its
own, which is not one of the server's. So it is paired by its code, like the real handheld.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests import conftest
from tests.abuse.rig import Server
from tests.harness.waiting import WAIT_S, wait_until

SERVER, DEVICE = "10.77.0.1", "10.77.0.2"
PORT = "3333"  # in a namespace of its own nobody else has it
# Comes as the handheld does, prints what it is shown, and says what it is told to.
HANDHELD = """
import asyncio, json, sys
from tests.harness.handheld import REQUEST, Handheld
async def main():
    streams = await asyncio.open_connection(sys.argv[1], int(sys.argv[2]))
    streams[1].write(REQUEST.format(host=f"{sys.argv[1]}:{sys.argv[2]}", more="").encode())
    await streams[0].readuntil(b"\\r\\n\\r\\n")
    held = Handheld(*streams)
    async def listen():
        while True:
            print(json.dumps(await held.hear(60)), flush=True)
    listening = asyncio.ensure_future(listen())
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        held.send(line.strip())
    listening.cancel()
asyncio.run(main())
"""


def _ip(pid: int, *commands: str) -> None:
    inside = ["nsenter", "-t", str(pid), "-n", "sh", "-ec", "; ".join(commands)]
    subprocess.run(inside, check=True, capture_output=True, timeout=WAIT_S)


def _can_be_two() -> bool:
    try:
        with ExitStack() as stack:
            _two_machines(stack)
    except (OSError, subprocess.SubprocessError, AssertionError):
        return False
    return True


conftest.NEEDS["veth"] = _can_be_two


def _machine(stack: ExitStack) -> int:
    """A namespace, held by a process that does nothing; its pid."""
    holder = subprocess.Popen(["unshare", "-n", "sleep", "300"])
    stack.callback(holder.wait, WAIT_S)
    stack.callback(holder.kill)
    ours = Path("/proc/self/ns/net").readlink()
    wait_until(lambda: Path(f"/proc/{holder.pid}/ns/net").readlink() != ours)
    return holder.pid


def _two_machines(stack: ExitStack) -> tuple[int, int]:
    here, there = _machine(stack), _machine(stack)
    _ip(here, f"ip link add fb0 type veth peer name fb1 netns {there}", "ip link set lo up")
    _ip(here, f"ip addr add {SERVER}/24 dev fb0", "ip link set fb0 up")
    _ip(there, f"ip addr add {DEVICE}/24 dev fb1", "ip link set fb1 up")
    return here, there


class Far:
    """The device, in the other namespace."""

    def __init__(self, namespace: int) -> None:
        self.process = subprocess.Popen(
            [
                *("nsenter", "-t", str(namespace), "-n", sys.executable, "-P", "-c"),
                *(f"import sys; sys.path.insert(0, '.')\n{HANDHELD}", SERVER, PORT),
            ],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        heard: dict[str, Any] = json.loads(self.process.stdout.readline())
        return heard

    def say(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def code(self) -> str:
        shown = self.hear()
        assert shown["promptToolType"] == "Pairing"
        return str(shown["promptToolDetail"]).split()[1]

    def close(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=WAIT_S)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.mark.needs("veth")
@pytest.mark.conforms("S3-D1")
def test_25_a_device_elsewhere_is_paired_by_its_code_once(
    short_tmp: Path, stack: ExitStack
) -> None:
    here, there = _two_machines(stack)
    server = Server(short_tmp)
    server.under = ["nsenter", "-t", str(here), "-n"]
    server.env["FLYBRIDGE_DEFAULT_AGENT"] = "recorder"
    stack.callback(server.close)
    server.start("--companion-host", SERVER)
    wait_until(lambda: server.ask("devices.list")["slots"][0]["session"])
    far = Far(there)
    stack.callback(far.close)
    code = far.code()
    [waiting] = server.ask("devices.list")["waiting"]
    assert (waiting["address"], "code" in waiting) == (DEVICE, False)
    far.say(type="command", command="before it is paired", slot=0)
    done = server.ask("devices.pair", code=code, name="handheld", rights=["input"])
    assert done["address"] == DEVICE
    assert far.hear()["active"]
    far.say(type="command", command="after it was paired", slot=0)
    wait_until(lambda: server.told("after it was paired"))
    assert server.told("before it is paired") == []
    params = {"code": code, "name": "other"}
    again = server.talk([{"type": "ask", "ref": "1", "name": "devices.pair", "params": params}])
    assert again[-1]["error"] == "pairing_over"
    server.ask("devices.revoke", name="handheld")
    second = Far(there)
    stack.callback(second.close)
    assert second.code() != code, "it is a stranger again"
