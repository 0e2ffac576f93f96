"""What the outside saw of a gateway: requests, replies, events; and a client that notes it all.

Nothing here looks into the gateway. The client is a plain socket, so that a test decides when
bytes are read, and a cut is a cut.
"""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from flybridge.client.items import Reset, to_item
from flybridge.client.transcript import Transcript
from flybridge.wire.native.messages import (
    EventLine,
    GatewayMessage,
    OtherLine,
    PreviewLine,
    ReplyLine,
    ViewLine,
    Welcome,
    decode_gateway,
)
from tests.harness.waiting import WAIT_S

Json: TypeAlias = dict[str, Any]
CARRY_OUT_MS = 50_000


class GatewayGoneError(Exception):
    """The gateway hung up, or nobody listens."""


class Sent(msgspec.Struct):
    """One request as a client made it, and every reply it got, in order."""

    session: str
    request: str
    command: Json
    replies: list[ReplyLine] = []
    tries: int = 0

    @property
    def kind(self) -> str:
        return str(self.command["type"])


class Seen(msgspec.Struct, frozen=True):
    """One event as some client got it."""

    at_ms: int
    event: bytes


class Evidence:
    """Everything all clients of one rig sent and saw, and what was done to its processes."""

    def __init__(self) -> None:
        self.sent: dict[str, Sent] = {}
        self.seen: dict[str, dict[int, Seen]] = {}
        self.transcripts: list[tuple[str, Transcript]] = []
        self.hurt: dict[str, str] = {}  # incarnation → who was killed
        self.reboots = 0
        self.broken: list[str] = []

    def event(self, line: EventLine) -> None:
        """An event must be the same for everybody, for ever."""
        seen = Seen(line.at_ms, bytes(line.event))
        known = self.seen.setdefault(line.session, {}).setdefault(line.seq, seen)
        if known != seen:
            self.broken.append(
                f"I5 {line.session} event {line.seq} was shown as {known.event!r} "
                f"and later as {seen.event!r}"
            )


