from __future__ import annotations

from flybridge.model import ids


def test_every_id_is_a_plain_string_at_run_time() -> None:
    names = [name for name in vars(ids) if name.endswith(("Id", "Key"))]
    assert {"SessionId", "IncarnationId", "TurnId", "ItemId", "PromptId", "InputKey"} <= set(names)
    assert {type(getattr(ids, name)("x")) for name in names} == {str}
