from __future__ import annotations

import msgspec
import pytest

from flybridge.errors import (
    BusyError,
    InvalidRequestError,
    NotSupportedError,
    PromptClosedError,
    RefusedError,
    SessionClosedError,
    StalePromptError,
    StaleTurnError,
)
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.capabilities import OpenSpec
from flybridge.model.content import Text
from flybridge.model.ids import InputKey, PromptId, TurnId
from flybridge.session.decide import MAX_HELD, decide, import_session
from flybridge.session.effects import Forget, Kill, Send, Start, Stop
from flybridge.session.ports import BLOB_BYTES
from tests.harness.session_sim import CAPABILITIES, Sim, ask, say


def sent(sim: Sim) -> list[InputKey]:
    return [one.key for one in sim.effects if isinstance(one, Send)]


def test_a_new_session_starts_its_agent() -> None:
    sim = Sim().opened()
    assert sim.tags() == ["session.opened", "agent.started"]
    assert isinstance(sim.effects[0], Start)
    assert sim.state.phase == "starting"


def test_an_imported_session_starts_nobody_until_something_is_said() -> None:
    spec = OpenSpec(agent="demo", cwd="/tmp", agent_session="c1", resume=True)
    for archived in (False, True):
        sim = Sim()
        sim._take(import_session(spec, sim.context("r0"), archived=archived))
        assert (sim.effects, sim.state.phase, sim.state.archived) == ([], "none", archived)
        sim.do(say())
        (start,) = sim.effects
        assert isinstance(start, Start)
        assert (start.spec.resume, start.spec.agent_session) == (True, "c1")


def test_an_input_to_a_live_agent_leaves_at_once() -> None:
    sim = Sim().up()
    key = sim.do(say())
    assert sim.tags()[-2:] == ["input.accepted", "input.dispatched"]
    assert sent(sim) == [key]


def test_an_input_before_the_agent_is_up_waits_for_it() -> None:
    sim = Sim().opened()
    key = sim.do(say())
    assert not sent(sim)
    sim.fact(f.LinkUp(incarnation=sim.state.incarnation))
    assert sent(sim) == [key]


def test_an_input_to_a_session_without_an_agent_starts_one_that_resumes() -> None:
    sim = Sim().up()
    sim.fact(e.AgentReady(agent_session="abc"), f.TurnBegan(), f.TurnOver())
    sim.fact(f.LinkEnded(incarnation=sim.state.incarnation, why="exit"))
    sim.do(say())
    start = sim.effects[-1]
    assert isinstance(start, Start)
    assert (start.spec.resume, start.spec.agent_session) == (True, "abc")
    assert sim.state.lives == 2


def test_a_queued_input_waits_for_the_end_of_the_turn_and_then_leaves_alone() -> None:
    sim = Sim().up()
    sim.fact(f.TurnBegan())
    first, second = sim.do(say("1", mode="queue")), sim.do(say("2", mode="queue"))
    assert not sent(sim)
    sim.fact(f.TurnOver())
    assert sent(sim) == [first]
    assert sim.state.held() == [second]


def test_a_queued_input_leaves_at_once_when_nothing_runs() -> None:
    sim = Sim().up()
    assert [sim.do(say(mode="queue"))] == sent(sim)


def test_a_queued_input_waits_behind_one_that_is_on_its_way() -> None:
    sim = Sim().up()
    first = sim.do(say())
    sim.do(say(mode="queue"))
    assert sent(sim) == [first]


def test_steering_needs_a_turn() -> None:
    sim = Sim().up()
    with pytest.raises(StaleTurnError):
        sim.do(say(mode="steer"))
    sim.fact(f.TurnBegan())
    assert [sim.do(say(mode="steer"))] == sent(sim)


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (c.SendInput(content=()), InvalidRequestError),
        (c.SendInput(content=(Text("x"),), deadline_ms=1), InvalidRequestError),
        (c.Rename(title="x" * 201), InvalidRequestError),
        (c.EditQueued(key="nope", content=(Text("x"),)), InvalidRequestError),
        (c.EditQueued(key="nope", content=()), InvalidRequestError),
        (c.CancelQueued(key="nope"), InvalidRequestError),
        (c.Interrupt(), StaleTurnError),
        (c.Interrupt(turn=TurnId("trn_9")), StaleTurnError),
        (c.SetThinking(tokens=1), NotSupportedError),
        (
            c.AnswerPermission(prompt=PromptId("x"), digest="", decision="allow"),
            PromptClosedError,
        ),
        (c.AnswerQuestion(prompt=PromptId("x"), digest=""), PromptClosedError),
    ],
)
def test_what_makes_no_sense_is_refused_and_leaves_no_trace(
    command: c.Command, error: type[RefusedError]
) -> None:
    sim = Sim().up()
    before = len(sim.log)
    with pytest.raises(error):
        sim.do(command)
    assert len(sim.log) == before


