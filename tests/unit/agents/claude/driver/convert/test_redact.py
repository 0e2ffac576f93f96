from __future__ import annotations

import json

import msgspec
import pytest
from msgspec import Raw

from flybridge.agents.claude.driver.convert.redact import HIDDEN, discreet


def shown(value: object) -> object:
    return json.loads(bytes(discreet(Raw(json.dumps(value).encode()))))


def test_names_are_shown_and_values_are_not() -> None:
    server = {
        "name": "web",
        "config": {
            "type": "http",
            "url": "https://me:word@sea.example:8443/mcp?key=abc#part",
            "headers": {"Authorization": "Bearer abc"},
            "env": {"TOKEN": "abc"},
            "args": ["--key", "abc"],
            "command": "serve",
        },
    }
    assert shown({"mcpServers": [server]}) == {
        "mcpServers": [
            {
                "name": "web",
                "config": {
                    "type": "http",
                    "url": "https://sea.example:8443/mcp?(hidden)",
                    "headers": {"Authorization": HIDDEN},
                    "env": {"TOKEN": HIDDEN},
                    "args": HIDDEN,
                    "command": "serve",
                },
            }
        ]
    }


@pytest.mark.parametrize(
    ("url", "left"),
    [
        ("http://[::1]:7/x", "http://[::1]:7/x"),
        ("https://a.example", "https://a.example"),
        ("http://a:port/", HIDDEN),
        ("http://[", HIDDEN),
        (7, 7),
    ],
)
def test_an_address_is_where_and_not_who(url: object, left: object) -> None:
    assert shown({"url": url}) == {"url": left}


def test_settings_are_shown_without_keys() -> None:
    settings = {"apiKeyHelper": "cat /key", "env": {"A": "b"}, "model": "opus", "args": []}
    assert shown({"effective": settings, "sources": [{"settings": settings}], "n": None}) == {
        "effective": {"apiKeyHelper": HIDDEN, "env": {"A": HIDDEN}, "model": "opus", "args": []},
        "sources": [
            {
                "settings": {
                    "apiKeyHelper": HIDDEN,
                    "env": {"A": HIDDEN},
                    "model": "opus",
                    "args": [],
                }
            }
        ],
        "n": None,
    }


def test_what_is_not_json_cannot_be_made_discreet() -> None:
    with pytest.raises(msgspec.DecodeError):
        discreet(Raw(b"{"))


def test_a_deep_answer_is_walked_without_falling() -> None:
    deep = b'{"a":' * 400 + b'{"env":{"A":"b"}}' + b"}" * 400
    assert b'"b"' not in bytes(discreet(Raw(deep)))
