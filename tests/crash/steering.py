"""Control messages to a gateway that is killed at every call between taking one and answering.

The sender is a plain socket. What it sent and what it was told goes to the evidence of the rig,
as if it had been said by the native protocol: the judge knows one ledger.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
from pathlib import Path

from flybridge.wire.control.times import format_time
from flybridge.wire.native.messages import ReplyLine
from tests.crash.evidence import GatewayGoneError, Json, Sent, script, send_input
from tests.crash.operations import warm
from tests.crash.points import Maker
from tests.crash.rig import Rig
from tests.crash.tracer import Point, Tracer, points_between
from tests.harness.waiting import WAIT_S

FINAL = ("ok", "not_live", "rejected", "internal_error")
TEAMS = {
    "version": 1,
    "members": [{"team": "default", "name": "rig", "principal": f"uid:{os.geteuid()}"}],
    "rules": [{"effect": "allow", "team": "default"}],
}


def allow(rig: Rig) -> None:
    """Let this user steer everything, before the gateway starts."""
    rig.state.mkdir(mode=0o700, exist_ok=True)
    path = rig.state / "teams"
    path.write_text(json.dumps(TEAMS))
    path.chmod(0o600)


def exchange(rig: Rig, message: Json) -> Json:
    """One message, one acknowledgement.

    Raises:
        GatewayGoneError: the gateway died first.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(WAIT_S)
        try:
            sock.connect(str(rig.state / "control.sock"))
            sock.sendall(json.dumps(message).encode() + b"\n")
            line = sock.makefile("rb").readline()
        except OSError as error:
            raise GatewayGoneError(str(error)) from error
    if not line.endswith(b"\n"):
        raise GatewayGoneError("hung up")
    ack: Json = json.loads(line)
    return ack


class Steered:
    """A rig and one session on it, steered while its gateway is killed at one point after the
    other. ``kind``: what is sent; ``keeper_too``: the keeper dies right after the gateway."""

    def __init__(self, base: Path, kind: str, *, keeper_too: bool) -> None:
        self.rig = Rig(base, apart=True)
        self.hit = self.missed = 0
        self._kind = kind
        self._keeper_too = keeper_too
        self._turns = 0
        allow(self.rig)
        self._client = self.rig.start()
        self._session = self.rig.open(self._client, "target")
        self.acks: list[Json] = []

    def find_points(self) -> list[Point]:
        """Where it can be killed, as seen in a run of it."""
        message = self._prepare("dry")
        trace = self.rig.base / "trace"
        with Tracer(self.rig.pid, to=trace):
            self._send(message)
        self._repeat(message)
        asked = f'\\"request_id\\": \\"{message["request_id"]}\\"'
        found = points_between(trace, self.rig.pid, asked, '\\"acked_at\\"')
        return [one for one in found if one.role == "loop" or self._kind == "stdin"]

    def kill_at(self, point: Point) -> None:
        """Die there, start again, repeat the message."""
        name = f"p{self._turns}"
        self._turns += 1
        message = self._prepare(name)
        try:
            with Tracer(self.rig.pid, to=Path("/dev/null"), at=point):
                self._send(message)
        except GatewayGoneError:
            self.hit += 1
        else:
            self.missed += 1
        self._client = self.rig.kill_and_start(self._client, self._session, self._keeper_too)
        self._repeat(message)

    def finish(self) -> list[str]:
        return self.rig.finish(self._client).broken

    # ---- inside ------------------------------------------------------------------------------

    def _prepare(self, name: str) -> Json:
        warm(self._client, self._session, name)
        self.rig.settle(self._client)
        rows = self._client.ask("list", {})["sessions"]
        row = next(one for one in rows if one["session"] == self._session)
        message: Json = {
            "v": 1,
            "request_id": name,
            "team": "default",
            "session_id": self._session,
            "agent_id": f"recorder:{row['conversation']}",
            "sender": "rig",
        }
        if self._kind == "interrupt":
            busy = send_input(f"{name}t", {"say": "begun"}, {"stall": 50})
            self._client.submit(self._session, f"{name}t", busy)
            blocks = self._client.transcripts[self._session].blocks
            self._client.until(lambda: any(b.text == "begun" for b in list(blocks.values())[-1:]))
            turn = self._client.transcripts[self._session].turn
            stop = {"type": "control.interrupt.request", "signal": "interrupt", "turn_id": turn}
            return {**message, **stop}
        token = f"control/{name}"
        text = script(token, {"say": f"answer to {name}", "deltas": 4})
        message["type"] = "control.stdin.request"
        if self._kind == "content_ref":
            return {**message, "content_ref": self._file(name, text)}
        return {**message, "content": text}

    def _file(self, name: str, text: str) -> Json:
        path = self.rig.state / "inbox" / name
        path.write_text(text)
        return {
            "path": str(path),
            "size_bytes": len(text.encode()),
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
            "mime": "text/plain",
        }

    def _send(self, message: Json) -> Json:
        """Send it, and note it where the judge looks."""
        sent = None
        if message["type"] == "control.stdin.request":
            token = f"control/{message['request_id']}"
            content = {"say": f"answer to {message['request_id']}", "deltas": 4}
            sent = self.rig.evidence.sent.setdefault(
                token, Sent(self._session, token, send_input(token, content))
            )
            sent.tries += 1
        at = format_time(time.time_ns() // 1_000_000)
        ack = exchange(self.rig, {**message, "sent_at": at})
        self.acks.append(ack)
        if sent is not None:
            stage = ack.get("stage", "") if ack["result"] == "ok" else ""
            sent.replies.append(ReplyLine(ref="", stage=stage))
        return ack

    def _repeat(self, message: Json) -> None:
        """What became of it: there is an answer, and it is an honest one."""
        deadline = time.monotonic() + WAIT_S
        while (ack := self._send(message))["result"] == "timeout":
            assert time.monotonic() < deadline, f"no outcome of {message}"
        assert ack["result"] in FINAL, ack
        ended = ack.get("error", {}).get("code") == "turn_ended"
        if not self._keeper_too:
            assert ack["result"] == "ok" or (self._kind == "interrupt" and ended), ack
        if self._kind == "interrupt" and not self._keeper_too:
            turn = self._client.transcripts[self._session]
            self._client.until(lambda: not turn.turn)
        self.rig.settle(self._client)
        again = self._send(message)
        settled = ("ok", "internal_error", "rejected")
        assert again["duplicate"] == (again["result"] in settled) or again["result"] == "not_live"


def steered(kind: str, *, keeper_too: bool) -> Maker:
    return lambda base: Steered(base, kind, keeper_too=keeper_too)
