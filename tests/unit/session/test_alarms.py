from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.capabilities import Mode, OpenSpec
from flybridge.model.ids import ItemId, PromptId
from flybridge.model.offers import Offer, OfferRule
from flybridge.model.tools import ToolKind
from flybridge.session.absorb import absorb
from flybridge.session.alarms import (
    ANSWERED_ELSEWHERE,
    CONVERSATION_TAKEN,
    MAX_ALARMS,
    MAX_WATCHED,
    MODE_ELSEWHERE,
)
from flybridge.session.state import decode_state, encode_state
from tests.harness.claude_recordings import NAMES, replay
from tests.harness.session_sim import MODES, Sim, ask, say
from tests.unit.session.recorded import Recorded

ITEM = ItemId("tool_1")
SET_MODE = Offer(label="Accept edits", scope="session", durable=False, mode="acceptEdits")
ADD_RULE = Offer(
    label="Always allow", scope="session", durable=False, widens=False, rules=(OfferRule("Bash"),)
)


def codes(sim: Sim) -> list[str]:
    return [event.code for event in sim.log if isinstance(event, e.AlarmRaised)]


def running(**more: Any) -> Sim:
    """An agent in a turn, in the mode default."""
    sim = Sim().up(OpenSpec(agent="demo", cwd="/tmp", **more))
    sim.do(say())
    sim.fact(f.TurnBegan(), e.AgentReady(agent_session="con_1", mode="default"))
    return sim


def asking(sim: Sim, prompt: str = "prm_1", item: str = ITEM, **more: Any) -> e.PermissionRequested:
    sim.fact(f.ToolCalled(item=ItemId(item), name=more.pop("tool", "Bash")))
    asked = ask(sim, prompt, **more) if item == ITEM else _asked(sim, prompt, item, **more)
    return asked


def _asked(sim: Sim, prompt: str, item: str, **more: Any) -> e.PermissionRequested:
    sim.fact(
        f.PermissionAsked(
            prompt=PromptId(prompt), tool="Bash", input=Raw(b"{}"), item=ItemId(item), **more
        )
    )
    event = sim.log[-1]
    assert isinstance(event, e.PermissionRequested)
    return event


def allow(asked: e.PermissionRequested, **more: Any) -> c.AnswerPermission:
    return c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="allow", **more)


def deny(asked: e.PermissionRequested) -> c.AnswerPermission:
    return c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="deny")


# ---- recordings --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a01_alarm_no_recording_of_a_real_agent_raises_one(name: str) -> None:
    # what the recorded host answered and ours does not is an answer from elsewhere
    foreign = [left for left in replay(name).left_out if left.host["type"] == "control_response"]
    alarms = Recorded(name).alarms
    assert len(alarms) <= len(foreign), alarms
    assert {alarm.code for alarm in alarms} <= {ANSWERED_ELSEWHERE}


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
@pytest.mark.parametrize(
    ("scenario", "wanted"),
    [
        ("perm_allow", [ANSWERED_ELSEWHERE]),
        ("mcp", [ANSWERED_ELSEWHERE]),
        ("perm_parallel", [ANSWERED_ELSEWHERE] * 3),
        ("plan_mode", [MODE_ELSEWHERE, ANSWERED_ELSEWHERE]),
        ("control_requests", [MODE_ELSEWHERE, MODE_ELSEWHERE]),
        ("perm_cancel", []),
    ],
)
def test_a01_alarm_what_another_writer_answers_or_sets_raises_one(
    version: str, scenario: str, wanted: list[str]
) -> None:
    alarms = Recorded(f"{version}/{scenario}", forge=True).alarms
    assert [alarm.code for alarm in alarms] == wanted


# ---- prompts -----------------------------------------------------------------------------------


def test_a01_alarm_a_tool_that_ran_while_its_prompt_was_open() -> None:
    sim = running()
    asked = asking(sim)
    sim.fact(f.PromptWithdrawn(prompt=asked.prompt, ran=True), f.ToolReturned(item=ITEM))
    (alarm,) = [event for event in sim.log if isinstance(event, e.AlarmRaised)]
    assert (alarm.code, alarm.prompt, alarm.item, alarm.turn) == (
        ANSWERED_ELSEWHERE,
        asked.prompt,
        ITEM,
        "trn_1",
    )
    assert "Bash" in alarm.text
    assert alarm.advice


