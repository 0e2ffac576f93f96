"""Whoever comes with this: a list of requests over HTTP and of messages over a WebSocket.

A program of its own, so that it can be started where somebody hostile sits: below an agent.
Reads ``{"port", "headers", "http": [[method, target, body]], "native": [message]}`` and prints
``{"http": [[status, code]], "native": [reply]}``; the first reply is the welcome.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.abuse.clients import NOBODY, Http, WebSocket, Who
from tests.harness.http_harness import Got


def code_of(got: Got) -> str:
    """Why a request was refused, or nothing."""
    return got.code if got.status >= 400 else ""


def over_http(http: Http, calls: list[list[Any]]) -> list[list[Any]]:
    done = []
    for method, target, body in calls:
        got = http.call(method, target, body, key="visitor")
        done.append([got.status, code_of(got)])
    return done


def over_websocket(port: int, headers: dict[str, str], messages: list[Any]) -> list[Any]:
    socket = WebSocket(port)
    try:
        status = socket.upgrade(headers)
        if status != 101:
            return [{"type": "refused", "status": status}]
        socket.say({"type": "hello", "proto": 1})
        return [socket.hear(), *(socket.request(one) for one in messages)]
    finally:
        socket.close()


def main() -> int:
    asked = json.load(sys.stdin)
    port, headers = asked["port"], asked["headers"]
    http = Http(port, Who("visitor", headers, NOBODY.scopes))
    told = {"http": over_http(http, asked.get("http", [])), "native": []}
    http.close()
    if "native" in asked:
        told["native"] = over_websocket(port, headers, asked["native"])
    json.dump(told, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
