from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

import msgspec
import pytest

from flybridge.auth.authority import (
    ALL_SCOPES,
    FILE_SCOPES,
    LOGIN_MS,
    MAX_TICKETS,
    TICKET_MS,
    Authority,
)
from flybridge.auth.gate import Head
from flybridge.auth.login import LOGIN_KEY, Login
from flybridge.errors import (
    FlybridgeError,
    InvalidRequestError,
    LoginIncompleteError,
    NotAuthenticatedError,
    StorageError,
    TooManyTriesError,
)
from flybridge.model.audit import Record
from flybridge.session.authorisation import Caller
from flybridge.store.credentials import Credential, CredentialFile, Credentials

WHERE = {"door": "http", "source": "127.0.0.1"}


class House:
    """An authority, its clock and what it wrote down."""

    def __init__(self, folder: Path) -> None:
        self.now_ms = 1_000_000
        self.noted: list[Record] = []
        self.path = folder / "tokens"
        self.authority = self.again()

    def again(self) -> Authority:
        self.authority = Authority(
            CredentialFile(self.path),
            owner="uid:1",
            cookie="flybridge-8420",
            now_ms=lambda: self.now_ms,
            audit=self.noted.append,
        )
        return self.authority

    def by_cookie(self, login: Login | str) -> Caller | None:
        """Whoever has both halves of a login; of a bare string, the cookie without a key."""
        cookie, key = (login, "") if isinstance(login, str) else (login.cookie, login.key)
        return self.by_cookies(f"a=b; flybridge-8420={cookie}; c=d", key)

    def by_cookies(self, line: str, key: str) -> Caller | None:
        given = head(cookie=line, **({LOGIN_KEY.decode(): key} if key else {}))
        return self.authority.caller_of(given, **WHERE)

    def by_token(self, token: str) -> Caller:
        return self.authority.by_token(token.encode(), **WHERE)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def head(**headers: str) -> Head:
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    return Head(method="GET", target="/", headers=pairs)


def test_a_ticket_is_a_login_once(house: House) -> None:
    ticket = house.authority.ticket()
    cookie = house.authority.login(ticket, **WHERE)
    caller = house.by_cookie(cookie)
    assert caller is not None
    assert (caller.principal, caller.scopes, caller.door) == ("uid:1", ALL_SCOPES, "http")
    with pytest.raises(NotAuthenticatedError):
        house.authority.login(ticket, **WHERE)


def test_a_ticket_does_not_last(house: House) -> None:
    ticket = house.authority.ticket()
    house.now_ms += TICKET_MS
    with pytest.raises(NotAuthenticatedError):
        house.authority.login(ticket, **WHERE)
    for _ in range(MAX_TICKETS * 2):
        house.authority.ticket()
    assert len(house.authority._tickets) == MAX_TICKETS


async def test_a02_a_login_is_made_for_forwarding_by_its_link_or_by_the_password(
    house: House,
) -> None:
    await house.authority.set_password("correct horse")
    values = [
        house.authority.login(house.authority.ticket(), **WHERE),
        house.authority.login(house.authority.ticket(forwarding=True), **WHERE),
        await house.authority.login_with_password("correct horse", **WHERE),
    ]
    assert [one.forwarding for one in house.authority.logins()] == [False, True, True]
    assert [login.cookie.split(".")[0] for login in values] == [
        one.id for one in house.authority.logins()
    ]


def test_a_ticket_that_is_looked_at_is_not_used_up(house: House) -> None:
    ticket = house.authority.ticket(person_only=True)
    found = house.authority.find_ticket(ticket)
    assert found is not None
    assert found.person_only
    assert house.authority.find_ticket("no such ticket") is None
    house.authority.login(ticket, **WHERE)
    assert house.authority.find_ticket(ticket) is None


def test_a_ticket_may_give_less_and_to_somebody_else(house: House) -> None:
    ticket = house.authority.ticket(frozenset({"view"}), name="Ada")
    caller = house.by_cookie(house.authority.login(ticket, **WHERE))
    assert caller is not None
    assert (caller.principal, caller.scopes) == ("guest:Ada", frozenset({"view"}))


