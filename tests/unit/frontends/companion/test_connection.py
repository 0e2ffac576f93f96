"""Devices at the door, with the handheld's own limits: what they see, and what they can do."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any

import pytest

from flybridge.auth.peer import TALK
from flybridge.frontends.companion.connection import (
    MAX_SOCKETS,
    MAX_STRANGERS,
    OF_ONE_SOURCE,
    address_of,
    pairing_status,
)
from flybridge.frontends.companion.wire.budget import encode
from flybridge.model import events as e
from flybridge.model.commands import AnswerPermission
from flybridge.runtime.keeper.process import start_time
from flybridge.testing import recorder
from tests.harness.agent_programs import steps
from tests.harness.companion_harness import ALL, ELSEWHERE, HERE, Rig, bash
from tests.harness.handheld import Handheld
from tests.harness.relay import relaying
from tests.harness.waiting import until
from tests.unit.frontends.companion.wire.test_decode import BAD

LOG = "flybridge.frontends.companion.connection"


# ---- pairing -------------------------------------------------------------------------------------


@pytest.mark.conforms("S3-D1")
async def test_an_unpaired_device_sees_and_does_nothing_but_the_pairing_status(rig: Rig) -> None:
    await until(lambda: rig.host.board.used)
    held = await rig.connect()
    shown = await held.hear()
    assert (shown["slot"], shown["state"], shown["promptToolType"]) == (0, "idle", "Pairing")
    [waiting] = rig.devices.waiting()
    assert waiting.code in shown["promptToolDetail"]
    held.prompt("do something")
    held.press("yes")
    held.press("escape")
    held.say("config", autoEdit=True)
    held.say("spawn_request", slot=1)
    held.say("command", command="spawn", slot=0)
    assert await held.quiet()
    assert rig.of(e.InputAccepted) == []
    assert list(rig.host.board.used) == [0]
    assert rig.host.board.used[0].auto_edit == ""


async def test_a_device_that_is_paired_while_it_waits_comes_in_at_once(rig: Rig) -> None:
    await until(lambda: rig.host.board.used)
    held = await rig.connect()
    await held.hear()
    code = rig.devices.waiting()[0].code
    done = await rig.ask("devices.pair", code=code, name="box", rights=["approve"], slots=[0])
    assert done["address"] == ELSEWHERE
    shown = await held.wait_for("idle", active=True)
    assert "promptToolType" not in shown
    held.close()
    again = await rig.connect()
    assert (await again.hear())["active"], "the address is known from now on"


async def test_a_code_that_is_over_is_replaced_by_another_on_the_screen(rig: Rig) -> None:
    held = await rig.connect()
    first = (await held.hear())["promptToolDetail"]
    rig.clock_ms += 121_000
    for connection in rig.door.connections:
        connection.recognise()
    assert (await held.hear())["promptToolDetail"] != first


async def test_an_address_of_this_machine_never_pairs(rig: Rig) -> None:
    held = await rig.connect(HERE)
    shown = await held.hear()
    assert "token" in shown["promptToolDetail"]
    assert rig.devices.waiting() == []


async def test_a_token_lets_a_device_in_by_header_or_by_its_first_frame(rig: Rig) -> None:
    _, token = rig.devices.create_token("box", ("view",))
    by_header = await rig.connect(HERE, token=token)
    await by_header.wait_for("idle", active=True)
    by_frame = await rig.connect(HERE)
    await by_frame.hear()
    by_frame.say("auth", token="fbd_wrong.token")
    by_frame.say("auth", token=token)
    await by_frame.wait_for("idle", active=True)
    wrong = await rig.connect(HERE, token="fbd_x.y")
    assert (await wrong.hear())["promptToolType"] == "Pairing"


async def test_a_device_that_is_revoked_is_cut_off(rig: Rig) -> None:
    held = await rig.ready()
    await rig.ask("devices.revoke", name="box")
    assert await held.ended()
    assert rig.devices.all() == ()


async def test_an_agent_with_a_devices_token_may_look_and_nothing_else(rig: Rig) -> None:
    """Abuse case 29."""
    rig.keepers = [(os.getpid(), start_time(os.getpid()) or "")]  # we run below a keeper
    held = await rig.ready()
    held.prompt("hello")
    held.say("spawn_request", slot=1)
    held.say("config", autoEdit=True)
    result = await held.hear()
    while result["type"] != "spawn_result":
        result = await held.hear()
    assert result == {
        "type": "spawn_result",
        "slot": 1,
        "success": False,
        "error": "Spawn failed",
    }
    assert rig.of(e.InputAccepted) == []
    assert rig.host.board.used[0].auto_edit == ""


async def test_a02_a_device_on_a_forwarded_connection_talks_and_approves_nothing(rig: Rig) -> None:
    """A token is no login that was made for forwarding."""
    _, token = rig.devices.create_token("box", ALL, ())
    with relaying(rig.door.port) as port:
        held = await Handheld.connect(port, token=token)
        await held.wait_for("idle")
        held.say("config", autoEdit=True)
        held.say("spawn_request", slot=1)
        result = await held.hear()
        while result["type"] != "spawn_result":
            result = await held.hear()
        assert result["success"] is False
        (connection,) = rig.door.connections
        assert connection.device is not None
        caller = connection._caller(connection.device)
        assert (caller.peer, caller.scopes) == ("forwarded", TALK)
        assert not caller.of_agent
        held.prompt("hello")
        await until(lambda: rig.of(e.InputAccepted))
        assert rig.host.board.used[0].auto_edit == ""
        held.close()


# ---- prompts and buttons -------------------------------------------------------------------------


@pytest.mark.conforms("S3-5")
async def test_a_prompt_is_processed_and_comes_back_idle(rig: Rig) -> None:
    held = await rig.ready()
    held.prompt("hello")
    assert (await held.wait_for("working"))["message"] == "Processing prompt…"
    await rig.saw(e.TurnEnded)
    rig.later()
    await held.wait_for("idle")


@pytest.mark.conforms("S3-6")
async def test_yes_lets_the_tool_run_with_the_input_that_was_shown(rig: Rig) -> None:
    held = await rig.ready()
    held.prompt(steps(bash("rm -f zz.txt")))
    rig.later()
    shown = await _waiting(rig, "rm -f zz.txt")
    assert shown
    await held.wait_for("waiting", promptToolType="Bash", promptToolDetail="rm -f zz.txt")
    held.press("yes")
    await rig.saw(e.TurnEnded)
    rig.later()
    await held.wait_for("idle")
    assert [one["input"] for one in rig.ran()] == [{"command": "rm -f zz.txt"}]
    [closed] = rig.of(e.PermissionClosed)
    assert (closed.how, closed.by) == ("allowed", "device:box")


async def _waiting(rig: Rig, detail: str, number: int = 0, after_ms: int = 1000) -> bool:
    """Wait until a prompt is open, and let it be shown."""

    def is_there() -> bool:
        prompt = rig.host.board.slots[number].prompt
        return prompt is not None and prompt.detail == detail

    await until(is_there)
    rig.later(after_ms)
    return True


@pytest.mark.conforms("S3-9")
async def test_no_denies_in_the_name_of_the_device(rig: Rig) -> None:
    held = await rig.ready(name="the box")
    held.prompt(steps(bash()))
    await _waiting(rig, "rm -f zz.txt")
    await held.wait_for("waiting")
    held.press("no")
    await rig.saw(e.TurnEnded)
    assert rig.ran() == []
    assert rig.of(e.PermissionClosed)[0].message == "Denied by user via the box"
    lines = b"".join(recorder.lines(rig.house.record))
    assert b"Denied by user via the box" in lines


@pytest.mark.conforms("S3-8")
async def test_always_allows_that_tool_for_the_rest_of_the_session(rig: Rig) -> None:
    held = await rig.ready()
    held.prompt(steps(fetch("one")))
    await _waiting(rig, "one")
    await held.wait_for("waiting")
    held.press("always")
    await rig.saw(e.TurnEnded)
    held.prompt(steps(fetch("two"), bash("u")))
    await _waiting(rig, "u")
    assert [one["input"] for one in rig.ran()] == [{"url": "one"}, {"url": "two"}]
    assert [one.by for one in rig.of(e.PermissionClosed)] == ["device:box"] * 2
    await rig.ask("devices.revoke", name="box")
    assert rig.host.board.slots[0].rules == {}


def fetch(url: str) -> dict[str, Any]:
    return {"tool": "WebFetch", "input": {"url": url}, "ask": True}


@pytest.mark.parametrize(
    "suggestions",
    [[], [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]],
    ids=["none", "a mode"],
)
@pytest.mark.parametrize("tool", ["Bash", "Write", "Edit"])
async def test_c01_always_allows_once_where_no_rule_can_be_kept_and_says_so(
    rig: Rig, tool: str, suggestions: list[dict[str, Any]]
) -> None:
    held = await rig.ready()
    asked = [
        {"tool": tool, "input": {"command": one}, "ask": True, "suggestions": suggestions}
        for one in ("one", "two")
    ]
    held.prompt(steps(asked[0]))
    await _waiting(rig, "one")
    await held.wait_for("waiting")
    held.press("always")
    await rig.saw(e.TurnEnded)
    rig.later()
    shown = await held.wait_for("idle", promptToolType="Allowed once")
    assert f"No rule was kept for {tool}" in shown["promptToolDetail"]
    held.prompt(steps(asked[1]))
    await _waiting(rig, "two")
    assert rig.host.board.slots[0].rules == {}
    assert [one["input"] for one in rig.ran()] == [{"command": "one"}]
    assert b"updatedPermissions" not in b"".join(recorder.lines(rig.house.record))


async def test_always_on_a_cut_prompt_is_refused_and_the_prompt_stays(rig: Rig) -> None:
    """Abuse case 36."""
    held = await rig.ready()
    held.prompt(steps(bash("x" * 600)))
    await _waiting(rig, "x" * 600)
    await held.wait_for("waiting")
    held.press("always")
    rig.later()
    assert (await held.hear())["state"] == "waiting", "it is shown again"
    assert rig.of(e.PermissionClosed) == []
    held.press("yes")
    await rig.saw(e.TurnEnded)
    assert len(rig.ran()) == 1


@pytest.mark.conforms("S3-10")
async def test_escape_interrupts_and_comes_back_idle(rig: Rig) -> None:
    held = await rig.ready()
    held.press("escape")  # nothing runs: nothing happens
    held.prompt(steps({"stall": 30}))
    await rig.saw(e.TurnStarted)
    held.press("escape")
    await rig.saw(e.TurnEnded)
    rig.later()
    await held.wait_for("idle")
    assert rig.of(e.TurnEnded)[0].reason == "interrupted"
    kinds = [one.kind for one in rig.of(e.InputAccepted)]
    assert kinds == ["message", "interrupt"]


async def test_escape_while_a_permission_waits_takes_it_back(rig: Rig) -> None:
    held = await rig.ready()
    held.prompt(steps(bash()))
    await _waiting(rig, "rm -f zz.txt")
    await held.wait_for("waiting")
    held.press("escape")
    await rig.saw(e.TurnEnded)
    rig.later()
    shown = await held.wait_for("idle")
    assert "promptToolType" not in shown
    assert rig.ran() == []


async def test_two_devices_press_at_once_and_one_decision_is_made(rig: Rig) -> None:
    one, two = await rig.ready(), await rig.ready(name="other")
    one.prompt(steps(bash()))
    await _waiting(rig, "rm -f zz.txt")
    for held in (one, two):
        await held.wait_for("waiting")
    one.press("yes")
    two.press("no")
    await rig.saw(e.TurnEnded)
    assert len(rig.of(e.PermissionClosed)) == 1
    assert len(rig.answers()) == 1
    rig.later()
    for held in (one, two):
        await held.wait_for("idle")


async def test_a_prompt_replaced_while_the_button_is_pressed_is_sent_again(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    """Abuse cases 32 and 33."""
    held = await rig.ready()
    held.prompt(steps(bash("harmless"), bash("rm -rf /")))
    await _waiting(rig, "harmless")
    await held.wait_for("waiting", promptToolDetail="harmless")
    rig.later()
    prompt = rig.host.board.slots[0].prompt
    assert prompt is not None
    await rig.house.submit(  # somebody else is quicker, at another screen
        rig.session(),
        AnswerPermission(prompt=prompt.prompt, digest=prompt.digest, decision="allow"),
        "elsewhere",
    )
    await _waiting(rig, "rm -rf /", after_ms=500)
    await held.wait_for("waiting", promptToolDetail="rm -rf /")
    with caplog.at_level(logging.INFO, LOG):
        held.press("yes")  # meant for what was there before
        await until(lambda: "a moment ago" in caplog.text)
    rig.later(500)
    assert (await held.hear())["promptToolDetail"] == "rm -rf /", "sent again"
    assert len(rig.of(e.PermissionClosed)) == 1
    held.press("no")
    await rig.saw(e.TurnEnded)
    assert [one["input"]["command"] for one in rig.ran()] == ["harmless"]


async def test_several_permissions_are_shown_one_after_the_other(rig: Rig) -> None:
    held = await rig.ready()
    held.prompt(steps(bash("first"), bash("second")))
    for command in ("first", "second"):
        await _waiting(rig, command)
        await held.wait_for("waiting", promptToolDetail=command)
        rig.later()
        held.press("yes")
    await rig.saw(e.TurnEnded)
    assert [one["input"]["command"] for one in rig.ran()] == ["first", "second"]


async def test_a_second_press_with_nothing_pending_does_nothing(rig: Rig) -> None:
    held = await rig.ready()
    held.prompt(steps(bash()))
    await _waiting(rig, "rm -f zz.txt")
    await held.wait_for("waiting")
    held.press("yes")
    held.press("yes")
    held.press("no")
    await rig.saw(e.TurnEnded)
    assert len(rig.of(e.PermissionClosed)) == len(rig.answers()) == 1


async def test_a_megabyte_with_emoji_and_quotes_fits_the_screen(rig: Rig) -> None:
    held = await rig.ready()
    command = '\U0001f600"\\\n' * 150_000
    held.say("config", autoEdit=False)
    await rig.house.attach(rig.session())
    live = rig.house.sessions.get(rig.session())
    task = asyncio.ensure_future(rig.house.say(live, steps(bash(command)), "big"))
    await until(lambda: rig.host.board.slots[0].prompt)
    rig.later()
    shown = await held.wait_for("waiting")  # the handheld checks the rest
    assert shown["promptToolDetail"].startswith('\U0001f600"\\ ↵ ')
    held.press("always")
    held.press("no")
    await task


# ---- rights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["yes", "always", "no"])
async def test_a_device_without_the_right_cannot_answer(rig: Rig, action: str) -> None:
    """Abuse case 31."""
    held = await rig.ready("view", "input", "interrupt")
    held.prompt(steps(bash()))
    await _waiting(rig, "rm -f zz.txt")
    await held.wait_for("waiting")
    held.press(action)
    await until(lambda: any(one.code == "not_allowed" for one in rig.records))
    assert rig.of(e.PermissionClosed) == []
    assert rig.host.board.slots[0].rules == {}
    notices = [one.text for one in rig.of(e.Notice)]
    assert any("device:box tried to answer permission" in one for one in notices)
    held.press("escape")
    await rig.saw(e.TurnEnded)


async def test_a_device_that_may_only_look_does_nothing_else(rig: Rig) -> None:
    held = await rig.ready("view")
    held.prompt("hello")
    held.say("spawn_request", slot=1)
    held.say("config", autoEdit=True)
    while (result := await held.hear())["type"] != "spawn_result":
        pass
    assert (result["success"], result["error"]) == (False, "Spawn failed")
    assert rig.of(e.InputAccepted) == []
    refused = [one.event for one in rig.records if one.outcome == "refused"]
    assert sorted(refused) == ["open", "send_input"]
    rig.later()
    held.say("config")
    rig.later()
    assert held.slots[0]["autoEdit"] is False


# ---- nonsense ------------------------------------------------------------------------------------

SMALL = [one for one in BAD if one and len(one) < 10_000 and b"\xff" not in one]


async def test_nonsense_is_ignored_with_a_line_in_the_log_and_is_never_a_no(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    """Abuse case 53."""
    held = await rig.ready()
    held.prompt(steps(bash()))
    await _waiting(rig, "rm -f zz.txt")
    await held.wait_for("waiting")
    more = [
        b"",
        b'{"type":"action","action":"no","action":"yes","slot":0}',  # which of the two?
        b'{"type":"action","action":"no","slot":7}',
        b'{"type":"action","action":"no","slot":-1}',
    ]
    with caplog.at_level(logging.INFO, LOG):
        for data in [*SMALL, *more]:
            rig.later(200)
            caplog.clear()
            held.send(data)
            await until(lambda: "ignored" in caplog.text)
            assert "too much" not in caplog.text
    assert rig.of(e.PermissionClosed) == []
    held.press("yes")
    await rig.saw(e.TurnEnded)
    assert len(rig.ran()) == 1


async def test_json_in_pieces_or_in_a_binary_frame_is_understood(rig: Rig) -> None:
    held = await rig.ready()
    text = b'{"type":"command","command":"hello","slot":0}'
    held.send(text[:10], fin=False)
    held.send(text[10:], opcode=0)
    await rig.saw(e.TurnEnded)
    held.send(text, opcode=2)
    await rig.saw(e.TurnEnded, 2)


@pytest.mark.parametrize(
    "data",
    [
        b"\x81\x02hi",  # without a mask
        b"\x83\x80abcd",  # an opcode that nobody has
        b"\xf1\x80abcd",  # bits that nobody has
    ],
)
async def test_frames_against_the_rules_end_that_connection_and_no_other(
    rig: Rig, data: bytes
) -> None:
    good, bad = await rig.ready(), await rig.ready(name="bad")
    bad.raw(data)
    assert await bad.ended()
    good.prompt("hello")
    await good.wait_for("working")
    await rig.saw(e.TurnEnded)


async def test_text_that_is_not_text_ends_the_connection(rig: Rig) -> None:
    held = await rig.ready()
    held.send(b"\xff\xfe")
    assert await held.ended()


async def test_a_ping_is_answered_and_a_close_too(rig: Rig) -> None:
    held = await rig.ready()
    held.send(b"x", opcode=9)
    with pytest.raises(AssertionError, match="opcode 10"):
        await held.hear()
    held.send(b"\x03\xe8", opcode=8)
    assert await held.ended()


async def test_who_says_too_much_is_not_listened_to(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    held = await rig.ready()
    with caplog.at_level(logging.WARNING, LOG):
        for _ in range(60):
            held.prompt("hello")
        await until(lambda: "too much" in caplog.text)
    assert len(rig.of(e.InputAccepted)) <= 32


async def test_there_is_an_end_to_connections(rig: Rig) -> None:
    for _ in range(OF_ONE_SOURCE):
        await rig.connect(ELSEWHERE)
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await rig.connect(ELSEWHERE)
    assert len(rig.door.connections) == OF_ONE_SOURCE < MAX_SOCKETS


async def test_strangers_keep_no_device_out(rig: Rig) -> None:
    """Abuse case 17."""
    first = await rig.connect(ELSEWHERE)
    for n in range(1, MAX_STRANGERS):
        await rig.connect(f"127.0.0.{2 + n // OF_ONE_SOURCE}")
    held = await rig.ready(name="known")
    assert await first.ended(), "the oldest of them made way"
    held.prompt("hello")
    await rig.saw(e.TurnEnded)
    assert len(rig.door.connections) == MAX_STRANGERS


# ---- time ----------------------------------------------------------------------------------------


async def test_a_device_that_never_answers_a_ping_stays_connected_for_an_hour(rig: Rig) -> None:
    held = await rig.ready()
    loop = asyncio.get_running_loop()
    real, ahead = loop.time, 0.0
    loop.time = lambda: real() + ahead  # type: ignore[method-assign]
    try:
        for _minute in range(60):
            ahead += 60.0
            rig.later(60_000)
            await asyncio.sleep(0)  # every timer that is due by now goes off
            await asyncio.sleep(0)
    finally:
        loop.time = real  # type: ignore[method-assign]
    assert held.pings == 0
    held.prompt("hello")
    assert (await held.wait_for("working"))["message"] == "Processing prompt…"
    await rig.saw(e.TurnEnded)


async def test_a_device_that_reads_nothing_gets_the_latest_and_not_all(rig: Rig) -> None:
    held = await rig.ready()
    [connection] = rig.door.connections
    connection.pause_writing()
    for n in range(20):
        rig.host.board.slots[0].apply(e.Error(code="x", text=f"error {n}"))
        rig.later()
        rig.host.changed(0)
    assert await held.quiet()
    connection.resume_writing()
    assert (await held.hear())["message"] == "error 19"


def test_the_pairing_status_fits_and_says_what_to_do() -> None:
    for here in (True, False):
        status = pairing_status(None, here=here)
        assert len(encode(status)) < 500
        assert status.prompt_tool_type == "Pairing"


def test_an_address_is_written_without_the_form_that_ipv6_gives_it() -> None:
    assert address_of("::ffff:192.168.1.7") == "192.168.1.7"
    assert address_of("fe80::1") == "fe80::1"
