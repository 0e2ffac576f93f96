from __future__ import annotations

import msgspec

from flybridge.model import facts as f
from flybridge.session.state import decode_state, encode_state
from tests.harness.session_sim import Sim, ask, say


def test_a_snapshot_survives_its_own_encoding_byte_for_byte() -> None:
    sim = Sim().up()
    sim.do(say())
    sim.fact(f.TurnBegan(), f.TurnOver(gauges={"usage": msgspec.Raw(b'{"a": 1}')}))
    ask(sim)
    data = encode_state(sim.state)
    assert encode_state(decode_state(data)) == data


def test_held_inputs_keep_their_order_and_sent_ones_are_not_held() -> None:
    sim = Sim().opened()
    first, second = sim.do(say("1")), sim.do(say("2"))
    assert sim.state.held() == [first, second]
    assert not sim.state.on_the_way()
    sim.fact(f.LinkUp(incarnation=sim.state.incarnation))
    assert sim.state.held() == []
    assert sim.state.on_the_way()