@pytest.mark.parametrize("status", ["ok", "error"])
def test_a01_alarm_a_prompt_that_was_taken_back_and_whose_tool_ran(status: Any) -> None:
    sim = running()
    asked = asking(sim)
    sim.fact(f.PromptWithdrawn(prompt=asked.prompt), f.ToolReturned(item=ITEM, status=status))
    # taken back, a call fails as a rule because it was aborted
    assert codes(sim) == ([ANSWERED_ELSEWHERE] if status == "ok" else [])


def test_a01_alarm_a_tool_that_ran_although_we_denied_it() -> None:
    sim = running()
    asked = asking(sim)
    sim.do(deny(asked))
    sim.fact(f.ToolReturned(item=ITEM, status="ok"))
    assert codes(sim) == [ANSWERED_ELSEWHERE]


def test_a01_alarm_a_question_that_somebody_else_answered() -> None:
    sim = running()
    sim.fact(
        f.ToolCalled(item=ITEM, name="AskUserQuestion"),
        f.QuestionAsked(prompt=PromptId("prm_q"), questions=Raw(b"[]"), item=ITEM),
        f.PromptWithdrawn(prompt=PromptId("prm_q"), ran=True),
        f.ToolReturned(item=ITEM),
    )
    assert codes(sim) == [ANSWERED_ELSEWHERE]


def _allowed(sim: Sim, asked: e.PermissionRequested) -> None:
    sim.do(allow(asked))
    sim.fact(f.ToolReturned(item=ITEM))


def _denied(sim: Sim, asked: e.PermissionRequested) -> None:
    sim.do(deny(asked))
    sim.fact(f.ToolReturned(item=ITEM, status="denied"))


def _interrupted(sim: Sim, asked: e.PermissionRequested) -> None:
    sim.do(c.Interrupt())
    sim.fact(f.PromptWithdrawn(prompt=asked.prompt, ran=True), f.ToolReturned(item=ITEM))
    sim.fact(f.TurnOver(reason="interrupted"))


def _taken_back_by_an_interrupt(sim: Sim, asked: e.PermissionRequested) -> None:
    sim.do(c.Interrupt())
    sim.fact(f.PromptWithdrawn(prompt=asked.prompt), f.TurnOver(reason="interrupted"))
    sim.fact(f.TurnBegan(), f.ToolReturned(item=ITEM))


def _turn_over(sim: Sim, asked: e.PermissionRequested) -> None:
    sim.fact(f.ToolReturned(item=ITEM, status="partial"))
    sim.fact(f.PromptWithdrawn(prompt=asked.prompt), f.TurnOver())


def _a_rule_meanwhile(sim: Sim, asked: e.PermissionRequested) -> None:
    other = asking(sim, "prm_2", "tool_2", offers=(ADD_RULE,))
    sim.do(allow(other, remember=(0,)))
    sim.fact(f.PromptWithdrawn(prompt=asked.prompt), f.ToolReturned(item=ITEM))


def _a_mode_meanwhile(sim: Sim, asked: e.PermissionRequested) -> None:
    sim.do(c.SetMode(mode="acceptEdits"))
    sim.fact(e.ModeChanged(mode="acceptEdits"))
    sim.fact(f.PromptWithdrawn(prompt=asked.prompt), f.ToolReturned(item=ITEM))


def _a_hook_meanwhile(sim: Sim, asked: e.PermissionRequested) -> None:
    sim.fact(f.PromptWithdrawn(prompt=asked.prompt), f.ToolReturned(item=ITEM, ruled=True))


def _the_agent_ends(sim: Sim, asked: e.PermissionRequested) -> None:
    sim.fact(f.LinkEnded(incarnation=sim.state.incarnation, why="exit"))


@pytest.mark.parametrize(
    "story",
    [
        _allowed,
        _denied,
        _interrupted,
        _taken_back_by_an_interrupt,
        _turn_over,
        _a_rule_meanwhile,
        _a_mode_meanwhile,
        _a_hook_meanwhile,
        _the_agent_ends,
    ],
)
def test_a01_alarm_what_we_decided_is_none(story: Any) -> None:
    sim = running()
    asked = asking(sim)
    story(sim, asked)
    assert codes(sim) == []
    assert encode_state(sim.fold()) == encode_state(sim.state)


