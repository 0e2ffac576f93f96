from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flybridge.model.deliveries import Preview
from flybridge.model.ids import ItemId
from flybridge.session.drafts import Drafts
from flybridge.session.ports import Draft

A, B = ItemId("a"), ItemId("b")


def test_text_grows_by_contiguous_previews() -> None:
    drafts = Drafts()
    drafts.apply(Preview(A, 0, 2, "ab"))
    drafts.apply(Preview(A, 2, 3, "c"))
    assert drafts.text(A) == "abc"
    assert drafts.previews() == [Preview(A, 0, 3, "abc")]


def test_a_preview_from_the_start_replaces_and_an_old_one_does_nothing() -> None:
    drafts = Drafts()
    drafts.apply(Preview(A, 0, 2, "ab"))
    drafts.apply(Preview(A, 0, 3, "xyz"))
    drafts.apply(Preview(A, 0, 1, "x"))
    drafts.apply(Preview(A, 5, 6, "hole"))
    assert drafts.text(A) == "xyz"


def test_an_unknown_item_has_no_text() -> None:
    assert Drafts().text(A) == ""


def test_only_what_changed_is_saved() -> None:
    drafts = Drafts({A: Draft(1, "a"), B: Draft(1, "b")})
    assert drafts.unsaved() == ({}, ())
    drafts.apply(Preview(A, 1, 2, "!"))
    drafts.close(B)
    assert drafts.unsaved() == ({A: Draft(2, "a!")}, (B,))
    drafts.saved()
    assert drafts.unsaved() == ({}, ())


def test_an_item_that_was_never_stored_leaves_nothing_to_delete() -> None:
    drafts = Drafts()
    drafts.apply(Preview(A, 0, 1, "a"))
    drafts.close(A)
    drafts.close(A)
    assert drafts.unsaved() == ({}, ())


@given(st.lists(st.text(min_size=1), min_size=1), st.data())
def test_a_restored_draft_goes_on_exactly(pieces: list[str], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(pieces)))
    drafts = Drafts()
    for number, piece in enumerate(pieces):
        if number == cut:
            stored, _ = drafts.unsaved()
            drafts = Drafts(stored)
        drafts.apply(Preview(A, number, number + 1, piece))
    assert drafts.text(A) == "".join(pieces)


def test_the_size_is_that_of_all_open_text() -> None:
    drafts = Drafts({A: Draft(1, "abc")})
    drafts.apply(Preview(A, 1, 2, "de"))
    drafts.apply(Preview(B, 0, 1, "x"))
    assert drafts.size == 6
    drafts.apply(Preview(A, 0, 3, "four"))
    assert drafts.size == 5
    drafts.close(A)
    assert drafts.size == 1
