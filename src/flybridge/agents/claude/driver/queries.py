"""What can be asked of a running CLI beside the conversation, and who waits for the answer.

A query changes nothing, so whoever may look at a session may ask. Its answer is the CLI's own
object, without what may be a secret in it. Nothing of this survives a restart: whoever asked
is gone then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.convert.query_results import TYPED
from flybridge.agents.claude.driver.convert.redact import discreet
from flybridge.agents.claude.driver.convert.words import TEXT_CHARS
from flybridge.agents.claude.driver.memo import MAX_REQUESTS, Memo
from flybridge.agents.claude.driver.names import message_of
from flybridge.agents.claude.driver.sink import Sink
from flybridge.agents.claude.driver.versions import Traits
from flybridge.agents.claude.wire import encode
from flybridge.agents.claude.wire import host_requests as h
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import BROKEN, text
from flybridge.errors import FlybridgeError, InvalidRequestError
from flybridge.model.deliveries import Answer
from flybridge.model.ids import InputKey, SessionId
from flybridge.model.queries import RAW, QueryResult
from flybridge.model.tools import limited

QUERY_MS = 10_000
UNSUPPORTED = "Unsupported control request subtype"  # older versions have no code for it
PARAMS_BYTES = 4 * 1024
ANSWER_BYTES = 4 * 2**20

Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=512)]
P = TypeVar("P")


class _Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class _Files(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    query: Annotated[str, msgspec.Meta(max_length=512)] = ""


class _Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    task: Name


class _Input(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    key: Name


_PLAIN: Mapping[str, h.HostRequest] = {
    "mcp": h.McpStatus(),
    "context": h.GetContextUsage(),
    "usage": h.GetUsage(),
    "cost": h.GetSessionCost(),
    "models": h.ListModels(),
    "settings": h.GetSettings(),
    "plan": h.GetPlan(),
    "status": h.GetStatus(),
    "permission_rules": h.ListPermissionRules(),
    "hooks": h.GetHooksListing(),
    "memory": h.GetMemoryDialog(),
    "workspace_diff": h.GetWorkspaceDiff(),
}
_SETTINGS = ("mcp", "settings")  # these hold keys


def request_for(name: str, params: Raw, session: SessionId) -> h.HostRequest:
    """What is asked of the CLI for one of our queries.

    ``files`` takes ``query``, the beginning of a path in the project; ``task_output`` takes
    ``task``; ``rewind`` takes ``key``, that of an input, and tells which files would be as they
    were before it (where the CLI was started with file checkpoints).

    Raises:
        InvalidRequestError: these are not its parameters.
        KeyError: nothing is called that.
    """
    match name:
        case "files":
            return h.FileSuggestions(_inside(_read(name, params, _Files).query))
        case "task_output":
            return h.GetTaskOutput(_read(name, params, _Task).task)
        case "rewind":
            key = InputKey(_read(name, params, _Input).key)
            return h.RewindFiles(user_message_id=message_of(session, key))
        case _:
            _read(name, params, _Nothing)
            return _PLAIN[name]


def _read(name: str, params: Raw, kind: type[P]) -> P:
    try:
        if len(bytes(params)) > PARAMS_BYTES:
            raise InvalidRequestError(f"{name}: the parameters are too long")
        return msgspec.json.decode(params, type=kind)
    except BROKEN as error:
        raise InvalidRequestError(f"{name}: {error}") from error


def _inside(path: str) -> str:
    """The CLI would list any folder of the machine."""
    if path.startswith(("/", "~")) or ".." in path.split("/"):
        raise InvalidRequestError("files: only those of the project are suggested")
    return path


def is_unknown(memo: Memo, subtype: str, response: w.ResponseBody) -> bool:
    """Whether the CLI says that it does not know this kind of request: it is never asked again."""
    by_code = text(response.error_code) == "unsupported_request"
    if not by_code and not text(response.error).startswith(UNSUPPORTED):
        return False
    if subtype not in memo.unsupported:
        memo.unsupported.append(subtype)
        del memo.unsupported[:-MAX_REQUESTS]
    return True


class _Open(NamedTuple):
    """A query that has no answer yet."""

    ref: str
    name: str  # of ours, as in ``request_for``
    subtype: str
    due_ms: int  # when it is given up
    translate: Callable[[Raw], QueryResult] | None  # None: the answer is passed through


class Queries:
    """The open queries of one agent. Each gets one answer, if only that there is none."""

    def __init__(self, memo: Memo, sink: Sink, traits: Traits, new_name: Callable[[], str]) -> None:
        self._memo = memo
        self._sink = sink
        self._traits = traits
        self._new_name = new_name
        self._open: dict[str, _Open] = {}  # by request id

    def ask(self, ref: str, name: str, params: Raw, now_ms: int) -> None:
        """The answer comes as it comes, or ``timeout`` once QUERY_MS have passed."""
        try:
            self._ask(ref, name, params, now_ms)
        except FlybridgeError as error:
            self._sink.put(Answer(ref, error=f"{error.code}: {error}"))

    def _ask(self, ref: str, name: str, params: Raw, now_ms: int) -> None:
        typed, translate = name, None
        if name.startswith(RAW):
            name = name.removeprefix(RAW)
        elif typed in TYPED:
            name, translate = TYPED[typed]
        else:
            name = ""
        if name not in self._traits.queries:
            self._sink.put(Answer(ref, error="not_supported"))
            return
        request = request_for(name, params, self._sink.session)
        subtype = str(request.__struct_config__.tag)
        if subtype in self._memo.unsupported:
            self._sink.put(Answer(ref, error="not_supported"))
        elif len(self._open) >= MAX_REQUESTS:
            self._sink.put(Answer(ref, error="busy"))
        else:
            asked = self._new_name()
            data = encode.control_request(asked, request)
            self._open[asked] = _Open(ref, name, subtype, now_ms + QUERY_MS, translate)
            self._sink.write(data, on_restart="drop")

    # ---- answers -------------------------------------------------------------------------------

    def answered(self, response: w.ResponseBody) -> bool:
        """Take an answer; False when it is to no query that is open."""
        found = self._open.pop(response.request_id, None)
        if found is None:
            return False
        if response.subtype == "success":
            self._sink.put(_answer(found, response.response))
        elif is_unknown(self._memo, found.subtype, response):
            self._sink.put(Answer(found.ref, error="not_supported"))
        else:
            reason = limited(text(response.error), TEXT_CHARS) or "refused"
            self._sink.put(Answer(found.ref, error=reason))
        return True

    # ---- time ----------------------------------------------------------------------------------

    @property
    def deadline_ms(self) -> int | None:
        """Return when to call ``tick``: when the oldest query is to be given up."""
        return min((query.due_ms for query in self._open.values()), default=None)

    def tick(self, now_ms: int) -> None:
        for asked, query in list(self._open.items()):
            if query.due_ms <= now_ms:
                self._give_up(asked, "timeout")

    def lost(self) -> None:
        for asked in list(self._open):
            self._give_up(asked, "agent_exited")

    def _give_up(self, asked: str, error: str) -> None:
        self._sink.put(Answer(self._open.pop(asked).ref, error=error))


def _answer(query: _Open, response: w.MaybeRaw) -> Answer:
    value = Raw(b"{}") if response is UNSET else response
    size = len(bytes(value))
    if size > ANSWER_BYTES:
        return Answer(query.ref, error=f"the answer is too long: {size} bytes")
    if query.translate is not None:
        return Answer(query.ref, value=Raw(msgspec.json.encode(query.translate(value))))
    return Answer(query.ref, value=discreet(value) if query.name in _SETTINGS else value)