def test_a01_alarm_a_tool_that_nobody_was_asked_about_is_none() -> None:
    sim = running()
    sim.fact(f.ToolCalled(item=ITEM, name="Bash"), f.ToolReturned(item=ITEM))
    sim.fact(e.PermissionAuto(tool="Bash", decision="allow"))
    assert codes(sim) == []


# ---- modes -------------------------------------------------------------------------------------


def test_a01_alarm_a_mode_that_asks_less_without_a_command() -> None:
    sim = running()
    sim.fact(e.ModeChanged(mode="acceptEdits"))
    (alarm,) = [event for event in sim.log if isinstance(event, e.AlarmRaised)]
    assert alarm.code == MODE_ELSEWHERE
    assert "from default to acceptEdits" in alarm.text
    sim.fact(e.ModeChanged(mode="default"))  # asks more
    sim.fact(e.AgentReady(mode="bypassPermissions"))
    assert codes(sim) == [MODE_ELSEWHERE] * 2


def test_a01_alarm_a_mode_by_command_is_none_and_only_that_one() -> None:
    sim = running()
    sim.do(c.SetMode(mode="acceptEdits"))
    key = sim.do(c.SetMode(mode="plan"))
    sim.fact(e.ModeChanged(mode="acceptEdits"), e.ModeChanged(mode="plan"))
    sim.fact(f.InputConfirmed(key=key))
    assert codes(sim) == []
    assert sim.state.modes == []
    sim.fact(e.ModeChanged(mode="acceptEdits"))  # it was chosen before, and is no more
    assert codes(sim) == [MODE_ELSEWHERE]


def test_a01_alarm_a_refused_mode_grants_nothing() -> None:
    sim = running()
    key = sim.do(c.SetMode(mode="acceptEdits"))
    sim.fact(f.InputRejected(key=key, reason="no"))
    sim.fact(e.ModeChanged(mode="acceptEdits"))
    assert codes(sim) == [MODE_ELSEWHERE]


def test_a01_alarm_a_mode_that_holds_already_is_not_kept_for_later() -> None:
    sim = running()
    key = sim.do(c.SetMode(mode="default"))
    sim.fact(f.InputConfirmed(key=key), e.ModeChanged(mode="plan"), e.ModeChanged(mode="default"))
    assert codes(sim) == [MODE_ELSEWHERE]


def test_a01_alarm_an_accepted_suggestion_is_none() -> None:
    sim = running()
    asked = asking(sim, offers=(SET_MODE,))
    sim.do(allow(asked, remember=(0,)))
    sim.fact(e.ModeChanged(mode="acceptEdits"), f.ToolReturned(item=ITEM))
    assert codes(sim) == []


def test_a01_alarm_an_approved_plan_is_none() -> None:
    sim = running()
    sim.fact(e.ModeChanged(mode="plan"), f.ToolCalled(item=ITEM, name="propose", kind="plan"))
    sim.do(allow(asking_for(sim, "propose", "plan")))
    sim.fact(f.ToolReturned(item=ITEM), e.ModeChanged(mode="default"))
    assert codes(sim) == []
    sim.fact(e.ModeChanged(mode="acceptEdits"))
    assert codes(sim) == [MODE_ELSEWHERE]


def asking_for(sim: Sim, tool: str, kind: ToolKind) -> e.PermissionRequested:
    sim.fact(
        f.PermissionAsked(prompt=PromptId("p"), tool=tool, kind=kind, input=Raw(b"{}"), item=ITEM)
    )
    asked = sim.log[-1]
    assert isinstance(asked, e.PermissionRequested)
    return asked


def test_a01_alarm_a_plan_is_known_by_its_kind_and_not_by_its_name() -> None:
    sim = running()
    name = "ExitPlanMode"  # of an agent that calls something else so
    sim.fact(e.ModeChanged(mode="plan"), f.ToolCalled(item=ITEM, name=name, kind="execute"))
    sim.do(allow(asking_for(sim, name, "execute")))
    sim.fact(f.ToolReturned(item=ITEM), e.ModeChanged(mode="default"))
    assert codes(sim) == [MODE_ELSEWHERE]


