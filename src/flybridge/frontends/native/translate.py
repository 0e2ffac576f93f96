"""Native messages into requests of ours, deliveries of ours into native messages."""

from __future__ import annotations

from typing import assert_never

import msgspec

from flybridge.errors import InvalidRequestError
from flybridge.model.commands import Command
from flybridge.model.deliveries import Batch, Delivery, Gauge, Preview, Reply, Shown, Stage, View
from flybridge.model.ids import SessionId
from flybridge.model.requests import Ask, Attach, Detach, Request, Submit
from flybridge.wire.native import messages as wire

_commands: msgspec.json.Decoder[Command] = msgspec.json.Decoder(Command)
_STAGES = {stage.name.lower(): stage for stage in Stage}


def to_request(message: wire.Submit | wire.Attach | wire.Detach | wire.Ask) -> Request:
    """Say in our words what a client asks for.

    Raises:
        InvalidRequestError: no such command or stage, or the command's fields are wrong.
    """
    match message:
        case wire.Submit():
            return _to_submit(message)
        case wire.Attach():
            return Attach(
                ref=message.ref,
                session=SessionId(message.session),
                epoch=message.epoch,
                after=message.after,
                last=message.last,
                previews=message.previews,
            )
        case wire.Detach(session=session):
            return Detach(session=SessionId(session))
        case wire.Ask(ref=ref, name=name, params=params):
            return Ask(ref=ref, name=name, params=params)
        case _:
            assert_never(message)


def _to_submit(message: wire.Submit) -> Submit:
    until = _STAGES.get(message.until)
    if until is None:
        raise InvalidRequestError(f"until: one of {', '.join(_STAGES)}, not {message.until[:40]!r}")
    return Submit(
        ref=message.ref,
        session=SessionId(message.session),
        command=to_command(message.command),
        request=message.request,
        until=until,
        wait_ms=message.wait_ms,
    )


def to_command(raw: msgspec.Raw) -> Command:
    """Read a command.

    Raises:
        InvalidRequestError: no such command, or its fields are wrong.
    """
    try:
        return _commands.decode(raw)
    except msgspec.MsgspecError as error:
        raise InvalidRequestError(f"command: {str(error)[:200]}") from error


def to_wire(what: Delivery) -> bytes:
    """One frame: one message, or the event lines of one batch; no newline at the end."""
    match what:
        case Batch(wire=lines):
            return lines
        case Shown(session=session, what=Preview(item=item, since=since, upto=upto, text=text)):
            return wire.encode(
                wire.PreviewLine(session=session, item=item, since=since, upto=upto, text=text)
            )
        case Shown(session=session, what=Gauge(name=name, value=value)):
            return wire.encode(wire.GaugeLine(session=session, name=name, value=value))
        case View(session=session, seq=seq, state=state):
            return wire.encode(wire.ViewLine(session=session, seq=seq, state=state))
        case Reply():
            return wire.encode(_to_reply(what))
        case _:
            raise AssertionError(f"no delivery: {what!r}")


def _to_reply(reply: Reply) -> wire.ReplyLine:
    return wire.ReplyLine(
        ref=reply.ref,
        stage="" if reply.stage is None else reply.stage.name.lower(),
        value=reply.value,
        error=reply.error,
        message=reply.message,
        duplicate=reply.duplicate,
    )