def test_held_inputs_are_bounded() -> None:
    sim = Sim().opened()
    for _ in range(MAX_HELD):
        sim.do(say())
    with pytest.raises(BusyError):
        sim.do(say())


def test_a_closed_session_takes_nothing_but_tidying_up() -> None:
    sim = Sim().opened()
    sim.do(say())
    sim.do(c.Close())
    assert isinstance(sim.effects[-1], Stop)
    assert [one.outcome for one in sim.log if isinstance(one, e.InputOutcome)] == [
        "cancelled",
        "done",
    ]
    with pytest.raises(SessionClosedError):
        sim.do(say())
    sim.do(c.Rename(title="old"))
    sim.do(c.Archive())
    assert (sim.state.title, sim.state.archived) == ("old", True)


def test_closing_a_session_without_an_agent_stops_nothing() -> None:
    sim = Sim().up()
    sim.fact(f.LinkEnded(incarnation=sim.state.incarnation, why="exit"))
    sim.do(c.Close())
    assert not sim.effects


def test_deleting_ends_the_agent_first() -> None:
    sim = Sim().up()
    sim.do(c.Delete())
    assert sim.effects == [Stop(), Forget()]
    assert (sim.state.closed, sim.state.deleting) == (True, True)
    idle = Sim().up()
    idle.fact(f.LinkEnded(incarnation=idle.state.incarnation, why="exit"))
    idle.do(c.Delete())
    assert idle.effects == [Forget()]


def test_an_allow_closes_the_prompt_and_is_sent() -> None:
    sim = Sim().up()
    asked = ask(sim)
    key = sim.do(c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="allow"))
    assert key == "prompt:prm_1"
    assert sim.tags()[-3:] == ["input.accepted", "permission.closed", "input.dispatched"]
    assert sim.state.prompts == {}


def test_an_answer_is_bound_to_the_input_that_was_shown() -> None:
    sim = Sim().up()
    asked = ask(sim)
    with pytest.raises(StalePromptError):
        sim.do(c.AnswerPermission(prompt=asked.prompt, digest="other", decision="allow"))


def test_an_answer_of_the_wrong_kind_is_refused() -> None:
    sim = Sim().up()
    asked = ask(sim)
    with pytest.raises(PromptClosedError):
        sim.do(c.AnswerQuestion(prompt=asked.prompt, digest=asked.digest))


@pytest.mark.parametrize(
    "more",
    [
        {"decision": "deny", "updated_input": msgspec.Raw(b"{}")},
        {"decision": "deny", "remember": (0,)},
        {"decision": "allow", "remember": (1,)},
        {"decision": "allow", "remember": (-1,)},
    ],
)
def test_an_answer_can_only_do_what_the_prompt_offers(more: dict[str, object]) -> None:
    sim = Sim().up()
    asked = ask(sim, suggestions=(msgspec.Raw(b"{}"),))
    with pytest.raises(InvalidRequestError):
        sim.do(
            c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, **more)  # type: ignore[arg-type]
        )


def test_input_that_may_not_be_edited_stays_as_it_is() -> None:
    sim = Sim().up()
    asked = ask(sim, can_edit=False)
    with pytest.raises(InvalidRequestError):
        sim.do(
            c.AnswerPermission(
                prompt=asked.prompt,
                digest=asked.digest,
                decision="allow",
                updated_input=msgspec.Raw(b"{}"),
            )
        )


