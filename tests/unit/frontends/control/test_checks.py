"""What is looked at before anything is claimed, without a session."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flybridge.frontends.control import checks
from flybridge.frontends.control.refusals import ControlRefused
from flybridge.wire.control import messages as w
from flybridge.wire.control.times import format_time

NOW_MS = 1_700_000_000_000
LIMITS = w.Limits(soft_bytes=10, hard_bytes=100, ref_bytes=1000, max_age_s=300, skew_s=60)
DIGEST = "0" * 64


def request(**more: Any) -> w.StdinRequest:
    fields = {
        "v": 1,
        "request_id": "r",
        "team": "t",
        "session_id": "s",
        "agent_id": "a:1",
        "sender": "me",
        "sent_at": format_time(NOW_MS),
        "content": "hi",
        **more,
    }
    return w.StdinRequest(**{key: one for key, one in fields.items() if one is not None})


def ref(**more: Any) -> w.ContentRef:
    fields = {"path": "f", "size_bytes": 5, "sha256": DIGEST, "mime": "text/plain", **more}
    return w.ContentRef(**fields)


@pytest.mark.conforms("S2-5a")
@given(st.integers(0, 10**12), st.integers(0, 9))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_a_retry_is_the_same_request(at_ms: int, count: int) -> None:
    again = request(sent_at=format_time(at_ms), meta=w.Metadata(retry_count=count))
    assert checks.fingerprint(again) == checks.fingerprint(request())


@pytest.mark.conforms("S2-5e")
@pytest.mark.parametrize(
    "other",
    [
        {"content": "ho"},
        {"content": None, "content_ref": ref()},
        {"interrupt": True},
        {"mode": "queue"},
        {"thread_id": "x"},
        {"retry_of": "x"},
        {"sender": "you"},
    ],
)
def test_anything_else_makes_another_one(other: dict[str, Any]) -> None:
    assert checks.fingerprint(request(**other)) != checks.fingerprint(request())


def test_kinds_of_messages_are_told_apart() -> None:
    fields = msgspec.structs.asdict(request())
    head = {key: fields[key] for key in w.CapabilitiesRequest.__struct_fields__}
    stop = w.InterruptRequest(**head, signal="interrupt")
    assert checks.fingerprint(stop) != checks.fingerprint(request())
    assert checks.ledger_name(stop) == checks.ledger_name(request()) == "control/r"


@pytest.mark.parametrize(
    "spelled",
    [{"interrupt": False}, {"content_encoding": "utf-8"}, {"content_preview": "hello"}],
)
def test_n03_a_default_that_is_spelled_out_makes_no_other_request(spelled: Any) -> None:
    assert checks.fingerprint(request(**spelled)) == checks.fingerprint(request())
    assert checks.fingerprint_before(request(**spelled)) != checks.fingerprint_before(request())
    assert checks.fingerprint_before(request()) == checks.fingerprint(request())


def test_n04_white_space_is_no_content() -> None:
    for text in ("", " ", "\n\t"):
        with pytest.raises(ControlRefused) as refused:
            checks.check_text(text)
        assert refused.value.code == "empty_content"
    checks.check_text(" x ")


@pytest.mark.parametrize(
    ("off_s", "code"), [(0, ""), (-300, ""), (-301, "too_old"), (60, ""), (61, "too_new")]
)
def test_old_and_early_messages_are_refused(off_s: int, code: str) -> None:
    said = request(sent_at=format_time(NOW_MS + off_s * 1000))
    assert _code(lambda: checks.check_age(said, LIMITS, NOW_MS)) == code


def test_another_version_is_refused() -> None:
    assert _code(lambda: checks.check_version(request(v=1))) == ""
    assert _code(lambda: checks.check_version(request(v=0))) == "unsupported_version"


@pytest.mark.conforms("S2-6a", "S2-6b", "S2-6g")
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, ""),
        ({"content": "x" * 100}, ""),
        ({"content": "x" * 101}, "content_too_large"),
        ({"content": "é" * 51}, "content_too_large"),
        ({"content": ""}, "empty_content"),
        ({"content": None}, "invalid_request"),
        ({"content_ref": ref()}, "invalid_request"),
        ({"content_encoding": "UTF-8"}, ""),
        ({"content_encoding": "utf-16"}, "unsupported_encoding"),
        ({"content": None, "content_ref": ref()}, ""),
        ({"content": None, "content_ref": ref(size_bytes=0)}, "empty_content"),
        ({"content": None, "content_ref": ref(size_bytes=-1)}, "empty_content"),
        ({"content": None, "content_ref": ref(size_bytes=1001)}, "content_too_large"),
        ({"content": None, "content_ref": ref(sha256="x" * 64)}, "ref_invalid"),
        ({"content": None, "content_ref": ref(sha256="A" * 64)}, "ref_invalid"),
        ({"content": None, "content_ref": ref(mime="image/png")}, "unsupported_encoding"),
        (
            {"content": None, "content_ref": ref(mime="text/plain; charset=latin-1")},
            "unsupported_encoding",
        ),
        ({"content": None, "content_ref": ref(mime="text/plain; charset=utf-8")}, ""),
        ({"content": None, "content_ref": ref(expires_at=format_time(NOW_MS + 1))}, ""),
        ({"content": None, "content_ref": ref(expires_at=format_time(NOW_MS))}, "ref_expired"),
        ({"content": None, "content_ref": ref(expires_at="soon")}, "invalid_time"),
    ],
)
def test_content_has_a_form(fields: dict[str, Any], code: str) -> None:
    said = request(**fields)
    assert _code(lambda: checks.check_content(said, LIMITS, local=True, now_ms=NOW_MS)) == code


@pytest.mark.abuse(47)
def test_abuse_47_only_this_machine_may_name_a_file() -> None:
    said = request(content=None, content_ref=ref())
    far = _code(lambda: checks.check_content(said, LIMITS, local=False, now_ms=NOW_MS))
    assert far == "ref_not_local"


def _code(check: Any) -> str:
    try:
        check()
    except ControlRefused as refused:
        return refused.code if refused.result == "rejected" else "not rejected"
    return ""
