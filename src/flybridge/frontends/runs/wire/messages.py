"""The frames of the run protocol: one JSON object a line, the same envelope both ways.

Nothing here names an agent's own vocabulary. Fields nobody here knows are ignored; a payload
is read only once its type is known.
"""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta, Raw

from flybridge.errors import RemoteProtocolError

VERSION: Final = "1"
MAX_LINE_BYTES: Final = 16 * 2**20
MAX_NAME: Final = 128
MAX_PROBLEM: Final = 200

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=MAX_NAME, pattern=r"^[!-~]+$")]
Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=10**7)]
Limit: TypeAlias = Annotated[int, Meta(ge=0, le=10**6)]
Money: TypeAlias = Annotated[float, Meta(ge=0, le=10**6)]


class _Payload(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Shared settings."""


# ---- to a run ----------------------------------------------------------------------------------


class RunConfig(_Payload, frozen=True, kw_only=True):
    """How the run is to be done. What is left out comes from the command line, then from the
    configuration."""

    agent: str = ""
    model: str = ""
    permission_mode: str = ""
    cwd: str = ""
    max_turns: Limit = 0  # 0: no limit, here and below
    max_budget_usd: Money = 0.0
    timeout_s: Seconds | None = None
    resume: str = ""  # the agent's own id of a conversation to go on with
    stream: bool = False  # text_delta frames, too
    thinking: bool = False  # thinking frames, too
    agent_options: dict[str, Any] = {}  # of the agent, by name; see GET /api/v1/agents


class Start(_Payload, frozen=True, kw_only=True, tag_field="type", tag="run.start"):
    """The first frame to a run. ``context``: name → text, put before the prompt."""

    prompt: Annotated[str, Meta(min_length=1)]
    config: RunConfig = RunConfig()
    context: dict[str, str] = {}


class Input(_Payload, frozen=True, kw_only=True, tag_field="type", tag="run.input"):
    """The answer to a question. Several labels: an array, or one string with commas."""

    question_id: str
    value: str | tuple[str, ...] | bool = ""


class Cancel(_Payload, frozen=True, kw_only=True, tag_field="type", tag="run.cancel"):
    reason: str = ""


Inbound: TypeAlias = Start | Input | Cancel


# ---- from a run --------------------------------------------------------------------------------


class Option(_Payload, frozen=True, kw_only=True):
    label: str
    description: str = ""


class Started(_Payload, frozen=True, kw_only=True, tag_field="type", tag="run.started"):
    """The run exists. ``config`` is what was made of all that was asked for, without the
    ``agent_options``, which can hold secrets."""

    provider: str
    model: str = ""
    config: RunConfig = RunConfig()
    attach_key: str = ""  # told to who began the run, once: who attaches with it may allow


class Progress(_Payload, frozen=True, kw_only=True, tag_field="type", tag="run.progress"):
    """``text`` is a whole block; ``text_delta`` a piece of one, which is not told again."""

    kind: Literal["text", "text_delta", "tool_use", "tool_result", "status", "thinking"]
    content: str = ""
    tool: str = ""


class Question(_Payload, frozen=True, kw_only=True, tag_field="type", tag="run.question"):
    """Somebody has to answer with a ``run.input``. ``validation`` says what is taken."""

    question_id: str
    kind: Literal["confirm", "select", "text", "secret", "file_path"]
    text: str
    required: bool = msgspec.field(default_factory=lambda: True)  # always written
    options: tuple[Option, ...] = ()
    default: str = ""
    validation: str = ""
    timeout_s: float | None = None


class Artifact(_Payload, frozen=True, kw_only=True, tag_field="type", tag="run.artifact"):
    """A file the agent made (``file``) or changed (``diff``), or a plan it put forward."""

    name: str
    kind: Literal["file", "diff", "plan"]
    path: str = ""
    content: str = ""


class Usage(_Payload, frozen=True, kw_only=True):
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0


class Completed(_Payload, frozen=True, kw_only=True, tag_field="type", tag="run.completed"):
    """The end: it was done. ``artifacts``: the names of all there were."""

    summary: str = ""
    artifacts: tuple[str, ...] = ()
    usage: Usage = Usage()


Code: TypeAlias = Literal[
    "agent_error",
    "unsupported_version",
    "protocol_error",
    "internal_error",
    "timeout",
    "no_agent",
    "not_allowed",
]


class Failed(_Payload, frozen=True, kw_only=True, tag_field="type", tag="run.failed"):
    """The end: it was not done."""

    code: Code
    message: str


class Cancelled(_Payload, frozen=True, kw_only=True, tag_field="type", tag="run.cancelled"):
    """The end: somebody did not want it any more."""

    reason: str = ""


Terminal: TypeAlias = Completed | Failed | Cancelled
Outbound: TypeAlias = Started | Progress | Question | Artifact | Terminal


# ---- the envelope ------------------------------------------------------------------------------


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """Something a run says, and its place among all it says. ``at_ms`` since 1970."""

    id: str
    at_ms: int
    run: str
    payload: Outbound


class UnsupportedVersionError(RemoteProtocolError):
    """The peer speaks another version of the protocol."""


class UnknownTypeError(RemoteProtocolError):
    """The peer said something this version does not know: to be passed over."""


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """What came in, as far as anybody can read it."""

    v: str = ""
    type: str = ""
    run_id: Name | None = None
    payload: Raw = Raw(b"{}")


# how msgspec words what it refuses
_WRONG_FIELD = re.compile(
    r"Expected (?P<expected>`[^`]*`[^,]*?)(?:, got (?P<got>`[^`]*`))? - at `\$\.(?P<field>[^`]*)`"
)
_MISSING_FIELD = re.compile(r"Object missing required field `(?P<field>[^`]*)`(?: - at .*)?")
_KIND = {
    "`str`": "a string",
    "`int`": "a number",
    "`float`": "a number",
    "`bool`": "true or false",
    "`object`": "an object",
    "`array`": "an array",
    "`null`": "null",
    "`str | null`": "a string",
}

_envelopes = msgspec.json.Decoder(Envelope)
_KINDS: dict[str, Any] = {"run.start": Start, "run.input": Input, "run.cancel": Cancel}
_payloads = {name: msgspec.json.Decoder(kind) for name, kind in _KINDS.items()}


def decode(line: bytes) -> tuple[str, Inbound]:
    """The run that is meant ("": none is named), and what is said to it.

    Raises:
        UnsupportedVersionError: it is of another version.
        UnknownTypeError: it has a type of a later time.
        RemoteProtocolError: it makes no sense.
    """
    try:
        envelope = _envelopes.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RemoteProtocolError(_explained("", error)) from error
    if envelope.v != VERSION:
        raise UnsupportedVersionError(f"expected version {VERSION!r}, got {envelope.v[:40]!r}")
    if envelope.type not in _payloads:
        raise UnknownTypeError(f"unknown type {envelope.type[:80]!r}")
    try:
        # the tag stands in the envelope; where a struct is no part of a union, it may be left out
        said: Inbound = _payloads[envelope.type].decode(envelope.payload)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RemoteProtocolError(_explained(f"{envelope.type}: ", error)) from error
    return envelope.run_id or "", said


def _explained(where: str, error: Exception) -> str:
    """Say what is wrong with a frame, in terms of its fields."""
    text = str(error)[:MAX_PROBLEM]
    if found := _WRONG_FIELD.fullmatch(text):
        field, expected, got = found["field"], found["expected"], found["got"]
        kind = _KIND.get(expected, expected)
        if "of length >= 1" in expected:
            return f"{where}{field} must not be empty."
        if got and not where:
            example = f', for example "{VERSION}"' if field == "v" else ""
            return f'Field "{field}" must be {kind}{example}.'
        if got:
            return f"{where}{field} must be {kind}, not {_KIND.get(got, got)}."
        return f"{where}{field}: expected {expected.replace('`', '')}."
    if found := _MISSING_FIELD.fullmatch(text):
        return f"{where}{found['field']} is missing."
    return f"{where or 'bad frame: '}{text}"


def encode(frame: Frame) -> bytes:
    """One line, with its newline."""
    said = msgspec.to_builtins(frame.payload)
    kind = said.pop("type")
    envelope = {
        "v": VERSION,
        "id": frame.id,
        "ts": timestamp(frame.at_ms),
        "type": kind,
        "run_id": frame.run,
        "payload": said,
    }
    return msgspec.json.encode(envelope) + b"\n"


def timestamp(at_ms: int) -> str:
    """RFC 3339, UTC, to the millisecond."""
    at = datetime.datetime.fromtimestamp(at_ms / 1000, datetime.UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
