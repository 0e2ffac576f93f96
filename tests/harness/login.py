"""Both halves of a browser's login, as headers: every client in these tests sends them so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPMessage
from typing import Any

from flybridge.auth.login import LOGIN_KEY, Login

KEY_HEADER = LOGIN_KEY.decode()


def headers_for(cookie_name: str, login: Login | str) -> dict[str, str]:
    """Return the headers of a request with this login; a bare string is a cookie without a key."""
    if isinstance(login, str):
        return {"cookie": f"{cookie_name}={login}"}
    return {"cookie": f"{cookie_name}={login.cookie}", KEY_HEADER: login.key}


def headers_from(
    answer_headers: Mapping[str, Any] | HTTPMessage, answer_body: bytes
) -> dict[str, str]:
    """Return the headers of later requests, from the answer to ``POST /login``."""
    cookie = str(answer_headers["set-cookie"]).partition(";")[0]
    return {"cookie": cookie, KEY_HEADER: json.loads(answer_body)["key"]}


def headers_in(browser: Any) -> dict[str, str]:
    """Return the headers of a request with the login that a browser keeps: cookies, and the key
    in its IndexedDB (or beside them, where a driver cannot read that)."""
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in browser["cookies"])
    keys = [
        record["value"]
        for origin in browser.get("origins", [])
        for database in origin.get("indexedDB", [])
        for store in database["stores"]
        for record in store["records"]
    ]
    return {"cookie": cookies, KEY_HEADER: browser.get("key") or (keys or [""])[0]}


def as_lines(headers: Mapping[str, str]) -> str:
    """Return headers as the lines of a request's head."""
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items())
