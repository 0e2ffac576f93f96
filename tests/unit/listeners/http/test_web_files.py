from __future__ import annotations

from pathlib import Path

import pytest

from flybridge.listeners.http.web_files import FOR_EVER, WebFiles, accepted

INDEX = """<!doctype html>
<html lang="en" data-theme="" data-base="">
<link rel="icon" href="./static/icon.svg">
<script type="module" crossorigin src="./assets/index-Ab3_x-9Z.js"></script>
<p>data-theme="" and src="/elsewhere"</p>
</html>
"""
SCRIPT = "index-Ab3_x-9Z.js"


@pytest.fixture
def files(tmp_path: Path) -> WebFiles:
    folder = tmp_path / "built"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX)
    (folder / "manifest.json").write_text("{}")
    assets = {
        SCRIPT: "plain",
        f"{SCRIPT}.br": "br",
        f"{SCRIPT}.gz": "gz",
        "geist-12345678.woff2": "f",
    }
    for name, text in assets.items():
        (folder / "assets" / name).write_text(text)
    (folder / "assets" / "plain.js").write_text("no digest")
    (tmp_path / "secret-12345678.js").write_text("outside")
    return WebFiles(folder)


def shell(files: WebFiles, **more: str) -> str:
    found = files.shell(**more)
    assert found
    assert found.headers["cache-control"] == "no-cache"
    return found.body.decode()


def test_the_first_page_carries_the_theme_that_was_chosen(files: WebFiles) -> None:
    assert '<html lang="en" data-theme="dark" data-base="">' in shell(files, theme="dark")


@pytest.mark.parametrize("theme", ["", "pink", 'dark"><script>', "DARK"])
def test_a_theme_that_is_none_of_ours_is_none(files: WebFiles, theme: str) -> None:
    assert shell(files, theme=theme) == shell(files)


def test_addresses_are_good_at_every_depth(files: WebFiles) -> None:
    text = shell(files)
    assert 'src="/assets/index-Ab3_x-9Z.js"' in text
    assert 'href="/static/icon.svg"' in text


def test_below_a_path_every_address_is_below_it(files: WebFiles) -> None:
    text = shell(files, base_path="/boat")
    assert 'data-base="/boat"' in text
    assert 'src="/boat/assets/index-Ab3_x-9Z.js"' in text
    assert 'href="/boat/static/icon.svg"' in text
    assert 'src="/elsewhere"' in text


def test_a_base_path_cannot_end_its_attribute(files: WebFiles) -> None:
    assert "<b>" not in shell(files, base_path='/"><b>')


@pytest.mark.parametrize(
    ("accepts", "body", "encoding"),
    [
        (b"gzip, deflate, br, zstd", b"br", "br"),
        (b"gzip, deflate", b"gz", "gzip"),
        (b"br;q=0, GZIP;q=0.5", b"gz", "gzip"),
        (b"identity", b"plain", None),
        (b"br; q=0.000", b"plain", None),
        (b"", b"plain", None),
        (b"\xff\xfe,,;;", b"plain", None),
    ],
)
def test_the_best_encoding_that_is_taken_is_sent(
    files: WebFiles, accepts: bytes, body: bytes, encoding: str | None
) -> None:
    found = files.asset(SCRIPT, accepts)
    assert found
    assert (found.body, found.headers.get("content-encoding")) == (body, encoding)
    assert found.headers["vary"] == "accept-encoding"
    assert found.headers["content-type"] == "text/javascript; charset=utf-8"


def test_what_has_no_compressed_twin_is_sent_as_it_is(files: WebFiles) -> None:
    found = files.asset("geist-12345678.woff2", b"br")
    assert found
    assert found.headers["content-type"] == "font/woff2"
    assert found.headers["cache-control"] == FOR_EVER


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "plain.js",
        "missing-12345678.js",
        "../manifest.json",
        "../../secret-12345678.js",
        "..\\..\\secret-12345678.js",
        "../index.html",
        f"{SCRIPT}.br",
        f"{SCRIPT}.gz",
        f"{SCRIPT}\0",
        f"{SCRIPT}\n",
        f"./{SCRIPT}",
        f".{SCRIPT}",
        "x" * 400 + "-12345678.js",
    ],
)
def test_nothing_else_can_be_named(files: WebFiles, name: str) -> None:
    assert files.asset(name, b"br, gzip") is None


def test_where_nothing_was_built_there_is_nothing(tmp_path: Path) -> None:
    files = WebFiles(tmp_path / "none")
    assert files.shell() is None
    assert files.asset(SCRIPT) is None


def test_a_page_built_anew_is_there_at_once(files: WebFiles, tmp_path: Path) -> None:
    shell(files)
    (tmp_path / "built" / "index.html").write_text("<p>new</p>")
    assert shell(files) == "<p>new</p>"


def test_encodings_are_read_up_to_a_bound() -> None:
    assert accepted(b"br ; q=1 , gzip") == {"br", "gzip"}
    assert len(accepted(b",".join(b"a%d" % one for one in range(1000)))) == 20
