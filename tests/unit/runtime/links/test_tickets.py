from __future__ import annotations

from flybridge.model.ids import IncarnationId, SessionId
from flybridge.runtime.links.tickets import is_ticket_of, life_in, ticket_of
from flybridge.session.ports import IncarnationRow


def row(incarnation: str = "inc_1", secret: str = "s") -> IncarnationRow:
    return IncarnationRow(
        incarnation=IncarnationId(incarnation),
        session=SessionId("ses_1"),
        state="live",
        socket="",
        secret=secret,
    )


def test_a_ticket_is_the_same_in_every_gateway_and_says_whose_it_is() -> None:
    assert ticket_of(row()) == ticket_of(row())
    assert life_in(ticket_of(row())) == "inc_1"
    assert is_ticket_of(row(), ticket_of(row()))


def test_it_is_good_for_one_life_only() -> None:
    assert not is_ticket_of(row("inc_2"), ticket_of(row()))
    assert not is_ticket_of(row(secret="other"), ticket_of(row()))


def test_it_does_not_tell_the_secret() -> None:
    secret = "b5" * 16
    assert secret not in ticket_of(row(secret=secret))


def test_anything_else_is_no_ticket() -> None:
    for words in ("", ".", "inc_1", "inc_1.", "\udcff", "é" * 1000, ticket_of(row()) + "0"):
        assert not is_ticket_of(row(), words)
    assert life_in("no dot") == ""