@pytest.mark.parametrize("given", [b"[]", b"null", b'"x"', b"7", b"{", b"\xff"])
def test_input_that_no_tool_takes_is_refused_and_the_prompt_stays_open(given: bytes) -> None:
    sim = Sim().up()
    asked = ask(sim)
    answer = c.AnswerPermission(
        prompt=asked.prompt,
        digest=asked.digest,
        decision="allow",
        updated_input=msgspec.Raw(given),
    )
    with pytest.raises(InvalidRequestError):
        sim.do(answer)
    assert asked.prompt in sim.state.prompts


def test_an_edited_allow_says_that_it_was_edited() -> None:
    sim = Sim().up()
    asked = ask(sim, suggestions=(msgspec.Raw(b"{}"),))
    sim.do(
        c.AnswerPermission(
            prompt=asked.prompt,
            digest=asked.digest,
            decision="allow",
            updated_input=msgspec.Raw(b"{}"),
            remember=(0,),
        )
    )
    closed = next(one for one in sim.log if isinstance(one, e.PermissionClosed))
    assert (closed.how, closed.edited) == ("allowed", True)


@pytest.mark.parametrize(
    ("given", "logged"),
    [
        (b'{"command":"make"}', b'{"command":"make"}'),
        (b'{\n  "command": "make",\n  "n": 1.50\n}', b'{"command":"make","n":1.50}'),
        (b"{}", b"{}"),
        (b'{"command":"ls"}', None),
        (b'{ "command": "l\\u0073" }', None),
        (None, None),
    ],
)
def test_what_was_allowed_is_in_the_log_where_it_is_not_what_was_asked(
    given: bytes | None, logged: bytes | None
) -> None:
    sim = Sim().up()
    asked = ask(sim)
    updated = msgspec.UNSET if given is None else msgspec.Raw(given)
    answer = c.AnswerPermission(
        prompt=asked.prompt, digest=asked.digest, decision="allow", updated_input=updated
    )
    sim.do(answer)
    closed = next(one for one in sim.log if isinstance(one, e.PermissionClosed))
    found = bytes(closed.input) if isinstance(closed.input, msgspec.Raw) else None
    assert (found, closed.edited) == (logged, logged is not None)
    # and what is not in the log did not leave either
    unchanged = msgspec.structs.replace(answer, updated_input=msgspec.UNSET)
    assert isinstance(sent := sim.effects[-1], Send)
    assert sent.command == (answer if closed.edited else unchanged)


def test_a_long_change_is_named_and_handed_over_to_be_stored() -> None:
    sim = Sim().up()
    asked = ask(sim)
    given = msgspec.Raw(msgspec.json.encode({"command": "x" * BLOB_BYTES}))
    answer = c.AnswerPermission(
        prompt=asked.prompt, digest=asked.digest, decision="allow", updated_input=given
    )
    decision = decide(sim.state, answer, sim.context("r"))
    (closed,) = [one for one in decision.events if isinstance(one, e.PermissionClosed)]
    assert (closed.edited, closed.input) == (True, msgspec.UNSET)
    assert decision.blobs == {closed.blob: bytes(given)}


def test_a_prompt_that_nobody_answered_was_not_changed() -> None:
    sim = Sim().up()
    for prompt in ("prm_1", "prm_2"):
        ask(sim, prompt)
    sim.fact(f.PromptWithdrawn(prompt=PromptId("prm_1")))
    sim.fact(f.LinkEnded(incarnation=sim.state.incarnation, why="exit"))
    closed = [one for one in sim.log if isinstance(one, e.PermissionClosed)]
    assert [one.how for one in closed] == ["cancelled", "orphaned"]
    assert {(one.edited, one.input, one.blob) for one in closed} == {(False, msgspec.UNSET, "")}


def test_a_prompt_of_an_older_gateway_takes_any_input_for_a_changed_one() -> None:
    sim = Sim().up()
    asked = ask(sim)
    sim.state.prompts[asked.prompt].meaning = ""  # as an old snapshot has it
    sim.do(
        c.AnswerPermission(
            prompt=asked.prompt, digest=asked.digest, decision="allow", updated_input=asked.input
        )
    )
    closed = next(one for one in sim.log if isinstance(one, e.PermissionClosed))
    assert (closed.edited, closed.input) == (True, asked.input)


