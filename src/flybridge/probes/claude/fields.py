"""Which kinds of messages a CLI writes and what stands in them, against what was seen before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import UNSET, Raw

from flybridge.agents.claude.wire.decode import fields, text
from flybridge.model.events import Unrecognised
from flybridge.session.ports import Out

MAX_KINDS = 1000
MAX_NAME = 64


class Fields:
    """Collects over all lives of one CLI: names of fields only, never what they hold."""

    def __init__(self) -> None:
        self._seen: dict[str, set[str]] = {}
        self.unrecognised = Counter[str]()

    def note(self, line: bytes) -> str:
        """Remember what stands in a line; which kind of message it is."""
        known = fields(line)
        kind = kind_of(known)
        if kind in self._seen or len(self._seen) < MAX_KINDS:
            names = self._seen.setdefault(kind, set())
            inner = fields(known["request"]) if "request" in known else {}
            new = [name[:MAX_NAME] for name in (*known, *(f"request.{one}" for one in inner))]
            names.update(new[: MAX_KINDS - len(names)])
        return kind

    def keep(self, out: Sequence[Out]) -> None:
        """Count what the driver did not recognise."""
        for one in out:
            if isinstance(one, Unrecognised) and len(self.unrecognised) < MAX_KINDS:
                self.unrecognised[kind_of(fields(one.text.encode()))] += 1

    @property
    def seen(self) -> dict[str, list[str]]:
        return {kind: sorted(names) for kind, names in sorted(self._seen.items())}

    def unknown_messages(self) -> str:
        """In words: what our driver could only keep and show."""
        told = [f"{kind} ({count})" for kind, count in sorted(self.unrecognised.items())]
        return f"unrecognised: {', '.join(told)}" if told else "none"

    def new_fields(self, known: Mapping[str, str]) -> str:
        """In words: what was never seen in this version before."""
        new = [kind for kind in self._seen if kind not in known]
        for kind, names in self._seen.items():
            if kind in known:
                new += [f"{kind} {one}" for one in names - set(known[kind].split())]
        return f"new: {', '.join(sorted(new))}" if new else "none"


def kind_of(known: Mapping[str, Raw]) -> str:
    """A message's type, with its subtype where that makes it another one."""
    kind = text(known.get("type", UNSET))[:MAX_NAME] or "?"
    if kind == "control_request":
        subtype = text(fields(known.get("request", Raw(b"{}"))).get("subtype", UNSET))
    elif kind == "stream_event":
        subtype = text(fields(known.get("event", Raw(b"{}"))).get("type", UNSET))
    else:
        subtype = text(known.get("subtype", UNSET)) if kind == "system" else ""
    return f"{kind}/{subtype[:MAX_NAME]}" if subtype else kind