def test_a_login_outlives_the_gateway_and_ends_by_itself(house: House) -> None:
    cookie = house.authority.login(house.authority.ticket(), **WHERE)
    house.again()
    caller = house.by_cookie(cookie)
    assert caller is not None
    assert house.authority.holds(caller)
    house.now_ms += LOGIN_MS
    assert not house.authority.holds(caller)
    with pytest.raises(NotAuthenticatedError):
        house.by_cookie(cookie)


def test_a_token_is_for_a_program_and_never_approves(house: House) -> None:
    """Abuse case 26."""
    token = house.authority.create_token("ci", frozenset({"view", "input"}), sessions=("ses_1",))
    caller = house.by_token(token)
    assert caller.scopes == {"view", "input"}
    assert caller.principal == f"token:{caller.credential}"
    assert caller.sessions == {"ses_1"}
    for scope in ALL_SCOPES - FILE_SCOPES:
        with pytest.raises(InvalidRequestError):
            house.authority.create_token("more", frozenset({"view", scope}))


def test_a_token_gets_no_more_from_what_somebody_wrote_into_the_file(house: House) -> None:
    secret = "s" * 43
    forged = Credential(
        id="f1",
        name="f",
        scopes=("view", "approve", "admin", "nonsense"),
        digest=hashlib.sha256(secret.encode()).hexdigest(),
        created_ms=1,
    )
    CredentialFile(house.path).save(Credentials(tokens=(forged,)))
    house.again()
    assert house.by_token(f"fbt_f1.{secret}").scopes == {"view"}


def test_no_secret_is_in_the_file(house: House) -> None:
    """Abuse case 24."""
    token = house.authority.create_token("ci", frozenset({"view"}))
    cookie = house.authority.login(house.authority.ticket(), **WHERE)
    kept = house.path.read_text()
    for value in (token, cookie.cookie, cookie.key):
        assert value.rpartition(".")[2] not in kept


@pytest.mark.parametrize(
    "token",
    [b"", b"fbt_", b"fbt_x", b"fbt_.", b"Bearer", b"\xe9\xff", b"fbt_\xe9.\xff", b"x" * 10_000],
)
def test_what_is_no_token_is_refused_in_the_same_words(house: House, token: bytes) -> None:
    """Abuse case 14."""
    house.authority.create_token("ci", frozenset({"view"}))
    with pytest.raises(NotAuthenticatedError, match=r"^log in first$"):
        house.authority.by_token(token, **WHERE)
    given = head(authorization="Bearer " + token.decode("latin-1"))
    with pytest.raises(NotAuthenticatedError, match=r"^log in first$"):
        house.authority.caller_of(given, **WHERE)
    assert {one.outcome for one in house.noted} == {"refused"}


def test_nearly_right_is_wrong(house: House) -> None:
    token = house.authority.create_token("ci", frozenset({"view"}))
    cookie = house.authority.login(house.authority.ticket(), **WHERE)
    for wrong in (token[:-1], token + "x", "fbt_" + cookie.cookie, token.upper()):
        with pytest.raises(NotAuthenticatedError):
            house.by_token(wrong)
    with pytest.raises(NotAuthenticatedError):
        house.by_cookie(token.removeprefix("fbt_"))


def test_no_credential_is_nobody_and_two_are_none(house: House) -> None:
    assert house.authority.caller_of(head(), **WHERE) is None
    assert house.authority.caller_of(head(cookie="other=1"), **WHERE) is None
    token = house.authority.create_token("ci", frozenset({"view"}))
    bearer = (b"authorization", b"Bearer " + token.encode())
    twice = Head(method="GET", target="/", headers=[bearer, bearer])
    with pytest.raises(NotAuthenticatedError):
        house.authority.caller_of(twice, **WHERE)
    once = Head(method="GET", target="/", headers=[bearer])
    assert house.authority.caller_of(once, **WHERE) is not None


