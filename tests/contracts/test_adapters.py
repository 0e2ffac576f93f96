"""The shipped adapter kit, run over every adapter of ours."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Raw

from flybridge.frontends.control.adapter import ControlAdapter
from flybridge.frontends.native.adapter import NativeAdapter
from flybridge.model.commands import Interrupt, SendInput
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.model.ids import SessionId
from flybridge.model.requests import Ask, Attach, Detach, Submit
from flybridge.session.ports import Adapter
from flybridge.testing.adapters import AdapterContract, Sample
from flybridge.wire.native.messages import Welcome

_S = SessionId("ses_1")


class TestNativeAdapter(AdapterContract):
    greeting = b'{"type":"hello","proto":1,"client":"kit"}\n'

    def adapter(self) -> Adapter:
        welcome = Welcome(proto=1, version="0", generation=1, principal="uid:1", scopes=("view",))
        return NativeAdapter(welcome=welcome, max_line=4096)

    def samples(self) -> Sequence[Sample]:
        return [
            Sample(
                data=b'{"type":"submit","ref":"1","session":"ses_1","request":"r","command":'
                b'{"type":"send_input","content":[{"type":"text","text":"h\xc3\xa9"}]}}\n',
                requests=(
                    Submit(
                        ref="1",
                        session=_S,
                        request="r",
                        command=SendInput(content=(Text("hé"),)),
                    ),
                ),
            ),
            Sample(
                data=b'{"type":"submit","ref":"2","session":"ses_1","request":"q","command":'
                b'{"type":"interrupt","hard":true},"until":"done","wait_ms":0,"new_field":[]}\n',
                requests=(
                    Submit(
                        ref="2",
                        session=_S,
                        request="q",
                        command=Interrupt(hard=True),
                        until=Stage.DONE,
                        wait_ms=0,
                    ),
                ),
            ),
            Sample(
                data=b'{"type":"attach","ref":"3","session":"ses_1","epoch":1,"after":12}\r\n\n'
                b'{"type":"detach","session":"ses_1"}\n',
                requests=(
                    Attach(ref="3", session=_S, epoch=1, after=12),
                    Detach(session=_S),
                ),
            ),
            Sample(
                data=b'{"type":"ask","ref":"4","name":"open","params":{"agent": "demo"}}\n',
                requests=(Ask(ref="4", name="open", params=Raw(b'{"agent": "demo"}')),),
            ),
        ]

    def bad(self) -> Sequence[bytes]:
        return [
            b"nonsense\n",
            b'"\xff"\n',
            b'{"type":"sing","ref":"1"}\n',
            b'{"type":"hello","proto":1}\n',
            b'{"type":"detach"}\n',
            b'{"type":"attach","ref":"1"}\n',
            b'{"type":"submit","ref":"1","session":"s","request":"r","command":{"type":"no"}}\n',
        ]


_STOP = (
    b'{"type":"control.interrupt.request","v":1,"request_id":"r","team":"t","session_id":"s",'
    b'"agent_id":"a:1","sender":"me","sent_at":"","signal":"interrupt"}'
)


class TestControlAdapter(AdapterContract):
    def adapter(self) -> Adapter:
        return ControlAdapter(max_line=4096)

    def samples(self) -> Sequence[Sample]:
        return [
            Sample(
                data=_STOP + b"\r\n\n",
                requests=(Ask(ref="1", name="control", params=Raw(_STOP + b"\r")),),
            )
        ]

    def bad(self) -> Sequence[bytes]:
        return [
            b"nonsense\n",
            b'"\xff"\n',
            b'{"type":"hello","proto":1}\n',
            b'{"type":"control.stdin.request"}\n',
            b'{"type":"control.stdin.ack","request_id":"r"}\n',
        ]