@pytest.mark.parametrize(("declined", "how"), [(False, "answered"), (True, "declined")])
def test_a_question_is_answered_or_declined(declined: bool, how: str) -> None:
    sim = Sim().up()
    sim.fact(f.QuestionAsked(prompt=PromptId("prm_q"), questions=msgspec.Raw(b"[]")))
    asked = sim.log[-1]
    assert isinstance(asked, e.QuestionRequested)
    sim.do(c.AnswerQuestion(prompt=asked.prompt, digest=asked.digest, declined=declined))
    closed = next(one for one in sim.log if isinstance(one, e.QuestionClosed))
    assert closed.how == how


def test_an_interrupt_means_one_turn() -> None:
    sim = Sim().up()
    sim.fact(f.TurnBegan())
    with pytest.raises(StaleTurnError):
        sim.do(c.Interrupt(turn=TurnId("trn_0")))
    key = sim.do(c.Interrupt(turn=TurnId("trn_1")))
    assert sent(sim) == [key]


def test_an_interrupt_reaches_a_message_that_is_on_its_way() -> None:
    sim = Sim().up()
    sim.do(say())
    assert sim.do(c.Interrupt()) == sent(sim)[-1]


def test_a_hard_interrupt_kills() -> None:
    sim = Sim().up()
    sim.do(c.Interrupt(hard=True))
    assert sim.effects == [Kill()]
    dead = Sim().up()
    dead.fact(f.LinkEnded(incarnation=dead.state.incarnation, why="exit"))
    with pytest.raises(StaleTurnError):
        dead.do(c.Interrupt(hard=True))


def test_settings_go_to_a_live_agent_only() -> None:
    sim = Sim().opened()
    with pytest.raises(BusyError):
        sim.do(c.SetModel(model="m"))
    sim.fact(f.LinkUp(incarnation=sim.state.incarnation))
    assert [sim.do(c.SetModel(model="m"))] == sent(sim)


def test_held_inputs_can_be_edited_and_withdrawn() -> None:
    sim = Sim().up()
    sim.fact(f.TurnBegan())
    key = sim.do(say("old", mode="queue"))
    sim.do(c.EditQueued(key=key, content=(Text("new"),)))
    assert sim.state.inputs[key].content == (Text("new"),)
    sim.do(c.CancelQueued(key=key))
    assert key not in sim.state.inputs
    sim.fact(f.TurnOver())
    assert not sent(sim)


def test_deciding_changes_nothing_by_itself() -> None:
    sim = Sim().up()
    before = msgspec.json.encode(sim.state)
    decide(sim.state, say(), sim.context("x"))
    assert msgspec.json.encode(sim.state) == before


def test_no_agent_is_started_beyond_the_limit() -> None:
    sim = Sim().up()
    sim.fact(f.LinkEnded(incarnation=sim.state.incarnation, why="exit"))
    context = msgspec.structs.replace(sim.context("x"), may_start=False)
    with pytest.raises(BusyError):
        decide(sim.state, say(), context)


def test_a_conversation_the_agent_has_lost_is_not_resumed() -> None:
    sim = Sim().up()
    sim.fact(e.AgentReady(agent_session="abc"), f.TurnBegan(), f.TurnOver())
    sim.fact(e.ConversationLost(reason="no conversation found"))
    sim.fact(f.LinkEnded(incarnation=sim.state.incarnation, why="exit"))
    sim.do(say())
    start = sim.effects[-1]
    assert isinstance(start, Start)
    assert (start.spec.resume, start.spec.agent_session) == (False, "")


def test_a_message_that_left_is_taken_back_only_from_an_agent_that_gives_it_back() -> None:
    sim = Sim().up()
    key = sim.do(say())
    with pytest.raises(NotSupportedError):
        sim.do(c.CancelQueued(key=key))
    able = msgspec.structs.replace(CAPABILITIES, commands=frozenset({"cancel_queued"}))
    context = msgspec.structs.replace(sim.context("x"), capabilities=able)
    decision = decide(sim.state, c.CancelQueued(key=key), context)
    assert [type(one) for one in decision.events] == [e.InputAccepted, e.InputDispatched]
    (effect,) = decision.effects
    assert isinstance(effect, Send)
    assert effect.command == c.CancelQueued(key=key)