def test_what_is_taken_back_ends_at_once(house: House) -> None:
    """Abuse case 19."""
    token = house.authority.create_token("ci", frozenset({"view"}))
    cookie = house.authority.login(house.authority.ticket(), **WHERE)
    callers = [house.by_token(token), house.by_cookie(cookie)]
    ended: list[str] = []
    for caller, name in zip(callers, ("ci", "web"), strict=True):
        assert caller is not None
        house.authority.watch(caller, lambda name=name: ended.append(name))  # type: ignore[misc]
    stop = house.authority.watch(callers[0], lambda: ended.append("never"))  # type: ignore[arg-type]
    stop()
    stop()
    house.authority.revoke("ci")
    assert ended == ["ci"]
    house.authority.logout(callers[1])  # type: ignore[arg-type]
    assert ended == ["ci", "web"]
    for caller in callers:
        assert caller is not None
        assert not house.authority.holds(caller)
    with pytest.raises(NotAuthenticatedError):
        house.by_token(token)
    with pytest.raises(InvalidRequestError):
        house.authority.revoke("ci")


async def test_a_new_password_ends_every_login(house: House) -> None:
    """Abuse case 20."""
    assert not house.authority.has_password()
    await house.authority.set_password("correct horse")
    cookie = await house.authority.login_with_password("correct horse", **WHERE)
    assert house.by_cookie(cookie) is not None
    await house.authority.set_password("battery staple")
    with pytest.raises(NotAuthenticatedError):
        house.by_cookie(cookie)
    with pytest.raises(NotAuthenticatedError):
        await house.authority.login_with_password("correct horse", **WHERE)
    with pytest.raises(InvalidRequestError):
        await house.authority.set_password("short")


async def guess(house: House, n: int) -> None:
    match n % 3:
        case 0:
            house.authority.by_token(b"fbt_a.b", door="ws", source="127.0.0.1")
        case 1:
            house.authority.login("x", **WHERE)
        case _:
            await house.authority.login_with_password("x" * 9, **WHERE)


async def test_guessing_ends_wherever_it_comes_from_and_however_it_is_mixed(house: House) -> None:
    """Abuse case 16."""
    outcomes: list[type[BaseException]] = []
    for n in range(30):
        with pytest.raises(FlybridgeError) as caught:
            await guess(house, n)
        outcomes.append(caught.type)
    assert outcomes.count(NotAuthenticatedError) == 10
    assert set(outcomes[10:]) == {TooManyTriesError}
    await house.authority.set_password("correct horse")
    with pytest.raises(TooManyTriesError):
        await house.authority.login_with_password("correct horse", **WHERE)
    house.now_ms += 60_000
    login = await house.authority.login_with_password("correct horse", **WHERE)
    assert house.by_cookie(login) is not None


def test_nobody_locks_the_owner_out_by_guessing(house: House) -> None:
    token = house.authority.create_token("ci", frozenset({"view"}))
    cookie = house.authority.login(house.authority.ticket(), **WHERE)
    for _ in range(50):
        with pytest.raises(FlybridgeError):
            house.by_token("fbt_a.b")
    assert house.by_cookie(cookie) is not None
    assert house.by_token(token) is not None


def test_names_of_tokens_are_names(house: House) -> None:
    house.authority.create_token("ci", frozenset({"view"}))
    for name in ("ci", "", "x" * 101, "a\nb"):
        with pytest.raises(InvalidRequestError):
            house.authority.create_token(name, frozenset({"view"}))
    with pytest.raises(InvalidRequestError):
        house.authority.create_token("empty", frozenset())


def test_a_token_may_expire(house: House) -> None:
    token = house.authority.create_token("day", frozenset({"view"}), days=1)
    assert house.by_token(token).scopes == {"view"}
    house.now_ms += 24 * 3600 * 1000
    with pytest.raises(NotAuthenticatedError):
        house.by_token(token)


