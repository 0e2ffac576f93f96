"""The receiver, against a recorder agent: what it takes, what it refuses, what it remembers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.errors import InvalidRequestError
from flybridge.frontends.control.checks import ledger_name
from flybridge.frontends.control.service import names_of
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.deliveries import Stage
from flybridge.model.ids import InputKey, TurnId
from flybridge.model.requests import Ask
from flybridge.runtime.services import Limits
from flybridge.store.sqlite import SqliteJournal
from flybridge.store.teams import Member, Rule, Teams
from flybridge.testing import recorder
from flybridge.wire.control import messages as wire
from flybridge.wire.control.times import format_time
from tests.harness.agent_programs import steps
from tests.harness.control_harness import ALLOWED, LEAD, Json, Steered, steered, texts
from tests.harness.forged_lines import introduced
from tests.harness.runtime_harness import EVERYTHING, House
from tests.harness.waiting import until

Rules = tuple[Rule, ...]
DAY_MS = 24 * 3600 * 1000


def code_of(ack: Json) -> str:
    return str(ack.get("error", {}).get("code", ""))


# ---- what is said, and what comes of it ---------------------------------------------------------


@pytest.mark.conforms("S2-3.1a", "S2-3.2", "S2-2")
async def test_a_message_is_written_once_and_said_to_be(place: Steered) -> None:
    live = await place.ready()
    message = place.message(live, content="two\nlines, é")
    ack = await place.ack(message)
    told = {key: ack[key] for key in ("request_id", "team", "session_id", "agent_id")}
    assert told == {key: message[key] for key in told}
    assert (ack["type"], ack["v"], ack["result"], ack["duplicate"]) == (
        "control.stdin.ack",
        1,
        "ok",
        False,
    )
    assert (ack["detail"], ack["stage"]) == ("started", "observed")
    assert place.lines() == ["two\nlines, é"]


@pytest.mark.conforms("S2-5a", "S2-5b", "S2-5c")
async def test_a_retry_gets_the_recorded_outcome_and_runs_nothing(place: Steered) -> None:
    live = await place.ready()
    message = place.message(live)
    first = await place.ack(message)
    again = await place.ack({**message, "sent_at": format_time(place.clock()), "meta": {"x": 1}})
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert (again["result"], again["detail"]) == ("ok", first["detail"])
    assert place.lines() == ["hello"]


@pytest.mark.conforms("S2-5e")
async def test_a_request_id_cannot_be_used_for_something_else(place: Steered) -> None:
    live = await place.ready()
    message = place.message(live)
    await place.ack(message)
    for other in (
        {"content": "other"},
        {"interrupt": True},
        {"mode": "queue"},
        {"thread_id": live.memory.state.agent_session},
    ):
        ack = await place.ack({**message, **other})
        assert (ack["result"], code_of(ack)) == ("rejected", "request_id_reused")
    stop = place.message(live, "interrupt", request_id=message["request_id"])
    assert code_of(await place.ack(stop)) == "request_id_reused"
    assert place.lines() == ["hello"]


async def test_n03_a_retry_may_spell_out_what_holds_anyway(place: Steered) -> None:
    live = await place.ready()
    message = place.message(live)
    await place.ack(message)
    spelled = {"interrupt": False, "content_encoding": "utf-8", "content_preview": "hello"}
    again = await place.ack({**message, **spelled})
    assert (again["result"], again["duplicate"]) == ("ok", True)
    assert place.lines() == ["hello"]


async def test_n02_an_unknown_field_is_named(place: Steered) -> None:
    live = await place.ready()
    ack = await place.ack(place.message(live, x=1))
    assert (ack["result"], ack["detail"]) == ("rejected", "unknown field: x")
    ack = await place.ack(place.message(live, sent_at=None))
    assert ack["detail"] == "missing field: sent_at"


async def test_43_the_same_id_of_another_principal_is_another_request(place: Steered) -> None:
    """Abuse case 43."""
    live = await place.ready()
    place.file.save(
        Teams(
            members=(*ALLOWED.members, Member(team="default", name="two", principal="two")),
            rules=ALLOWED.rules,
        )
    )
    message = place.message(live)
    other = msgspec.structs.replace(LEAD, principal="two")
    squatted = await place.ack({**message, "sender": "two", "content": "mine"}, other)
    honest = await place.ack(message)
    assert (squatted["duplicate"], honest["duplicate"]) == (False, False)
    # the second steers the turn of the first: it is written, the agent may read it later
    await until(lambda: place.lines() == ["mine", "hello"])


@pytest.mark.parametrize("name", ["native id", "ours"])
async def test_a_session_goes_by_two_names_and_a_request_by_one(place: Steered, name: str) -> None:
    live = await place.ready()
    own = live.memory.state.agent_session
    message = place.message(live, session_id=own if name == "native id" else live.session)
    assert (await place.ack(message))["result"] == "ok"
    other = {**message, "session_id": live.session if name == "native id" else own}
    assert (await place.ack(other))["duplicate"] is True
    assert (await place.ack({**other, "agent_id": f"recorder:{live.session}"}))["duplicate"] is True
    assert place.lines() == ["hello"]


async def test_the_agent_of_a_session_has_two_names_too(place: Steered) -> None:
    live = await place.ready()
    for name in names_of(live.memory.state):
        assert (await place.ack(place.message(live, agent_id=name)))["result"] == "ok"


@pytest.mark.conforms("S2-5d")
async def test_a_hundred_at_once_are_one(place: Steered) -> None:
    live = await place.ready()
    message = place.message(live)
    acks = await asyncio.gather(*(place.ack(message) for _ in range(100)))
    assert [one["duplicate"] for one in acks].count(False) == 1
    assert {(one["result"], one["detail"], one["stage"]) for one in acks} == {
        ("ok", "started", "observed")
    }
    assert place.lines() == ["hello"]


# ---- a turn runs --------------------------------------------------------------------------------


async def busy(place: Steered, live: Any, request: str = "busy") -> str:
    """A turn that goes on until it is stopped; which."""
    before = live.memory.state.turns
    await place.house.say(live, steps({"say": "begun"}, {"stall": 50}), request, Stage.OBSERVED)
    await until(lambda: live.memory.state.turns > before and live.memory.state.turn)
    return str(live.memory.state.turn)


async def test_a_message_in_the_middle_of_a_turn_steers_it(place: Steered) -> None:
    live = await place.ready()
    await busy(place, live)
    ack = await place.ack(place.message(live, mode="now"))
    assert (ack["result"], ack["detail"]) == ("ok", "steered")
    assert ack["stage"] in ("written", "observed")


async def test_a_message_can_wait_for_the_end_of_the_turn(place: Steered) -> None:
    live = await place.ready()
    turn = await busy(place, live)
    message = place.message(live, mode="queue")
    ack = await place.ack(message)
    assert (ack["result"], ack["detail"], ack["stage"]) == ("ok", "queued", "accepted")
    stop = await place.ack(place.message(live, "interrupt", turn_id=turn))
    assert stop["result"] == "ok"
    await until(lambda: "hello" in place.lines())
    again = await place.ack(message)
    assert (again["result"], again["duplicate"], again["detail"]) == ("ok", True, "queued")
    assert again["stage"] in ("written", "observed")


@pytest.mark.conforms("S2-3.1c")
async def test_interrupt_and_say_are_two_steps_and_happen_once(place: Steered) -> None:
    live = await place.ready()
    await busy(place, live)
    message = place.message(live, interrupt=True)
    ack = await place.ack(message)
    assert ack["result"] == "ok"
    await until(lambda: "hello" in place.lines())
    await place.house.saw(e.TurnEnded, 3)
    assert [one.reason for one in place.house.client.of(e.TurnEnded)][1] == "interrupted"
    await until(lambda: not live.memory.state.turn and not live.memory.state.inputs)
    await busy(place, live, "busy2")
    again = await place.ack(message)
    assert (again["result"], again["duplicate"]) == ("ok", True)
    assert live.memory.state.turn, "the retry stopped another turn"
    assert place.lines().count("hello") == 1


async def test_interrupt_and_say_to_an_idle_agent_is_just_said(place: Steered) -> None:
    live = await place.ready()
    ack = await place.ack(place.message(live, interrupt=True))
    assert (ack["result"], ack["detail"]) == ("ok", "started")


# ---- interrupts ---------------------------------------------------------------------------------


@pytest.mark.conforms("S2-3.3", "S2-3.4")
@pytest.mark.parametrize("bound", [True, False])
async def test_an_interrupt_stops_the_turn_that_runs(place: Steered, bound: bool) -> None:
    live = await place.ready()
    turn = await busy(place, live)
    ack = await place.ack(place.message(live, "interrupt", turn_id=turn if bound else None))
    assert (ack["type"], ack["result"], ack["duplicate"]) == (
        "control.interrupt.ack",
        "ok",
        False,
    )
    await until(lambda: not live.memory.state.turn)


@pytest.mark.abuse(45)
async def test_45_a_late_interrupt_never_hits_the_next_turn(place: Steered) -> None:
    live = await place.ready()
    first = await busy(place, live)
    bound, free = place.message(live, "interrupt", turn_id=first), place.message(live, "interrupt")
    await place.ack(free)
    await until(lambda: not live.memory.state.turn and not live.memory.state.inputs)
    second = await busy(place, live, "second")
    late = await place.ack(bound)
    assert (late["result"], code_of(late)) == ("not_live", "turn_ended")
    again = await place.ack(free)
    assert (again["result"], again["duplicate"]) == ("ok", True)
    assert live.memory.state.turn == second


async def test_an_interrupt_that_found_nothing_does_not_wait_for_something(
    place: Steered,
) -> None:
    live = await place.ready()
    before = recorder.lines(place.house.record)
    message = place.message(live, "interrupt")
    ack = await place.ack(message)
    assert (ack["result"], ack["detail"]) == ("ok", "idle")
    assert recorder.lines(place.house.record) == before, "an idle agent was told to stop"
    await busy(place, live)
    again = await place.ack(message)
    assert (again["result"], again["detail"], again["duplicate"]) == ("ok", "idle", True)
    assert live.memory.state.turn, "the retry stopped a turn that began later"


async def test_an_interrupt_means_the_turn_that_ran_when_it_came(place: Steered) -> None:
    live = await place.ready()
    turn = await busy(place, live)
    asked = wire.decode_request(msgspec.json.encode(place.message(live, "interrupt")))
    assert isinstance(asked, wire.InterruptRequest)
    command, _ = await place.control._prepare(LEAD, live, asked)
    assert command == c.Interrupt(turn=TurnId(turn)), "it could stop the next one on its way"


async def test_a_turn_that_never_was_is_over(place: Steered) -> None:
    live = await place.ready()
    ack = await place.ack(place.message(live, "interrupt", turn_id="trn_77"))
    assert (ack["result"], code_of(ack)) == ("not_live", "turn_ended")


@pytest.mark.conforms("S2-3.3")
async def test_there_is_one_signal(place: Steered) -> None:
    live = await place.ready()
    ack = await place.ack(place.message(live, "interrupt", signal="kill"))
    assert (ack["type"], ack["result"]) == ("control.interrupt.ack", "rejected")


# ---- not live, not there, not now ---------------------------------------------------------------


@pytest.mark.conforms("S2-4a", "S2-4b")
@pytest.mark.parametrize("kind", ["stdin", "interrupt"])
async def test_no_agent_is_started_for_a_control_message(place: Steered, kind: str) -> None:
    live = await place.ready()
    await place.house.sessions.stop_agent(live.session)
    await until(lambda: live.memory.state.phase == "none")
    ack = await place.ack(place.message(live, kind))
    assert (ack["result"], code_of(ack)) == ("not_live", "not_live")
    assert live.memory.state.phase == "none"


async def test_a_closed_session_is_not_live(place: Steered) -> None:
    live = await place.ready()
    await place.house.submit(live.session, c.Close(), "close", Stage.DONE)
    ack = await place.ack(place.message(live))
    assert ack["result"] == "not_live"


@pytest.mark.conforms("S2-10c")
@pytest.mark.abuse(38)
async def test_38_absent_and_invisible_are_told_apart_by_nothing(place: Steered) -> None:
    live = await place.ready()
    elsewhere = await place.ready("b", labels={"flybridge.team": "other"})
    message = place.message(live, request_id="same")
    blind = msgspec.structs.replace(LEAD, sessions=frozenset({"ses_else"}))
    answers = [
        await place.ack({**message, "session_id": "ses_none"}),
        await place.ack(
            {
                **message,
                "session_id": elsewhere.session,
                "agent_id": place.agent_id(elsewhere),
            }
        ),
        await place.ack(message, blind),
        await place.ack({**message, "agent_id": "recorder:another"}),
        await place.ack({**message, "agent_id": f"claude:{live.memory.state.agent_session}"}),
        await place.ack({**message, "thread_id": "another"}),
    ]
    for one in answers:
        one.pop("session_id"), one.pop("agent_id"), one.pop("acked_at")
    assert all(one == answers[0] for one in answers), answers
    assert answers[0]["result"] == "not_found"
    assert place.lines() == []


async def test_the_right_thread_is_found(place: Steered) -> None:
    live = await place.ready()
    own = live.memory.state.agent_session
    assert (await place.ack(place.message(live, thread_id=own)))["result"] == "ok"


async def test_a_full_queue_is_busy(short_tmp: Path) -> None:
    def small(folder: Path, journal: Any, **more: Any) -> House:
        return House(folder, journal, limits=Limits(held_inputs=2), **more)

    async with steered(short_tmp, make=small) as place:
        live = await place.ready()
        await busy(place, live)
        results = [(await place.ack(place.message(live, mode="queue")))["result"] for _ in "123"]
        assert results == ["ok", "ok", "busy"]


async def test_an_agent_that_does_not_read_is_waited_for_once_and_busy_then(
    short_tmp: Path,
) -> None:
    async with steered(short_tmp, ack_s=2.2) as place:
        live = await place.ready()
        again = short_tmp / "reads again"
        await place.house.say(live, steps({"stop_reading": str(again)}), "deaf", Stage.OBSERVED)
        message = place.message(live, content="x" * (1 << 20))
        slow = await place.ack(message)
        assert (slow["result"], slow["stage"], code_of(slow)) == (
            "timeout",
            "accepted",
            "in_progress",
        )
        blocked = await place.ack(place.message(live))
        assert blocked["result"] == "busy"
        again.touch()
        await until(lambda: len(place.lines()) == 2)
        told = await place.ack(message)
        assert (told["result"], told["duplicate"]) == ("ok", True)


# ---- what is looked at before anything is claimed -----------------------------------------------


REF = {"path": "x", "size_bytes": 1, "sha256": "", "mime": "text/plain"}
BAD: list[tuple[Json, str]] = [
    ({"content": ""}, "empty_content"),
    ({"content": None}, "invalid_request"),
    ({"content_ref": REF, "content": "both"}, "invalid_request"),
    ({"v": 2}, "unsupported_version"),
    ({"v": None}, "invalid_request"),
    ({"content_encoding": "latin-1"}, "unsupported_encoding"),
    ({"content": "x" * ((1 << 20) + 1)}, "content_too_large"),
    ({"content": "é" * (1 << 20)}, "content_too_large"),
    ({"content": 7}, "invalid_request"),
    ({"mode": "soon"}, "invalid_request"),
    ({"turnid": "trn_1"}, "invalid_request"),
    ({"scopes": ["admin"]}, "invalid_request"),
    ({"request_id": "é"}, "invalid_request"),
    ({"request_id": "x" * 129}, "invalid_request"),
    ({"team": ""}, "invalid_request"),
    ({"content": " \n"}, "empty_content"),
    ({"unknown_thing": 1}, "invalid_request"),
    ({"sent_at": None}, "invalid_request"),
]


@pytest.mark.conforms("S2-3.1b", "S2-2")
async def test_a_message_that_is_not_right_claims_nothing(place: Steered) -> None:
    live = await place.ready()
    for changed, code in BAD:
        message = place.message(live, **changed)
        ack = await place.ack(message)
        assert (ack["result"], code_of(ack)) == ("rejected", code), changed
    assert place.lines() == []
    good = place.message(live, request_id="req_1")  # the first of those that were not right
    assert (await place.ack(good))["duplicate"] is False


TIMES: list[tuple[int | str, str]] = [
    (-301_000, "too_old"),
    (-299_000, ""),
    (59_000, ""),
    (61_000, "too_new"),
    ("2026-02-20T21:15:00", "invalid_time"),
    ("2026-02-20T21:15:00+01:00", "invalid_time"),
    ("2026-02-20 21:15:00Z", "invalid_time"),
    ("2016-12-31T23:59:60Z", "invalid_time"),
    ("yesterday", "invalid_time"),
    ("9" * 10_000, "invalid_request"),
]


@pytest.mark.conforms("S2-10e", "S2-10f")
@pytest.mark.abuse(48)
async def test_48_times_that_are_lies(place: Steered) -> None:
    live = await place.ready()
    for sent, code in TIMES:
        at = format_time(place.clock() + sent) if isinstance(sent, int) else sent
        ack = await place.ack(place.message(live, sent_at=at))
        assert (ack["result"], code_of(ack)) == ("rejected" if code else "ok", code), sent


@pytest.mark.conforms("S2-10e")
async def test_48_a_known_request_is_told_however_old_it_is(place: Steered) -> None:
    """Abuse case 48."""
    live = await place.ready()
    message = place.message(live)
    await place.ack(message)
    place.skip_ms = 40 * DAY_MS
    old = await place.ack(message)
    assert (old["result"], old["duplicate"]) == ("ok", True)
    assert code_of(await place.ack({**message, "request_id": "new"})) == "too_old"


@pytest.mark.parametrize(
    "junk", [b"[]", b"7", b'{"type":"control.stdin.request"}', b'{"type":"hello"}', b"{"]
)
async def test_what_is_no_message_has_no_acknowledgement(place: Steered, junk: bytes) -> None:
    with pytest.raises(InvalidRequestError):
        await place.ack(junk)


@pytest.mark.abuse(49)
async def test_49_json_that_two_readers_read_differently_is_rejected(place: Steered) -> None:
    live = await place.ready()
    good = json.dumps(place.message(live))
    for bad in (
        good.replace('"v": 1', '"v": 1, "v": 1'),
        good.replace('"hello"', '"\\ud800"'),
        good.replace('"hello"', '"a\\u0000b"'),
        good.replace('"v": 1', '"v": 1e400'),
    ):
        try:
            ack = await place.ack(bad.encode())
        except InvalidRequestError:
            continue
        assert ack["result"] == "rejected"
    assert place.lines() == []


# ---- who may ------------------------------------------------------------------------------------


@pytest.mark.conforms("S2-10b", "S2-10c")
@pytest.mark.abuse(21)
async def test_21_a_sender_is_who_the_connection_is(place: Steered) -> None:
    live = await place.ready()
    stranger = msgspec.structs.replace(LEAD, principal="stranger")
    for message, caller in (
        (place.message(live, sender="boss"), LEAD),
        (place.message(live, sender="nobody"), LEAD),
        (place.message(live), stranger),
        (place.message(live, team="other"), LEAD),
        (place.message(live, session_id="ses_none"), stranger),
    ):
        ack = await place.ack(message, caller)
        assert (ack["result"], code_of(ack)) == ("rejected", "unknown_sender")
    assert place.lines() == []


@pytest.mark.conforms("S2-10a")
async def test_a_sender_of_another_team_reaches_nothing(place: Steered) -> None:
    live = await place.ready("b", labels={"flybridge.team": "other"})
    ack = await place.ack(place.message(live))
    assert ack["result"] == "not_found"
    place.file.save(
        Teams(
            members=(*ALLOWED.members, Member(team="other", name="lead", principal="lead")),
            rules=(Rule(effect="allow", team="other"),),
        )
    )
    assert (await place.ack(place.message(live, team="other")))["result"] == "ok"


RULES: list[tuple[list[tuple[str, str, str]], str, str]] = [
    ([], "rejected", "policy_denied"),
    ([("allow", "*", "*")], "ok", ""),
    ([("allow", "lead", "*")], "ok", ""),
    ([("allow", "boss", "*")], "rejected", "policy_denied"),
    ([("allow", "lead", "SESSION")], "ok", ""),
    ([("allow", "lead", "NATIVE")], "ok", ""),
    ([("allow", "lead", "ses_other")], "not_found", "not_found"),
    ([("allow", "*", "*"), ("deny", "lead", "*")], "rejected", "policy_denied"),
    ([("allow", "*", "*"), ("deny", "*", "SESSION")], "rejected", "policy_denied"),
    ([("allow", "*", "*"), ("deny", "*", "ses_other")], "ok", ""),
]


@pytest.mark.conforms("S2-9a", "S2-10d")
async def test_what_no_rule_allows_is_denied(place: Steered) -> None:
    live = await place.ready()
    names = {"SESSION": str(live.session), "NATIVE": live.memory.state.agent_session}
    done = 0
    for rules, result, code in RULES:
        made = [
            {"effect": effect, "team": "default", "sender": who, "session": names.get(one, one)}
            for effect, who, one in rules
        ]
        place.file.save(Teams(members=ALLOWED.members, rules=msgspec.convert(made, Rules)))
        ack = await place.ack(place.message(live))
        assert (ack["result"], code_of(ack)) == (result, code), rules
        done += result == "ok"
        await until(lambda done=done: len(place.lines()) >= done)  # type: ignore[misc]
    assert len(place.lines()) == done


async def test_rules_can_be_about_one_thing(place: Steered) -> None:
    live = await place.ready()
    place.file.save(
        Teams(
            members=ALLOWED.members,
            rules=(Rule(effect="allow", team="default", what="interrupt"),),
        )
    )
    assert code_of(await place.ack(place.message(live))) == "policy_denied"
    assert (await place.ack(place.message(live, "interrupt")))["result"] == "ok"


@pytest.mark.abuse(39)
@pytest.mark.parametrize(
    "rules",
    [
        (Rule(effect="allow", team="default", what="stdin"),),
        (
            Rule(effect="allow", team="default"),
            Rule(effect="deny", team="default", what="interrupt"),
        ),
        (
            Rule(effect="allow", team="default", what="stdin"),
            Rule(effect="allow", team="default", what="interrupt", session="ses_other"),
        ),
    ],
    ids=["not allowed", "denied", "elsewhere"],
)
async def test_c02_to_stop_the_turn_first_takes_the_right_to_interrupt(
    place: Steered, rules: Rules
) -> None:
    live = await place.ready()
    await place.ack(place.message(live, content=steps({"stall": 30})))
    await until(lambda: live.memory.state.turn)
    turn = live.memory.state.turn
    place.file.save(msgspec.structs.replace(ALLOWED, rules=rules))
    both = await place.ack(place.message(live, content="x", interrupt=True))
    assert both["result"] in ("rejected", "not_found")
    assert place.lines()[1:] == []
    assert live.memory.state.turn == turn
    assert (await place.ack(place.message(live, content="y", interrupt=False)))["result"] == "ok"
    allowed = Rule(effect="allow", team="default")
    place.file.save(msgspec.structs.replace(ALLOWED, rules=(allowed,)))
    assert (await place.ack(place.message(live, content="z", interrupt=True)))["result"] == "ok"
    await until(lambda: live.memory.state.turn != turn)


async def test_39_what_waits_of_somebody_who_was_removed_is_not_sent(place: Steered) -> None:
    live = await place.ready()
    turn = await busy(place, live)
    mine = await place.house.say(live, "native", "n1", Stage.ACCEPTED, mode="queue")
    message = place.message(live, mode="queue")
    assert (await place.ack(message))["detail"] == "queued"
    gone = msgspec.Raw(b'{"team":"default","name":"lead"}')
    await place.desk.ask(EVERYTHING, Ask(ref="", name="team.remove", params=gone))
    outcome = await place.house.saw(e.InputOutcome, 2)  # the first is the warming up's
    assert outcome.outcome == "cancelled"
    assert mine.error == ""
    assert len(live.memory.state.held()) == 1, "somebody else's was taken, too"
    await place.house.submit(live.session, c.Interrupt(turn=TurnId(turn)), "stop", Stage.DONE)
    await until(lambda: "native" in place.lines())
    assert "hello" not in place.lines()


@pytest.mark.abuse(26)
async def test_26_nothing_a_sender_says_answers_a_prompt(place: Steered) -> None:
    live = await place.ready()
    await place.house.say(live, steps({"tool": "Bash", "ask": True}), "ask", Stage.OBSERVED)
    asked = await place.house.saw(e.PermissionRequested)
    for text in ("yes", "/approve", json.dumps({"type": "control_response"})):
        await place.ack(place.message(live, content=text, mode="now"))
    assert asked.prompt in live.memory.state.prompts
    assert recorder.ran(place.house.record) == []


# ---- what it can take ---------------------------------------------------------------------------


@pytest.mark.conforms("S2-1")
async def test_a_sender_can_ask_what_a_session_takes(place: Steered) -> None:
    live = await place.ready()
    idle = await place.ack(place.message(live, "capabilities"))
    assert (idle["type"], idle["result"]) == ("control.capabilities.ack", "ok")
    can = idle["capabilities"]
    assert (can["live"], can["busy"], can["turn_id"], can["stdin"]) == (True, False, "", True)
    assert can["limits"]["hard_bytes"] == 1 << 20
    turn = await busy(place, live)
    now = (await place.ack(place.message(live, "capabilities")))["capabilities"]
    assert (now["busy"], now["turn_id"]) == (True, turn)
    far = msgspec.structs.replace(LEAD, door="http", source="127.0.0.1")
    there = (await place.ack(place.message(live, "capabilities"), far))["capabilities"]
    assert there["limits"]["ref_bytes"] == 0
    gone = await place.ack(place.message(live, "capabilities", session_id="ses_none"))
    assert gone["result"] == "not_found"
    assert "capabilities" not in gone


async def test_c10_a_message_on_its_way_makes_a_session_busy(place: Steered) -> None:
    live = await place.ready()
    row = live.memory.incarnation
    assert row is not None
    os.kill(row.agent_pid, signal.SIGSTOP)  # the message is written, and no turn begins
    try:
        sending = asyncio.create_task(place.ack(place.message(live)))
        await until(live.memory.state.on_the_way)
        now = (await place.ack(place.message(live, "capabilities")))["capabilities"]
    finally:
        os.kill(row.agent_pid, signal.SIGCONT)
    assert (now["busy"], now["turn_id"]) == (True, "")
    assert (await sending)["result"] == "ok"


# ---- what lasts ---------------------------------------------------------------------------------


@pytest.mark.conforms("S2-5f", "S2-5g")
@pytest.mark.abuse(44)
async def test_44_a_request_is_known_after_ten_restarts_and_a_month(short_tmp: Path) -> None:
    record = short_tmp / "record"

    def opened() -> SqliteJournal:
        return SqliteJournal.open(str(short_tmp / "journal.db"), boot="boot")

    house = House(short_tmp, opened(), grace_s=0.3)
    place = Steered(house)
    live = await place.ready()
    message, stop = place.message(live), place.message(live, "interrupt")
    first = await place.ack(message)
    await until(lambda: not live.memory.state.inputs and not live.memory.state.turn)
    idle = await place.ack(stop)
    assert (first["result"], idle["detail"]) == ("ok", "idle")
    await until(lambda: not live.memory.state.inputs)
    for life in range(10):
        await house.die()
        house.journal.close()
        await place.stop()
        house = house.next(opened())
        place = Steered(house)
        place.skip_ms = life * 31 * DAY_MS // 9
        await house.sessions.recover()
    assert place.skip_ms == 31 * DAY_MS
    again, still = await place.ack(message), await place.ack(stop)
    assert (again["result"], again["duplicate"], again["detail"]) == ("ok", True, first["detail"])
    assert (still["result"], still["duplicate"], still["detail"]) == ("ok", True, "idle")
    reused = await place.ack({**message, "content": "other"})
    assert code_of(reused) == "request_id_reused"
    assert texts(record).count("hello") == 1
    await place.stop()
    await house.end()


async def test_an_unknown_outcome_is_never_called_ok(short_tmp: Path) -> None:
    """The keeper dies with the line in its hands: nobody can tell, and that is what is said."""
    async with steered(short_tmp) as place:
        live = await place.ready()
        message = place.message(live)
        await place.ack(message)
        row = live.services.journal.find(live.session, _key(message))
        assert row is not None
        row.stage = "unknown"
        live.memory.rows[row.key] = row
        ack = await place.ack(message)
        assert (ack["result"], code_of(ack)) == ("internal_error", "outcome_unknown")
        del live.memory.rows[row.key]


def _key(message: Json) -> InputKey:
    name = ledger_name(wire.decode_request(msgspec.json.encode(message)))
    return InputKey(f"{LEAD.principal}:{name}")


# ---- what is written down -----------------------------------------------------------------------


@pytest.mark.conforms("S2-7a", "S2-7b", "S2-7c")
async def test_every_message_and_every_acknowledgement_is_written_down(place: Steered) -> None:
    live = await place.ready()
    message = place.message(live, content="a secret plan")
    await place.ack(message)
    await place.ack({**message, "meta": {"retry_count": 1}})
    await place.ack({**message, "content": "other"})
    events = [(one.event, one.result, one.duplicate, one.code, one.detail) for one in place.notes]
    assert events == [
        ("control.stdin.request", "", "", "", ""),
        ("control.stdin.ack", "ok", "false", "", ""),
        ("control.stdin.request", "", "", "", "retry 1"),
        ("control.stdin.ack", "ok", "true", "", ""),
        ("control.stdin.request", "", "", "", ""),
        ("control.stdin.ack", "rejected", "false", "request_id_reused", ""),
    ]
    for one in place.notes:
        assert (one.request, one.team, one.session) == (
            message["request_id"],
            "default",
            live.session,
        )
        assert (one.agent_id, one.sender, one.principal) == (message["agent_id"], "lead", "lead")
    assert b"secret plan" not in (place.house.folder / "audit.log").read_bytes()


@pytest.mark.conforms("S2-7c")
async def test_what_is_said_is_written_down_only_if_that_is_wanted(short_tmp: Path) -> None:
    async with steered(short_tmp, log_text=True) as place:
        live = await place.ready()
        await place.ack(place.message(live, content="a plan"))
        assert b"a plan" in (short_tmp / "audit.log").read_bytes()


# ---- conversations that two sessions claim ------------------------------------------------------


async def test_a09_a_message_for_a_conversation_reaches_the_session_that_has_it(
    place: Steered,
) -> None:
    victim = await place.ready("victim")
    name = victim.memory.state.agent_session
    thief = await place.ready("thief")
    await place.house.say(thief, steps(introduced(name)), "forged")
    await until(lambda: thief.memory.state.alarm is not None)
    agent = f"recorder:{name}"
    message = place.message(victim, session_id=name, agent_id=agent, content="secret")
    assert (await place.ack(message))["result"] == "ok"
    inputs = [place.house.journal.read(live.session, 0, 1 << 20) for live in (victim, thief)]
    held = [any(b"secret" in batch.wire for batch in batches) for batches in inputs]
    assert held == [True, False]


async def test_a09_two_open_sessions_of_one_conversation_are_not_found(place: Steered) -> None:
    first = await place.ready("first")
    name = first.memory.state.agent_session
    await place.house.sessions.stop_agent(first.session)
    second = await place.ready("second", resume=name)
    assert second.memory.state.agent_session == name
    message = place.message(second, session_id=name)
    assert (await place.ack(message))["result"] == "not_found"
    assert (await place.ack(place.message(second)))["result"] == "ok"  # by our own id
    await place.house.submit(first.session, c.Close(), "close", Stage.DONE)
    assert (await place.ack(place.message(second, session_id=name)))["result"] == "ok"
