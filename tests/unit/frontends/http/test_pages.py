from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from flybridge.frontends.http.pages import FOLDER, KINDS
from tests.harness.http_harness import Web, serving

PAGES = sorted(FOLDER.iterdir())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_nothing_in_a_page_breaks_our_policy(page: Path) -> None:
    assert page.suffix in KINDS
    text = page.read_text(encoding="latin-1")  # an icon is no text
    if page.suffix == ".html":
        assert not re.search(r"<style|style=|\son\w+=|<script>|<script [^>]*>[^<]", text)
    if page.suffix == ".js":
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)  # nothing from elsewhere


async def test_anybody_gets_the_login_page_and_what_it_needs(web: Web) -> None:
    got = await web.raw("GET", "/login", None, {})
    assert got.headers["content-type"] == "text/html; charset=utf-8"
    names = re.findall(r'(?:src|href)="(static/[^"]+)"', got.body.decode())
    script = (FOLDER / "login.js").read_text()
    names += [f"static/{name}" for name in re.findall(r'from "\./([^"]+)"', script)]
    assert {"static/login.js", "static/login-key.js"} <= set(names)
    for name in names:
        found = await web.raw("GET", f"/{name}", None, {})
        assert (found.status, found.headers["x-content-type-options"]) == (200, "nosniff")


def test_a_phone_finds_every_icon_and_stays_below_our_path() -> None:
    said = json.loads((FOLDER / "flybridge.webmanifest").read_text())
    assert all((FOLDER / icon["src"]).is_file() for icon in said["icons"])
    assert {said["id"], said["start_url"], said["scope"]} == {"../"}


async def test_the_list_of_routes_is_for_those_who_are_in(web: Web) -> None:
    """The page itself is a file for everybody: a browser opens it with half a login."""
    got = await web.call("GET", "/docs", cookie="")
    assert got.headers["content-type"] == "text/html; charset=utf-8"
    assert (await web.call("GET", "/openapi.json", cookie="")).status == 401
    assert (await web.call("GET", "/openapi.json")).status == 200


@pytest.mark.parametrize(
    "name", ["login.html", "../gate.py", "..%2fgate.py", "%2e%2e/gate.py", "nothing.js", "a.css%00"]
)
async def test_no_other_file_is_given_out(web: Web, name: str) -> None:
    assert (await web.raw("GET", f"/static/{name}", None, {})).status in (400, 404)


async def test_below_a_base_path_everything_is_below_it(short_tmp: Path) -> None:
    async with serving(short_tmp, base_path="/boat") as web:
        assert (await web.raw("GET", "/boat/login", None, {})).status == 200
        assert (await web.raw("GET", "/boat/static/login.js", None, {})).status == 200
        assert (await web.raw("GET", "/login", None, {})).status == 404
        assert (await web.raw("GET", "/boatswain/login", None, {})).status == 404
        assert (await web.call("GET", "/me")).status == 200
        ticket = web.authority.ticket()
        got = await web.call("POST", "/login", {"ticket": ticket}, cookie="")
        assert "Path=/boat;" in got.headers["set-cookie"]
