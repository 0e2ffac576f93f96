from __future__ import annotations

from flybridge.listeners.connection_counts import ConnectionCounts

SERVER = ("127.0.0.1", 8420)


class Idle:
    closed = False

    def evict(self) -> None:
        self.closed = True


def counts(of_one_source: int = 3, in_all: int = 100) -> ConnectionCounts:
    """By port instead of by what the kernel knows: 1042 is a connection of uid 42."""
    return ConnectionCounts(
        of_one_source=of_one_source,
        in_all=in_all,
        uid=lambda client, server: client[1] - 1000 if client[1] > 1000 else None,
    )


def test_a14_local_connections_are_counted_by_user_and_others_by_address() -> None:
    found = counts()
    assert found.source_of(("127.0.0.1", 1042), SERVER) == "uid:42"
    assert found.source_of(("::1", 1042), ("::1", 8420)) == "uid:42"
    assert found.source_of(("192.0.2.1", 1042), ("192.0.2.1", 8420)) == "uid:42"  # this machine
    assert found.source_of(("127.0.0.1", 5), SERVER) == "127.0.0.1"  # the kernel does not know
    assert found.source_of(("192.0.2.1", 1042), ("192.0.2.2", 8420)) == "192.0.2.1"
    assert found.source_of(None, SERVER) == found.source_of(("a", 1), None) == ""


def test_a14_one_user_does_not_take_the_places_of_another() -> None:
    found = counts()
    held = [Idle() for _ in range(10)]
    for one in held:
        assert found.add("uid:1", one)
        found.busy("uid:1", one)
        if len(found) == 3:
            break
    assert not found.add("uid:1", Idle())
    assert found.add("uid:2", Idle())


def test_a14_the_longest_idle_connection_goes_first() -> None:
    found = counts()
    first, second, third, fourth = (Idle() for _ in range(4))
    for one in (first, second, third):
        assert found.add("a", one)
    found.busy("a", first)
    assert found.add("a", fourth)
    assert [one.closed for one in (first, second, third, fourth)] == [False, True, False, False]
    found.idle("a", first)
    assert found.add("a", Idle())
    assert third.closed
    assert not first.closed
    assert len(found) == 3


def test_a14_when_all_places_are_taken_who_has_most_idle_ones_gives_way() -> None:
    found = counts(in_all=5)
    many, few = [Idle() for _ in range(3)], [Idle() for _ in range(2)]
    for one in many:
        assert found.add("a", one)
    for one in few:
        assert found.add("b", one)
    assert found.add("c", Idle())
    assert [one.closed for one in (*many, *few)] == [True, False, False, False, False]
    assert found.add("d", Idle(), others=1000)  # a new connection closes one at most
    assert sum(one.closed for one in (*many, *few)) == 2


def test_without_an_idle_connection_there_is_no_room() -> None:
    found = counts(in_all=2)
    for one in (Idle(), Idle()):
        assert found.add("a", one)
        found.busy("a", one)
    assert not found.add("b", Idle())
    assert len(found) == 2


def test_nothing_is_kept_of_connections_that_are_gone() -> None:
    found = counts()
    one = Idle()
    assert found.add("a", one)
    found.remove("a", one)
    assert (len(found), found._open, found._idle) == (0, {}, {})
