"""Scenes of things that go wrong, or that nobody expected."""

from __future__ import annotations

import os
from typing import NamedTuple

from flybridge.agents.demo import system_messages as news
from flybridge.agents.demo.blocks import Say
from flybridge.agents.demo.turn import Turn

CRASH_STATUS = 3
LIMIT_USED = 0.91
LIMIT_MINUTES = 90


class Failure(NamedTuple):
    status: int
    kind: str  # as the API calls it
    retry: str  # as it stands in the notices of retries
    error: str  # as it stands in the answer
    text: str


OVERLOADED = Failure(
    529,
    "overloaded_error",
    "overloaded",
    "server_error",
    "API Error: 529 the demo's imaginary model is overloaded. This was planned.",
)
LIMITED = Failure(
    429,
    "rate_limit_error",
    "rate_limit",
    "rate_limit",
    "API Error: 429 too many imaginary requests. This was planned.",
)
UNKNOWN_KEY = Failure(
    401,
    "authentication_error",
    "authentication_failed",
    "authentication_failed",
    "API Error: 401 the imaginary key is not known. This was planned: the demo needs none.",
)
FAILURES = {str(one.status): one for one in (OVERLOADED, LIMITED, UNKNOWN_KEY)}


async def fail(turn: Turn, which: str) -> None:
    """Try twice, then give up: the turn ends with an error, the session goes on."""
    failure = FAILURES.get(which, OVERLOADED)
    await _retry(turn, failure)
    turn.fail(failure.status, failure.kind, failure.error, failure.text)


async def recover(turn: Turn, _rest: str) -> None:
    await _retry(turn, LIMITED)
    await turn.respond(Say("Twice the API said no, the third time it worked: here I am."))


async def _retry(turn: Turn, failure: Failure) -> None:
    for attempt, seconds in ((1, 1), (2, 2)):
        news.retry(
            turn.speaker,
            attempt=attempt,
            delay_ms=int(turn.seconds(seconds) * 1000),
            status=failure.status,
            error=failure.retry,
        )
        await turn.pause(seconds)


async def warn_of_limit(turn: Turn, _rest: str) -> None:
    news.rate_limit(turn.speaker, used=LIMIT_USED, minutes=LIMIT_MINUTES)
    said = "A warning came before this: most of an imaginary limit is used, and when it resets."
    await turn.respond(Say(said))


async def say_unknown(turn: Turn, _rest: str) -> None:
    """Messages no version ever had, and a line that is no message at all."""
    turn.speaker.say({"type": "weather_report", "wind": "south-west", "force": 4})
    turn.speaker.noise("npm warn: this line is no message, and should not be here")
    said = (
        "Just now I said two things that nobody understands: a message of an unknown type, and "
        "a line that is no message. Both are in the log, and both are shown. Nothing is dropped."
    )
    await turn.respond(Say(said))


async def crash(turn: Turn, _rest: str) -> None:
    """Die in the middle of a sentence, as programs do."""
    await turn.break_off("I am going to crash before I finish this")
    os._exit(CRASH_STATUS)
