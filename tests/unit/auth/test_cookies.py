from __future__ import annotations

from flybridge.auth.cookies import clear_cookie, cookie_name, set_cookie


def test_a_cookies_name_carries_the_port_and_says_when_it_is_for_tls_alone() -> None:
    assert cookie_name(8420, secure=False) == "flybridge-8420"
    assert cookie_name(8420, secure=True) == "__Host-flybridge-8420"


def test_no_script_reads_it_and_no_other_site_sends_it() -> None:
    parts = set_cookie("c", "v", secure=False).split("; ")
    assert parts == ["c=v", "Path=/", "Max-Age=2592000", "HttpOnly", "SameSite=Strict"]


def test_below_a_base_path_it_goes_nowhere_else() -> None:
    assert "Path=/boat;" in set_cookie("c", "v", secure=False, base_path="/boat")


def test_under_tls_it_is_for_the_whole_host_and_for_tls_alone() -> None:
    parts = set_cookie("__Host-c", "v", secure=True, base_path="/boat").split("; ")
    assert "Path=/" in parts  # a browser takes __Host- in no other way
    assert parts[-1] == "Secure"


def test_a_cookie_is_forgotten_where_it_was_set() -> None:
    gone = clear_cookie("c", secure=False, base_path="/boat")
    assert gone.startswith("c=; Path=/boat; Max-Age=0;")
