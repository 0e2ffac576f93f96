"""Names of things. Opaque strings with a prefix; only their maker may look inside."""

from __future__ import annotations

from typing import NewType

SessionId = NewType("SessionId", str)  # ses_…
IncarnationId = NewType("IncarnationId", str)  # inc_…: one life of one agent process
TurnId = NewType("TurnId", str)  # trn_1, trn_2 … per session
ItemId = NewType("ItemId", str)  # itm_…: a text, a thought or a tool call in the transcript
PromptId = NewType("PromptId", str)  # prm_…: a permission or a question that waits for a person
InputKey = NewType("InputKey", str)  # who:request-id, or prompt:<PromptId> for an answer
