"""Callbacks: asked once, cancelled when it is settled, and never deciding by accident."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import Raw

from flybridge.client.asking import AT_ONCE, Asking
from flybridge.client.prompts import Allow, Answers, Deny, PermissionPrompt, QuestionPrompt
from flybridge.errors import NotAllowedError, PromptClosedError, PromptDecidedError
from flybridge.model import events as ev
from flybridge.model.commands import AnswerPermission, AnswerQuestion, Command
from flybridge.model.ids import PromptId
from tests.harness.waiting import until


def asked(name: str) -> ev.PermissionRequested:
    return ev.PermissionRequested(
        prompt=PromptId(name), tool="Bash", input=Raw(b"{}"), digest=f"digest of {name}"
    )


def settled(name: str) -> ev.PermissionClosed:
    return ev.PermissionClosed(prompt=PromptId(name), how="denied", by="somebody")


class Stage:
    """Where callbacks and answers are noted, and can be held up."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.cancelled: list[str] = []
        self.answers: list[Command] = []
        self.requests: list[str] = []
        self.replied = 0
        self.failures: list[Exception] = []
        self.decide = asyncio.Event()
        self.reply = asyncio.Event()
        self.reply.set()
        self.decision: Allow | Deny | None = Allow()
        self.refusal: Exception | None = None
        self.error: Exception | None = None
        self.asking = Asking(
            self.submit,
            self.failures.append,
            on_permission=self.on_permission,
            on_question=self.on_question,
        )

    async def submit(self, command: Command, request: str) -> None:
        self.answers.append(command)
        self.requests.append(request)
        await self.reply.wait()
        self.replied += 1
        if self.refusal is not None:
            raise self.refusal

    async def on_permission(self, prompt: PermissionPrompt) -> Allow | Deny | None:
        self.prompts.append(prompt.id)
        try:
            await self.decide.wait()
        except asyncio.CancelledError:
            self.cancelled.append(prompt.id)
            raise
        if self.error is not None:
            raise self.error
        return self.decision

    async def on_question(self, prompt: QuestionPrompt) -> Answers | None:
        return Answers({one.question: "A" for one in prompt.questions})

    def tell(self, *events: ev.Event) -> None:
        for event in events:
            self.asking.apply(event)
        self.asking.sync()


async def test_a_prompt_is_put_to_the_callback_once_and_answered_once() -> None:
    stage = Stage()
    stage.decide.set()
    stage.tell(asked("p1"))
    stage.tell()
    stage.tell(asked("p1"))  # the same event again, after a lost connection
    await until(lambda: len(stage.answers) == 1)
    [answer] = stage.answers
    assert isinstance(answer, AnswerPermission)
    assert (answer.prompt, answer.digest, answer.decision) == ("p1", "digest of p1", "allow")
    stage.tell(settled("p1"))
    stage.tell()
    await stage.asking.close()
    assert stage.prompts == ["p1"]
    assert len(stage.answers) == 1
    assert stage.failures == []


async def test_history_is_asked_about_by_nobody() -> None:
    stage = Stage()
    stage.tell(asked("old"), settled("old"), asked("open"))
    await until(lambda: bool(stage.prompts))
    assert stage.prompts == ["open"]
    await stage.asking.close()


async def test_a_prompt_settled_elsewhere_cancels_its_callback() -> None:
    stage = Stage()
    stage.tell(asked("p1"), asked("p2"))
    await until(lambda: len(stage.prompts) == 2)
    stage.tell(settled("p1"))
    await until(lambda: stage.cancelled == ["p1"])
    stage.decide.set()
    await until(lambda: len(stage.answers) == 1)
    await stage.asking.close()
    assert [one.prompt for one in stage.answers if isinstance(one, AnswerPermission)] == ["p2"]
    assert stage.failures == []


async def test_an_answer_on_its_way_is_not_taken_back_when_it_arrives() -> None:
    stage = Stage()
    stage.decide.set()
    stage.reply.clear()
    stage.tell(asked("p1"))
    await until(lambda: bool(stage.answers))
    stage.tell(settled("p1"))  # by us: the event is here before the reply
    await asyncio.sleep(0)
    stage.reply.set()
    await until(lambda: stage.replied == 1)
    await stage.asking.close()
    assert stage.failures == []


async def test_none_leaves_the_prompt_to_others() -> None:
    stage = Stage()
    stage.decision = None
    stage.decide.set()
    stage.tell(asked("p1"))
    await until(lambda: bool(stage.prompts))
    stage.tell()
    await stage.asking.close()
    assert stage.prompts == ["p1"]
    assert stage.answers == []


async def test_an_error_in_a_callback_decides_nothing_and_is_handed_on() -> None:
    stage = Stage()
    stage.error = KeyError("a mistake")
    stage.decide.set()
    stage.tell(asked("p1"))
    await until(lambda: bool(stage.failures))
    assert isinstance(stage.failures[0], KeyError)
    assert stage.answers == []
    await stage.asking.close()


@pytest.mark.parametrize(
    "refusal", [PromptClosedError("p1"), PromptDecidedError("p1", choice="deny", by="else")]
)
async def test_somebody_who_was_quicker_is_no_error(refusal: Exception) -> None:
    stage = Stage()
    stage.refusal = refusal
    stage.decide.set()
    stage.tell(asked("p1"))
    await until(lambda: bool(stage.answers))
    await stage.asking.close()
    assert stage.failures == []


async def test_who_may_not_decide_is_told() -> None:
    stage = Stage()
    stage.refusal = NotAllowedError("approve")
    stage.decide.set()
    stage.tell(asked("p1"))
    await until(lambda: stage.failures == [stage.refusal])
    await stage.asking.close()


async def test_a_decision_of_the_wrong_kind_is_an_error_and_no_answer() -> None:
    stage = Stage()
    stage.decision = Answers({})  # type: ignore[assignment]
    stage.decide.set()
    stage.tell(asked("p1"))
    await until(lambda: bool(stage.failures))
    assert isinstance(stage.failures[0], TypeError)
    assert stage.answers == []
    await stage.asking.close()


async def test_questions_have_a_callback_of_their_own() -> None:
    stage = Stage()
    questions = Raw(b'[{"question":"Which?"}]')
    stage.tell(ev.QuestionRequested(prompt=PromptId("q1"), questions=questions, digest="d"))
    await until(lambda: bool(stage.answers))
    [answer] = stage.answers
    assert isinstance(answer, AnswerQuestion)
    assert answer.answers == {"Which?": ("A",)}
    stage.tell(ev.QuestionClosed(prompt=PromptId("q1"), how="answered"))
    await stage.asking.close()


async def test_without_a_callback_nobody_is_asked() -> None:
    stage = Stage()
    asking = Asking(stage.submit, stage.failures.append)
    asking.apply(asked("p1"))
    asking.sync()
    await asking.close()
    assert stage.answers == []


async def test_a_log_that_begins_anew_takes_its_prompts_with_it() -> None:
    stage = Stage()
    stage.tell(asked("p1"))
    await until(lambda: bool(stage.prompts))
    stage.asking.reset()
    stage.tell()
    await until(lambda: stage.cancelled == ["p1"])
    await stage.asking.close()


async def test_only_so_many_are_asked_about_at_once() -> None:
    stage = Stage()
    stage.tell(*(asked(f"p{n}") for n in range(AT_ONCE + 9)))
    await until(lambda: len(stage.prompts) == AT_ONCE)
    stage.decide.set()
    await until(lambda: len(stage.answers) == AT_ONCE + 9)
    assert len(set(stage.requests)) == AT_ONCE + 9
    await stage.asking.close()