def test_a01_alarm_a_plan_that_was_asked_about_before_calls_had_a_kind_is_none() -> None:
    sim = running()
    sim.fact(e.ModeChanged(mode="plan"), f.ToolCalled(item=ITEM, name="ExitPlanMode"))
    asked = asking_for(sim, "ExitPlanMode", "other")
    sim.state.prompts[asked.prompt].tool_kind = sim.state.items[ITEM].tool = ""
    sim.do(allow(asked))
    sim.fact(f.ToolReturned(item=ITEM), e.ModeChanged(mode="default"))
    assert codes(sim) == []


@pytest.mark.parametrize("before", [True, False])
def test_a01_alarm_a_plan_that_a_rule_approves_is_none(before: bool) -> None:
    sim = running()
    sim.fact(e.ModeChanged(mode="plan"), f.ToolCalled(item=ITEM, name="propose", kind="plan"))
    story: list[f.Fact] = [e.ModeChanged(mode="default"), f.ToolReturned(item=ITEM)]
    sim.fact(*(story if before else reversed(story)))
    assert codes(sim) == []


def test_a_plan_leads_back_to_the_mode_before_it_and_to_no_other() -> None:
    def approved(to: str) -> list[str]:
        sim = running()
        sim.do(c.SetMode(mode="acceptEdits"))
        sim.fact(e.ModeChanged(mode="acceptEdits"), e.ModeChanged(mode="plan"))
        sim.fact(f.ToolCalled(item=ITEM, name="propose", kind="plan"))
        sim.do(allow(asking_for(sim, "propose", "plan")))
        sim.fact(f.ToolReturned(item=ITEM), e.ModeChanged(mode=to))
        assert decode_state(encode_state(sim.state)) == sim.state
        assert encode_state(sim.fold()) == encode_state(sim.state)
        return codes(sim)

    assert approved("acceptEdits") == []
    assert approved("default") == []
    assert approved("bypassPermissions") == [MODE_ELSEWHERE]


def test_a_call_that_ends_plans_explains_no_mode_outside_of_planning() -> None:
    sim = running()
    sim.do(c.SetMode(mode="acceptEdits"))
    sim.fact(e.ModeChanged(mode="acceptEdits"), e.ModeChanged(mode="default"))
    sim.fact(f.ToolCalled(item=ITEM, name="propose", kind="plan"), f.ToolReturned(item=ITEM))
    sim.fact(e.ModeChanged(mode="acceptEdits"))  # the mode before this one, but no plan led there
    assert codes(sim) == [MODE_ELSEWHERE]


def test_the_modes_of_another_agent_are_compared_as_it_publishes_them() -> None:
    published = (Mode("careful", 0), Mode("plan", 1), Mode("default", 2))  # no names of Claude's

    def changed(*modes: str) -> list[str]:
        sim = running()
        sim.fact(e.AgentReady(mode=modes[0]))
        sim.log.clear()
        for mode in modes[1:]:
            event = e.ModeChanged(mode=mode)
            sim._take(absorb(sim.state, event, sim.drafts.text, published))
        return codes(sim)

    assert changed("careful", "plan") == [MODE_ELSEWHERE]
    assert changed("plan", "default") == [MODE_ELSEWHERE]
    assert changed("default", "plan", "careful") == []
    assert changed("careful", "unpublished") == [MODE_ELSEWHERE]


SETS_MODE = Raw(b'{"type":"setMode","mode":"acceptEdits"}')
ADDS_RULE = Offer(label="Always allow", scope="session", widens=False, durable=False)


@pytest.mark.parametrize(
    ("offers", "suggestions", "accepted"),
    [
        ((), (SETS_MODE,), 0),  # a log of 0.1.0 holds the agent's own suggestions only
        ((ADDS_RULE,), (Raw(b"{}"), SETS_MODE), 1),  # more suggestions than are described
        ((Offer(),), (SETS_MODE,), 0),
    ],
)
def test_an_accepted_offer_of_unknown_effect_explains_the_next_mode_only(
    offers: tuple[Offer, ...], suggestions: tuple[Raw, ...], accepted: int
) -> None:
    sim = running()
    asked = asking(sim, offers=offers, suggestions=suggestions)
    sim.do(allow(asked, remember=(accepted,)))
    sim.fact(e.ModeChanged(mode="acceptEdits"), f.ToolReturned(item=ITEM))
    assert codes(sim) == []
    sim.fact(e.ModeChanged(mode="bypassPermissions"))
    assert codes(sim) == [MODE_ELSEWHERE]


