from __future__ import annotations

from flybridge.auth.limiter import MAX_KNOWN, MAX_SOURCES, Limiter


def test_ten_wrong_tries_in_a_minute_and_the_source_waits() -> None:
    limiter = Limiter(per_source=10)
    for n in range(10):
        assert limiter.wait_ms("a", n) == 0
        limiter.failed("a", n)
    assert limiter.wait_ms("a", 100) == 59_900
    assert limiter.wait_ms("b", 100) == 0
    assert limiter.wait_ms("a", 60_000) == 0


def test_a_million_guesses_from_everywhere_are_as_many_as_the_cap_lets_through() -> None:
    limiter = Limiter(per_source=10, in_all=100)
    tried = 0
    for n in range(1_000_000):
        if limiter.wait_ms(f"{n % 5000}", n // 20_000) == 0:
            limiter.failed(f"{n % 5000}", n // 20_000)
            tried += 1
    assert tried == 100


def test_sources_are_not_remembered_without_end() -> None:
    limiter = Limiter(in_all=10**9)
    for n in range(MAX_SOURCES * 2):
        limiter.failed(str(n), n)
    assert len(limiter._by_source) == MAX_SOURCES


def test_a_source_that_was_right_before_is_not_locked_out_by_others() -> None:
    limiter = Limiter(per_source=10, in_all=20)
    limiter.succeeded("home")
    for n in range(20):
        limiter.failed(f"elsewhere {n}", 0)
    assert limiter.wait_ms("stranger", 1) > 0
    assert limiter.wait_ms("home", 1) == 0
    for _ in range(10):
        limiter.failed("home", 1)
    assert limiter.wait_ms("home", 2) > 0  # its own limit holds


def test_sources_that_were_right_are_not_remembered_without_end() -> None:
    limiter = Limiter()
    for n in range(MAX_KNOWN * 2):
        limiter.succeeded(str(n))
    assert len(limiter._known) == MAX_KNOWN
