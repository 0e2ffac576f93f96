"""Our words and the wire's words for the same thing."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

from flybridge.errors import InvalidRequestError
from flybridge.frontends.native.translate import to_command, to_request, to_wire
from flybridge.model.commands import AnswerPermission, SendInput
from flybridge.model.content import Text
from flybridge.model.deliveries import Batch, Gauge, Preview, Reply, Shown, Stage, View
from flybridge.model.ids import ItemId, SessionId
from flybridge.model.requests import Ask, Attach, Detach, Submit
from flybridge.wire.native import messages as wire

S = SessionId("ses_1")


def submit(command: bytes, until: str = "written") -> wire.Submit:
    return wire.Submit(ref="1", session=S, request="r", command=Raw(command), until=until)


def test_each_wire_request_has_its_twin() -> None:
    assert to_request(
        wire.Attach(ref="1", session=S, epoch=2, after=3, last=4, previews=False)
    ) == (Attach(ref="1", session=S, epoch=2, after=3, last=4, previews=False))
    assert to_request(wire.Detach(session=S)) == Detach(session=S)
    assert to_request(wire.Ask(ref="1", name="list")) == Ask(ref="1", name="list")


@pytest.mark.parametrize("stage", Stage)
def test_a_stage_is_its_lower_case_name(stage: Stage) -> None:
    request = to_request(submit(b'{"type":"close"}', stage.name.lower()))
    assert isinstance(request, Submit)
    assert request.until is stage
    assert msgspec.json.decode(to_wire(Reply(ref="1", stage=stage)))["stage"] == stage.name.lower()


def test_no_other_stage_is_taken() -> None:
    with pytest.raises(InvalidRequestError, match="until: one of accepted, written"):
        to_request(submit(b'{"type":"close"}', "soon"))


def test_a_command_is_read_with_its_raw_parts_untouched() -> None:
    command = to_command(
        Raw(
            b'{"type":"answer_permission","prompt":"p","digest":"d","decision":"allow",'
            b'"updated_input":{"a" : 1.50}}'
        )
    )
    assert isinstance(command, AnswerPermission)
    assert isinstance(command.updated_input, Raw)
    assert bytes(command.updated_input) == b'{"a" : 1.50}'
    said = to_command(Raw(b'{"type":"send_input","content":[{"type":"text","text":"hi"}]}'))
    assert said == SendInput(content=(Text("hi"),))


@pytest.mark.parametrize(
    "command",
    [
        b'{"type":"dance"}',
        b"[]",
        b'{"type":"send_input"}',
        b'{"type":"send_input","content":[],"mode":"later"}',
        b'{"type":"set_thinking","tokens":NaN}',
        b'{"type":"answer_permission","prompt":"p","digest":"d","decision":"maybe"}',
    ],
)
def test_a_command_that_makes_no_sense_is_refused(command: bytes) -> None:
    with pytest.raises(InvalidRequestError, match=r"^command: "):
        to_request(submit(command))


def test_each_delivery_is_one_frame() -> None:
    assert to_wire(Shown(S, Preview(ItemId("i"), 0, 2, "he"))) == (
        b'{"type":"preview","session":"ses_1","item":"i","since":0,"upto":2,"text":"he"}'
    )
    assert to_wire(Shown(S, Gauge("usage", Raw(b'{"t":\n1}')))) == (
        b'{"type":"gauge","session":"ses_1","name":"usage","value":{"t": 1}}'
    )
    assert to_wire(View(S, 3, Raw(b"{}"))) == (
        b'{"type":"view","session":"ses_1","seq":3,"state":{}}'
    )
    assert to_wire(Reply(ref="1", error="busy", message="later", duplicate=True)) == (
        b'{"type":"reply","ref":"1","error":"busy","message":"later","duplicate":true}'
    )
    assert to_wire(Reply(ref="1", value=Raw(b'{"a":1}'))) == (
        b'{"type":"reply","ref":"1","value":{"a":1}}'
    )
    assert to_wire(Batch(session=S, epoch=1, first_seq=1, count=2, wire=b"a\nb")) == b"a\nb"
