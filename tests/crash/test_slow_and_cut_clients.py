"""Clients that are cut off, slow, late or killed end with what one has that stayed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from flybridge.client.transcript import Block, Transcript
from tests.crash.checker import GUARDED
from tests.crash.evidence import Client, Json, Sent, send_input
from tests.crash.rig import Rig

CUTTERS = 6
PIECES = 40


def stream(event: Json) -> Json:
    line = {"type": "stream_event", "event": event, "session_id": "", "uuid": ""}
    return {"junk": json.dumps({**line, "parent_tool_use_id": None}) + "\n"}


def deltas(texts: list[str]) -> list[Json]:
    kind = "content_block_delta"
    return [
        stream({"type": kind, "index": 0, "delta": {"type": "text_delta", "text": text}})
        for text in texts
    ]


def held_item(pieces: list[str], gate: Path) -> list[Json]:
    """One text that stops in its middle until the gate opens; its whole is never repeated."""
    empty = {"type": "text", "text": ""}
    head = {"id": "msg_held", "role": "assistant", "content": []}
    half = len(pieces) // 2
    return [
        stream({"type": "message_start", "message": head}),
        stream({"type": "content_block_start", "index": 0, "content_block": empty}),
        *deltas(pieces[:half]),
        {"wait_file": str(gate)},
        *deltas(pieces[half:]),
        stream({"type": "content_block_stop", "index": 0}),
        stream({"type": "message_stop"}),
    ]


def pieces() -> list[str]:
    return [f"{n} déjà 漢字🚤 " for n in range(PIECES)]


def open_text(transcript: Transcript) -> Block | None:
    return next(
        (b for b in transcript.blocks.values() if (b.kind, b.status) == ("text", "open")), None
    )


def see_half(client: Client, session: str) -> Block:
    """Read until the first half is there."""
    transcript = client.transcripts[session]
    half = "".join(pieces()[: PIECES // 2])
    client.until(lambda: (one := open_text(transcript)) is not None and one.text == half)
    found = open_text(transcript)
    assert found is not None
    return found


def newcomer(rig: Rig, session: str) -> Client:
    client = rig.connect()
    client.follow(session)
    return client


def test_an_item_joined_in_its_middle_is_whole_before_and_after_a_kill(rig: Rig) -> None:
    gate = rig.base / "gate"
    client = rig.start()
    session = rig.open(client, "one")
    client.submit(session, "q", send_input("q", *held_item(pieces(), gate)))
    stayed = see_half(client, session)
    late = newcomer(rig, session)
    assert see_half(late, session).have == stayed.have
    rig.kill_gateway()
    late.close()
    client.close()
    client = rig.start()
    assert see_half(client, session).have == stayed.have
    after = newcomer(rig, session)
    assert see_half(after, session).have == stayed.have
    gate.touch()
    for one in (client, after):
        one.until(lambda c=one: c.transcripts[session].ended)  # type: ignore[misc]
    assert client.transcripts[session] == after.transcripts[session]
    assert client.transcripts[session].text == "".join(pieces())
    rig.settle(client)
    rig.stop_gateway()
    rig.close()


def test_a_text_is_exact_however_often_the_gateway_dies_in_its_middle(rig: Rig) -> None:
    client = rig.start()
    session = rig.open(client, "one")
    flood: Json = {"flood": 3 << 20, "line": 20, "whole": False}
    client.submit(session, "q", send_input("q", flood))
    died_inside = 0
    for _ in range(6):
        transcript = client.transcripts[session]
        client.until(lambda t=transcript: t.ended or open_text(t) is not None)  # type: ignore[misc]
        client.read(0.005)
        if transcript.ended:
            break
        rig.kill_gateway()
        client.close()
        client = rig.start()
        died_inside += 1
    assert died_inside
    assert rig.finish(client).broken == []


def agitate(rig: Rig, session: str, chance: random.Random, steady: Client) -> list[Transcript]:
    """Clients that come, read a little and are cut off, until the work is over."""
    cut = [Transcript() for _ in range(CUTTERS)]
    while not steady.transcripts[session].ended:
        for transcript in cut:
            one = rig.connect()
            one.follow(session, transcript)
            for _ in range(chance.randint(0, 3)):
                one.read(0.01)
            one.close()  # with whatever has arrived and was not read
        if chance.random() < 0.5:
            cut.append(Transcript())
        steady.read()
    for transcript in cut:
        one = rig.connect()
        one.follow(session, transcript)
        one.until(lambda t=transcript: t.last_seq >= steady.transcripts[session].last_seq)  # type: ignore[misc]
        one.close()
    return cut


@pytest.mark.parametrize("seed", range(3))
def test_clients_that_are_cut_off_again_and_again_end_with_the_same(rig: Rig, seed: int) -> None:
    steady = rig.start()
    session = rig.open(steady, "one")
    steps: list[Json] = []
    for n in range(12):
        steps += [{"say": f"{n} " + "é漢🚤" * 40, "deltas": 50}, {"stall": 0.02}, {"think": "hm"}]
        steps += [{"tool": "Free", "result": str(n)}, {"flood": 60_000, "whole": n % 2 == 0}]
    steady.submit(session, "q", send_input("q", *steps))
    cut = agitate(rig, session, random.Random(seed), steady)
    rig.settle(steady)
    steady.read(0.05)
    whole = steady.transcripts[session]
    for transcript in cut:
        assert not transcript.missing
        rig.evidence.transcripts.append((session, transcript))
    assert [one for one in cut if one.blocks != whole.blocks] == []
    assert rig.finish(steady).broken == []


def test_a_client_that_does_not_read_slows_nobody_and_misses_nothing(rig: Rig) -> None:
    steady = rig.start()
    session = rig.open(steady, "one")
    slow = newcomer(rig, session)
    flood: Json = {"flood": 8 << 20, "line": 400, "whole": False}
    reply = steady.carry_out(session, "q", send_input("q", flood, {"say": "over"}))
    assert reply.stage == "done"
    rig.settle(steady)
    slow.until(lambda: slow.transcripts[session].ended)
    rig.evidence.transcripts.append((session, slow.transcripts[session]))
    slow.close()
    assert rig.finish(steady).broken == []


BYSTANDER = """
import json, socket, sys
path, session, request, command = sys.argv[1:]
sock = socket.socket(socket.AF_UNIX)
sock.connect(path)
def say(**message):
    sock.sendall(json.dumps(message).encode() + b"\\n")
