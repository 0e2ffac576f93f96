"""Small devices as a way in: a real server, its device port, and everybody who may try it."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.abuse.clients import Who
from tests.abuse.rig import Hands, Server, allow
from tests.harness.handheld import Handheld
from tests.harness.waiting import wait_until

PRESS = ("view", "input", "interrupt", "approve")

# Comes in as a device with somebody's token, says what it is told, and prints what it gets.
STOLEN = """
import json, socket, sys
port, token = int(sys.argv[1]), sys.argv[2]
s = socket.create_connection(("127.0.0.1", port), 10)
s.sendall((
    "GET / HTTP/1.1\\r\\nHost: x\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\nSec-WebSocket-Version: 13\\r\\n"
    f"Authorization: Bearer {token}\\r\\n\\r\\n").encode())
f = s.makefile("rb")
while f.readline() not in (b"\\r\\n", b""):
    pass
for said in json.load(sys.stdin):
    data = json.dumps(said).encode()
    s.sendall(bytes([0x81, 0x80 | len(data), 0, 0, 0, 0]) + data)
s.settimeout(1.5)
told = []
try:
    while True:
        head = f.read(2)
        size = head[1]
        if size == 126:
            size = int.from_bytes(f.read(2), "big")
        told.append(json.loads(f.read(size)))
except (OSError, IndexError, ValueError):
    pass
print(json.dumps(told))
"""


@pytest.fixture
def server(short_tmp: Path) -> Iterator[Server]:
    server = Server(short_tmp)
    server.env["FLYBRIDGE_DEFAULT_AGENT"] = "recorder"
    try:
        server.start("--companion-host", "0.0.0.0", "--companion-port", "0")
        yield server
    finally:
        server.close()


@pytest.fixture
def owner(server: Server) -> Who:
    return server.login()


def slots(server: Server) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.ask("devices.list")["slots"]
    return found


def port(server: Server) -> int:
    return int(server.ask("devices.list")["listening"].rpartition(":")[2])


def session(server: Server) -> str:
    """What is in slot 0, once it is there."""
    return str(wait_until(lambda: slots(server)[0]["session"]))


class Hand:
    """Devices of one test."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.port = port(server)
        self.held: list[Handheld] = []

    async def device(self, *rights: str, name: str = "box") -> Handheld:
        token = self.server.ask("devices.token", name=name, rights=rights or PRESS)["token"]
        held = await Handheld.connect(self.port, token=token)
        self.held.append(held)
        await held.wait_for("idle", active=True)
        return held

    async def stranger(self, source: str = "127.0.0.1") -> Handheld:
        held = await Handheld.connect(self.port, source=source)
        self.held.append(held)
        return held


@pytest.fixture
async def hand(server: Server) -> AsyncIterator[Hand]:
    session(server)
    hand = Hand(server)
    yield hand
    for held in hand.held:
        held.close()


async def test_25_a_code_is_guessed_at_five_times(server: Server, owner: Who) -> None:
    http = server.http(owner)
    got = [
        http.call("POST", "/devices", {"code": f"ABCDEFG{n}", "name": "box"}).status
        for n in range(2, 9)
    ]
    assert got == [410] * 5 + [429] * 2
    assert server.ask("devices.list")["devices"] == []


