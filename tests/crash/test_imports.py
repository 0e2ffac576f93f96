"""kill -9 of the gateway while a conversation from before is imported, or gone on with.

After each the next gateway is asked for the same again. There is one session with all of the
past in it once, wherever the first one died.
"""

from __future__ import annotations

import os
import random
import uuid
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from tests.crash.evidence import Client, GatewayGoneError, Json
from tests.crash.points import Opening, kill_everywhere
from tests.crash.rig import Rig
from tests.crash.tracer import Point, Tracer, points_between
from tests.harness.claude_transcripts import Writer

TURNS = 150
BIG = "x" * 100_000  # becomes a blob
PAGES, SOME = "pwrite64", 8  # many pages are written, and one is like the other


@pytest.fixture(autouse=True)
def config(short_tmp: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the agents of every rig of this test keep their conversations."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(short_tmp / "claude"))
    return short_tmp / "claude"


def write_conversation(cwd: Path) -> str:
    """A conversation that somebody had in this directory; its id."""
    session = str(uuid.uuid4())
    writer = Writer(cwd=str(cwd), session=session)
    for number in range(TURNS):
        writer.prompt(f"prompt {number}")
        writer.say(f"answer {number} {'y' * 1000}")
    writer.prompt("and now?")
    writer.say(BIG)
    folder = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / str(cwd).replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{session}.jsonl").write_bytes(b"\n".join(writer.lines) + b"\n")
    return session


def check(client: Client, session: str) -> None:
    """All of the past is there, once, and nothing of it is open."""
    counted: Counter[str] = Counter()
    said: list[str] = []
    blob, after = "", 0
    while lines := client.ask("page", {"session": session, "after": after})["events"]:
        for line in lines:
            event = line["event"]
            assert line["seq"] == after + 1
            after = line["seq"]
            counted[event["type"]] += 1
            if event["type"] == "text.done":
                said.append(event["text"].partition(" y")[0])
                blob = event.get("blob", "")
    assert counted["session.opened"] == 1
    assert counted["history"] == 2
    assert counted["turn.started"] == counted["turn.ended"] == TURNS + 1
    assert said[:-1] == [f"answer {number}" for number in range(TURNS)]
    assert client.ask("blob", {"digest": blob, "size": 10})["size"] == len(BIG)
    view = client.ask("view", {"session": session})
    assert (view["why"], view["turns"], view["cost_usd"]) == ("nothing", 0, 0)


class Importing(Opening):
    """Conversations that are imported while the gateway dies; each again by the next one."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self._import(write_conversation(self.rig.work))  # every thread of the gateway is there

    def find_points(self) -> list[Point]:
        conversation = write_conversation(self.rig.work)
        trace = self.rig.base / "trace"
        with Tracer(self.rig.pid, to=trace):
            self._import(conversation)
        found = points_between(trace, self.rig.pid, conversation, '\\"reply\\"')
        loop = [point for point in found if point.role == "loop"]
        return [one for one in loop if one.call != PAGES or one.nth % SOME == 1]

    def kill_at(self, point: Point) -> None:
        conversation = write_conversation(self.rig.work)
        first: Json = {}
        try:
            with Tracer(self.rig.pid, to=Path("/dev/null"), at=point):
                first = self._import(conversation)
        except GatewayGoneError:
            self.hit += 1
        else:
            self.missed += 1
        self.rig.kill_gateway()
        self._client.close()
        self._client = self.rig.start()
        again = self._import(conversation)
        assert first.get("session") in (None, again["session"]), "imported twice"
        assert again["known"] or not first, "it was told that it is there"
        check(self._client, again["session"])

    def _import(self, conversation: str) -> Json:
        return self._client.ask("import", {"agent": "recorder", "conversation": conversation})

    def finish(self) -> list[str]:
        rows = self._client.ask("list", {})["sessions"]
        of = Counter(row["labels"].get("flybridge.imported", "") for row in rows)
        return [one for one, count in of.items() if count > 1]


@pytest.mark.strace
def test_a_gateway_killed_at_any_call_of_an_import_has_all_of_it_or_none(
    points: Counter[str],
) -> None:
    points["importing a conversation"] += kill_everywhere(Importing)["hit"]


@pytest.mark.parametrize("seed", range(4))
def test_a_session_opened_on_a_conversation_has_its_past_once_whenever_the_gateway_dies(
    rig: Rig, seed: int
) -> None:
    chance = random.Random(seed)
    client = rig.start()
    conversation = write_conversation(rig.work)
    params = {
        "agent": "recorder",
        "cwd": str(rig.work),
        "request": f"r{seed}",
        "resume": conversation,
    }
    client._say({"type": "ask", "ref": "x", "name": "open", "params": params})
    client.read(chance.uniform(0.01, 0.12))
    rig.kill_gateway()
    client.close()
    client = rig.start()
    session = str(client.ask("open", params)["session"])
    check(client, session)
    reply = client.carry_out(session, "i", {"type": "send_input", "content": [text("hi")]})
    assert reply.stage == "done", reply
    assert client.ask("view", {"session": session})["turns"] == 1
    client.ask("stop_agent", {"session": session})
    client.close()


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def test_the_past_of_this_test_is_more_than_one_piece(config: Path, tmp_path: Path) -> None:
    session = write_conversation(tmp_path)
    (path,) = config.rglob(f"{session}.jsonl")
    assert len(path.read_bytes()) > 256 << 10
    assert msgspec.json.decode(path.read_bytes().splitlines()[-1])
