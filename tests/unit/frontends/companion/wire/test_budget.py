"""Everything that is sent fits a device: in bytes, whatever the text is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.frontends.companion.wire import budget
from flybridge.frontends.companion.wire.budget import encode, fit, slot_name
from flybridge.frontends.companion.wire.messages import MAX_FRAME_BYTES, AgentStatus, SpawnResult
from tests.harness.hidden_characters import HIDDEN

awkward = st.text(
    st.sampled_from('a"\\\n\t\0\x1b\x7f\u202e\u200b\ufeff\ud83d\udc4d\U0001f600é…字')
    | st.characters()
)
long = st.builds(lambda text, times: text * times, awkward, st.sampled_from([1, 7, 300, 20_000]))
LIMITS = {
    "agent": 31,
    "message": 127,
    "promptToolType": 63,
    "promptToolDetail": 1023,
    "promptDescription": 255,
}


@given(long, long, long, long, long)
def test_no_frame_is_ever_too_large(a: str, b: str, c: str, d: str, e: str) -> None:
    status = AgentStatus(
        agent=a,
        state="waiting",
        message=b,
        context_percent=100,
        prompt_tool_type=c,
        prompt_tool_detail=d,
        prompt_description=e,
        auto_edit=False,
        slot=3,
        active=False,
    )
    payload = encode(status)
    assert len(payload) <= MAX_FRAME_BYTES
    assert b"\0" not in payload
    assert b"\\u" not in payload, "an escape that a device would have to know"
    told = json.loads(payload)
    for name, limit in LIMITS.items():
        assert len(told[name].encode()) <= limit


@given(long, st.integers(8, 1023))
def test_a_text_is_whole_or_says_that_it_is_not(text: str, limit: int) -> None:
    shown, cut = fit(text, limit)
    assert len(shown.encode()) <= limit
    assert shown.endswith("…") or not cut
    if not cut:
        assert shown == fit(shown, limit)[0]


def test_a_megabyte_is_cut_on_the_border_of_a_character() -> None:
    shown, cut = fit("\U0001f600" * 250_000, 1023)
    assert cut
    assert shown == "\U0001f600" * 255 + "…"


def test_a_text_that_just_fits_is_not_cut() -> None:
    assert fit("a" * 1023, 1023) == ("a" * 1023, False)
    assert fit("a" * 1024, 1023)[1]
    assert fit("é" * 511, 1023) == ("é" * 511, False)
    assert fit("é" * 512, 1023)[1]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ls\nrm -rf /", "ls ↵ rm -rf /"),
        ("a\tb", "a  b"),
        ("\x1b[2J", "<U+001B>[2J"),
        ("exe.\u202egpj", "exe.<U+202E>gpj"),
        ("a\u200bb\0", "a<U+200B>b<U+0000>"),
        ("half \ud83d", "half <U+D83D>"),
        ("naïve 字", "naïve 字"),
    ],
)
def test_what_cannot_be_seen_is_spelled_out(text: str, shown: str) -> None:
    assert fit(text, 1023) == (shown, False)


@given(st.lists(awkward, max_size=8))
def test_slot_names_are_unlike_each_other_and_need_no_escape(wanted: list[str]) -> None:
    taken: set[str] = set()
    for one in wanted:
        name = slot_name(one, taken)
        assert name not in taken
        assert 0 < len(name.encode()) <= budget.AGENT_BYTES
        assert not set(name) & {'"', "\\"}
        assert name.isprintable()
        taken.add(name)


def test_a_spawn_result_is_encoded_as_it_is() -> None:
    assert encode(SpawnResult(slot=0, success=False, error="No free slots")) == (
        b'{"type":"spawn_result","slot":0,"success":false,"error":"No free slots"}'
    )


@pytest.mark.parametrize("code", HIDDEN)
def test_a11_nothing_on_a_device_is_unseen(code: int) -> None:
    assert fit(f"a{chr(code)}b", 100) == (f"a<U+{code:04X}>b", False)
