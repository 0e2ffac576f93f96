"""Slots: started, lost, started again, kept over the end of a gateway; and edits by themselves."""

from __future__ import annotations

import logging
import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.errors import InvalidRequestError
from flybridge.model import events as e
from flybridge.model.commands import Delete
from flybridge.store.devices import SlotSpec
from flybridge.testing import recorder
from tests.harness.agent_programs import steps
from tests.harness.companion_harness import Rig, bash, companion
from tests.harness.handheld import Handheld
from tests.harness.other_agent import script
from tests.harness.waiting import until


async def spawned(held: Handheld) -> dict[str, Any]:
    """The next result of a spawn."""
    while (heard := await held.hear())["type"] != "spawn_result":
        pass
    return heard


def agents(rig: Rig) -> list[int]:
    """The processes of all recorders, in the order they were started."""
    return [one.pid for one in recorder.read_record(rig.house.record) if one.kind == "started"]


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


# ---- starting ------------------------------------------------------------------------------------


@pytest.mark.conforms("S3-2", "S3-3")
async def test_slot_0_starts_with_the_server(rig: Rig) -> None:
    held = await rig.paired()
    shown = await held.wait_for("idle")
    assert (shown["slot"], shown["active"], shown["agent"]) == (0, True, "recorder")
    row = next(one for one in rig.house.sessions.rows() if one.session == rig.session())
    assert (row.labels["companion.slot"], row.cwd) == ("0", str(rig.project))


