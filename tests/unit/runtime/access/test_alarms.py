from __future__ import annotations

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.deliveries import Stage
from flybridge.runtime.access.alarms import AGAIN_MS
from flybridge.runtime.live_session import LiveSession
from flybridge.session.authorisation import Caller
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import House, ListClient

ASKS = steps({"tool": "Bash", "input": {"command": "ls"}, "ask": True, "result": "files"})


def somebody(principal: str = "token:1", **more: bool) -> ListClient:
    scopes = frozenset({"view", "input"})
    return ListClient(Caller(principal=principal, scopes=scopes, door="http", **more))  # type: ignore[arg-type]


async def asked(house: House) -> tuple[LiveSession, c.AnswerPermission]:
    live = await house.open()
    await house.say(live, ASKS, "r1", Stage.OBSERVED)
    prompt = await house.saw(e.PermissionRequested)
    answer = c.AnswerPermission(prompt=prompt.prompt, digest=prompt.digest, decision="allow")
    return live, answer


async def test_abuse_26_whoever_may_not_answer_and_tries_is_named_in_the_session(
    house: House,
) -> None:
    live, answer = await asked(house)
    reply = await house.submit(live.session, answer, "a", client=somebody(of_agent=True))
    assert reply.error == "not_allowed"
    (notice,) = house.client.of(e.Notice)
    assert notice.level == "warning"
    assert notice.text == "an agent tried to answer permission, by http, and was refused"
    assert answer.prompt in live.memory.state.prompts


async def test_it_is_said_once_a_minute_for_each_who_tries(house: House) -> None:
    live, answer = await asked(house)
    for n in range(5):
        await house.submit(live.session, answer, f"a{n}", client=somebody())
    await house.submit(live.session, answer, "b", client=somebody("token:2"))
    assert len(house.client.of(e.Notice)) == 2
    now_ms = house.services.now_ms
    house.services.now_ms = lambda: now_ms() + AGAIN_MS
    await house.submit(live.session, answer, "c", client=somebody())
    assert len(house.client.of(e.Notice)) == 3


async def test_what_grants_nothing_is_no_alarm(house: House) -> None:
    live, _ = await asked(house)
    for command in (c.Delete(), c.Interrupt(), c.StopTask(task="x")):
        reply = await house.submit(live.session, command, "x", client=somebody())
        assert reply.error == "not_allowed"
    assert house.client.of(e.Notice) == []
    await house.submit(live.session, c.SetMode(mode="plan"), "y", client=somebody())
    assert len(house.client.of(e.Notice)) == 1
