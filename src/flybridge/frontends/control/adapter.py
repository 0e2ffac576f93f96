"""One sender that speaks the control protocol over a stream or a socket."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Raw

from flybridge.errors import InvalidRequestError
from flybridge.frontends.control.refusals import ControlRefused
from flybridge.frontends.control.translate import refusal, to_ack
from flybridge.model.deliveries import Delivery, Reply
from flybridge.model.requests import Ask, Request
from flybridge.session.authorisation import Caller
from flybridge.wire.control import messages as wire
from flybridge.wire.control.signed import is_signed
from flybridge.wire.lines import CutLine, LineSplitter
from flybridge.wire.native.messages import check_depth

QUESTION = "control"
MAX_ERRORS = 32  # lines in a row that are no messages: this is no sender


def speak_control(_caller: Caller, max_line: int) -> ControlAdapter:
    """Return the adapter of a sender, for a listener."""
    return ControlAdapter(max_line=max_line)


class ControlAdapter:
    """Messages in, one a line; acknowledgements out, one for each, in the order they are ready;
    before one, and only for a sender that asked, how far it is.

    Every message becomes one question to the desk, which checks and carries it out: all that
    waits is there. A line that is no message gets ``control.error``. After one that is too long,
    or :data:`MAX_ERRORS` bad ones in a row, :attr:`closed` is True.
    """

    shared_wire = False
    deadline_ms: int | None = None
    greeted = True  # nothing has to be said first

    def __init__(self, *, max_line: int = wire.MAX_MESSAGE_BYTES) -> None:
        self.closed = False
        self._max_line = max_line
        self._lines = LineSplitter(max_line=max_line)
        self._asked: dict[str, wire.Head | None] = {}  # None: it is sealed
        self._count = 0
        self._errors = 0
        self._now_ms = 0
        self._output: list[bytes] = []

    def receive(self, data: bytes, now_ms: int) -> Sequence[Request]:
        """Return a question for each line that ``data`` completes."""
        asks: list[Request] = []
        self._now_ms = now_ms
        for line in () if self.closed else self._lines.receive(data):
            if type(line) is CutLine:
                self._hang_up()
            if self.closed:
                return asks
            if line.strip():
                asks += self._ask(line)
        if self._lines.pending > self._max_line and not self.closed:
            self._hang_up()
        return asks

    def deliver(self, what: Delivery, now_ms: int) -> None:
        """Pass on the answer to a question; nothing else is for a sender."""
        if not isinstance(what, Reply) or what.ref not in self._asked:
            return
        head = self._asked.pop(what.ref)
        if not what.error:
            assert isinstance(what.value, Raw)
            self._errors = 0
            self._output.append(bytes(what.value))
        elif head is None:
            self._error(what.error, what.message)
        else:
            result: wire.Result = "internal_error" if what.error == "internal" else "rejected"
            refused = ControlRefused(result, what.error, what.message)
            self._output.append(wire.encode(to_ack(head, refusal(refused), now_ms)))

    def report(self, ref: str, progress: wire.StdinProgress) -> None:
        """Pass on how far a question is; after its answer nothing of that is told."""
        if ref in self._asked:
            self._output.append(wire.encode(progress))

    def tick(self, now_ms: int) -> None:
        """Nothing here waits."""

    def take(self) -> list[bytes]:
        output, self._output = self._output, []
        return output

    def _ask(self, line: bytes) -> list[Request]:
        try:
            check_depth(line)
            head, sealed = wire.read_head(line), is_signed(line)
        except RecursionError:
            head, sealed = None, False
        if head is None and not sealed:
            self._error(InvalidRequestError.code, "that is no message of this protocol")
            return []
        self._count += 1
        ref = str(self._count)
        self._asked[ref] = head
        return [Ask(ref=ref, name=QUESTION, params=Raw(line))]

    def _error(self, code: str, message: str) -> None:
        failure = wire.Failure(code=code, message=message)
        self._output.append(wire.encode(wire.ErrorMessage(v=wire.VERSION, error=failure)))
        self._errors += 1
        self.closed = self.closed or self._errors >= MAX_ERRORS

    def _hang_up(self) -> None:
        self._error("too_big", f"a message has at most {self._max_line} bytes")
        self.closed = True
