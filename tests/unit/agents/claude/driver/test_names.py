from __future__ import annotations

from uuid import UUID

from flybridge.agents.claude.driver.names import message_of
from flybridge.model.ids import InputKey, SessionId


def test_an_input_has_always_the_same_id_and_no_other_input_has_it() -> None:
    wanted = [("a", "k"), ("a", "k"), ("a", "l"), ("b", "k")]
    one, again, other, elsewhere = (
        message_of(SessionId(session), InputKey(key)) for session, key in wanted
    )
    assert one == again
    assert len({one, other, elsewhere}) == 3
    assert UUID(one).version == 5
