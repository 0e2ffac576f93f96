from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.auth.gate import Gate, Head, Refused, check, gate_for

GATE = gate_for(8420)
HOST = (b"host", b"127.0.0.1:8420")
JSON = (b"content-type", b"application/json")


def ask(
    *headers: tuple[bytes, bytes],
    method: str = "GET",
    target: str = "/api/v1/sessions",
    host: tuple[bytes, bytes] | None = HOST,
    upgrade: bool = False,
    gate: Gate = GATE,
) -> int:
    head = Head(
        method=method,
        target=target,
        headers=[*([host] if host else []), *headers],
        upgrade=upgrade,
    )
    refused = check(gate, head)
    return 200 if refused is None else refused.status


@pytest.mark.parametrize("host", [b"127.0.0.1:8420", b"localhost:8420", b"[::1]:8420"])
def test_a_program_on_this_machine_comes_in(host: bytes) -> None:
    assert ask(host=(b"host", host)) == 200
    assert ask((b"origin", b"http://" + host), JSON, host=(b"host", host), method="POST") == 200


@pytest.mark.parametrize(
    "host",
    [
        b"evil.example:8420",
        b"localhost.evil.com:8420",
        b"localhost",
        b"localhost:80",
        b"localhost.:8420",
        b"LOCALHOST:8420",
        b"0.0.0.0:8420",
        b"127.0.0.1:84200",
        b"127.1:8420",
        b"[::ffff:127.0.0.1]:8420",
        b"user@localhost:8420",
        b"localhost:8420 ",
        b"localhost:8420,evil.example",
        b"\xff\xfe",
        b"",
    ],
)
@pytest.mark.parametrize("target", ["/", "/api/v1/health", "/assets/x.js", "/api/v1/ws"])
def test_a_name_that_is_not_ours_gets_nothing_anywhere(host: bytes, target: str) -> None:
    assert ask(host=(b"host", host), target=target) == 421
    assert ask(host=(b"host", host), target=target, upgrade=True) == 421


def test_a_head_that_contradicts_itself_is_bad() -> None:
    assert ask(host=None) == 400
    assert ask((b"host", b"evil.example")) == 400
    assert ask((b"origin", b"http://localhost:8420"), (b"origin", b"null")) == 400
    assert ask(target="http://evil.example/") == 400
    assert ask(target="/" + "x" * 10_000) == 400
    assert ask(JSON, JSON, method="POST") == 400
    for method in ("TRACE", "CONNECT", "OPTIONS", "get", ""):
        assert ask(method=method) == 405


@pytest.mark.parametrize(
    "origin",
    [
        b"null",
        b"http://evil.example",
        b"http://localhost:5173",
        b"http://localhost",
        b"https://localhost:8420",
        b"http://localhost:8420.evil.com",
        b"http://trusted.com.evil.com",
        b"http://[::ffff:127.0.0.1]:8420",
        b"file://",
        b"chrome-extension://abc",
        b"HTTP://LOCALHOST:8420",
        b"http://localhost:8420/",
        b"",
    ],
)
def test_a_page_of_another_site_gets_nothing(origin: bytes) -> None:
    for upgrade in (False, True):
        assert ask((b"origin", origin), upgrade=upgrade) == 403
    assert ask((b"origin", origin), JSON, method="POST") == 403


@pytest.mark.parametrize("site", [b"cross-site", b"same-site", b"nonsense"])
def test_what_the_browser_says_of_the_asker_counts(site: bytes) -> None:
    said = (b"sec-fetch-site", site)
    assert ask(said) == 403
    assert ask(said, upgrade=True) == 403
    assert ask(said, JSON, method="POST") == 403
    for mode, dest in ((b"no-cors", b"image"), (b"navigate", b"iframe"), (b"cors", b"empty")):
        assert ask(said, (b"sec-fetch-mode", mode), (b"sec-fetch-dest", dest), target="/") == 403


def test_a_link_to_our_page_may_be_followed_but_not_into_the_api() -> None:
    visit = [
        (b"sec-fetch-site", b"cross-site"),
        (b"sec-fetch-mode", b"navigate"),
        (b"sec-fetch-dest", b"document"),
    ]
    assert ask(*visit, target="/") == 200
    assert ask(*visit, target="/s/ses_1?x=/api/") == 200
    assert ask(*visit, target="/api/v1/sessions") == 403
    assert ask(*visit, JSON, target="/", method="POST") == 403


def test_an_address_that_was_typed_in_only_looks() -> None:
    typed = (b"sec-fetch-site", b"none")
    assert ask(typed, target="/") == 200
    assert ask(typed, JSON, method="POST") == 403
    assert ask(typed, upgrade=True) == 403


@pytest.mark.parametrize(
    "kind",
    [b"text/plain", b"application/x-www-form-urlencoded", b"multipart/form-data; boundary=x", b""],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_form_changes_nothing(method: str, kind: bytes) -> None:
    assert ask((b"content-type", kind), method=method) == 415
    assert ask(method=method) == 415


def test_json_and_bytes_are_taken_and_a_delete_needs_no_body() -> None:
    assert ask((b"content-type", b"application/json; charset=utf-8"), method="POST") == 200
    assert ask((b"content-type", b"application/octet-stream"), method="POST") == 200
    assert ask(method="DELETE") == 200
    assert ask((b"content-length", b"0"), method="DELETE") == 200
    assert ask((b"content-length", b"5"), method="DELETE") == 415
    assert ask((b"transfer-encoding", b"chunked"), method="DELETE") == 415


def test_a_server_may_have_other_names_and_a_path_of_its_own() -> None:
    gate = gate_for(443, names=("fly.example", "proxy.example:9000"), secure=True, base_path="/fb/")
    assert gate.base_path == "/fb"
    for host in (b"fly.example", b"fly.example:443", b"proxy.example:9000"):
        origin = (b"origin", b"https://" + host)
        assert ask(origin, host=(b"host", host), gate=gate) == 200
    assert ask(host=(b"host", b"proxy.example"), gate=gate) == 421


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [b"host", b"origin", b"sec-fetch-site", b"content-type", b"content-length", b"x"]
            ),
            st.binary(max_size=40)
            | st.sampled_from([b"localhost:8420", b"http://localhost:8420", b"same-origin"]),
        ),
        max_size=8,
    ),
    st.text(max_size=30) | st.just("/api/v1/x"),
    st.sampled_from(["GET", "POST", "DELETE", "BREW", ""]),
    st.booleans(),
)
def test_whatever_comes_it_says_yes_or_why_not(
    headers: list[tuple[bytes, bytes]], target: str, method: str, upgrade: bool
) -> None:
    head = Head(method=method, target=target, headers=headers, upgrade=upgrade)
    refused = check(GATE, head)
    if refused is None:
        assert head.one(b"host") in GATE.hosts
        assert not head.all(b"origin") or head.one(b"origin") in GATE.origins
    else:
        assert isinstance(refused, Refused)
        assert 400 <= refused.status < 500
