"""Names that are derived, so that they are the same again after a restart."""

from __future__ import annotations

from uuid import UUID, uuid5

from flybridge.model.ids import InputKey, SessionId

NAMESPACE = UUID("5f1d6f0e-6f5b-5c0a-9b7e-2f6a3c1d8e4b")  # of every uuid we derive


def message_of(session: SessionId, key: InputKey) -> str:
    """Claude's id for an input of ours: it never runs the same one twice."""
    return str(uuid5(NAMESPACE, f"{session}\n{key}"))
