"""What the audit log hears of control messages: each message, each acknowledgement."""

from __future__ import annotations

from flybridge.errors import FlybridgeError
from flybridge.frontends.control.translate import Verdict
from flybridge.model.audit import Record
from flybridge.session.authorisation import Caller, who
from flybridge.wire.control import messages as wire


def note_of(
    caller: Caller,
    asked: wire.Request | wire.Head,
    verdict: Verdict | None = None,
    *,
    text: bool = False,
) -> Record:
    """A record of a message, or with a ``verdict`` of its acknowledgement. ``text``: with what
    it says; nothing of it is written down otherwise."""
    kind = asked.type if isinstance(asked, wire.Head) else wire.type_of(asked)
    failed = verdict is not None and verdict.result != "ok"
    return Record(
        event=kind if verdict is None else kind.replace(".request", ".ack"),
        outcome="received" if verdict is None else "refused" if failed else "done",
        code=verdict.error.code if verdict is not None and verdict.error else "",
        session=asked.session_id,
        request=asked.request_id,
        team=asked.team,
        agent_id=asked.agent_id,
        sender=asked.sender,
        result="" if verdict is None else verdict.result,
        duplicate="" if verdict is None else str(verdict.duplicate).lower(),
        detail=_detail(asked, text=text) if verdict is None else "",
        **who(caller),
    )


def bad_note(caller: Caller, error: FlybridgeError) -> Record:
    """A record of something that was no message, or was signed by nobody we know."""
    return Record(event="control.bad", outcome="refused", code=error.code, **who(caller))


def _detail(asked: wire.Request | wire.Head, *, text: bool) -> str:
    if isinstance(asked, wire.Head):
        return ""
    meta = wire.given(asked.meta, wire.Metadata())
    count = wire.given(meta.retry_count, 0)
    retry = f"retry {count}" if count > 0 else ""
    if text and isinstance(asked, wire.StdinRequest):
        return " ".join(one for one in (retry, wire.given(asked.content, "")) if one)
    return retry