def test_a_server_can_prove_that_it_knows_a_token(house: House) -> None:
    """Abuse case 9."""
    token = house.authority.create_token("ci", frozenset({"view"}))
    name, _, secret = token.removeprefix("fbt_").partition(".")
    key = hashlib.sha256(secret.encode()).digest()
    wanted = hmac.new(key, b"nonce", hashlib.sha256).hexdigest()
    assert house.authority.proof(name, b"nonce") == wanted
    nobody = house.authority.proof("nobody", b"nonce")
    assert house.authority.proof("nobody", b"nonce") == nobody  # a token or none: who can tell?
    assert house.authority.proof("noone", b"nonce") != nobody


def test_what_could_not_be_saved_does_not_hold(house: House) -> None:
    house.path = house.path.parent / "gone" / "tokens"
    house.again()
    with pytest.raises(StorageError):
        house.authority.create_token("ci", frozenset({"view"}))
    assert house.authority.tokens() == ()


def test_a04_a_cookie_without_the_key_of_its_login_is_incomplete(house: House) -> None:
    login, other = (house.authority.login(house.authority.ticket(), **WHERE) for _ in range(2))
    for key in ("", login.key[:-1], login.key + "x", other.key, login.cookie, "é", "x" * 5000):
        for _ in range(20):  # nobody guesses 256 bits: it is not counted, and locks nobody out
            with pytest.raises(LoginIncompleteError, match="sign in again"):
                house.by_cookies(f"flybridge-8420={login.cookie}", key)
    assert house.by_cookie(login) is not None
    with pytest.raises(NotAuthenticatedError, match=r"^log in first$"):
        house.by_cookies("flybridge-8420=a.b", login.key)


def test_a04_a_key_that_is_there_twice_is_none(house: House) -> None:
    login = house.authority.login(house.authority.ticket(), **WHERE)
    cookie = (b"cookie", f"flybridge-8420={login.cookie}".encode())
    key = (LOGIN_KEY, login.key.encode())
    twice = Head(method="GET", target="/", headers=[cookie, key, key])
    with pytest.raises(LoginIncompleteError):
        house.authority.caller_of(twice, **WHERE)


def test_a04_both_halves_of_a_login_survive_a_restart(house: House) -> None:
    login = house.authority.login(house.authority.ticket(), **WHERE)
    house.again()
    caller = house.by_cookie(login)
    assert caller is not None
    house.authority.logout(caller)
    with pytest.raises(NotAuthenticatedError, match=r"^log in first$"):
        house.by_cookie(login)


def test_a04_a_login_from_before_there_were_keys_is_over(house: House) -> None:
    login = house.authority.login(house.authority.ticket(), **WHERE)
    kept = CredentialFile(house.path).load()
    old = msgspec.structs.replace(kept.logins[0], key_digest="")
    CredentialFile(house.path).save(msgspec.structs.replace(kept, logins=(old,)))
    house.again()
    assert house.authority.logins() == ()
    for given in (login, login.cookie):
        with pytest.raises(NotAuthenticatedError, match=r"^log in first$"):
            house.by_cookie(given)


def test_a13_every_cookie_of_our_name_is_tried(house: House) -> None:
    login = house.authority.login(house.authority.ticket(), **WHERE)
    guest = house.authority.login(
        house.authority.ticket(frozenset({"view"}), name="guest"), **WHERE
    )
    good = f"flybridge-8420={login.cookie}"
    for planted in ("x", "", "a.b", "é.é", guest.cookie, "x" * 3000):
        for line in (f"flybridge-8420={planted}; {good}", f"{good}; flybridge-8420={planted}"):
            caller = house.by_cookies(line, login.key)
            assert caller is not None
            assert caller.principal == "uid:1"
    assert house.by_cookies("flybridge-8420=x; " * 300 + good, login.key) is not None
    assert [record for record in house.noted if record.outcome == "refused"] == []
    with pytest.raises(LoginIncompleteError):
        house.by_cookies(f"flybridge-8420=x; {good}", "")
    with pytest.raises(NotAuthenticatedError, match=r"^log in first$"):
        house.by_cookies("flybridge-8420=x; flybridge-8420=y", login.key)
    assert len([record for record in house.noted if record.outcome == "refused"]) == 1
