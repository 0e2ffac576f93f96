"""One control message, one acknowledgement."""

from __future__ import annotations

from msgspec import Raw

from flybridge.frontends.control.adapter import QUESTION
from flybridge.listeners.http.route import API, Call, Route
from flybridge.model.requests import Ask
from flybridge.wire.control.messages import MAX_MESSAGE_BYTES, Ack


async def control(call: Call) -> object:
    return await call.api.desk.ask(call.caller, Ask(ref="", name=QUESTION, params=call.body))


ROUTES = (
    Route(
        method="POST",
        path=f"{API}/control",
        scope="control",
        handler=control,
        body=Raw,
        result=Ack,
        max_body=MAX_MESSAGE_BYTES,
        summary="Send one control message; the answer is its acknowledgement",
    ),
)