class Client:
    """One connection. Every wait has a deadline; a gateway that dies raises GatewayGoneError."""

    def __init__(self, path: Path, evidence: Evidence, *, name: str = "rig") -> None:
        self.evidence = evidence
        self.transcripts: dict[str, Transcript] = {}
        self.views: dict[str, Json] = {}
        self.welcome: Welcome | None = None
        self._refs = 0
        self._waiting: dict[str, Sent] = {}
        self._attaching: dict[str, str] = {}
        self._rest = b""
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._sock.connect(str(path))
            self._say({"type": "hello", "proto": 1, "client": name})
        except (OSError, GatewayGoneError) as error:
            self._sock.close()
            raise GatewayGoneError(str(error)) from error

    def close(self) -> None:
        self._sock.close()

    # ---- requests ----------------------------------------------------------------------------

    def submit(
        self,
        session: str,
        request: str,
        command: Json,
        *,
        until: str = "written",
        wait_ms: int = 15_000,
    ) -> Sent:
        """Send a command and return at once; its replies gather in what is returned."""
        sent = self.evidence.sent.setdefault(request, Sent(session, request, command))
        sent.tries += 1
        ref = self._ref()
        self._waiting[ref] = sent
        self._say(
            {
                "type": "submit",
                "ref": ref,
                "session": session,
                "request": request,
                "command": command,
                "until": until,
                "wait_ms": wait_ms,
            }
        )
        return sent

    def carry_out(
        self, session: str, request: str, command: Json, *, until: str = "done"
    ) -> ReplyLine:
        """Send a command and wait for its reply."""
        sent = self.submit(session, request, command, until=until, wait_ms=CARRY_OUT_MS)
        have = len(sent.replies)
        self.until(lambda: len(sent.replies) > have)
        return sent.replies[-1]

    def attach(self, session: str, *, after: int = 0, epoch: int = 0, last: int = 0) -> None:
        ref = self._ref()
        self._attaching[ref] = session
        message = {"type": "attach", "ref": ref, "session": session, "after": after}
        self._say({**message, "epoch": epoch, "last": last, "previews": True})

    def follow(self, session: str, transcript: Transcript | None = None) -> Transcript:
        """Attach where a transcript ends (an empty one: at the start) and fold into it."""
        transcript = transcript or Transcript()
        self.transcripts[session] = transcript
        self.attach(session, after=transcript.last_seq, epoch=transcript.epoch)
        return transcript

    def ask(self, name: str, params: Json) -> Json:
        ref = self._ref()
        self._say({"type": "ask", "ref": ref, "name": name, "params": params})
        found: list[ReplyLine] = []
        deadline = time.monotonic() + WAIT_S
        while not found and time.monotonic() < deadline:
            got = self.read(deadline - time.monotonic())
            found = [one for one in got if isinstance(one, ReplyLine) and one.ref == ref]
        assert found, f"no reply to {name}"
        assert not found[0].error, f"{name}: {found[0].error}: {found[0].message}"
        return _value(found[0])

    def open(self, request: str, cwd: Path) -> str:
        value = self.ask("open", {"agent": "recorder", "cwd": str(cwd), "request": request})
        return str(value["session"])

    # ---- what comes --------------------------------------------------------------------------

    def until(self, reached: Callable[[], object], wait_s: float = WAIT_S) -> None:
        """Read until something is so.

        Raises:
            GatewayGoneError: it hung up first.
            TimeoutError: it is not so after ``wait_s``.
        """
        deadline = time.monotonic() + wait_s
        while not reached():
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("not reached in time")
            self.read(min(left, 0.5))

    def until_status(self, session: str, *statuses: str) -> None:
        """Read until the gateway shows the session in one of these."""
        self.until(lambda: self.views.get(session, {}).get("status") in statuses)

    def read(self, wait_s: float = 0.0) -> list[GatewayMessage]:
        """Take in what has arrived, waiting at most so long for the first byte."""
        if b"\n" not in self._rest:  # a whole line may have arrived while we were sending
            ready, _, _ = select.select([self._sock], [], [], max(wait_s, 0))
            if not ready:
                return []
            self._receive()
        *lines, self._rest = self._rest.split(b"\n")
        messages = [decode_gateway(line) for line in lines if line]
        known = [one for one in messages if not isinstance(one, OtherLine)]
        for message in known:
            self._note(message)
        return known

    def _note(self, message: GatewayMessage) -> None:
        if isinstance(message, ReplyLine):
            self._replied(message)
        elif isinstance(message, EventLine):
            self.evidence.event(message)
            self._fold(message.session, message)
        elif isinstance(message, PreviewLine):
            self._fold(message.session, message)
        elif isinstance(message, Welcome):
            self.welcome = message
        elif isinstance(message, ViewLine):
            self.views[message.session] = msgspec.json.decode(message.state)

    def _replied(self, reply: ReplyLine) -> None:
        if sent := self._waiting.pop(reply.ref, None):
            sent.replies.append(reply)
        if session := self._attaching.pop(reply.ref, None):
            value = _value(reply)
            transcript = self.transcripts.get(session)
            if transcript is not None:
                if value.get("reset") and transcript.last_seq:
                    transcript.apply(Reset(value["epoch"]))
                transcript.epoch = value["epoch"]

    def _fold(self, session: str, message: EventLine | PreviewLine) -> None:
        if transcript := self.transcripts.get(session):
            transcript.apply(to_item(message))

    def _ref(self) -> str:
        self._refs += 1
        return str(self._refs)

    def _receive(self) -> None:
        """Keep the bytes that have arrived; wait if there are none.

        Raises:
            GatewayGoneError: the gateway hung up.
        """
        try:
            data = self._sock.recv(1 << 20)
        except OSError as error:
            raise GatewayGoneError(str(error)) from error
        if not data:
            raise GatewayGoneError("end of stream")
        self._rest += data

    def _say(self, message: Json) -> None:
        """Send a message, and receive as long as the gateway takes nothing: it may be waiting for
        this client to read, and a client that only writes would wait for ever."""
        rest = json.dumps(message).encode() + b"\n"
        deadline = time.monotonic() + WAIT_S
        while rest:
            try:
                rest = rest[self._sock.send(rest, socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                self._wait_to_send(deadline)
            except OSError as error:
                raise GatewayGoneError(str(error)) from error

    def _wait_to_send(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the gateway took no message in time")
        readable, _, _ = select.select([self._sock], [self._sock], [], left)
        if readable:
            self._receive()


def _value(reply: ReplyLine) -> Json:
    assert isinstance(reply.value, msgspec.Raw), f"a reply without a value: {reply}"
    value: Json = msgspec.json.decode(reply.value)
    return value


# ---- commands ----------------------------------------------------------------------------------


def script(token: str, *steps: Json) -> str:
    """A message that the recorder plays; its first line tells it from all others."""
    return f"#{token}#\n@@ {json.dumps(list(steps))}" if steps else f"#{token}#"


def send_input(token: str, *steps: Json, mode: str = "auto", pad: int = 0) -> Json:
    text = script(token, *steps) + ("\n" + "p" * pad if pad else "")
    return {"type": "send_input", "content": [{"type": "text", "text": text}], "mode": mode}


def answer(prompt: str, digest: str, decision: str = "allow") -> Json:
    return {"type": "answer_permission", "prompt": prompt, "digest": digest, "decision": decision}


def interrupt(turn: str = "") -> Json:
    return {"type": "interrupt", "turn": turn}
