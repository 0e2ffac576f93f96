from __future__ import annotations

import typing

import pytest

from flybridge.errors import PromptDecidedError, RequestReusedError
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.deliveries import Stage
from flybridge.model.ids import InputKey, PromptId
from flybridge.model.kinds import Outcome
from flybridge.session import ledger
from flybridge.session.ports import InputRow
from tests.harness.session_sim import SES, Sim, say

ALLOW = c.AnswerPermission(prompt=PromptId("p"), digest="d", decision="allow")


def row(command: c.Command, stage: str = "written", by: str = "me") -> InputRow:
    return InputRow(
        session=SES,
        key=ledger.key_of(command, by, "r"),
        kind=ledger.kind_of(command),
        by=by,
        fingerprint=ledger.fingerprint(command, by, "r"),
        stage=stage,
        choice=ledger.choice_of(command),
    )


def test_a_key_is_whose_request_or_which_prompt() -> None:
    assert ledger.key_of(say(), "me", "r") == "me:r"
    assert ledger.key_of(ALLOW, "me", "r") == "prompt:p"


def test_every_command_has_a_kind() -> None:
    kinds: dict[str, set[type]] = {
        "message": {c.SendInput},
        "answer": {c.AnswerPermission, c.AnswerQuestion},
        "interrupt": {c.Interrupt},
        "session": {c.Rename, c.Archive, c.Close, c.Delete, c.EditQueued, c.CancelQueued},
        "setting": {
            c.SetModel,
            c.SetMode,
            c.SetEffort,
            c.SetFast,
            c.SetThinking,
            c.StopTask,
            c.Mcp,
        },
    }
    assert {one for group in kinds.values() for one in group} == set(typing.get_args(c.Command))
    examples: list[c.Command] = [say(), ALLOW, c.Interrupt(), c.Close(), c.SetModel(model="m")]
    for command in examples:
        assert type(command) in kinds[ledger.kind_of(command)]


def test_the_same_request_again_gets_the_recorded_outcome() -> None:
    one = row(say())
    assert ledger.is_repeat(one, ledger.fingerprint(say(), "me", "r"))


def test_another_body_under_a_taken_id_is_refused() -> None:
    with pytest.raises(RequestReusedError):
        ledger.is_repeat(row(say()), ledger.fingerprint(say("other"), "me", "r"))


def test_only_proof_that_nothing_happened_allows_another_try() -> None:
    same = ledger.fingerprint(say(), "me", "r")
    assert not ledger.is_repeat(row(say(), "not_delivered"), same)
    for stage in ("lost", "unknown", "expired", "cancelled", "done"):
        assert ledger.is_repeat(row(say(), stage), same)


def test_the_second_answer_to_a_prompt_learns_who_was_first() -> None:
    deny = c.AnswerPermission(prompt=PromptId("p"), digest="d", decision="deny")
    with pytest.raises(PromptDecidedError) as caught:
        ledger.is_repeat(row(ALLOW, by="first"), ledger.fingerprint(deny, "second", "r"))
    assert (caught.value.choice, caught.value.by) == ("allow", "first")


def test_choices_have_names() -> None:
    question = c.AnswerQuestion(prompt=PromptId("p"), digest="d")
    declined = c.AnswerQuestion(prompt=PromptId("p"), digest="d", declined=True)
    named = [ledger.choice_of(one) for one in (ALLOW, question, declined, say())]
    assert named == ["allow", "answer", "decline", ""]


def test_stages_and_errors_cover_every_outcome() -> None:
    for outcome in typing.get_args(Outcome):
        stage = "ended" if outcome == "observed" else outcome
        assert (ledger.stage_of(stage) is None) == bool(ledger.error_of(stage))
        assert stage in ledger.TERMINAL
    assert ledger.stage_of("dispatching") is Stage.ACCEPTED


@pytest.mark.parametrize(
    ("number", "fate"),
    [(4, "not_taken"), (3, "unread"), (2, "read"), (1, "read"), (0, "not_taken")],
)
def test_the_keepers_report_tells_a_lines_fate(number: int, fate: f.Fate) -> None:
    assert ledger.fate(number, took=3, read_upto=2) == fate


def test_rows_follow_the_events() -> None:
    sim = Sim().up()
    known: dict[InputKey, InputRow] = {}
    start = len(sim.log)
    key = sim.do(say())
    sim.fact(f.Wrote(key=key), f.TurnBegan(), f.InputEchoed(key=key), f.TurnOver())
    stages = []
    for event in sim.log[start:]:
        found, claim = ledger.rows_of(sim.state, event, known)
        if found is not None:
            stages.append((found.stage, claim))
    assert stages == [
        ("accepted", True),
        ("dispatching", False),
        ("written", False),
        ("observed", False),
        ("done", False),
    ]
    assert known == {}


def test_inputs_of_the_past_have_no_rows() -> None:
    sim = Sim().up()
    sim.state.past = True
    key = InputKey("past:1")
    accepted = e.InputAccepted(key=key, kind="message", by="past", fingerprint="")
    for event in (accepted, e.InputOutcome(key=key, outcome="done")):
        assert ledger.rows_of(sim.state, event, {}) == (None, False)


def test_a_second_attempt_claims_nothing_and_a_cut_turn_ends_it() -> None:
    sim = Sim().up()
    known: dict[InputKey, InputRow] = {}
    start = len(sim.log)
    key = sim.do(say(), attempt=2)
    sim.fact(f.InputEchoed(key=key))
    sim.fact(f.LinkEnded(incarnation=sim.state.incarnation, why="exit"))
    found = [ledger.rows_of(sim.state, event, known) for event in sim.log[start:]]
    assert [claim for one, claim in found if one] == [False] * 5
    last = [one for one, _ in found if one][-1]
    assert (last.stage, last.attempt, last.incarnation) == ("ended", 2, "inc_1")


def test_only_stopping_grants_nothing() -> None:
    deny = c.AnswerPermission(prompt=PromptId("p"), digest="", decision="deny")
    assert ledger.grants_nothing(c.Interrupt())
    assert ledger.grants_nothing(deny)
    assert not ledger.grants_nothing(ALLOW)
    assert not ledger.grants_nothing(say())
