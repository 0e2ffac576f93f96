from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from flybridge.auth.authority import ALL_SCOPES, FILE_SCOPES
from flybridge.auth.refusals import PER_SOURCE, RefusalLog
from flybridge.listeners import connection as native
from flybridge.listeners import websocket
from flybridge.listeners.upgrade import Room, Timing
from flybridge.model.audit import Record
from tests.harness.frames import PING, PONG, TEXT, closing, frame
from tests.harness.login import KEY_HEADER
from tests.harness.waiting import until
from tests.harness.websocket_harness import OpenDoor, echo, opened

DAY_MS = 24 * 3600 * 1000

# ---- the upgrade ---------------------------------------------------------------------------------


async def test_an_upgrade_answers_the_clients_key_and_takes_no_extension(place: OpenDoor) -> None:
    guest = await place.dial()
    status = await guest.upgrade(
        Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==",
        Sec_WebSocket_Extensions="permessage-deflate; client_max_window_bits",
        Sec_WebSocket_Protocol="anything",
    )
    assert status == 101
    assert guest.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="  # RFC 6455, 1.3
    assert "sec-websocket-extensions" not in guest.headers
    assert "sec-websocket-protocol" not in guest.headers


REFUSED = {
    "another site": (403, {"Origin": "http://evil.example"}),
    "no site at all": (403, {"Origin": "null"}),
    "another name": (421, {"Host": "evil.example"}),
    "another path": (404, {"target": "/api/v1/other"}),
    "a query": (404, {"target": "/api/v1/ws?token=x"}),
    "another method": (405, {"method": "HEAD"}),
    "another version": (400, {"Sec_WebSocket_Version": "12"}),
    "no version": (400, {"Sec_WebSocket_Version": ""}),
    "no key": (400, {"Sec_WebSocket_Key": ""}),
    "a short key": (400, {"Sec_WebSocket_Key": "c2hvcnQ="}),
    "a key that is none": (400, {"Sec_WebSocket_Key": "!!"}),
    "a body": (400, {"Content_Length": "5"}),
    "a long header": (400, {"X_Long": "x" * 9000}),
    "a bad token": (401, {"Authorization": "Bearer nothing"}),
    "a token that is no text": (401, {"Authorization": "Bearer \xe9"}),
    "a bad cookie": (401, {"Cookie": "fb=nothing"}),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_stays_outside_never_has_a_socket(place: OpenDoor, case: str) -> None:
    status, how = REFUSED[case]
    guest = await place.dial()
    assert await guest.upgrade(**how) == status
    assert guest.headers["content-type"] == "application/problem+json"
    problem = json.loads(guest.body)
    assert problem["status"] == status
    assert problem["code"]
    assert await guest.gone() == b""
    assert not place.door.strangers
    assert not place.echo.handled


async def test_refusals_are_audited_without_what_was_brought(place: OpenDoor) -> None:
    guest = await place.dial()
    await guest.upgrade(Origin="http://evil.example", Cookie="fb=canary")
    (record,) = place.audited
    assert (record.event, record.outcome, record.code) == ("connect", "refused", "wrong_origin")
    assert (record.door, record.source) == ("websocket", "127.0.0.1")
    assert "canary" not in str(record)


async def test_many_refusals_do_not_fill_the_log(place: OpenDoor) -> None:
    kept: list[Record] = []
    place.door.audit = RefusalLog(kept.append).write
    for _ in range(PER_SOURCE + 20):
        guest = await place.dial()
        assert await guest.upgrade(Host="evil.example") == 421
    assert len(kept) == PER_SOURCE


async def test_our_own_page_may_come_in(place: OpenDoor) -> None:
    origin = f"http://127.0.0.1:{place.port}"
    guest = await place.upgraded(Origin=origin, Sec_Fetch_Site="same-origin", **place.login())
    await guest.greet()


# ---- who is there --------------------------------------------------------------------------------


async def test_both_halves_of_a_login_at_the_upgrade_are_enough(place: OpenDoor) -> None:
    guest = await place.upgraded(**place.login())
    guest.say({"type": "hello", "proto": 1})
    heard = await guest.hear()
    assert heard["principal"] == "me"
    assert "approve" in heard["scopes"]


@pytest.mark.parametrize("together", [True, False])
async def test_a04_the_first_message_of_a_browser_brings_the_key_of_its_login(
    place: OpenDoor, together: bool
) -> None:
    login = place.login()
    guest = await place.upgraded(cookie=login["cookie"])
    messages: list[dict[str, Any]] = [
        {"type": "auth", "key": login[KEY_HEADER]},
        {"type": "hello", "proto": 1},
        {"type": "ask", "ref": "1", "name": "echo", "params": [1]},
    ]
    if together:
        guest.say(*messages)
    else:  # in one packet: the second is there before it is known who may say it
        guest.send(b"".join(frame(json.dumps(message).encode()) for message in messages))
    heard = await guest.hear()
    assert (heard["principal"], heard["scopes"]) == ("me", sorted(ALL_SCOPES))
    assert (await guest.hear())["value"] == [1]
    assert not place.door.strangers


async def test_a04_a_cookie_alone_opens_no_socket(place: OpenDoor) -> None:
    login, other = place.login(), place.login()
    for key in ("", other[KEY_HEADER], login["cookie"]):
        guest = await place.upgraded(cookie=login["cookie"])
        guest.say({"type": "auth", "key": key}, {"type": "hello", "proto": 1})
        guest.send(frame(echo("1")))
        assert await guest.ending() == (4401, "the login key is missing or wrong: sign in again")
    guest = await place.upgraded(cookie=login["cookie"])
    guest.say({"type": "hello", "proto": 1})
    assert (await guest.ending())[0] == 4401
    assert not place.echo.handled
    assert {record.code for record in place.audited} == {"login_incomplete"}


async def test_a04_a_login_that_ends_while_its_key_is_awaited_is_over(place: OpenDoor) -> None:
    login = place.login()
    guest = await place.upgraded(cookie=login["cookie"])
    place.authority.revoke(place.authority.logins()[0].id)
    guest.say({"type": "auth", "key": login[KEY_HEADER]}, {"type": "hello", "proto": 1})
    assert await guest.ending() == (4401, "log in first")


async def test_a_token_in_a_header_is_enough(place: OpenDoor) -> None:
    guest = await place.upgraded(Authorization=f"Bearer {place.token}")
    guest.say({"type": "hello", "proto": 1})
    heard = await guest.hear()
    assert heard["scopes"] == sorted(FILE_SCOPES)


async def test_the_first_message_says_who_is_there_and_the_others_what_is_wanted(
    place: OpenDoor,
) -> None:
    guest = await place.upgraded()
    hello = {"type": "hello", "proto": 1}
    ask = {"type": "ask", "ref": "1", "name": "echo", "params": [1]}
    guest.say({"type": "auth", "token": place.token}, hello, ask)
    assert (await guest.hear())["type"] == "welcome"
    assert (await guest.hear())["value"] == [1]
    assert not place.door.strangers


@pytest.mark.parametrize(
    "first",
    [
        b'{"type":"auth","token":"fbt_0.wrong"}',
        b'{"type":"auth","token":""}',
        b'{"type":"auth","token":"\xc3\xa9"}',
        b'{"type":"auth"}',
        b'{"type":"auth","token":7}',
        b'{"type":"hello","proto":1}',
        b'{"type":"ask","ref":"1","name":"echo"}',
        b"nonsense",
        b"[" * 10_000,
    ],
)
async def test_anything_but_a_good_token_gets_the_same_answer(
    place: OpenDoor, first: bytes
) -> None:
    guest = await place.upgraded()
    rest = b'\n{"type":"hello","proto":1}\n' + echo("1")
    guest.send(frame(first + rest) + frame(echo("2")))
    assert await guest.ending() == (4401, "log in first")
    assert not place.echo.handled


async def test_whoever_guesses_too_often_has_to_wait(place: OpenDoor) -> None:
    endings = []
    for _ in range(12):
        guest = await place.upgraded()
        guest.say({"type": "auth", "token": "fbt_0.wrong"})
        endings.append((await guest.ending())[0])
    assert endings == [4401] * 10 + [4429] * 2
    await place.guest()  # who knows it need not wait


async def test_a_login_that_may_do_nothing_is_sent_away(place: OpenDoor) -> None:
    guest = await place.upgraded(**place.login(frozenset()))
    assert (await guest.ending())[0] == 4403


async def test_a_stranger_may_not_say_much(place: OpenDoor) -> None:
    guest = await place.upgraded()
    guest.send(frame(b"x" * 10_000, fin=False) + frame(b"x" * 10_000, 0, fin=False))
    assert (await guest.ending())[0] == 1009


# ---- messages ------------------------------------------------------------------------------------


async def test_a_frame_holds_one_message_or_several(place: OpenDoor) -> None:
    guest = await place.guest()
    guest.send(frame(echo("1") + b"\n" + echo("2") + b"\n\n"))
    guest.send(frame(echo("3")))
    assert [(await guest.hear())["ref"] for _ in range(3)] == ["1", "2", "3"]


async def test_half_a_message_does_not_go_on_in_the_next_frame(place: OpenDoor) -> None:
    guest = await place.guest()
    whole = echo("1")
    guest.send(frame(whole[:9]) + frame(whole[9:]))
    assert (await guest.hear())["type"] == "error"
    assert (await guest.hear())["type"] == "error"


async def test_what_is_no_message_again_and_again_ends_it(place: OpenDoor) -> None:
    guest = await place.guest()
    guest.send(frame(b"{}\n" * 40))
    assert (await guest.ending())[0] == 1008


async def test_the_last_request_before_a_close_is_carried_out(place: OpenDoor) -> None:
    guest = await place.guest()
    guest.send(frame(b'{"type":"detach","session":"s"}') + closing())
    assert await guest.ending() == (1000, "")
    await until(lambda: place.echo.handled)


async def test_nothing_counts_after_a_close(place: OpenDoor) -> None:
    guest = await place.guest()
    guest.send(closing() + frame(echo("1")))
    assert await guest.ending() == (1000, "")
    await until(lambda: not place.door.clients)
    assert not place.echo.handled


async def test_all_that_is_ready_leaves_in_one_frame(place: OpenDoor) -> None:
    guest = await place.guest()
    ask = b'{"type":"attach","ref":"%d","session":"s"}'
    guest.send(frame(b"\n".join(ask % n for n in range(10))))
    opcode, payload = await guest.next_frame()
    assert opcode == TEXT
    assert payload.count(b"\n") == 9


async def test_a_request_that_breaks_the_desk_does_not_break_the_door(short_tmp: Path) -> None:
    class Broken:
        caller = None

        def handle(self, *_: object) -> object:
            raise RuntimeError("on purpose")

        def gone(self, client: object) -> None:
            pass

        def drained(self, client: object) -> None:
            pass

    async with opened(short_tmp, Broken()) as place:  # type: ignore[arg-type]
        guest = await place.guest()
        guest.send(frame(b'{"type":"detach","session":"s"}'))
        assert (await guest.ending())[0] == 1011
        await place.guest()


# ---- is anybody there? ---------------------------------------------------------------------------


async def test_who_does_not_answer_a_ping_is_cut_off(short_tmp: Path) -> None:
    async with opened(short_tmp, timing=Timing(ping_s=0.05, pong_s=2)) as place:
        silent, lively = await place.guest(), await place.guest()
        for _ in range(5):
            assert await lively.next_frame() == (PING, b"")
            lively.send(frame(b"", PONG))
        assert (await silent.ending())[0] == 4408
        lively.send(frame(echo("1")))
        assert (await lively.hear())["ref"] == "1"


async def test_who_vanished_without_a_word_is_forgotten(short_tmp: Path) -> None:
    async with opened(short_tmp, timing=Timing(ping_s=0.05, pong_s=0.05)) as place:
        guest = await place.guest()
        guest.writer.transport.pause_reading()  # type: ignore[attr-defined]
        await until(lambda: not place.door.clients)


async def test_who_waits_for_us_is_not_cut_off_for_being_silent(
    short_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "MAX_PENDING", 1)
    answer = asyncio.Event()

    class Waiting:
        async def handle(self, client: object, request: object) -> None:
            await answer.wait()
            client.reply(native.Reply(ref="1"))  # type: ignore[attr-defined]

        def gone(self, client: object) -> None:
            pass

        def drained(self, client: object) -> None:
            pass

    async with opened(short_tmp, Waiting(), timing=Timing(ping_s=0.02, pong_s=0.02)) as place:
        guest = await place.guest()
        guest.send(frame(echo("1")))  # from here on nothing is read from it, no pong either
        for _ in range(5):
            assert (await guest.next_frame())[0] == PING
        answer.set()
        assert (await guest.hear())["ref"] == "1"


async def test_who_does_not_say_hello_in_time_is_sent_away(short_tmp: Path) -> None:
    async with opened(short_tmp, timing=Timing(hello_s=1)) as place:
        stranger = await place.upgraded()
        known = await place.upgraded(**place.login())
        polite = await place.guest()
        assert (await stranger.ending())[0] == 4408
        assert (await known.ending())[0] == 4408
        polite.send(frame(echo("1")))
        assert (await polite.hear())["ref"] == "1"


# ---- the end -------------------------------------------------------------------------------------


async def test_what_is_taken_back_ends_at_once(place: OpenDoor) -> None:
    guests = [await place.guest() for _ in range(3)]
    other = await place.upgraded(**place.login())
    await other.greet()
    place.authority.revoke("test")
    for guest in guests:
        assert await guest.ending() == (4401, "log in first")
    other.send(frame(echo("1")))
    assert (await other.hear())["ref"] == "1"


async def test_what_is_taken_back_ends_even_for_somebody_who_does_not_read(
    place: OpenDoor,
) -> None:
    guest = await place.guest()
    guest.writer.transport.pause_reading()  # type: ignore[attr-defined]
    (client,) = place.door.clients
    transport = client.transport
    assert transport is not None
    while not transport.get_write_buffer_size():
        transport.write(frame(b"x" * 65536, mask=None))
    place.authority.revoke("test")
    assert not place.door.clients
    await until(lambda: client.transport is None)


async def test_a_login_that_ran_out_is_found_at_the_next_message(short_tmp: Path) -> None:
    async with opened(short_tmp) as place:
        token = place.authority.create_token("short", FILE_SCOPES, days=1)
        guest = await place.upgraded()
        guest.say({"type": "auth", "token": token})
        await guest.greet()
        place.ahead_ms += DAY_MS
        guest.send(frame(echo("1")))
        assert (await guest.ending())[0] == 4401
        assert not place.echo.handled


async def test_a_login_that_ran_out_is_found_when_nobody_says_anything(short_tmp: Path) -> None:
    async with opened(short_tmp, timing=Timing(ping_s=0.1)) as place:
        token = place.authority.create_token("short", FILE_SCOPES, days=1)
        guest = await place.upgraded()
        guest.say({"type": "auth", "token": token})
        await guest.greet()
        place.ahead_ms += DAY_MS
        assert (await guest.ending())[0] == 4401


async def test_the_door_closes_with_a_word_for_everyone(place: OpenDoor) -> None:
    known, stranger = await place.guest(), await place.upgraded()
    place.door.close()
    assert (await known.ending())[0] == 1012
    (client,) = place.door.strangers
    client.shutdown()
    assert (await stranger.ending())[0] == 1012
    client.shutdown()  # twice does no harm


async def test_who_closes_one_way_is_gone_both_ways(place: OpenDoor) -> None:
    guest = await place.guest()
    guest.writer.write_eof()
    assert await guest.gone() == b""
    await until(lambda: not place.door.clients)
    assert len(place.echo.left) == 1


async def test_who_hangs_up_takes_nothing_with_it(place: OpenDoor) -> None:
    guest = await place.guest()
    await guest.close()
    await until(lambda: not place.door.clients)
    assert len(place.echo.left) == 1


# ---- room ----------------------------------------------------------------------------------------


async def test_there_is_room_for_so_many_strangers_and_so_many_guests(short_tmp: Path) -> None:
    async with opened(short_tmp, room=Room(clients=4, strangers=2)) as place:
        strangers = [await place.upgraded() for _ in range(2)]
        third = await place.dial()
        assert await third.upgrade() == 429
        known = await place.upgraded(**place.login())
        strangers[0].say({"type": "auth", "token": place.token})
        await strangers[0].greet()
        await until(lambda: len(place.door.clients) == 2)  # whose program it is was looked up
        another = await place.upgraded()
        fifth = await place.dial()
        assert await fifth.upgrade(**place.login()) == 503
        await known.close()
        await another.close()
        await until(lambda: len(place.door.clients) + len(place.door.strangers) == 2)
        await place.upgraded(**place.login())


@pytest.mark.parametrize("idle", [frame(b"", PING), frame(b"", PONG), frame(b"")])
async def test_frames_that_say_nothing_are_few(place: OpenDoor, idle: bytes) -> None:
    guest = await place.guest()
    guest.send(idle * 100)
    guest.send(frame(echo("1")))
    opcode, payload = await guest.next_frame()
    while opcode == PONG:
        opcode, payload = await guest.next_frame()
    assert (opcode, b'"ref":"1"' in payload) == (TEXT, True)
    guest.send(idle * 2000)
    assert (await guest.ending())[0] == 1008


async def test_a_message_has_a_size_and_so_many_pieces(place: OpenDoor) -> None:
    limit = websocket.MAX_MESSAGE_BYTES
    guest = await place.guest()
    guest.send(frame(echo("1") + b" " * (limit - len(echo("1")))))
    assert (await guest.hear())["ref"] == "1"
    guest.send(frame(b"x" * (limit + 1))[:100])
    assert (await guest.ending())[0] == 1009
    guest = await place.guest()
    guest.send(frame(b"{", fin=False) + frame(b" ", 0, fin=False) * 10_000)
    assert (await guest.ending())[0] == 1009
