from __future__ import annotations

from flybridge.runtime.access.openers import MAX_KNOWN, Openers


def test_a_process_counts_in_the_one_session_whose_key_it_showed() -> None:
    openers = Openers()
    openers.add("ses_1", "7:1:b")
    assert openers.holds("ses_1", "7:1:b")
    assert not openers.holds("ses_2", "7:1:b")
    assert not openers.holds("ses_1", "7:2:b")
    assert not openers.holds("ses_1", "")


def test_only_so_many_are_known_and_the_oldest_go_first() -> None:
    openers = Openers()
    for number in range(MAX_KNOWN):
        openers.add("ses_1", str(number))
    openers.add("ses_1", "0")
    openers.add("ses_1", "new")
    assert openers.holds("ses_1", "0")
    assert not openers.holds("ses_1", "1")