async def test_a_slot_0_that_cannot_start_is_a_line_in_the_log(
    short_tmp: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with companion(short_tmp, agent="missing") as rig:
        await until(lambda: "slot 0 has no agent" in caplog.text)
        held = await rig.paired()
        held.say("spawn_request", slot=0)
        result = await spawned(held)
        assert (result["success"], result["error"]) == (False, "Spawn failed")
        assert held.slots == {}


@pytest.mark.conforms("S3-11")
async def test_a_second_slot_works_by_itself(rig: Rig) -> None:
    held = await rig.ready()
    held.say("command", command="spawn", slot=0)
    assert await spawned(held) == {"type": "spawn_result", "slot": 1, "success": True}
    assert 1 not in held.slots, "the result comes first"
    await held.wait_for("idle", 1, agent="recorder-2")
    rig.later()
    held.prompt(steps(bash("in two")), slot=1)
    held.say("command", command=steps(bash("in one")), slot=0, agent="recorder")
    await until(lambda: all(slot.prompt for slot in rig.host.board.slots.values()))
    rig.later()
    await held.wait_for("waiting", 0, promptToolDetail="in one")
    await held.wait_for("waiting", 1, promptToolDetail="in two")
    held.say("action", action="no", agent="recorder-2", slot=0)  # as older devices say it
    await rig.saw(e.TurnEnded, number=1)
    assert rig.of(e.PermissionClosed, 0) == []
    held.press("yes")
    await rig.saw(e.TurnEnded)
    assert [one["input"]["command"] for one in rig.ran()] == ["in one"]


async def test_a_device_that_leaves_does_not_leave_half_an_agent_behind(rig: Rig) -> None:
    held = await rig.ready()
    held.say("spawn_request", slot=1)
    await until(lambda: rig.host._starting)
    held.close()
    await until(lambda: 1 in rig.host.board.used)
    assert list(rig.devices.file.known.used) == ["0", "1"]


async def test_slots_are_occupied_and_run_out(rig: Rig) -> None:
    await rig.ask("slots.set", slots=[{}, {}])
    held, other = await rig.ready(), await rig.ready("view", name="other")
    held.say("spawn_request", slot=0)
    assert (await spawned(held))["error"] == "Slot occupied"
    held.say("command", command="spawn")
    assert (await spawned(held))["success"]
    assert (await spawned(other))["success"], "who sees the slot hears of it"
    held.say("command", command="spawn")
    result = await spawned(held)
    assert (result["success"], result["error"]) == (False, "No free slots")
    held.say("spawn_request", slot=2)
    assert (await spawned(held))["error"] == "Spawn failed"
    await until(lambda: len(agents(rig)) == 2)


async def test_one_slot_is_started_once_however_often_it_is_wanted(rig: Rig) -> None:
    held = await rig.ready()
    for _ in range(3):
        held.say("spawn_request", slot=1)
    results = [await spawned(held) for _ in range(3)]
    assert sorted(one["success"] for one in results) == [False, False, True]
    await until(lambda: len(agents(rig)) == 2)


async def test_a_session_that_somebody_opens_with_the_label_is_in_that_slot(rig: Rig) -> None:
    held = await rig.ready()
    live = await rig.house.open(labels={"companion.slot": "2"})
    await held.wait_for("idle", 2, active=True)
    assert rig.session(2) == live.session
    await rig.house.open(request="other", labels={"companion.slot": "2"})
    await rig.house.open(request="wrong", labels={"companion.slot": "99"})
    held.say("spawn_request", slot=2)
    assert (await spawned(held))["error"] == "Slot occupied"
    assert rig.session(2) == live.session


# ---- ending --------------------------------------------------------------------------------------


@pytest.mark.conforms("S3-12", "S3-13")
async def test_a_process_that_dies_is_done_and_its_slot_can_be_had_again(rig: Rig) -> None:
    held = await rig.ready()
    held.prompt(steps(bash()))
    await until(lambda: rig.host.board.slots[0].prompt)
    rig.later()
    await held.wait_for("waiting")
    rig.later()
    kill(agents(rig)[0])
    shown = await held.wait_for("done")
    assert not shown["active"]
    assert "promptToolType" not in shown
    held.press("yes")
    held.prompt("anyone?")
    later = await rig.paired(name="later")
    held.say("command", command="spawn", slot=0)
    assert await spawned(held) == {"type": "spawn_result", "slot": 0, "success": True}
    rig.later()
    await held.wait_for("idle", active=True)
    await later.wait_for("idle", active=True)
    assert [one["state"] for one in later.heard if one["type"] == "agent_status"] == ["idle"]
    held.prompt("hello")
    await rig.saw(e.TurnEnded)


@pytest.mark.conforms("S3-14")
async def test_an_error_is_shown_with_its_text_until_the_next_prompt(rig: Rig) -> None:
    held = await rig.ready()
    slot = rig.host.board.slots[0]
    slot.apply(e.Error(code="rate_limit", text="API Error: slow down"))
    rig.host.changed(0)
    shown = await held.wait_for("error")
    assert (shown["promptToolType"], shown["promptToolDetail"]) == ("Error", "API Error: slow down")
    rig.later()
    held.prompt("hello")
    await rig.saw(e.TurnEnded)
    rig.later()
    await held.wait_for("idle")


async def test_a_session_that_is_deleted_frees_its_slot(rig: Rig) -> None:
    held = await rig.ready()
    await rig.house.submit(rig.session(), Delete(), "delete")
    await until(lambda: rig.host.board.slots[0].ended)
    rig.later()
    await held.wait_for("done")
    assert rig.host.board.free([0]) == [0]


async def test_an_agent_that_was_put_away_is_still_in_its_slot_and_comes_back(rig: Rig) -> None:
    held = await rig.ready()
    held.prompt("hello")
    await rig.saw(e.TurnEnded)
    services = rig.house.services
    services.timing = msgspec.structs.replace(services.timing, idle_s=0.001)
    await until(rig.house.sessions.sweep)  # as after an hour without a word
    await rig.saw(e.AgentExited)
    services.timing = msgspec.structs.replace(services.timing, idle_s=0)
    rig.later()
    await held.wait_for("idle", active=True)
    assert rig.host.board.free([0]) == []
    held.prompt("are you there?")
    await rig.saw(e.TurnEnded, 2)
    assert rig.of(e.AgentStarted)[-1].resumed
    assert all(one.get("state") != "done" for one in held.heard)


# ---- staying -------------------------------------------------------------------------------------


async def test_what_lives_is_in_its_slot_again_after_a_restart(short_tmp: Path) -> None:
    first = Rig(short_tmp)
    await first.start()
    held = await first.ready()
    held.prompt(steps(bash()))
    await until(lambda: first.host.board.slots[0].prompt)
    session = first.session()
    await first.stop()
    await first.house.die()
    second = Rig(short_tmp, first.house.journal)
    await second.house.sessions.recover()
    await second.start()
    try:
        _, token = second.devices.create_token("new", ("view", "approve"))
        held = await second.connect("127.0.0.1", token=token)
        await held.wait_for("waiting", promptToolDetail="rm -f zz.txt")
        assert second.session() == session
        second.later()
        held.press("yes")
        await second.saw(e.TurnEnded)
        assert len(agents(second)) == 1
    finally:
        await second.stop()
        await second.house.end()


async def _restarted(first: Rig, folder: Path, **more: Any) -> Rig:
    """A gateway that comes after one whose agents died with it."""
    await first.stop()
    for pid in agents(first):
        kill(pid)
    await until(lambda: not first.house.services.agents)
    await first.house.die()
    second = Rig(folder, first.house.journal, **more)
    await second.house.sessions.recover()
    await second.start()
    return second


async def test_what_died_with_the_machine_goes_on_in_its_conversation(short_tmp: Path) -> None:
    first = Rig(short_tmp)
    await first.start()
    held = await first.ready()
    held.prompt("hello")
    await first.saw(e.TurnEnded)
    conversation = first.of(e.AgentReady)[-1].agent_session
    second = await _restarted(first, short_tmp)
    try:
        await until(lambda: second.host.board.used)
        assert second.of(e.SessionOpened)[0].resumed == conversation
        assert second.session() != next(iter(first.host.board.slots.values())).session
    finally:
        await second.stop()
        await second.house.end()


async def test_a_conversation_that_cannot_be_resumed_is_begun_anew(
    short_tmp: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = Rig(short_tmp)
    await first.start()
    held = await first.ready()
    held.prompt("hello")
    await first.saw(e.TurnEnded)
    session = first.session()
    second = await _restarted(first, short_tmp)
    try:
        await until(lambda: second.host.board.used)
        resumed = second.session()
        await until(lambda: len(agents(second)) == 2)
        kill(agents(second)[-1])  # within five seconds
        await until(lambda: second.host.board.used and second.session() != resumed)
        assert second.of(e.SessionOpened)[0].resumed == ""
        assert second.session() != session
        assert "begins anew" in caplog.text
    finally:
        await second.stop()
        await second.house.end()


async def test_a_slot_that_was_done_before_stays_empty(short_tmp: Path) -> None:
    first = Rig(short_tmp)
    await first.start()
    held = await first.ready()
    held.say("spawn_request", slot=1)
    await spawned(held)
    await until(lambda: len(agents(first)) == 2)
    kill(agents(first)[1])
    await until(lambda: first.host.board.slots[1].ended)
    await until(lambda: list(first.devices.file.known.used) == ["0"])
    await first.stop()
    await first.house.end()


# ---- configuration -------------------------------------------------------------------------------


async def test_slots_say_what_is_started_in_them(rig: Rig) -> None:
    await until(lambda: rig.host.board.used)
    other = rig.folder / "other"
    other.mkdir()
    slots = (SlotSpec(), SlotSpec(dir=str(other), mode="plan"))
    rig.host.configure(slots)
    assert rig.host.spec(0) == SlotSpec(agent="recorder", dir=str(rig.project))
    held = await rig.ready()
    held.say("spawn_request", slot=1)
    assert (await spawned(held))["success"], "the mode was an administrator's choice"
    opened = rig.of(e.SessionOpened, 1)[0]
    assert (opened.cwd, opened.mode, opened.opener) == (str(other), "plan", "device:box")
    with pytest.raises(InvalidRequestError):
        rig.host.configure((SlotSpec(),))


# ---- auto-edit -----------------------------------------------------------------------------------


def write(path: Path | str) -> dict[str, Any]:
    return {"tool": "Write", "input": {"file_path": str(path), "content": "x"}, "ask": True}


async def auto(rig: Rig, *rights: str) -> Handheld:
    held = await rig.ready(*rights)
    held.say("config", autoEdit=True)
    rig.later()
    await held.hear()
    rig.later()
    return held


@pytest.mark.conforms("S3-7")
async def test_an_edit_inside_the_project_is_allowed_and_said_so(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    held = await auto(rig)
    assert held.slots[0]["autoEdit"] is True
    with caplog.at_level(logging.INFO, "flybridge.frontends.companion.slots"):
        held.prompt(steps(write(rig.project / "new.txt"), write("sub/../other.txt")))
        await rig.saw(e.TurnEnded)
    assert len(rig.ran()) == 2
    assert {one.by for one in rig.of(e.PermissionClosed)} == {"device:box"}
    assert "auto-edit" in caplog.text
    rig.later()
    await held.wait_for("idle")
    assert all(one.get("state") != "waiting" for one in held.heard)


async def test_an_edit_anywhere_else_is_asked_about(rig: Rig) -> None:
    (rig.project / "out").symlink_to(rig.folder)
    held = await auto(rig)
    places: list[Path | str] = [
        rig.folder / "x",
        "../x",
        rig.project / "out" / "x",
        rig.project / ".git" / "hooks",
        rig.project / ".claude" / "settings.json",
        "sub/courier.json",  # obeyed by another agent that is configured
    ]
    for place in places:
        held.prompt(steps(write(place)))
        await until(lambda: rig.host.board.slots[0].prompt)
        rig.later()
        await held.wait_for("waiting")
        rig.later()
        before = len(rig.of(e.TurnEnded))
        held.press("no")
        await rig.saw(e.TurnEnded, before + 1)
        rig.later()
        await held.wait_for("idle")
    assert rig.ran() == []


async def test_settings_of_an_agent_that_is_not_claude_are_asked_about(short_tmp: Path) -> None:
    async with companion(short_tmp, grace_s=0.5, agent="courier") as rig:
        held = await auto(rig)
        patch = {"tool": "patch", "ask": True}
        held.prompt(script({**patch, "input": {"files": ["new.txt"]}}))
        await rig.saw(e.TurnEnded)
        assert {event.by for event in rig.of(e.PermissionClosed)} == {"device:box"}
        for name in ("courier.json", ".courier/config.toml", ".claude/settings.json"):
            rig.later()
            await held.wait_for("idle")
            before = len(rig.of(e.TurnEnded))
            held.prompt(script({**patch, "input": {"files": [name]}}))
            await until(lambda: rig.host.board.slots[0].prompt)
            rig.later()
            await held.wait_for("waiting")
            rig.later()
            held.press("no")
            await rig.saw(e.TurnEnded, before + 1)
        assert [event.how for event in rig.of(e.PermissionClosed)] == ["allowed", *["denied"] * 3]


async def test_nothing_but_an_edit_is_allowed_by_itself(rig: Rig) -> None:
    held = await auto(rig)
    held.prompt(steps(bash()))
    await until(lambda: rig.host.board.slots[0].prompt)
    rig.later()
    await held.wait_for("waiting")
    assert rig.of(e.PermissionClosed) == []
    held.press("escape")
    await rig.saw(e.TurnEnded)


async def test_auto_edit_needs_its_right_and_ends_with_the_device(rig: Rig) -> None:
    weak = await auto(rig, "view", "input", "approve")
    assert weak.slots[0]["autoEdit"] is False
    rig.later()
    strong = await rig.ready(name="strong")
    strong.say("config", autoEdit=True)
    await until(lambda: rig.host.board.slots[0].auto_edit)
    rig.later()
    await weak.wait_for("idle", autoEdit=True)
    await rig.ask("devices.revoke", name="strong")
    assert rig.host.board.slots[0].auto_edit == ""
    rig.later()
    await weak.wait_for("idle", autoEdit=False)


async def test_auto_edit_is_off_again_at_any_devices_word(rig: Rig) -> None:
    held = await auto(rig)
    other = await rig.ready("view", name="other")
    other.say("config", autoEdit=False)
    rig.later()
    await held.wait_for("idle", autoEdit=False)
    rig.later()
    held.prompt(steps(write(rig.project / "a")))
    await until(lambda: rig.host.board.slots[0].prompt)
    held.press("escape")
    await rig.saw(e.TurnEnded)
