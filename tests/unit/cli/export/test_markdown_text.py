from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flybridge.cli.export.markdown_text import (
    cell,
    code,
    details,
    document,
    fenced,
    quoted,
    safe,
    shortened,
    words,
)

lines = st.sampled_from(
    [
        "# x",
        "  # x",
        "- # x",
        "> # x",
        "```",
        "  ```",
        "- ```",
        "1. ~~~",
        "~~~~",
        "     ```",
        "> ```",
        *("```py", "``` `", "text", "", "===", "---", "  - a", "\t```", "    # x", "</details>"),
    ]
)
awkward = st.text("a `~#=-<!>\n*|", max_size=60) | st.lists(lines, max_size=8).map("\n".join)
_opens = re.compile(r" {0,3}(`{3,}(?!.*`)|~{3,})")
_closes = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*$")


def outside(text: str) -> list[str]:
    """The lines of a document that are not in a fence, as Markdown's own rules have it."""
    found: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if fence:
            closed = _closes.match(line)
            if closed and closed[1][0] == fence[0] and len(closed[1]) >= len(fence):
                fence = ""
        elif opened := _opens.match(line):
            fence = opened[1]
        else:
            found.append(line)
    assert not fence, "a fence is open at the end"
    return found


@given(awkward)
def test_nothing_gets_out_of_a_fence(text: str) -> None:
    first, *inside, last = fenced(text, "text").split("\n")
    assert first == last + "text"
    assert "\n".join(inside) == safe(text).rstrip("\n")
    assert all(last not in line for line in inside)


@settings(max_examples=300)
@given(awkward)
def test_a_text_makes_no_heading_of_ours_and_leaves_no_fence_open(text: str) -> None:
    before = ""
    for line in outside(document(text)):
        assert not re.match(r"(?:[-*+>]|\d[.)]|\s)*#{1,4}(\s|$)", line) or line[:4] == "    ", line
        assert not (before.strip() and re.match(r" {0,3}(=+|-+)\s*$", line)), line
        assert "</details>" not in line.replace("\\</", "")
        before = line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Title", "##### Title"),
        ("### Deep", "###### Deep"),
        ("#hashtag", "#hashtag"),
        ("```\n# code\n```", "```\n# code\n```"),
        ("```\nopen", "```\nopen\n```"),
        ("1. run:\n   ```sh\n   # not root\n   ls\n   ```", "1. run:\n```sh\n# not root\nls\n```"),
        ("- ```\n  x\n  ```", "```\nx\n```"),
        ("- # no", "- \\# no"),
        ("Title\n===", "Title\n\\==="),
        ("Title\n---", "Title\n\\---"),
        ("above\n\n---\n\nbelow", "above\n\n---\n\nbelow"),
        ("</details> <!-- x", "\\</details> \\<!-- x"),
        ("`<b>` and <b>", "`<b>` and \\<b>"),
        ("1 < 2 and a <- b", "1 < 2 and a <- b"),
        ("\n\nx\n\n", "x"),
        ("a\tb\x1b[2J", "a\tb^[[2J"),
    ],
)
def test_a_text_keeps_its_meaning_and_its_place(text: str, shown: str) -> None:
    assert document(text) == shown


def test_code_in_a_line_may_hold_backticks() -> None:
    assert code("ls") == "`ls`"
    assert code("a `b` c") == "``a `b` c``"
    assert code("`x`") == "`` `x` ``"
    assert code("two\nlines") == "`two ↵ lines`"


def test_words_mean_only_themselves() -> None:
    assert words("*a* <b> [c](d) #1 x|y") == r"\*a\* \<b\> \[c\](d) \#1 x\|y"


def test_a_cell_stays_one() -> None:
    assert cell("a|b\nc") == r"a\|b c"
    assert cell(words("a|b")) == r"a\|b"


def test_quoted_and_folded() -> None:
    assert quoted("a\n\nb") == "> a\n>\n> b"
    assert details("More", "x").startswith("<details>\n<summary>More</summary>\n\nx\n\n</details>")


@pytest.mark.parametrize(
    ("text", "lines", "chars", "kept", "note"),
    [
        ("a\nb\n", 2, 10, "a\nb", ""),
        ("a\nb\nc", 2, 10, "a\nb", "… 1 more lines"),
        ("abcdef", 2, 4, "abcd", "… 2 more characters"),
        ("", 2, 4, "", ""),
    ],
)
def test_a_long_text_is_cut_and_says_so(
    text: str, lines: int, chars: int, kept: str, note: str
) -> None:
    assert shortened(text, lines, chars) == (kept, note)
