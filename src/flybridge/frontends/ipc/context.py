"""What fills the context, by category: as an agent answers it, or as ``/context`` prints it.

Newer agents answer in fields. Older ones say it nowhere but in the table they print, so that is
read where it was printed; what is no table gives nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from flybridge.frontends.ipc.wire.views import ContextCategory

MAX_CATEGORIES = 64
HEAD = "## Context Usage"  # what is printed begins with it
MAX_PRINTED = 16_000
_ROW = re.compile(r"^\| ([^|\n]{1,80}) \| ([\d.,]{1,20})([km]?) \| ([\d.]{1,10})% \|$", re.M | re.I)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_KINDS = {"Free space": "free", "Autocompact buffer": "buffer"}


class _Told(msgspec.Struct):
    name: str
    tokens: float
    kind: str = "used"


class _Counted(msgspec.Struct, rename="camel"):
    categories: tuple[_Told, ...] = ()
    total_tokens: int = 0
    max_tokens: int = 0


class Counted(msgspec.Struct, frozen=True):
    """What an agent counted: tokens in use, the window, and what they are made of."""

    used: int
    window: int
    categories: tuple[ContextCategory, ...] = ()


def told(answer: Mapping[str, object]) -> Counted | None:
    """What a newer agent answers; None: that is no answer to this."""
    try:
        counted = msgspec.convert(answer, _Counted, strict=False)
    except (msgspec.ValidationError, OverflowError):
        return None
    window = counted.max_tokens
    made_of = tuple(
        _category(one.name, one.tokens, one.kind, window)
        for one in counted.categories[:MAX_CATEGORIES]
    )
    return Counted(counted.total_tokens, window, made_of)


def printed(text: str, window: int) -> tuple[ContextCategory, ...]:
    """The categories in what ``/context`` printed."""
    head, _, rest = text.partition("| Category |")
    rows = _ROW.findall(rest.partition("\n\n")[0]) if head and rest else []
    found = []
    for name, digits, unit, _share in rows[:MAX_CATEGORIES]:
        try:
            tokens = float(digits.replace(",", "")) * _UNITS[unit.lower()]
        except ValueError:
            continue
        kind = "deferred" if name.endswith("(deferred)") else _KINDS.get(name.strip(), "used")
        found.append(_category(name.strip(), tokens, kind, window))
    return tuple(found)


def _category(name: str, tokens: float, kind: str, window: int) -> ContextCategory:
    share = round(100 * tokens / window, 2) if window > 0 else None
    return ContextCategory(name=name, tokens=round(tokens), kind=kind, percentage=share)
