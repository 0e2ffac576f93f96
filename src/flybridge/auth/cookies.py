"""The cookie a login is kept in. Cookies do not know ports, so its name does."""

from __future__ import annotations

from flybridge.auth.authority import LOGIN_MS


def cookie_name(port: int, *, secure: bool) -> str:
    """What our cookie is called: a browser takes ``__Host-`` from TLS alone, for one host."""
    return f"__Host-flybridge-{port}" if secure else f"flybridge-{port}"


def set_cookie(name: str, value: str, *, secure: bool, base_path: str = "") -> str:
    """Keep a login: no script reads it, no other site sends it."""
    return _cookie(name, value, LOGIN_MS // 1000, secure=secure, base_path=base_path)


def clear_cookie(name: str, *, secure: bool, base_path: str = "") -> str:
    """Forget a login that is over."""
    return _cookie(name, "", 0, secure=secure, base_path=base_path)


def _cookie(name: str, value: str, age_s: int, *, secure: bool, base_path: str) -> str:
    path = "/" if secure else base_path or "/"  # __Host- wants all of the host
    parts = [f"{name}={value}", f"Path={path}", f"Max-Age={age_s}", "HttpOnly", "SameSite=Strict"]
    return "; ".join([*parts, "Secure"] if secure else parts)