async def test_25_nobody_on_this_machine_gets_a_code(server: Server, hand: Hand) -> None:
    """An agent lives here, and could read it off its own socket."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.1", 9))  # sends nothing: it only chooses the way there
            sources = ["127.0.0.1", "127.0.0.9", probe.getsockname()[0]]
        except OSError:
            sources = ["127.0.0.1", "127.0.0.9"]
    for source in sources:
        held = await hand.stranger(source)
        shown = await held.hear()
        assert "Code" not in shown["promptToolDetail"]
        assert "token" in shown["promptToolDetail"]
    assert server.ask("devices.list")["waiting"] == []


async def test_18_nothing_is_shown_and_nothing_runs_before_a_device_is_known(
    server: Server, hand: Hand
) -> None:
    held = await hand.stranger()
    held.prompt("rm -rf /")
    held.say("spawn_request", slot=1)
    held.press("yes")
    assert (await held.hear())["promptToolType"] == "Pairing"
    assert await held.quiet()
    assert server.told("rm -rf /") == []
    assert [one["session"] != "" for one in slots(server)] == [True, False, False, False]


async def test_29_an_agent_with_a_devices_token_may_look_and_nothing_else(
    server: Server, owner: Who, hand: Hand
) -> None:
    token = server.ask("devices.token", name="stolen", rights=[*PRESS, "spawn", "auto_edit"])
    server.open(owner, "shell", agent="shell")
    wait_until((server.base / "hands").exists)
    prompt = server.asking(owner, session(server), "p")
    says = [
        {"type": "action", "action": "yes", "slot": 0},
        {"type": "config", "autoEdit": True},
        {"type": "spawn_request", "slot": 1},
        {"type": "command", "command": "obey me", "slot": 0},
    ]
    argv = [sys.executable, "-I", "-S", "-c", STOLEN, str(hand.port), token["token"]]
    told = json.loads(Hands(server).run(argv, stdin=json.dumps(says))["out"])
    assert any(one["type"] == "agent_status" and one["active"] for one in told)
    assert {"type": "spawn_result", "slot": 1, "success": False, "error": "Spawn failed"} in told
    assert not any(one.get("autoEdit") for one in told)
    assert server.is_open(owner, session(server), prompt["prompt"])
    assert server.told("obey me") == []
    assert server.audited(event="send_input", outcome="refused", door="companion")


async def test_31_a_device_without_the_right_cannot_answer(
    server: Server, owner: Who, hand: Hand
) -> None:
    held = await hand.device("view", "input", "interrupt")
    prompt = server.asking(owner, session(server), "p")
    await held.wait_for("waiting")
    for action in ("yes", "always", "no"):
        held.press(action)
    wait_until(lambda: len(server.audited(event="answer_permission", outcome="refused")) == 3)
    assert server.is_open(owner, session(server), prompt["prompt"])
    assert server.answers() == []


async def test_33_a_button_is_for_the_prompt_on_that_screen_and_no_other(
    server: Server, owner: Who, hand: Hand
) -> None:
    held = await hand.device()
    first = server.asking(owner, session(server), "a", input={"command": "ls"})
    await held.wait_for("waiting", promptToolDetail="ls")
    await asyncio.to_thread(_answer, server, owner, first)
    second = server.asking(owner, session(server), "b", input={"command": "rm -rf /"})
    held.press("yes")  # somebody presses for what they have just read
    held.press("always")
    await held.wait_for("waiting", promptToolDetail="rm -rf /")
    held.press("yes")
    assert await held.quiet(0.3)
    assert server.is_open(owner, session(server), second["prompt"])
    assert [json.loads(one)["response"]["response"]["behavior"] for one in server.answers()] == [
        "allow"
    ]


def _answer(server: Server, owner: Who, prompt: dict[str, Any]) -> None:
    body = {"command": allow(prompt), "until": "written"}
    path = f"/sessions/{session(server)}/commands"
    assert server.http(owner).call("POST", path, body, key="answer").status == 200


async def test_19_a_device_that_is_revoked_is_cut_off_and_its_rules_with_it(
    server: Server, owner: Who, hand: Hand
) -> None:
    held = await hand.device()
    reads = {"tool": "WebFetch", "input": {"url": "https://example.org"}}
    server.asking(owner, session(server), "a", **reads)
    await held.wait_for("waiting")
    held.press("always")  # the agent has no rule of its own: it is kept for the device
    wait_until(lambda: server.events(owner, session(server), "permission.closed"))
    server.http(owner).call("DELETE", "/devices/box")
    assert await held.ended()
    wait_until(lambda: server.events(owner, session(server), "turn.ended"))
    again = server.asking(owner, session(server), "b", **reads)
    assert server.is_open(owner, session(server), again["prompt"])


async def test_c01_one_press_of_always_lets_no_other_command_run(
    server: Server, owner: Who, hand: Hand
) -> None:
    held = await hand.device()
    folder = {"type": "addDirectories", "directories": ["/"], "destination": "session"}
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    for number, suggestions in enumerate(([], [mode], [folder, mode])):
        touch = {"input": {"command": f"touch {number}"}, "suggestions": suggestions}
        server.asking(owner, session(server), f"a{number}", **touch)
        await held.answer("always", f"touch {number}")
        await held.wait_for("idle")
        other = {"input": {"command": f"python3 -c {number}"}, "suggestions": suggestions}
        prompt = server.asking(owner, session(server), f"b{number}", **other)
        await held.wait_for("waiting", promptToolDetail=f"python3 -c {number}")
        assert server.is_open(owner, session(server), prompt["prompt"])
        await held.answer("no", f"python3 -c {number}")
        await held.wait_for("idle")
    assert server.told("updatedPermissions") == []


async def test_36_a_device_changes_no_mode_and_remembers_nothing_it_did_not_show(
    server: Server, owner: Who, hand: Hand
) -> None:
    held = await hand.device(*PRESS, "spawn")
    held.say("config", autoEdit=True, mode="bypassPermissions", permissionMode="bypassPermissions")
    prompt = server.asking(owner, session(server), "p", input={"command": "x" * 600})
    await held.wait_for("waiting", autoEdit=False)
    held.press("always")
    await held.hear()  # it is shown again instead
    assert server.is_open(owner, session(server), prompt["prompt"])
    assert server.told("bypassPermissions") == []


async def test_1_a_page_in_a_browser_reaches_no_device_port(server: Server, hand: Hand) -> None:
    head = (
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", hand.port), 10) as sock:
        sock.sendall(head.encode())
        assert sock.recv(100).startswith(b"HTTP/1.1 403 ")


async def test_24_no_secret_of_a_device_is_anywhere_but_in_its_hands(
    server: Server, hand: Hand
) -> None:
    token = server.ask("devices.token", name="canary", rights=["view"])["token"]
    held = await Handheld.connect(hand.port, token=token)
    hand.held.append(held)
    await held.wait_for("idle", active=True)
    held.say("auth", token=token)  # once more, where nobody asked
    stranger = await hand.stranger()
    stranger.say("auth", token=f"{token}x")
    held.prompt("canary prompt", slot=3)
    wait_until(lambda: "ignored ('nobody is in slot 3')" in server.log.read_text())
    assert "canary prompt" not in server.log.read_text()
    secret = token.partition(".")[2].encode()
    files = [one for one in server.base.rglob("*") if one.is_file()]
    assert [one for one in files if secret in one.read_bytes()] == []


async def test_53_junk_ends_nothing_but_its_own_connection(
    server: Server, owner: Who, hand: Hand
) -> None:
    held = await hand.device()
    for junk in (b"\x00" * 1000, b"\x81\xff" + b"\xff" * 20, b"\xff" * 5000):
        other = await hand.stranger()
        other.raw(junk)
        assert await other.ended()
    held.prompt("hello")
    wait_until(lambda: server.events(owner, session(server), "turn.ended"))
    assert "Traceback" not in server.log.read_text()
