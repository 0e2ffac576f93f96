"""Our own little pages: the login, the list of what can be asked for, and icons.

They are files, written by hand. Nothing in them is made from what a caller said, so there is
nothing to escape; scripts and styles are files of their own, as our policy wants it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from flybridge.listeners.http.problems import HttpError
from flybridge.listeners.http.route import API, PUBLIC, Answered, Call, Params, Route

FOLDER = Path(__file__).parent / "static"
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}


class OneFile(Params, kw_only=True):
    name: Annotated[str, Meta(pattern=r"^[a-z0-9-]+\.(css|js|svg|png|webmanifest)$")]


def _load() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.is_file()}


_files = _load()


def page(name: str) -> Answered:
    """One of our files, as it is.

    Raises:
        HttpError: there is none of that name.
    """
    found = _files.get(name)
    if found is None:
        raise HttpError(404, "not_found", "there is nothing here")
    kind = KINDS[name[name.rindex(".") :]]
    return Answered(headers={"content-type": kind}, body=found)


async def login_page(_: Call) -> Answered:
    return page("login.html")


async def docs_page(_: Call) -> Answered:
    return page("docs.html")


async def static(call: Call) -> Answered:
    return page(call.params.name)


ROUTES = (
    Route(
        method="GET",
        path="/login",
        scope=PUBLIC,
        handler=login_page,
        media_type="text/html",
        summary="The page that logs a browser in",
    ),
    Route(
        method="GET",
        path="/static/{name}",
        scope=PUBLIC,
        handler=static,
        params=OneFile,
        media_type="text/css",
        summary="Scripts and styles of our pages",
    ),
    Route(
        method="GET",
        path=f"{API}/docs",
        scope=PUBLIC,  # a file like the others: what it shows, its script asks for
        handler=docs_page,
        result=str,
        media_type="text/html",
        summary="This interface, as a page",
    ),
)
