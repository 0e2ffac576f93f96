from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flybridge.client.items import EventItem
from flybridge.client.recent import Recent


def item(seq: int, size: int = 1) -> EventItem:
    return EventItem(seq, 0, None, b"x" * size)


@given(
    first=st.integers(1, 9),
    sizes=st.lists(st.integers(0, 9), max_size=30),
    most=st.integers(1, 9),
    size=st.integers(1, 40),
)
def test_it_holds_the_newest_without_a_gap(
    first: int, sizes: list[int], most: int, size: int
) -> None:
    recent = Recent(max_events=most, max_bytes=size)
    for at, one in enumerate(sizes):
        recent.put(item(first + at, one))
    held = [seq for seq in range(first + len(sizes) + 3) if recent.get(seq)]
    last = first + len(sizes) - 1
    assert held == list(range(last - len(held) + 1, last + 1))
    assert len(held) <= most
    assert len(held) <= 1 or sum(sizes[-len(held) :]) <= size
    assert bool(held) == bool(sizes)
    assert all(found.seq == seq for seq in held if (found := recent.get(seq)))


def test_a_log_that_begins_anew_leaves_nothing_old() -> None:
    recent = Recent()
    recent.put(item(7))
    recent.put(item(1))
    assert recent.get(7) is None
    assert recent.get(1)
    recent.clear()
    assert recent.get(1) is None
