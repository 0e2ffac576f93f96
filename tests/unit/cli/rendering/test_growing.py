from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flybridge.cli.rendering.growing import GrowingTexts
from flybridge.client.items import PreviewItem
from tests.harness.screen_model import Sheet


class Told:
    def __init__(self) -> None:
        self.paper = Sheet(marks=False)
        self.texts = GrowingTexts(self.paper, lambda: None)
        self.texts.begin("a", "text")

    def preview(self, item: str, since: int, upto: int, text: str) -> None:
        self.texts.preview(PreviewItem(item, since, upto, text))

    def close(self, text: str, *, item: str = "a", status: str = "complete") -> str:
        self.texts.close(item, "text", text, status, cut=False)
        return self.paper.text.strip("\n")


def test_a_text_that_grew_is_not_told_again() -> None:
    told = Told()
    told.preview("a", 0, 1, "Hel")
    told.preview("a", 1, 2, "lo")
    assert told.paper.text == "Hello"
    assert told.close("Hello") == "Hello"


def test_after_a_reconnection_only_the_rest_is_told() -> None:
    told = Told()
    told.preview("a", 0, 3, "Hello wo")
    told.preview("a", 0, 2, "Hello ")  # from a gateway that knew less
    told.preview("a", 2, 4, "world, ")
    assert told.close("Hello world, and more") == "Hello world, and more"


def test_a_hole_is_filled_when_the_text_is_whole() -> None:
    told = Told()
    told.preview("a", 0, 1, "one ")
    told.preview("a", 5, 6, "six")
    assert told.close("one two three") == "one two three"


def test_a_text_that_became_another_is_told_anew_and_said_so() -> None:
    told = Told()
    told.preview("a", 0, 1, "first try")
    assert told.close("second try") == "first try\n(text replaced)\nsecond try"


@given(st.text("ab", max_size=12), st.integers(0, 12), st.integers(0, 12))
def test_whatever_was_lost_in_between_a_text_is_told_once(text: str, up: int, again: int) -> None:
    told = Told()
    told.preview("a", 0, up, text[:up])
    told.preview("a", 0, again, text[:again])
    assert told.close(text) == text


def test_two_texts_at_once_do_not_mix() -> None:
    told = Told()
    told.texts.begin("b", "text")
    told.preview("a", 0, 1, "aaa")
    told.preview("b", 0, 1, "bbb")
    told.preview("a", 1, 2, "AAA")
    assert told.paper.text == "aaaAAA"
    assert told.close("aaaAAA") == "aaaAAA\n\nbbb"
    assert told.close("bbbBBB", item="b") == "aaaAAA\n\nbbbBBB"


def test_what_was_not_finished_is_said_so() -> None:
    told = Told()
    told.preview("a", 0, 1, "half")
    assert told.close("half", status="partial") == "half\n\n(incomplete)"


def test_after_the_turn_nothing_grows() -> None:
    told = Told()
    told.texts.clear()
    told.preview("a", 0, 1, "late")
    assert told.paper.text == ""


def test_the_beginning_of_a_text_that_was_too_long_replaces_nothing() -> None:
    told = Told()
    told.preview("a", 0, 1, "long text")
    told.texts.close("a", "text", "long", "complete", cut=True)
    assert told.paper.text == "long text\n\n(too long to be shown whole)\n"
