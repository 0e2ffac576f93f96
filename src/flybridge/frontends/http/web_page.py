"""Where the page is: every view is the same page, which finds out by itself what to show.

The page holds nothing that is secret, so everybody gets it; what it shows, it asks for as
everyone has to. A visitor by a link from elsewhere comes without a cookie, which is sent to our
own pages only: who is in can be told by the page alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from flybridge.auth.login import cookies_of
from flybridge.frontends.http.pages import page
from flybridge.listeners.http.problems import HttpError
from flybridge.listeners.http.route import PUBLIC, Answered, Call, Params, Route
from flybridge.listeners.http.web_files import WebFile

BUILT = Path(__file__).parent / "built"
THEME = b"flybridge-theme"
VIEWS = (
    "/",
    "/s/{name}",
    "/new",
    "/history",
    "/settings",
    "/help",
    "/access",
    "/devices",
)
Short = Annotated[str, Meta(min_length=1, max_length=256)]


class View(Params, kw_only=True):
    q: Annotated[str, Meta(max_length=1000)] = ""  # what is searched for; the page reads it


class DeepView(View, kw_only=True):
    name: Short


class Asset(Params, kw_only=True):
    name: Short


async def asset(call: Call) -> Answered:
    found = call.api.web.asset(call.params.name, call.head.one(b"accept-encoding"))
    if found is None:
        raise HttpError(404, "not_found", "there is nothing here")
    return _answer(found)


def _view(path: str) -> Route:
    async def show(call: Call) -> Answered:
        theme = b"".join(cookies_of(call.head, THEME)[:1]).decode("ascii", "replace")
        found = call.api.web.shell(theme=theme, base_path=call.api.base_path)
        if found is not None:
            return _answer(found)
        if path == "/":
            return page("unbuilt.html")
        return Answered(status=303, headers={"location": f"{call.api.base_path}/"})

    return Route(
        method="GET",
        path=path,
        scope=PUBLIC,
        handler=show,
        params=DeepView if "{name}" in path else View,
        media_type="text/html",
        summary="The page",
    )


def _answer(file: WebFile) -> Answered:
    return Answered(headers=file.headers, body=file.body)


ROUTES = (
    *map(_view, VIEWS),
    Route(
        method="GET",
        path="/assets/{name}",
        scope=PUBLIC,
        handler=asset,
        params=Asset,
        media_type="text/javascript",
        summary="Scripts, styles and fonts of the page",
    ),
)
