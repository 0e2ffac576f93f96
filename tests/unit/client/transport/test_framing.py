from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flybridge.client.transport.framing import Lines


@given(
    messages=st.lists(st.binary(min_size=1).filter(lambda m: b"\n" not in m)),
    size=st.integers(1, 9),
)
def test_messages_do_not_depend_on_how_reads_were_split(messages: list[bytes], size: int) -> None:
    one, other = Lines(), Lines()
    for message in messages:
        one.send(message)
    stream = one.take()
    assert one.take() == b""
    reads = [stream[at : at + size] for at in range(0, len(stream), size)]
    assert [m for read in reads for m in other.receive(read)] == messages


def test_on_a_socket_of_this_machine_the_system_tells_who_is_gone() -> None:
    lines = Lines()
    assert not lines.ping()
    lines.close()
    assert lines.take() == b""
    assert lines.over is None
