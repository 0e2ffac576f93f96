from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from flybridge.model.queries import RESULTS, QueryName, QueryResult, RewindPreview


def test_every_query_has_its_result_and_no_other() -> None:
    assert set(RESULTS) == set(get_args(QueryName))
    assert set(RESULTS.values()) == set(get_args(QueryResult))


@pytest.mark.parametrize("kind", [kind for kind in RESULTS.values() if kind is not RewindPreview])
def test_an_answer_of_which_nothing_is_known_is_empty(kind: type[QueryResult]) -> None:
    empty = msgspec.to_builtins(msgspec.json.decode(b"{}", type=kind))
    assert all(value in ((), 0) for value in empty.values())
