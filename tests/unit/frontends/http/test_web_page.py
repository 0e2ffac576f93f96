from __future__ import annotations

import re
from pathlib import Path

import pytest

from flybridge.frontends.http.web_page import VIEWS
from flybridge.listeners.http.outgoing import CSP
from flybridge.listeners.http.web_files import WebFiles
from tests.harness.http_harness import Web, serving
from tests.repo.tree import ROOT

INDEX = '<html data-theme="" data-base=""><script src="./assets/index-12345678.js"></script></html>'


def build(folder: Path) -> WebFiles:
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX)
    (folder / "assets" / "index-12345678.js").write_text("plain")
    (folder / "assets" / "index-12345678.js.br").write_text("br")
    return WebFiles(folder)


@pytest.fixture
def built(web: Web, tmp_path: Path) -> Web:
    web.app.api.web = build(tmp_path / "built")
    return web


@pytest.mark.parametrize("path", VIEWS)
async def test_every_view_is_the_page_for_everybody(built: Web, path: str) -> None:
    got = await built.raw("GET", path.replace("{name}", "ses_1"), None, {})
    assert (got.status, got.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b'src="/assets/index-12345678.js"' in got.body
    assert got.headers["cache-control"] == "no-cache"
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["content-security-policy"] == CSP


def test_the_policy_leaves_one_way_for_scripts_and_none_for_markup() -> None:
    assert CSP == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types gateway"
    )


def test_every_view_of_the_page_can_be_opened_by_its_address() -> None:
    """Who reloads a page asks the gateway for it."""
    routes = (ROOT / "web" / "src" / "routes.ts").read_text()
    known = {f"/{one}" for one in re.findall(r'case "(\w+)":\n', routes.partition("pathOf")[0])}
    assert known
    assert known <= {f"/{path.split('/')[1]}" for path in VIEWS}


async def test_the_theme_is_on_the_page_before_any_script(built: Web) -> None:
    for given, shown in {"dark": "dark", "light": "light", '"><b': ""}.items():
        cookie = {"cookie": f"other=1; flybridge-theme={given}"}
        got = await built.raw("GET", "/s/x", None, cookie)
        assert f'data-theme="{shown}"'.encode() in got.body


async def test_an_asset_is_compressed_and_kept_for_ever(built: Web) -> None:
    target = "/assets/index-12345678.js"
    got = await built.raw("GET", target, None, {"accept-encoding": "gzip, br"})
    assert (got.body, got.headers["content-encoding"]) == (b"br", "br")
    assert "immutable" in got.headers["cache-control"]
    assert got.headers["x-content-type-options"] == "nosniff"
    head = await built.raw("HEAD", target, None, {})
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", "5")


@pytest.mark.parametrize(
    "target",
    [
        "/assets/",
        "/assets/../index.html",
        "/assets/..%2findex.html",
        "/assets/%2e%2e%2fmanifest.json",
        "/assets/index-12345678.js%00",
        "/assets/index-12345678.js.br",
        "/assets/none-12345678.js",
        "/nowhere",
        "/s/a/b",
        "/index.html",
    ],
)
async def test_nothing_else_is_there(built: Web, target: str) -> None:
    assert (await built.raw("GET", target, None, {})).status in (400, 404)


async def test_a_secret_in_the_query_is_refused_and_a_search_is_not(built: Web) -> None:
    assert (await built.raw("GET", "/history?q=two%20words", None, {})).status == 200
    assert (await built.raw("GET", "/?token=fbt_x", None, {})).status == 400


async def test_a_page_that_was_not_built_is_said_so(web: Web, tmp_path: Path) -> None:
    web.app.api.web = WebFiles(tmp_path)
    got = await web.raw("GET", "/", None, {})
    assert got.status == 200
    assert b"make web" in got.body
    deep = await web.raw("GET", "/s/x", None, {})
    assert (deep.status, deep.headers["location"]) == (303, "/")


async def test_below_a_base_path_the_page_knows_it(short_tmp: Path, tmp_path: Path) -> None:
    async with serving(short_tmp, base_path="/boat") as web:
        web.app.api.web = build(tmp_path / "built")
        got = await web.raw("GET", "/boat/s/x", None, {})
        assert b'data-base="/boat"' in got.body
        assert b'src="/boat/assets/index-12345678.js"' in got.body
        assert (await web.raw("GET", "/boat/assets/index-12345678.js", None, {})).status == 200
        assert (await web.raw("GET", "/assets/index-12345678.js", None, {})).status == 404
