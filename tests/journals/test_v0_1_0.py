"""A state directory recorded by version 0.1.0 opens, replays, exports the same and goes on."""

from __future__ import annotations

import json
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.cli.export.log import Kind, export_to
from flybridge.cli.rendering.who import name_of
from flybridge.client.gateway import Client
from flybridge.errors import SessionClosedError
from flybridge.model.commands import AnswerPermission
from flybridge.runtime.unit_of_work import entries_of
from flybridge.session.authorisation import outlives_the_prompt
from flybridge.session.evolve import evolve
from flybridge.session.ports import SessionRow
from flybridge.session.state import State, decode_state, encode_state
from flybridge.store.sqlite import SqliteJournal
from tests.harness.gateway_process import RealGateway, real_gateway

HERE = Path(__file__).parent / "v0_1_0"
RECORDER = "uid:1001"  # the user who recorded it
WAITING = "waiting"  # its agent lived when the gateway was stopped, and is gone now
OF_THE_LIVE_VIEW = {"since_ms", "ended", "cost_usd", "model", "mode"}
FORMATS: tuple[tuple[Kind, str], ...] = (("markdown", "md"), ("json", "json"), ("jsonl", "jsonl"))


def exports() -> dict[str, str]:
    """Return what version 0.1.0 exported, by file name."""
    with zipfile.ZipFile(HERE / "exports.zip") as file:
        texts = {name: file.read(name).decode() for name in file.namelist()}
    return {name: text.replace("{user}", name_of(RECORDER)) for name, text in texts.items()}


def recorded_rows() -> dict[str, dict[str, Any]]:
    """Return the list of sessions as version 0.1.0 gave it, by the name of their exports."""
    rows = {row["title"].partition(",")[0]: row for row in json.loads(exports()["sessions.json"])}
    assert len(rows) == 11
    return rows


def unpack(state: Path) -> None:
    state.mkdir(mode=0o700)
    with zipfile.ZipFile(HERE / "state.zip") as file:
        file.extractall(state)
    for path in (state, *state.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


@pytest.fixture
async def gateway(short_tmp: Path) -> AsyncIterator[RealGateway]:
    async with real_gateway(short_tmp) as gateway:
        unpack(gateway.state)
        gateway.start()
        yield gateway


async def exported(client: Client, session: str, kind: Kind) -> str:
    data = bytearray()
    await export_to(client, session, data.extend, kind=kind)
    return data.decode()


async def test_every_session_exports_what_it_exported_then(gateway: RealGateway) -> None:
    expected = exports()
    async with await gateway.client() as client:
        for name, row in recorded_rows().items():
            for kind, suffix in FORMATS:
                then = expected.get(f"{name}.{suffix}")
                if name == WAITING or then is None:
                    continue
                text = await exported(client, row["session"], kind)
                if kind == "json":
                    document = json.loads(then)
                    assert stored(json.loads(text), document) == stored(document, document)
                else:
                    assert text == then, f"{name}.{suffix}"


def stored(now: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    """Leave out what differs by design: the time of the export, fields that a session got since
    then, and fields of the live view, which are empty until a restarted gateway loads a session.
    """
    info = {key: now["info"][key] for key in then["info"] if key not in OF_THE_LIVE_VIEW}
    return {**now, "info": info, "exported_ms": 0}


async def test_the_session_whose_agent_is_gone_says_so_and_keeps_all_before(
    gateway: RealGateway,
) -> None:
    row = recorded_rows()[WAITING]
    async with await gateway.client() as client:
        now = (await exported(client, row["session"], "jsonl")).splitlines()
        then = exports()[f"{WAITING}.jsonl"].splitlines()
        assert now[: len(then)] == then
        added = [json.loads(line)["event"] for line in now[len(then) :]]
        types = [event["type"] for event in added]
        assert "permission.closed" in types
        assert "agent.exited" in types


async def test_the_list_of_sessions_is_the_same(gateway: RealGateway) -> None:
    async with await gateway.client() as client:
        now = {row["session"]: row for row in await client.list()}
    for name, then in recorded_rows().items():
        if name != WAITING:
            old, new = {"info": then}, {"info": now[then["session"]]}
            assert stored(new, old) == stored(old, old)


def test_every_log_replays_to_the_state_that_was_stored(tmp_path: Path) -> None:
    unpack(tmp_path / "state")
    journal = SqliteJournal.open(str(tmp_path / "state" / "journal.db"), boot="another")
    try:
        rows = journal.sessions()
        assert len(rows) == 11
        for row in rows:
            state = replayed(journal, row)
            assert state.agent == "demo"
            assert (state.closed, state.archived) == (row.closed, row.archived)
            assert state.agent_session == row.conversation
    finally:
        journal.close()


def test_suggestions_of_an_open_prompt_need_an_administrator(tmp_path: Path) -> None:
    """The log does not say what they do: only a call can be allowed without that right."""
    unpack(tmp_path / "state")
    journal = SqliteJournal.open(str(tmp_path / "state" / "journal.db"), boot="another")
    try:
        waiting = recorded_rows()[WAITING]["session"]
        row = next(row for row in journal.sessions() if row.session == waiting)
        state = replayed(journal, row)
    finally:
        journal.close()
    ((name, prompt),) = state.prompts.items()
    assert len(prompt.own_offers) == 1
    assert prompt.offers == ()
    once = AnswerPermission(prompt=name, digest=prompt.digest, decision="allow")
    assert not outlives_the_prompt(once, state)
    assert outlives_the_prompt(msgspec.structs.replace(once, remember=(0,)), state)
    assert decode_state(encode_state(state)) == state


def replayed(journal: SqliteJournal, row: SessionRow) -> State:
    """Fold a whole log, without its snapshot."""
    state, after = State(session=row.session), 0
    while after < row.last_seq:
        for batch in journal.read(row.session, after, 1 << 20):
            for entry in entries_of(batch):
                evolve(state, entry.event, entry.seq, entry.at_ms)
                after = entry.seq
    return state


async def test_a_session_is_resumed_and_takes_a_message(gateway: RealGateway) -> None:
    row = recorded_rows()["resumed"]
    async with await gateway.client() as client:
        async with client.session(row["session"]) as session:
            turn = await session.ask("think again")
            assert turn.ok
            assert "two helms, one rudder" in turn.text
        now = next(one for one in await client.list() if one["session"] == row["session"])
        assert now["conversation"] == row["conversation"]
        text = await exported(client, row["session"], "jsonl")
    assert text.startswith(exports()["resumed.jsonl"])


async def test_a_closed_session_stays_closed(gateway: RealGateway) -> None:
    row = recorded_rows()["closed"]
    async with await gateway.client() as client, client.session(row["session"]) as session:
        with pytest.raises(SessionClosedError):
            await session.ask("hello")