say(type="hello", proto=1, client="bystander")
say(type="attach", ref="1", session=session)
if request:
    say(type="submit", ref="2", session=session, request=request, command=json.loads(command),
        until="done", wait_ms=60000)
while sock.recv(65536):
    sys.stdout.write(".")
    sys.stdout.flush()
"""


def test_when_two_clients_are_killed_a_third_finds_everything(rig: Rig) -> None:
    gate = rig.base / "gate"
    opener = rig.start()
    session = rig.open(opener, "one")
    guarded: Json = {"tool": GUARDED, "ask": True, "input": {"command": "x"}}
    command = send_input(
        "q", {"say": "before"}, {"wait_file": str(gate)}, {"say": "after"}, guarded
    )
    rig.evidence.sent["q"] = Sent(session, "q", command)
    argv = [sys.executable, "-c", BYSTANDER, str(rig.socket), session]
    doomed = [
        subprocess.Popen([*argv, request, json.dumps(command)], stdout=subprocess.PIPE)
        for request in ("q", "")
    ]
    opener.until(lambda: opener.transcripts[session].text == "before")
    for one in doomed:
        assert one.stdout is not None
        assert one.stdout.read(1) == b"."
        one.kill()
        one.wait()
        one.stdout.close()
    gate.touch()
    third = newcomer(rig, session)
    third.until(lambda: third.transcripts[session].prompts)
    prompt = next(iter(third.transcripts[session].prompts.values()))
    allow: Json = {"type": "answer_permission", "prompt": prompt.id, "digest": prompt.digest}
    assert third.carry_out(session, "a", {**allow, "decision": "allow"}).stage == "done"
    third.until(lambda: third.transcripts[session].ended)
    assert third.transcripts[session].text == "before\nafter"
    rig.evidence.transcripts.append((session, third.transcripts[session]))
    rig.settle(third)
    third.close()
    verdict = rig.finish(opener)
    assert verdict.broken == []
    assert verdict.counts["message done"] == 1
