"""A scripted Messages API on loopback: what a real agent talks to when there is no network.

What the model says is written in the prompts themselves (:mod:`.messages_script`), so one
server serves any number of agents and conversations at once::

    with MessagesApi() as api:
        env = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "none"}
        ...
        assert api.count("the words of a prompt") == 1

Every request is kept, the ground truth of what an agent was told and how often.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, cast

import msgspec

from flybridge.probes.messages_script import (
    Answer,
    Event,
    Found,
    Json,
    Rest,
    Script,
    ScriptError,
    error_body,
    find,
    helper_answer,
    is_helper,
    messages_of,
    parse,
    stream,
    texts,
    whole,
)

MAX_BODY_BYTES = 64 * 2**20
MAX_WAIT_S = 60.0
POLL_S = 0.01


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """One request, as it came. ``helper``: asked on the side, not in a turn of the agent's."""

    method: str
    path: str
    body: Json
    helper: bool = False
    position: int = 0  # which answer of its script it got

    def given(self) -> list[str]:
        """Every text the model was given in this conversation, oldest first."""
        return [text for one in self._messages(said=False) for text in texts(one)]

    def said(self) -> list[str]:
        """Every text the model itself has said before."""
        return [text for one in self._messages(said=True) for text in texts(one)]

    def _messages(self, *, said: bool) -> list[Json]:
        return [one for one in messages_of(self.body) if (one.get("role") == "assistant") is said]

    def blocks(self, kind: str) -> list[Json]:
        """Every block of one type in the conversation it carries, oldest first."""
        contents = [one.get("content") for one in messages_of(self.body)]
        return [
            block
            for content in contents
            if isinstance(content, list)
            for block in content
            if isinstance(block, dict) and block.get("type") == kind
        ]


class MessagesApi:
    """The server, in threads of its own, from ``start`` to ``close``.

    ``script`` is for conversations whose prompts hold none. ``unix`` names a socket to listen
    on besides the port: it can be reached from a network namespace that has no way out.
    """

    def __init__(self, script: Sequence[object] = (), *, unix: str = "") -> None:
        self._script: Script = parse(script)
        self._unix = unix
        self._lock = threading.Lock()
        self._heard: list[Heard] = []
        self._failures: dict[tuple[str, int], int] = {}
        self._ids = itertools.count(1)
        self._servers: list[_Server] = []
        self.gone = 0  # answers that nobody waited for to the end
        self.complaints: list[str] = []  # scripts that could not be played
        self.closing = threading.Event()

    # ---- from start to end ---------------------------------------------------------------------

    def start(self) -> Self:
        self._servers = [_Server(self, ("127.0.0.1", 0))]
        if self._unix:
            self._servers.append(_UnixServer(self, self._unix))
        for server in self._servers:
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def close(self) -> None:
        """Hang up on everybody and wait until no thread of ours is left."""
        self.closing.set()
        for server in self._servers:
            server.stop()
        self._servers = []

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def port(self) -> int:
        return int(self._servers[0].server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    # ---- what was asked ------------------------------------------------------------------------

    @property
    def requests(self) -> list[Heard]:
        """Everything that was asked so far, in order."""
        with self._lock:
            return list(self._heard)

    @property
    def turns(self) -> list[Heard]:
        """The requests for a model's answer in a conversation: no helpers, no probes."""
        return [one for one in self.requests if one.path == "/v1/messages" and not one.helper]

    def count(self, text: str) -> int:
        """How often the model was asked to begin upon this prompt: once, if all is well.

        Later requests of the same turn carry the prompt too, as history, and do not count. What
        does is a retry, and a prompt that had no answer yet when the next one came.
        """
        return sum(_is_new(one, text) for one in self.turns)

    # ---- for the handlers ----------------------------------------------------------------------

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._ids):06d}"

    def note(self, heard: Heard) -> None:
        with self._lock:
            self._heard.append(heard)

    def choose(self, path: str, body: Json) -> Answer:
        """What a request for an answer gets; the request is kept first."""
        helper = is_helper(body)
        try:
            found = None if helper else self._find(body)
        except ScriptError as error:
            self.complaints.append(str(error))
            found = Found((Answer(status=400, message=f"bad script: {error}"),), 0)
        position = 0 if found is None else found.position
        self.note(Heard(method="POST", path=path, body=body, helper=helper, position=position))
        return helper_answer(body) if found is None else self._troubled(found)

    def _find(self, body: Json) -> Found:
        found = find(body)
        if found is not None:
            return found
        said = sum(one.get("role") == "assistant" for one in messages_of(body))
        return Found(self._script, said)

    def _troubled(self, found: Found) -> Answer:
        """An answer that fails so many times and no more."""
        answer = found.answer
        if answer.times is None:
            return answer
        with self._lock:
            where = (found.prompt, found.position)
            self._failures[where] = self._failures.get(where, 0) + 1
            return answer if self._failures[where] <= answer.times else answer.spared()


