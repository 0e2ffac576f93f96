from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flybridge.cli.rendering.rows import Row
from flybridge.cli.rendering.screen import Footer, Look, Screen
from flybridge.cli.rendering.styles import STYLES
from tests.harness.screen_model import ScreenModel, Sheet


class Desk:
    """A screen, the terminal it writes to, and what is typed below."""

    def __init__(self, columns: int = 30, lines: int = 10, look: Look | None = None) -> None:
        self.model = ScreenModel(columns, lines)
        self.typed = ""
        self.screen = Screen(
            self.model.feed,
            lambda: (self.model.columns, self.model.lines),
            look=look or Look(),
            footer=lambda width, lines: Footer(
                [("typing", f"> {self.typed}")], 0, 2 + len(self.typed)
            ),
        )


def test_text_grows_above_the_line_being_typed() -> None:
    desk = Desk()
    desk.typed = "half a l"
    for piece in ("Hello", " wor", "ld\nmore"):
        desk.screen.write(piece, "text")
        desk.screen.flush()
        assert desk.model.text.endswith("\n> half a l")
    assert desk.model.text == "  Hello world\n  more\n> half a l"
    assert (desk.model.row, desk.model.column) == (2, 10)


@given(
    st.lists(st.text("ab \n", max_size=30), max_size=12),
    st.lists(st.booleans(), max_size=12),
)
def test_the_screen_ends_as_if_it_were_written_at_once(
    pieces: list[str], flushes: list[bool]
) -> None:
    slow, fast = Desk(), Desk()
    for index, piece in enumerate(pieces):
        slow.screen.write(piece, "text")
        if index < len(flushes) and flushes[index]:
            slow.screen.flush()
    fast.screen.write("".join(pieces), "text")
    slow.screen.leave()
    fast.screen.leave()
    assert slow.model.text == fast.model.text


def test_nothing_of_an_agent_reaches_the_first_column() -> None:
    desk = Desk(columns=24)
    desk.screen.write("x" * 100 + "\n\x1b[H┏━ permission: Bash\r┃ y allow\n", "text")
    desk.screen.flush()
    rows = desk.model.text.split("\n")[:-1]
    assert all(row.startswith("  ") for row in rows)
    assert "^[[H" in desk.model.text


def test_a_row_never_wraps_even_if_the_terminal_counts_differently() -> None:
    desk = Desk(columns=24)
    fed: list[str] = []
    screen = Screen(
        fed.append, lambda: (24, 10), look=Look(), footer=lambda width, lines: Footer([])
    )
    screen.line("text", "text")
    screen.flush()
    assert fed[0].index("\x1b[?7l") < fed[0].index("text") < fed[0].index("\x1b[?7h")
    assert desk.model.wraps


def test_leaving_takes_the_footer_away() -> None:
    desk = Desk()
    desk.typed = "secret"
    desk.screen.write("said", "text")
    desk.screen.flush()
    desk.screen.leave()
    assert desk.model.text == "  said\n"
    desk.screen.flush()
    assert desk.model.text == "  said\n> secret"


def test_a_narrower_terminal_has_no_leftovers_of_the_footer() -> None:
    desk = Desk(columns=60)
    desk.typed = "x" * 30
    desk.screen.line("kept", "text")
    desk.screen.flush()
    desk.model.columns = 20
    desk.typed = "short"
    desk.screen.flush()
    assert desk.model.text == "  kept\n> short"


def test_control_characters_in_the_footer_are_visible_too() -> None:
    desk = Desk()
    desk.typed = "a\x1b]0;t\x07"
    desk.screen.flush()
    assert desk.model.text == "> a^[]0;t^G"


def test_clear_leaves_only_the_footer_and_the_bell_rings_once() -> None:
    desk = Desk(lines=3)
    for n in range(5):
        desk.screen.line(str(n), "text")
    desk.screen.ring()
    desk.screen.flush()
    desk.screen.clear()
    assert desk.model.text.split("\n")[-1] == ">"
    assert desk.model.bells == 1


def test_plain_text_is_written_as_it_comes() -> None:
    paper = Sheet()
    paper.write("Hel", "text")
    assert paper.text == "  Hel"
    paper.write("lo\nworld", "text")
    paper.line("ls", "tool")
    assert paper.text == "  Hello\n  world\n● ls\n"


def test_plain_text_on_a_terminal_keeps_the_first_column_free() -> None:
    paper = Sheet(width=12)
    paper.write("x" * 25, "text")
    paper.fresh()
    assert paper.text == "  xxxxxxxxxx\n  xxxxxxxxxx\n  xxxxx\n"


def test_without_marks_only_the_text_is_there() -> None:
    paper = Sheet(marks=False)
    paper.write("a\n\n  b", "text")
    paper.gap()
    assert paper.text == "a\n\n  b\n\n"


def test_marks_have_an_ascii_form() -> None:
    paper = Sheet(look=Look(colour=False, unicode=False))
    paper.line("ls …", "tool")
    assert paper.text == "* ls .\n"


def test_pieces_are_coloured_only_where_there_are_colours() -> None:
    row = Row("  ", "a **b**", STYLES["text"], (("a ", ""), ("**", "2"), ("b", "1"), ("**", "2")))
    assert Look(colour=False).row(row) == "  a **b**"
    assert Look().row(row) == "  a \x1b[2m**\x1b[0m\x1b[1mb\x1b[0m\x1b[2m**\x1b[0m"
