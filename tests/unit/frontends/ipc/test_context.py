"""What fills the context, in fields and in print."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flybridge.frontends.ipc.context import MAX_CATEGORIES, printed, told

TABLE = """## Context Usage

**Model:** m
**Tokens:** 10.4k / 200k (5%)

### Estimated usage by category

| Category | Tokens | Percentage |
|----------|--------|------------|
| System prompt | 3.6k | 1.8% |
| System tools (deferred) | 1,024 | 0.5% |
| Messages | 8 | 0.0% |
| Free space | 1.5m | 88.0% |
| Autocompact buffer | 33k | 16.5% |

### Skills

| Skill | Source | Tokens |
|-------|--------|--------|
| one | Project | 8 |
"""


def test_a_printed_table_is_read_row_by_row() -> None:
    found = printed(TABLE, 200_000)
    assert [(one.name, one.tokens, one.kind) for one in found] == [
        ("System prompt", 3600, "used"),
        ("System tools (deferred)", 1024, "deferred"),
        ("Messages", 8, "used"),
        ("Free space", 1_500_000, "free"),
        ("Autocompact buffer", 33_000, "buffer"),
    ]
    assert found[0].percentage == 1.8
    assert printed(TABLE, 0)[0].percentage is None


def test_what_is_no_table_gives_nothing() -> None:
    assert printed("", 10) == ()
    assert printed("| Category |", 10) == ()
    assert printed(TABLE.replace("3.6k", "3.6.6k"), 10)[0].tokens == 1024


@given(st.text("| \n.,0123456789kKmM%CategoryTokensPercentage", max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    assert len(printed(f"x| Category |{text}", 100)) <= MAX_CATEGORIES


def test_an_answer_in_fields_is_taken_as_it_is() -> None:
    category = {"id": "x", "name": "Messages", "tokens": 50, "kind": "used", "color": "red"}
    found = told({"categories": [category], "totalTokens": 50, "maxTokens": 200, "gridRows": []})
    assert found is not None
    assert (found.used, found.window) == (50, 200)
    assert [(one.name, one.percentage) for one in found.categories] == [("Messages", 25.0)]


def test_an_answer_that_is_none_is_left_out() -> None:
    assert told({"categories": [{"tokens": "few"}]}) is None
    assert told({"totalTokens": "many"}) is None
