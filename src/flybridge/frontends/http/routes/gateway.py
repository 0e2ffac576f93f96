"""The gateway itself: how it is, what it has, what it cost, and what can be asked of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw

from flybridge.listeners.http.metrics import MEDIA_TYPE, family, process_families
from flybridge.listeners.http.route import API, PUBLIC, Answered, Call, Params, Route
from flybridge.runtime.methods.listing import Listed
from flybridge.runtime.methods.overview import Agents
from flybridge.runtime.methods.totals import MAX_DAYS, Usage


class Period(Params, kw_only=True):
    days: Annotated[int, Meta(ge=1, le=MAX_DAYS)] = 30
    utc_offset_min: Annotated[int, Meta(ge=-1440, le=1440)] = 0


class Health(msgspec.Struct, kw_only=True):
    ok: bool
    version: str


async def health(call: Call) -> Health:
    return Health(ok=True, version=call.api.version)


async def status(call: Call) -> Any:
    return await call.ask("status")


async def agents(call: Call) -> Any:
    return await call.ask("agents")


async def usage(call: Call) -> Any:
    wanted: Period = call.params
    return await call.ask("usage", days=wanted.days, utc_offset_min=wanted.utc_offset_min)


async def metrics(call: Call) -> Answered:
    found: list[Listed] = (await call.ask("list"))["sessions"]
    parts = [*_families(call, found), *call.api.metrics.families(), *process_families()]
    headers = {"content-type": MEDIA_TYPE.decode()}
    return Answered(headers=headers, body="".join(parts).encode())


def _families(call: Call, sessions: list[Listed]) -> Iterator[str]:
    by_status = Counter(one.status for one in sessions)
    by_why = Counter(one.why for one in sessions)
    yield family(
        "flybridge_sessions",
        "gauge",
        "Sessions, by their state.",
        [("", {"status": name}, count) for name, count in sorted(by_status.items())],
    )
    yield family(
        "flybridge_sessions_waiting",
        "gauge",
        "Sessions, by what they wait for.",
        [("", {"for": name}, count) for name, count in sorted(by_why.items())],
    )
    prompts = sum(one.prompts for one in sessions)
    about = "Prompts that wait for a person."
    yield family("flybridge_prompts_open", "gauge", about, [("", {}, prompts)])
    streams = len(call.api.streams)
    yield family("flybridge_streams_open", "gauge", "Event streams.", [("", {}, streams)])
    about = "The version that runs."
    yield family("flybridge_info", "gauge", about, [("", {"version": call.api.version}, 1)])


async def openapi(call: Call) -> Answered:
    headers = {"content-type": "application/json"}
    return Answered(headers=headers, body=call.api.document)


ROUTES = (
    Route(
        method="GET",
        path=f"{API}/health",
        scope=PUBLIC,
        handler=health,
        result=Health,
        summary="Whether the gateway answers",
    ),
    Route(
        method="GET",
        path=f"{API}/status",
        scope="view",
        handler=status,
        result=dict[str, Raw],
        summary="What runs here, since when, and how much of it",
    ),
    Route(
        method="GET",
        path=f"{API}/agents",
        scope="view",
        handler=agents,
        result=Agents,
        summary="The agents there are, their versions, and what they can do",
    ),
    Route(
        method="GET",
        path=f"{API}/usage",
        scope="view",
        handler=usage,
        params=Period,
        result=Usage,
        summary="What was spent, by day, agent and session",
    ),
    Route(
        method="GET",
        path=f"{API}/metrics",
        scope="view",
        handler=metrics,
        result=str,
        media_type="text/plain",
        summary="Counters in the text format of Prometheus",
    ),
    Route(
        method="GET",
        path=f"{API}/openapi.json",
        scope="view",
        handler=openapi,
        result=dict[str, Raw],
        summary="This interface, as an OpenAPI document",
    ),
)