def test_an_accepted_rule_explains_no_mode() -> None:
    widening = Offer(label="Remove all deny rules", scope="session", durable=False)
    for offer in (ADDS_RULE, widening):
        sim = running()
        asked = asking(sim, offers=(offer,), suggestions=(Raw(b"{}"),))
        sim.do(allow(asked, remember=(0,)))
        sim.fact(e.ModeChanged(mode="acceptEdits"), f.ToolReturned(item=ITEM))
        assert codes(sim) == [MODE_ELSEWHERE]


def test_a01_alarm_how_a_life_starts_is_none() -> None:
    sim = running()
    sim.fact(f.TurnOver(), f.LinkEnded(incarnation=sim.state.incarnation, why="exit"))
    sim.do(say("again"))
    sim.fact(f.LinkUp(incarnation=sim.state.incarnation), f.TurnBegan())
    sim.fact(e.AgentReady(agent_session="con_1", mode="acceptEdits"))  # the user's settings
    assert codes(sim) == []
    sim.fact(e.AgentReady(agent_session="con_1", mode="bypassPermissions"))
    assert codes(sim) == [MODE_ELSEWHERE]


def test_a01_alarm_who_never_wanted_to_be_asked_is_not_warned() -> None:
    sim = running(agent_options={"skip_permissions": True})
    sim.fact(e.ModeChanged(mode="bypassPermissions"))
    assert codes(sim) == []


# ---- conversations -----------------------------------------------------------------------------


def claims(sim: Sim, name: str, taken: bool = True) -> None:
    ready = e.AgentReady(agent_session=name, model="m")
    sim._take(absorb(sim.state, ready, sim.drafts.text, MODES, lambda known: taken))


def test_a09_the_id_of_another_session_is_refused_and_an_alarm() -> None:
    sim = running()
    claims(sim, "con_victim")
    assert codes(sim) == [CONVERSATION_TAKEN]
    assert sim.state.agent_session == "con_1"
    assert sim.state.model == "m"  # the rest of it counts
    ready = [event for event in sim.log if isinstance(event, e.AgentReady)][-1]
    assert ready.agent_session == ""


def test_a09_an_id_may_change_and_the_old_ones_stay_ours() -> None:
    sim = running()
    claims(sim, "con_2", taken=False)
    claims(sim, "con_1")  # our own, whoever else is said to have it
    claims(sim, "con_2")
    assert codes(sim) == []
    assert sim.state.agent_session == "con_2"
    assert sim.state.conversations == ["con_1"]


def test_a09_a_conversation_that_was_asked_for_is_no_claim() -> None:
    sim = Sim().up(OpenSpec(agent="demo", cwd="/tmp", agent_session="con_9", resume=True))
    claims(sim, "con_9")
    assert sim.state.agent_session == "con_9"
    latest = Sim().up(OpenSpec(agent="demo", cwd="/tmp", continue_latest=True))
    latest.do(say())
    latest.fact(f.TurnBegan())
    claims(latest, "con_8")
    assert latest.state.agent_session == "con_8"
    assert codes(sim) + codes(latest) == []
    claims(latest, "con_7")
    assert codes(latest) == [CONVERSATION_TAKEN]


# ---- bounds ------------------------------------------------------------------------------------


def test_a01_alarm_there_is_an_end_to_them() -> None:
    sim = running()
    for number in range(2 * MAX_ALARMS):
        claims(sim, f"con_{number}x")
    assert len(codes(sim)) == MAX_ALARMS
    for number in range(2 * MAX_WATCHED):
        asked = asking(sim, f"prm_{number}x", f"tool_{number}x")
        sim.do(deny(asked))
    assert len(sim.state.watched) == MAX_WATCHED
    assert decode_state(encode_state(sim.state)) == sim.state
