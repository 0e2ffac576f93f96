"""One client that speaks the native protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flybridge.errors import FlybridgeError, InvalidRequestError, RemoteProtocolError
from flybridge.frontends.native.translate import to_request, to_wire
from flybridge.model.deliveries import Delivery
from flybridge.model.requests import Request
from flybridge.session.authorisation import Caller, why_not
from flybridge.wire.lines import CutLine, LineSplitter
from flybridge.wire.native import messages as wire

MAX_ERRORS = 32  # lines in a row that nobody can read: this is no client of ours


def welcome_to(caller: Caller, *, version: str, generation: int) -> wire.Welcome:
    """Return the first message to a caller: who the gateway is and what the caller may do."""
    return wire.Welcome(
        proto=wire.PROTO,
        version=version,
        generation=generation,
        principal=caller.principal,
        scopes=tuple(sorted(caller.scopes)),
        peer=caller.peer,
        reason=why_not(caller, next(iter(caller.withheld), "")),
    )


def speak_native(
    welcome: Callable[[Caller], wire.Welcome],
) -> Callable[[Caller, int], NativeAdapter]:
    """Return a function that makes the adapter of a caller, for a listener."""
    return lambda caller, max_line: NativeAdapter(welcome=welcome(caller), max_line=max_line)


class NativeAdapter:
    """Native lines in, requests out; deliveries in, native lines out.

    :meth:`receive` takes the bytes of a stream, however they were cut; a door that gets whole
    messages (WebSocket) ends each with a newline. :meth:`take` gives frames *without* a newline
    at their end: one message each, or the event lines of one batch joined by newlines. A door
    to a stream adds the newline, a WebSocket door sends a frame as it is.

    Nothing is carried out before hello was said. A request that can be answered by its ref gets
    a reply that says what is wrong, any other bad line an error line. After a line longer than
    ``max_line``, or :data:`MAX_ERRORS` bad lines in a row, :attr:`closed` is True: write what
    ``take`` gives, then hang up.
    """

    shared_wire = True
    deadline_ms: int | None = None

    def __init__(self, *, welcome: wire.Welcome, max_line: int = wire.MAX_LINE_BYTES) -> None:
        self.closed = False
        self.client = ""  # what it calls itself; empty until it said hello
        self._welcome = welcome
        self.greeted = False
        self._max_line = max_line
        self._lines = LineSplitter(max_line=max_line)
        self._errors = 0
        self._output: list[bytes] = []

    def receive(self, data: bytes, now_ms: int) -> Sequence[Request]:
        """Return what the lines completed by ``data`` ask for."""
        requests: list[Request] = []
        if self.closed:
            return requests
        # Not the strict splitter: what came before an overlong line counts, in one read or two.
        for line in self._lines.receive(data):
            if type(line) is CutLine:
                return self._hang_up(requests)
            request = self._read(line)
            if request is not None:
                requests.append(request)
            if self.closed:
                return requests
        if self._lines.pending > self._max_line:
            return self._hang_up(requests)
        return requests

    def deliver(self, what: Delivery, now_ms: int) -> None:
        frame = to_wire(what)
        if frame:
            self._output.append(frame)

    def tick(self, now_ms: int) -> None:
        """Nothing here waits."""

    def take(self) -> list[bytes]:
        output, self._output = self._output, []
        return output

    def _read(self, line: bytes) -> Request | None:
        try:
            message = wire.decode_client(line)
            if isinstance(message, wire.Hello):
                self._hello(message)
                return None
            if not self.greeted:
                raise RemoteProtocolError("say hello first")
            request = to_request(message)
        except FlybridgeError as error:
            self._refuse(line, error)
            return None
        self._errors = 0
        return request

    def _hello(self, hello: wire.Hello) -> None:
        if self.greeted:
            raise RemoteProtocolError("hello was said before")
        if hello.proto != wire.PROTO:
            raise RemoteProtocolError(
                f"this gateway speaks protocol {wire.PROTO}, not {hello.proto}"
            )
        self.greeted = True
        self.client = hello.client
        self._output.append(wire.encode(self._welcome))

    def _refuse(self, line: bytes, error: FlybridgeError) -> None:
        ref = wire.read_head(line).ref
        if ref and self.greeted:
            self._errors = 0
            code = InvalidRequestError.code
            self._output.append(
                wire.encode(wire.ReplyLine(ref=ref, error=code, message=str(error)))
            )
            return
        self._output.append(wire.encode(wire.ErrorLine(code=error.code, message=str(error))))
        self._errors += 1
        self.closed = self._errors >= MAX_ERRORS

    def _hang_up(self, requests: list[Request]) -> list[Request]:
        text = f"line longer than {self._max_line} bytes"
        self._output.append(
            wire.encode(wire.ErrorLine(code=RemoteProtocolError.code, message=text))
        )
        self.closed = True
        return requests
