"""The inbox: everything that waits for a person, and several answers at once."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta

from flybridge.errors import FlybridgeError
from flybridge.frontends.http.routes.session_io import outcome_of
from flybridge.listeners.http.problems import problem_of
from flybridge.listeners.http.route import API, Body, Call, Name, Route
from flybridge.model.commands import AnswerPermission, AnswerQuestion
from flybridge.model.ids import SessionId
from flybridge.model.requests import Submit
from flybridge.runtime.methods.inbox import Waiting

MAX_ANSWERS = 100


class OneAnswer(Body, kw_only=True):
    session: Name
    answer: AnswerPermission | AnswerQuestion


class NewAnswers(Body, kw_only=True):
    answers: Annotated[list[OneAnswer], Meta(min_length=1, max_length=MAX_ANSWERS)]
    request: str = ""  # or the header Idempotency-Key


class Answer(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What became of one answer. ``error`` is a stable code, or empty."""

    session: str
    prompt: str
    outcome: str = ""
    stage: str = ""
    duplicate: bool = False
    error: str = ""
    message: str = ""
    data: dict[str, str | int] = {}


class AnswerList(msgspec.Struct, kw_only=True):
    """One for each, in the order they were given."""

    answers: list[Answer]


async def prompts(call: Call) -> object:
    return await call.ask("prompts")


async def answer(call: Call) -> AnswerList:
    body: NewAnswers = call.body
    key = call.request_id(body.request)
    given = body.answers
    done = await asyncio.gather(
        *(_one(call, one, f"{key[:190]}:{n}") for n, one in enumerate(given))
    )
    return AnswerList(answers=list(done))


async def _one(call: Call, one: OneAnswer, request: str) -> Answer:
    told = Answer(session=one.session, prompt=one.answer.prompt)
    wanted = Submit(ref="", session=SessionId(one.session), command=one.answer, request=request)
    try:
        found = outcome_of(await call.api.desk.submit(call.caller, wanted))
    except FlybridgeError as error:
        problem, _ = problem_of(error)
        told.error, told.message, told.data = problem.code, problem.detail, problem.data
        return told
    told.outcome, told.stage, told.duplicate = found.outcome, found.stage, found.duplicate
    told.error = found.error
    return told


ROUTES = (
    Route(
        method="GET",
        path=f"{API}/prompts",
        scope="view",
        handler=prompts,
        result=Waiting,
        summary="All open permissions and questions, the oldest first",
    ),
    Route(
        method="POST",
        path=f"{API}/prompts/answers",
        scope="approve",
        handler=answer,
        body=NewAnswers,
        result=AnswerList,
        summary="Answer one or several prompts; each has its own outcome",
    ),
)
