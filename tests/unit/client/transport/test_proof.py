from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from flybridge.auth.authority import FILE_SCOPES, Authority
from flybridge.client.transport.http import Answer
from flybridge.client.transport.proof import Challenge
from flybridge.client.transport.tokens import Token
from flybridge.errors import GatewayError, GatewayUnreachableError
from flybridge.store.credentials import CredentialFile


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(CredentialFile(tmp_path / "t"), owner="me", cookie="c", now_ms=lambda: 1)


def asked(challenge: Challenge) -> dict[str, str]:
    target = challenge.request.split(b" ")[1].decode()
    assert urlsplit(target).path == "/base/api/v1/proof"
    return {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}


def answer(authority: Authority, challenge: Challenge) -> Answer:
    wanted = asked(challenge)
    proof = authority.proof(wanted["token_id"], wanted["nonce"].encode())
    return Answer(200, json.dumps({"proof": proof}).encode())


def test_the_gateway_that_made_a_token_can_prove_it(authority: Authority) -> None:
    token = Token(authority.create_token("ci", FILE_SCOPES))
    challenge = Challenge(token, host="h:1", base_path="/base")
    assert b"Host: h:1\r\n" in challenge.request
    assert token.secret.encode() not in challenge.request
    challenge.check(answer(authority, challenge))


def test_no_two_questions_are_the_same(authority: Authority) -> None:
    token = Token(authority.create_token("ci", FILE_SCOPES))
    one, other = (Challenge(token, host="h", base_path="/base") for _ in range(2))
    assert len(asked(one)["nonce"]) >= 32
    with pytest.raises(GatewayError):  # an answer overheard is worth nothing
        other.check(answer(authority, one))


def test_who_does_not_know_the_token_cannot(authority: Authority, tmp_path: Path) -> None:
    token = Token(authority.create_token("ci", FILE_SCOPES))
    stranger = Authority(CredentialFile(tmp_path / "u"), owner="x", cookie="c", now_ms=lambda: 1)
    challenge = Challenge(token, host="h", base_path="/base")
    given = asked(challenge)["nonce"]
    for reply in (
        answer(stranger, challenge),
        Answer(200, b""),
        Answer(200, b'{"proof":1}'),
        Answer(200, b'{"proof":""}'),
        Answer(200, json.dumps({"proof": given}).encode()),
        Answer(200, '{"proof":"é"}'.encode()),
        Answer(404, b""),
        Answer(301, b""),
    ):
        with pytest.raises(GatewayError, match="does not know this token"):
            challenge.check(reply)


def test_a_gateway_that_is_not_there_yet_is_tried_again(authority: Authority) -> None:
    token = Token(authority.create_token("ci", FILE_SCOPES))
    with pytest.raises(GatewayUnreachableError):
        Challenge(token, host="h").check(Answer(503, b""))


# ---- where it was asked ------------------------------------------------------------------------


def signed(authority: Authority, challenge: Challenge, address: str) -> Answer:
    """What a gateway answers that was asked at this address."""
    wanted = asked(challenge)
    nonce = wanted["nonce"].encode()
    body = {
        "proof": authority.proof(wanted["token_id"], nonce),
        "address": address,
        "address_proof": authority.address_proof(wanted["token_id"], nonce, address),
    }
    return Answer(200, json.dumps(body).encode())


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1:8420", "127.0.0.1:8420"),
        ("[::1]:8420", "[::1]:8420"),
        ("localhost:8420", "[::1]:8420"),
        ("localhost:8420", "127.0.0.1:8420"),
        ("127.0.0.1", "127.0.0.1:80"),
    ],
)
def test_a12_a_gateway_that_listens_there_itself_is_trusted(
    authority: Authority, host: str, address: str
) -> None:
    token = Token(authority.create_token("ci", FILE_SCOPES))
    challenge = Challenge(token, host=host, base_path="/base", direct=True)
    challenge.check(signed(authority, challenge, address))


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1:8620", "127.0.0.1:8420"),
        ("127.0.0.1:8420", "127.0.0.2:8420"),
        ("127.0.0.1:8420", "[::1]:8420"),
        ("localhost:8420", "192.0.2.1:8420"),
        ("127.0.0.1:8420", "nonsense"),
        ("127.0.0.1:8420", ""),
    ],
)
def test_a12_a_relay_does_not_get_the_token(authority: Authority, host: str, address: str) -> None:
    token = Token(authority.create_token("ci", FILE_SCOPES))
    challenge = Challenge(token, host=host, base_path="/base", direct=True)
    with pytest.raises(GatewayError, match="token was not sent"):
        challenge.check(signed(authority, challenge, address))
    given = Challenge(token, host=host, base_path="/base")  # a tunnel may be in between
    given.check(signed(authority, given, address))


def test_a12_an_address_that_the_gateway_did_not_sign_counts_for_nothing(
    authority: Authority,
) -> None:
    token = Token(authority.create_token("ci", FILE_SCOPES))
    challenge = Challenge(token, host="127.0.0.1:8620", base_path="/base", direct=True)
    wanted, here = asked(challenge), "127.0.0.1:8620"
    real = json.loads(signed(authority, challenge, "127.0.0.1:8420").body)
    # a relay can have anything signed as a nonce, but not with the key for addresses
    forged = authority.proof(wanted["token_id"], f"{wanted['nonce']}\0{here}".encode())
    for proof in (real["address_proof"], forged, ""):
        body = {"proof": real["proof"], "address": here, "address_proof": proof}
        with pytest.raises(GatewayError, match="token was not sent"):
            challenge.check(Answer(200, json.dumps(body).encode()))
