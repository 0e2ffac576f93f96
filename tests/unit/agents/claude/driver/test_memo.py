from __future__ import annotations

import msgspec
import pytest

from flybridge.agents.claude.driver.memo import (
    MAX_ECHOES,
    MAX_SEEN,
    Memo,
    OpenBlock,
    Stream,
    bound,
    restored,
)
from flybridge.errors import StorageCorruptError
from flybridge.model.ids import ItemId
from flybridge.testing.drivers import SESSION
from tests.harness.claude_cli import delta, hear, message_start, say, text_start
from tests.harness.claude_recordings import attached


def test_no_memo_is_a_new_life() -> None:
    assert restored(b"") == Memo()


def test_a_memo_comes_back_as_it_was() -> None:
    block = OpenBlock(kind="text", item=ItemId("itm_1"), count=3)
    memo = Memo(streams={"": Stream(message="m", blocks={0: block})}, cost_usd=0.25)
    assert restored(msgspec.json.encode(memo)) == memo


@pytest.mark.parametrize("bad", [b"{", b"[]", b'{"turn":7}', b"\xff"])
def test_a_memo_of_something_else_is_corrupt(bad: bytes) -> None:
    with pytest.raises(StorageCorruptError):
        restored(bad)


def test_only_the_last_used_up_ids_are_remembered() -> None:
    memo = Memo()
    for at in range(MAX_SEEN + 1):
        memo.use_up(f"id-{at}")
    assert not memo.is_used_up("id-0")
    assert memo.is_used_up(f"id-{MAX_SEEN}")
    assert len(memo.seen) == MAX_SEEN


def test_a_bounded_table_forgets_its_oldest() -> None:
    table = {str(at): at for at in range(4)}
    bound(table, 3)
    assert list(table) == ["2", "3"]


def test_an_idle_memo_is_nearly_nothing_and_never_holds_the_streamed_text() -> None:
    driver = attached()
    assert len(driver.memo(SESSION)) < 100
    hear(driver, message_start(), text_start(), *[delta("secret words ")] * 100)
    assert b"secret" not in driver.memo(SESSION)
    assert len(driver.memo(SESSION)) < 500


def test_inputs_that_are_never_echoed_are_bounded() -> None:
    driver = attached()
    for at in range(MAX_ECHOES + 10):
        say(driver, key=f"test:{at}")
    assert len(restored(driver.memo(SESSION)).echoes) == MAX_ECHOES
