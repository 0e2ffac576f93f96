"""Questions that stand in an agent's text: ``<!--QUESTION:{"questions":[…]}-->``."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from flybridge.frontends.runs.wire.messages import Option, Seconds

MAX_QUESTIONS = 32
OPENS, CLOSES = "<!--QUESTION:", "-->"


class Asked(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One question, as an agent may write it."""

    question: Annotated[str, Meta(min_length=1)]
    header: str = ""
    options: tuple[Option, ...] = ()
    kind: Literal["confirm", "select", "text", "secret", "file_path"] | None = None
    free_text: bool = False
    multi_select: bool = False
    default: str = ""
    required: bool = True
    timeout_s: Seconds | None = None


class _Marker(msgspec.Struct, frozen=True):
    questions: Annotated[tuple[Asked, ...], Meta(max_length=MAX_QUESTIONS)]


_markers = msgspec.json.Decoder(_Marker)


def split(text: str) -> tuple[str, list[Asked]]:
    """The text without its questions, and the questions. What is no marker stays as it is."""
    found: list[Asked] = []
    kept: list[str] = []
    at = 0
    while (begin := text.find(OPENS, at)) >= 0 and (end := text.find(CLOSES, begin)) >= 0:
        asked = _questions(text[begin + len(OPENS) : end])
        end += len(CLOSES)
        kept.append(text[at : begin if asked else end])
        found += asked[: MAX_QUESTIONS - len(found)]
        at = end
    kept.append(text[at:])
    return ("".join(kept).strip("\n"), found) if found else (text, [])


def _questions(said: str) -> tuple[Asked, ...]:
    try:
        return _markers.decode(said).questions
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return ()
