"""A conversation against a scripted gateway: what is folded, who is woken, and every bad end."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from flybridge.client.conversation import ATTEMPTS, Conversation
from flybridge.client.gateway import Client, connect
from flybridge.client.items import EventItem
from flybridge.client.prompts import Allow, Deny, PermissionPrompt
from flybridge.client.recent import MAX_EVENTS
from flybridge.client.transport.tokens import Token
from flybridge.client.transport.url import UrlAddress
from flybridge.config.state_dir import StateDir
from flybridge.errors import (
    BusyError,
    FlybridgeError,
    GatewayUnreachableError,
    LocalProtocolError,
    NotAllowedError,
    RemoteProtocolError,
    SessionNotFoundError,
)
from flybridge.model import commands as c
from flybridge.model import events as ev
from flybridge.model.content import Image, Text
from flybridge.model.ids import InputKey, ItemId, PromptId, TurnId
from flybridge.model.kinds import Outcome
from flybridge.model.requests import Submit
from tests.harness.scripted_gateway import SESSION, ScriptedGateway, serving
from tests.harness.scripted_url import TOKEN, listening
from tests.harness.waiting import WAIT_S, until

PNG = b"\x89PNG\r\n\x1a\n"


def accepted(request: str, attempt: int = 1) -> ev.InputAccepted:
    key = InputKey(f"uid:1:{request}")
    return ev.InputAccepted(key=key, kind="message", by="uid:1", fingerprint="f", attempt=attempt)


def outcome(request: str, how: Outcome = "done") -> ev.InputOutcome:
    return ev.InputOutcome(key=InputKey(f"uid:1:{request}"), outcome=how)


def turn(request: str, text: str = "hello", number: int = 1) -> list[ev.Event]:
    """All that happens when somebody says something."""
    name = TurnId(f"trn_{number}")
    return [
        accepted(request),
        ev.TurnStarted(turn=name),
        ev.InputConsumed(key=InputKey(f"uid:1:{request}"), turn=name),
        ev.ItemStarted(item=ItemId(f"itm_{number}"), kind="text", turn=name),
        ev.TextDone(item=ItemId(f"itm_{number}"), text=text),
        ev.TurnEnded(turn=name, cost_usd=0.5),
        outcome(request),
    ]


def answering(request: Submit) -> list[ev.Event]:
    return turn(request.request) if isinstance(request.command, c.SendInput) else []


def asked(prompt: str) -> ev.PermissionRequested:
    return ev.PermissionRequested(
        prompt=PromptId(prompt), tool="Bash", input=Raw(b'{"command":"ls"}'), digest="d"
    )


def settling(request: Submit) -> list[ev.Event]:
    """An answer closes its prompt."""
    if not isinstance(request.command, c.AnswerPermission):
        return []
    allowed = request.command.decision == "allow"
    return [
        ev.PermissionClosed(
            prompt=request.command.prompt, how="allowed" if allowed else "denied", by="uid:1"
        )
    ]


@pytest.fixture
async def gateway(short_tmp: Path) -> AsyncIterator[ScriptedGateway]:
    async with serving(StateDir(short_tmp / "s"), [ev.Notice(text="before")]) as gateway:
        yield gateway


@pytest.fixture(params=["unix", "url"])
async def client(request: pytest.FixtureRequest, gateway: ScriptedGateway) -> AsyncIterator[Client]:
    if request.param == "unix":
        async with await connect(gateway.state, start=False) as client:
            yield client
        return
    async with listening(gateway) as door, Client(UrlAddress(door.url, Token(TOKEN))) as client:
        yield client


async def next_events(session: Conversation, count: int, after: int | None = None) -> list[int]:
    seqs: list[int] = []
    async with asyncio.timeout(WAIT_S):
        async for item in session.events(after=after):
            seqs.append(item.seq)
            if len(seqs) == count:
                break
    return seqs


# ---- saying --------------------------------------------------------------------------------------


async def test_an_answer_is_waited_for(gateway: ScriptedGateway, client: Client) -> None:
    gateway.does = answering
    async with client.session(SESSION) as session:
        turn = await session.ask("hi", images=[PNG])
    assert (turn.text, turn.cost_usd, turn.ok) == ("hello", 0.5, True)
    [command] = gateway.carried_out.values()
    image = Image("image/png", data=base64.b64encode(PNG).decode())
    assert command == c.SendInput(content=(image, Text("hi")))


async def test_what_was_asked_before_is_not_asked_again(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.does = answering
    async with client.session(SESSION) as session:
        first = await session.ask("hi", request="build-42")
    async with client.session(SESSION) as session:
        assert await session.ask("hi", request="build-42") == first
    assert len(gateway.carried_out) == 1


async def test_an_answer_is_waited_for_over_lost_connections(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.does = lambda request: turn(request.request)[:4]
    async with client.session(SESSION) as session:
        waiting = asyncio.create_task(session.ask("hi", request="r"))
        await until(lambda: "r" in gateway.carried_out)
        gateway.hang_up()
        await until(lambda: bool(gateway.peers and gateway.peers[-1].attached))
        gateway.hang_up()
        gateway.publish(*turn("r")[4:])
        assert (await waiting).text == "hello"
    assert len(gateway.carried_out) == 1


async def test_what_provably_never_arrived_is_sent_again_under_its_name(
    gateway: ScriptedGateway, client: Client
) -> None:
    attempts = 1

    def does(request: Submit) -> list[ev.Event]:
        nonlocal attempts
        attempts += 1
        if attempts < 4:
            return [accepted("r", attempts), outcome("r", "not_delivered")]
        return [accepted("r", attempts), *turn("r")[1:]]

    gateway.does, gateway.forgets = does, True
    gateway.publish(accepted("r"), outcome("r", "not_delivered"))  # in another life of ours
    async with client.session(SESSION) as session:
        assert (await session.ask("hi", request="r")).ok
    assert attempts == 4
    assert set(gateway.carried_out) == {"r"}


async def test_an_old_failure_is_not_taken_for_the_new_attempts(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.publish(accepted("r"), outcome("r", "not_delivered"))
    gateway.does, gateway.forgets = (lambda request: []), True
    async with client.session(SESSION) as session:
        waiting = asyncio.create_task(session.ask("hi", request="r"))
        await until(lambda: "r" in gateway.carried_out)
        gateway.asks["echo"] = lambda params: {}
        await client.ask("echo")  # its reply is here by now, and no event
        assert not waiting.done()
        gateway.publish(accepted("r", 2), *turn("r")[1:])
        assert (await waiting).ok
    assert sum(isinstance(one, Submit) for one in gateway.heard) == 1


async def test_what_cannot_be_delivered_is_not_tried_for_ever(
    gateway: ScriptedGateway, client: Client
) -> None:
    attempts = 0

    def does(request: Submit) -> list[ev.Event]:
        nonlocal attempts
        attempts += 1
        return [accepted("r", attempts), outcome("r", "not_delivered")]

    gateway.does, gateway.forgets = does, True
    async with client.session(SESSION) as session:
        assert (await session.ask("hi", request="r")).outcome == "not_delivered"
    assert attempts == ATTEMPTS


async def test_what_never_arrives_is_told(gateway: ScriptedGateway, client: Client) -> None:
    gateway.does = lambda request: [accepted(request.request), outcome(request.request, "unknown")]
    async with client.session(SESSION) as session:
        turn = await session.ask("hi")
    assert (turn.ok, turn.outcome, turn.text) == (False, "unknown", "")


async def test_a_text_too_long_for_the_log_is_fetched(
    gateway: ScriptedGateway, client: Client
) -> None:
    whole = "é" * 100_000
    data = whole.encode()

    def blob(params: dict[str, Any]) -> object:
        part = data[params["start"] : params["start"] + 64_000]
        return {"size": len(data), "data": base64.b64encode(part).decode()}

    def does(request: Submit) -> list[ev.Event]:
        events = turn(request.request)
        events[4] = ev.TextDone(item=ItemId("itm_1"), text="é", blob="b1")
        return events

    gateway.asks["blob"], gateway.does = blob, does
    async with client.session(SESSION) as session:
        assert (await session.ask("hi")).text == whole


async def test_a_refusal_is_raised(gateway: ScriptedGateway, client: Client) -> None:
    async with client.session(SESSION) as session:
        gateway.refusal = BusyError("full")
        with pytest.raises(BusyError):
            await session.ask("hi")
        gateway.refusal = None


async def test_everything_a_person_can_do_can_be_said(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.publish(ev.TurnStarted(turn=TurnId("trn_9")))
    async with client.session(SESSION) as session:
        await session.send("hi", mode="queue")
        await session.interrupt(hard=True)
        await session.set_model("m")
        await session.set_mode("plan")
        await session.set_effort("high")
        await session.set_thinking(7)
        await session.rename("t")
        await session.submit(c.StopTask(task="x"), "own")
        await session.end()
    assert list(gateway.carried_out.values()) == [
        c.SendInput(content=(Text("hi"),), mode="queue"),
        c.Interrupt(turn=TurnId("trn_9"), hard=True),
        c.SetModel(model="m"),
        c.SetMode(mode="plan"),
        c.SetEffort(effort="high"),
        c.SetThinking(tokens=7),
        c.Rename(title="t"),
        c.StopTask(task="x"),
        c.Close(),
    ]
    assert "own" in gateway.carried_out


async def test_a_reply_that_names_no_key_is_the_gateways_fault(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.silent.add("submit")
    async with client.session(SESSION) as session:
        waiting = asyncio.create_task(session.ask("hi"))
        await until(lambda: any(isinstance(one, Submit) for one in gateway.heard))
        gateway.tell(b'{"type":"reply","ref":"2","stage":"accepted","value":{}}')
        with pytest.raises(RemoteProtocolError, match="names no key"):
            await waiting


# ---- coming and going ----------------------------------------------------------------------------


async def test_a_new_session_is_opened_once(gateway: ScriptedGateway, client: Client) -> None:
    opened: list[dict[str, Any]] = []

    def answer(params: dict[str, Any]) -> object:
        opened.append(params)
        if len(opened) == 1:
            gateway.hang_up()  # before anybody heard that it is there
        return {"session": SESSION}

    gateway.asks["open"] = answer
    async with client.start(agent="demo", cwd=".", title="t") as session:
        assert session.id == SESSION
        assert await next_events(session, 1) == [1]  # a new one is followed from its beginning
    assert opened[0] == opened[1]
    assert opened[0]["cwd"] == os.getcwd()  # noqa: PTH109


async def test_it_is_up_to_date_when_it_is_entered(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.publish(*turn("r", "what was said"))
    async with client.session(SESSION) as session:
        assert session.transcript.text == "what was said"
        assert session.transcript.last_seq == 8
    async with client.session(SESSION, last=2) as session:
        assert session.transcript.text == ""


async def test_how_it_is_now_is_told(gateway: ScriptedGateway, client: Client) -> None:
    view = '{"status":"idle","why":"nothing","prompts":[],"of_a_newer_gateway":1}'
    line = f'{{"type":"view","session":"{SESSION}","seq":1,"state":{view}}}'
    async with client.session(SESSION) as session:
        assert session.view is None
        gateway.tell(line.encode())
        await until(lambda: session.view is not None and session.view.status == "idle")
        gateway.tell(line.replace("[]", "7").encode())  # this makes no sense
        gateway.publish(ev.Notice(text="x"))
        await next_events(session, 1)
        assert session.view is not None


async def test_it_is_entered_once(gateway: ScriptedGateway, client: Client) -> None:
    session = client.session(SESSION)
    async with session:
        pass
    with pytest.raises(LocalProtocolError, match="entered once"):
        await session.__aenter__()


async def test_no_session_and_nothing_is_left(gateway: ScriptedGateway, client: Client) -> None:
    await client.connection()
    before = asyncio.all_tasks()
    with pytest.raises(SessionNotFoundError):
        await client.session("ses_none").__aenter__()
    async with client.session(SESSION):
        pass
    await until(lambda: asyncio.all_tasks() == before)
    await until(lambda: not any(peer.attached for peer in gateway.peers))


@pytest.mark.parametrize(
    ("code", "kind"),
    [("session_deleted", SessionNotFoundError), ("gateway_stopped", GatewayUnreachableError)],
)
async def test_who_waits_learns_that_nothing_comes_any_more(
    gateway: ScriptedGateway, client: Client, code: str, kind: type[FlybridgeError]
) -> None:
    gateway.does = lambda request: turn(request.request)[:3]
    async with client.session(SESSION) as session:
        following = asyncio.create_task(next_events(session, 99))
        waiting = asyncio.create_task(session.ask("hi"))
        await until(lambda: session.transcript.last_seq == 4)
        gateway.detach_all(code)
        with pytest.raises(kind):
            await waiting
        assert await following == [2, 3, 4]
        with pytest.raises(kind):
            await session.ask("again")


async def test_an_outage_that_lasts_too_long_is_raised(
    gateway: ScriptedGateway, short_tmp: Path
) -> None:
    async with await connect(gateway.state, start=False) as client:
        async with client.session(SESSION, patience_s=0.1) as session:
            waiting = asyncio.create_task(next_events(session, 1))
            await gateway.stop()
            with pytest.raises(GatewayUnreachableError):
                await waiting
        with pytest.raises(GatewayUnreachableError):
            await client.session(SESSION, patience_s=0.05).__aenter__()
    await gateway.start()


# ---- following -----------------------------------------------------------------------------------


async def test_events_come_each_once_and_in_order(gateway: ScriptedGateway, client: Client) -> None:
    async with client.session(SESSION) as session:
        gateway.publish(*turn("r"))
        assert await next_events(session, 7) == list(range(2, 9))
        assert await next_events(session, 8, after=0) == list(range(1, 9))
        gateway.hang_up()
        gateway.publish(ev.Notice(text="x"))
        assert await next_events(session, 1, after=8) == [9]


def paged(gateway: ScriptedGateway) -> Any:
    """Pages of the log, in pieces smaller than anybody wants."""

    def page(params: dict[str, Any]) -> object:
        first = params["after"] // 300 * 300
        entries = [
            {"seq": n + 1, "at_ms": 1, "event": Raw(raw)}
            for n, raw in enumerate(gateway.logs[SESSION])
        ]
        return {
            "epoch": gateway.epoch,
            "head": len(entries),
            "events": entries[first : first + 600],
        }

    return page


async def test_a_reader_may_be_as_slow_as_it_likes(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.asks["page"] = paged(gateway)
    many = MAX_EVENTS + 500
    seqs: list[int] = []
    async with client.session(SESSION) as session, asyncio.timeout(WAIT_S):
        gateway.publish(ev.Notice(text="first"))
        async for item in session.events():
            seqs.append(item.seq)
            if item.seq == 2:
                gateway.publish(*(ev.Notice(text=str(n)) for n in range(many)))
                await until(lambda: session.transcript.last_seq == many + 2)
            if item.seq == many + 2:
                break
    assert seqs == list(range(2, many + 3))


async def test_events_the_gateway_lost_are_its_fault(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.asks["page"] = lambda params: {"epoch": 1, "head": 9, "events": []}
    async with client.session(SESSION, last=1) as session:
        gateway.publish(*(ev.Notice(text="x") for _ in range(MAX_EVENTS + 5)))
        await until(lambda: session.transcript.last_seq == MAX_EVENTS + 6)
        with pytest.raises(RemoteProtocolError, match="has no events"):
            await next_events(session, 1, after=0)


async def test_a_log_that_begins_anew_comes_from_its_beginning(
    gateway: ScriptedGateway, client: Client
) -> None:
    gateway.publish(*turn("r"))
    async with client.session(SESSION) as session:
        following = asyncio.create_task(next_events(session, 3))
        gateway.epoch = 2
        del gateway.logs[SESSION][3:]
        gateway.hang_up()
        assert await following == [1, 2, 3]
        assert session.transcript.epoch == 2
        assert session.transcript.last_seq == 3


async def test_nothing_of_an_old_log_is_told_as_if_it_were_of_the_new_one(
    gateway: ScriptedGateway, client: Client
) -> None:
    async with client.session(SESSION) as session:
        following = asyncio.create_task(first_event(session))
        gateway.epoch = 2
        gateway.logs[SESSION].clear()
        gateway.hang_up()
        await until(lambda: session.transcript.epoch == 2)
        gateway.publish(ev.Notice(text="anew"))
        item = await following
    assert (item.seq, item.event) == (1, ev.Notice(text="anew"))


async def first_event(session: Conversation) -> EventItem:
    return await anext(aiter(session.events()))


# ---- deciding ------------------------------------------------------------------------------------


async def test_what_is_open_already_is_decided_and_what_is_settled_is_not(
    gateway: ScriptedGateway, client: Client
) -> None:
    prompts: list[PermissionPrompt] = []

    async def decide(prompt: PermissionPrompt) -> Allow | Deny | None:
        prompts.append(prompt)
        return Allow() if prompt.input["command"] == "ls" else Deny("no")

    gateway.does = settling
    closed = ev.PermissionClosed(prompt=PromptId("old"), how="denied")
    gateway.publish(asked("old"), closed, asked("open"))
    async with client.session(SESSION, on_permission=decide) as session:
        await next_events(session, 1)
        gateway.publish(asked("new"))
        await next_events(session, 3)
        assert session.transcript.prompts == {}
    assert [one.id for one in prompts] == ["open", "new"]
    assert [type(one) for one in gateway.carried_out.values()] == [c.AnswerPermission] * 2


async def test_what_was_settled_while_we_were_away_is_asked_about_by_nobody(
    gateway: ScriptedGateway, client: Client
) -> None:
    asked_about: list[str] = []

    async def decide(prompt: PermissionPrompt) -> None:
        asked_about.append(prompt.id)

    closed = ev.PermissionClosed(prompt=PromptId("p1"), how="denied")
    async with client.session(SESSION, on_permission=decide) as session:
        gateway.hang_up()
        long = [ev.Notice(text="x" * 2**20) for _ in range(3)]  # more than one read
        gateway.publish(asked("p1"), *long, closed, asked("p2"))
        await until(lambda: session.transcript.last_seq == 7 and bool(asked_about))
    assert asked_about == ["p2"]


async def test_an_answer_survives_the_gateway_and_counts_once(
    gateway: ScriptedGateway, client: Client
) -> None:
    calls = 0

    async def decide(prompt: PermissionPrompt) -> Allow:
        nonlocal calls
        calls += 1
        gateway.hang_up()  # just before it is given
        return Allow()

    gateway.does = settling
    gateway.silent.add("submit")
    async with client.session(SESSION, on_permission=decide) as session:
        gateway.publish(asked("p1"))
        await until(lambda: len(gateway.carried_out) == 1)
        gateway.silent.clear()
        gateway.hang_up()  # just before anybody heard that it was taken
        await until(lambda: not session.transcript.prompts and session.transcript.last_seq == 3)
    assert calls == 1
    assert len(gateway.carried_out) == 1


async def test_a_prompt_answered_elsewhere_cancels_the_callback(
    gateway: ScriptedGateway, client: Client
) -> None:
    cancelled = asyncio.Event()

    async def decide(prompt: PermissionPrompt) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with client.session(SESSION, on_permission=decide) as session:
        gateway.publish(asked("p1"))
        await next_events(session, 1)
        gateway.publish(ev.PermissionClosed(prompt=PromptId("p1"), how="allowed", by="them"))
        async with asyncio.timeout(WAIT_S):
            await cancelled.wait()
    assert gateway.carried_out == {}


async def test_an_error_in_a_callback_reaches_whoever_waits(
    gateway: ScriptedGateway, client: Client
) -> None:
    async def decide(prompt: PermissionPrompt) -> Allow:
        raise ZeroDivisionError("a mistake of mine")

    gateway.does = lambda request: [*turn(request.request)[:3], asked("p1")]
    async with client.session(SESSION, on_permission=decide) as session:
        with pytest.raises(ZeroDivisionError, match="of mine"):
            await session.ask("hi")
        with pytest.raises(ZeroDivisionError):
            await session.send("more")
    assert not any(isinstance(one, c.AnswerPermission) for one in gateway.carried_out.values())


async def test_an_error_in_a_callback_is_raised_at_the_latest_when_the_block_is_left(
    gateway: ScriptedGateway, client: Client
) -> None:
    async def decide(prompt: PermissionPrompt) -> Allow:
        raise ZeroDivisionError

    session = client.session(SESSION, on_permission=decide)
    await session.__aenter__()
    gateway.publish(asked("p1"))
    await until(lambda: session._failure is not None)
    with pytest.raises(ZeroDivisionError):
        await session.__aexit__(None, None, None)


async def test_who_may_not_decide_is_told(gateway: ScriptedGateway, client: Client) -> None:
    async def decide(prompt: PermissionPrompt) -> Allow:
        return Allow()

    def refuse(request: Submit) -> list[ev.Event]:
        raise NotAllowedError("approve")

    gateway.does = refuse
    async with client.session(SESSION, on_permission=decide) as session:
        gateway.publish(asked("p1"))
        with pytest.raises(NotAllowedError):
            await next_events(session, 9)


async def test_the_items_of_a_conversation_are_the_ones_of_a_watch(
    gateway: ScriptedGateway, client: Client
) -> None:
    async with client.session(SESSION) as session:
        gateway.publish(ev.Notice(text="x"))
        async for item in session.events():
            assert isinstance(item, EventItem)
            assert item.event == ev.Notice(text="x")
            break