def _is_new(heard: Heard, text: str) -> bool:
    """Whether this request is the first of the turn that a prompt began."""
    after_last_answer: list[str] = []
    for message in messages_of(heard.body):
        after_last_answer = [] if message.get("role") == "assistant" else after_last_answer
        after_last_answer += texts(message)
    return any(text in one for one in after_last_answer)


class _Server(ThreadingHTTPServer):
    """Threads that end with it: each connection is known, and cut when it stops."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self, api: MessagesApi, address: Any) -> None:
        self.api = api
        self._open: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Connections that break are part of the tests."""

    def stop(self) -> None:
        self.shutdown()
        for one in list(self._open):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.server_close()


class _UnixServer(_Server):
    address_family = socket.AF_UNIX

    def server_bind(self) -> None:
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "localhost", 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = MAX_WAIT_S

    @property
    def api(self) -> MessagesApi:
        return cast(_Server, self.server).api

    def address_string(self) -> str:
        return "local"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: stdout and stderr belong to the tests."""

    def do_HEAD(self) -> None:
        self._send(200, b"")

    def do_GET(self) -> None:
        self.api.note(Heard(method="GET", path=self.path, body={}))
        self._json(200, {"data": [], "has_more": False})

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        body = self._body()
        if body is None:
            self._json(400, error_body(Answer(status=400, message="no JSON object")))
        elif path == "/v1/messages":
            self._answer(body, self.api.choose(path, body))
        else:
            self.api.note(Heard(method="POST", path=path, body=body))
            tokens = max(1, len(json.dumps(body)) // 4)
            self._json(200, {"input_tokens": tokens} if path.endswith("count_tokens") else {})

    def _body(self) -> Json | None:
        length = int(self.headers.get("content-length") or 0)
        if length > MAX_BODY_BYTES:
            self.close_connection = True
            return None
        try:
            body = json.loads(self.rfile.read(length) or b"{}")
        except ValueError:
            return None
        return body if isinstance(body, dict) else None

    # ---- answers -------------------------------------------------------------------------------

    def _answer(self, body: Json, answer: Answer) -> None:
        model = str(body.get("model", ""))
        try:
            self._rest(Rest(seconds=answer.delay_s, path=answer.wait_file))
            if answer.status:
                self._json(answer.status, error_body(answer), answer.headers)
            elif body.get("stream"):
                self._stream(answer, model)
            else:
                self._json(200, whole(answer, model, self.api.new_id), answer.headers)
        except OSError:
            self.api.gone += 1
            self.close_connection = True

    def _json(self, status: int, value: Json, headers: Mapping[str, str] = {}) -> None:
        self._send(status, json.dumps(value).encode(), headers)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] = {}) -> None:
        self._head(status, "application/json", headers)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _head(self, status: int, kind: str, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("request-id", self.api.new_id("req"))
        for name, value in headers.items():
            self.send_header(name, value)

    def _stream(self, answer: Answer, model: str) -> None:
        self.close_connection = True  # no length is known: the end of the stream is the end
        self._head(200, "text/event-stream; charset=utf-8", answer.headers)
        self.send_header("connection", "close")
        self.end_headers()
        ready = bytearray()  # what belongs together goes out together
        for one in stream(answer, model, self.api.new_id):
            if isinstance(one, Event):
                ready += one.encode()
                if len(ready) < 16384:
                    continue
            self.wfile.write(ready)
            ready.clear()
            if isinstance(one, Rest):
                self._rest(one)
        self.wfile.write(ready)

    def _rest(self, rest: Rest) -> None:
        """Wait as told, and no longer than anybody listens.

        Raises:
            ConnectionError: the client hung up, or the server closes.
        """
        if not rest.seconds and not rest.path:
            return
        deadline = time.monotonic() + (rest.seconds or MAX_WAIT_S)
        while time.monotonic() < deadline:
            if rest.path and os.path.exists(rest.path):  # noqa: PTH110
                return
            if self.api.closing.wait(min(POLL_S, max(0, deadline - time.monotonic()))):
                raise ConnectionAbortedError("the server closes")
            if _has_hung_up(self.connection):
                raise ConnectionResetError("the client has gone")


def _has_hung_up(connection: socket.socket) -> bool:
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and not connection.recv(1, socket.MSG_PEEK)
