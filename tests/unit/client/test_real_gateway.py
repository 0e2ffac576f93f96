"""The client against a real gateway and a real agent: nothing lost, nothing done twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

import pytest

from flybridge.client.conversation import Conversation
from flybridge.client.gateway import connect
from flybridge.client.prompts import (
    Allow,
    Answers,
    Deny,
    PermissionPrompt,
    QuestionPrompt,
)
from flybridge.errors import GatewayError, NotAllowedError
from flybridge.model.commands import SendInput
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.testing import recorder
from tests.harness.agent_programs import steps
from tests.harness.gateway_process import RealGateway, real_gateway
from tests.harness.waiting import until

Over: TypeAlias = Literal["unix", "url"]
LONG = "".join(f"{n} déjà 漢字🚤 " for n in range(60))
ASK = {"tool": "Bash", "ask": True, "input": {"command": "ls"}, "result": "boat"}


@pytest.fixture
async def gateway(short_tmp: Path) -> AsyncIterator[RealGateway]:
    async with real_gateway(short_tmp) as gateway:
        yield gateway


@pytest.fixture
async def served(gateway: RealGateway) -> RealGateway:
    gateway.serve()
    return gateway


async def allow(prompt: PermissionPrompt) -> Allow:
    return Allow()


def seen(session: Conversation, text: str) -> Callable[[], bool]:
    """Whether an open item has grown to this."""
    return lambda: any(block.text == text for block in session.transcript.blocks.values())


async def test_a_gateway_killed_in_mid_turn_is_not_noticed(served: RealGateway) -> None:
    gate, decided = served.base / "gate", asyncio.Event()
    offered: list[str] = []

    async def decide(prompt: PermissionPrompt) -> Allow:
        offered.append(prompt.id)
        await decided.wait()
        return Allow(input={"command": "ls boats"})

    message = steps(
        {"say": LONG, "deltas": 60, "hold": str(gate)}, ASK, {"say": "after", "deltas": 2}
    )
    async with (
        await served.client() as client,
        await served.web_client() as web,
        client.start(agent="recorder", cwd=served.work, on_permission=decide) as session,
        web.session(session.id) as watching,
    ):
        waiting = asyncio.create_task(session.ask(message))
        await until(seen(session, LONG))
        served.kill()  # while the text is being said
        served.start()
        gate.touch()
        await until(lambda: bool(offered) and bool(watching.transcript.prompts))
        served.kill()  # while a person thinks about it
        decided.set()  # and decides, with nobody there to hear it
        served.start()
        turn = await waiting
        await until(lambda: watching.transcript.last_seq == session.transcript.last_seq)
        assert watching.transcript.blocks == session.transcript.blocks
    assert turn.ok
    assert turn.text.encode() == f"{LONG}\nafter".encode()
    assert [(one.name, one.status, one.output) for one in turn.calls] == [("Bash", "ok", "boat")]
    assert turn.calls[0].input == {"command": "ls boats"}, "what was allowed, by whichever gateway"
    assert len(offered) == 1
    assert served.told("started") == 1, "one agent, from the beginning to the end"
    assert served.told("executed") == 1
    assert served.told("answer") == 1
    assert served.told("eof") == 0


async def test_fifty_clients_answer_one_prompt_and_the_agent_hears_one(
    gateway: RealGateway,
) -> None:
    gateway.start()
    asked = 0
    everybody = asyncio.Event()

    def decider(number: int) -> Callable[[PermissionPrompt], Awaitable[Allow | Deny]]:
        async def decide(prompt: PermissionPrompt) -> Allow | Deny:
            nonlocal asked
            asked += 1
            if asked == 50:
                everybody.set()
            await everybody.wait()
            return Allow() if number % 2 else Deny(f"says {number}")

        return decide

    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(await gateway.client())
        session = await first.open(agent="recorder", cwd=gateway.work)
        for number in range(50):
            client = await stack.enter_async_context(await gateway.client())
            one = client.session(session, on_permission=decider(number))
            await stack.enter_async_context(one)
        teller = await stack.enter_async_context(first.session(session))
        turn = await teller.ask(steps(ASK, {"say": "over"}))
        assert turn.text == "over"
    assert asked == 50
    assert gateway.told("answer") == 1


@pytest.mark.parametrize("over", ["unix", "url"])
async def test_a_hundred_parallel_sends_of_one_request_are_one_line(
    served: RealGateway, over: Over
) -> None:
    command = SendInput(content=(Text("only once"),))
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(await served.client())
        session = await first.open(agent="recorder", cwd=served.work)
        clients = [
            await stack.enter_async_context(
                await (served.client() if over == "unix" else served.web_client())
            )
            for _ in range(10)
        ]
        replies = await asyncio.gather(
            *(
                clients[n % 10].submit(
                    session, command, request="r", until=Stage.DONE, wait_ms=20_000
                )
                for n in range(100)
            )
        )
    assert [one.stage for one in replies] == [Stage.DONE] * 100
    assert sum(not one.duplicate for one in replies) == 1
    assert served.told("executed") == 1
    assert sum(b"only once" in line for line in recorder.lines(served.record)) == 1


async def test_sends_survive_a_gateway_that_is_killed_again_and_again(
    gateway: RealGateway,
) -> None:
    gateway.start()
    async with await gateway.client() as client:
        session = await client.open(agent="recorder", cwd=gateway.work)
        async with client.session(session) as talking:
            for number in range(3):
                waiting = asyncio.create_task(talking.ask(f"number {number}"))
                await asyncio.sleep(0.01 * number)
                gateway.kill()
                gateway.start()
                assert (await waiting).text == f"ok: number {number}"
    assert gateway.told("executed") == 3


async def test_permissions_and_questions_of_the_demo_agent(gateway: RealGateway) -> None:
    gateway.start()

    async def answer(prompt: QuestionPrompt) -> Answers:
        return Answers({one.question: one.options[2].label for one in prompt.questions})

    async def decide(prompt: PermissionPrompt) -> Allow | Deny:
        ok = prompt.input.get("command") == "echo one"
        return Allow(input={"command": "echo two"}) if ok else Deny("not that")

    async with (
        await gateway.client() as client,
        client.start(
            agent="demo", cwd=gateway.work, on_permission=decide, on_question=answer
        ) as session,
    ):
        assert "Red" in (await session.ask("question")).text
        assert "two" in (await session.ask("run echo one")).text
        denied = await session.ask("run ls")
        assert [one.status for one in denied.calls] == ["denied"]
        await session.set_model("flybridge-demo-2")
        await session.rename("two helms")
        await until(lambda: session.transcript.title == "two helms")


async def test_a_token_talks_and_never_approves(served: RealGateway) -> None:
    async with (
        await served.client() as client,
        await served.web_client() as web,
        client.start(agent="recorder", cwd=served.work) as session,
        web.session(session.id, on_permission=allow) as talking,
    ):
        assert web.welcome is not None
        assert set(web.welcome.scopes) == {"view", "input", "interrupt"}
        assert (await talking.ask("hello")).text == "ok: hello"
        with pytest.raises(NotAllowedError):
            await talking.ask(steps(ASK))
        with pytest.raises(NotAllowedError):
            await web.open(agent="recorder", cwd=served.work)
        assert session.transcript.prompts, "it is still open"
        await session.interrupt()
        await until(lambda: not session.transcript.turn)
    assert served.told("answer") == 0


async def test_a_token_that_is_not_good_gets_nowhere(served: RealGateway) -> None:
    wrong = served.token[:-5] + "AAAAA"
    with pytest.raises(GatewayError, match="it was not sent"):
        await connect(served.address, token=wrong)


async def test_everything_from_the_environment(
    served: RealGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = served.base / "token"
    file.write_text(served.token)
    file.chmod(0o600)
    monkeypatch.setenv("FLYBRIDGE_URL", served.address)
    monkeypatch.setenv("FLYBRIDGE_TOKEN_FILE", str(file))
    async with await connect() as web:
        assert await web.sessions() == []


async def test_over_tls_below_a_base_path(
    gateway: RealGateway, certificate: tuple[str, str]
) -> None:
    cert, key = certificate
    gateway.serve("--tls-cert", cert, "--tls-key", key, "--base-path", "/boat")
    assert gateway.address.startswith("https://127.0.0.1:")
    assert gateway.address.endswith("/boat")
    async with await gateway.web_client(cafile=cert) as web:
        assert await web.sessions() == []
    with pytest.raises(GatewayError, match="not who it says it is"):
        await gateway.web_client()


async def test_a_long_log_is_read_in_pieces(gateway: RealGateway) -> None:
    gateway.start()
    async with (
        await gateway.client() as client,
        client.start(agent="recorder", cwd=gateway.work) as session,
    ):
        turn = await session.ask(steps({"say": "x" * 200_000, "deltas": 3}, {"say": "end"}))
        assert turn.text == "x" * 200_000 + "\nend"
        head = session.transcript.last_seq
        seqs: list[int] = []
        while not seqs or seqs[-1] < head:
            page = await client.page(session.id, after=seqs[-1] if seqs else 0, limit=3)
            assert 0 < len(page.events) <= 3
            seqs += [one.seq for one in page.events]
        assert seqs[:head] == list(range(1, head + 1))


async def test_a12_a_program_that_relays_to_the_gateway_never_hears_the_token(
    served: RealGateway,
) -> None:
    heard = b""
    port = urlsplit(served.address).port

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal heard
        there = await asyncio.open_connection("127.0.0.1", port)

        async def up() -> None:
            nonlocal heard
            while data := await reader.read(1 << 16):
                heard += data
                there[1].write(data.replace(f":{here}".encode(), f":{port}".encode()))
            there[1].close()

        async def down() -> None:
            while data := await there[0].read(1 << 16):
                writer.write(data)
            writer.close()

        await asyncio.gather(up(), down(), return_exceptions=True)

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    here = server.sockets[0].getsockname()[1]
    try:
        with pytest.raises(GatewayError, match="token was not sent"):
            await connect(f"http://127.0.0.1:{here}", token=served.token, direct=True)
        assert b"/api/v1/proof" in heard
        assert b"/api/v1/ws" not in heard
        async with await connect(f"http://127.0.0.1:{here}", token=served.token) as client:
            assert await client.status()  # the address was given: a tunnel looks the same
        async with await connect(served.address, token=served.token, direct=True) as client:
            assert await client.status()
    finally:
        server.close()
