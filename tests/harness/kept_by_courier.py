"""The conversations of the courier (:mod:`tests.harness.other_agent`): a line each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flybridge.agents.history import (
    ConversationText,
    FoundPlace,
    FoundPlaces,
    KeptConversation,
    Piece,
    Summary,
)

CONFIG_ENV = "COURIER_HOME"


class CourierHistory:
    """Implement ``History`` only: conversations can be listed and searched."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._file = Path(environ.get(CONFIG_ENV, "/nowhere")) / "parcels"

    def newest(self, *, limit: int, before_ms: int = 0, cwd: str = "") -> list[KeptConversation]:
        kept = [_kept(number, parcel) for number, parcel in enumerate(self._parcels(), 1)]
        fits = [one for one in kept if cwd in ("", one.cwd)]
        return [one for one in reversed(fits) if not before_ms or one.modified_ms < before_ms][
            :limit
        ]

    def search(self, words: str, *, limit: int, max_bytes: int) -> FoundPlaces:
        places = [
            FoundPlace(conversation=p["id"], uuid="", at="", who="user", excerpt=p["text"])
            for p in self._parcels()
            if words in p["text"]
        ]
        return FoundPlaces(places=places[:limit], files=1, stopped="")

    def _parcels(self) -> list[dict[str, Any]]:
        try:
            return [json.loads(line) for line in self._file.read_text().splitlines()]
        except FileNotFoundError:
            return []


class ReadableCourierHistory(CourierHistory):
    """Implement ``HistoryReader``, too."""

    def find(self, start: str) -> KeptConversation:
        return next(one for one in self.newest(limit=100) if one.conversation.startswith(start))

    def read(self, kept: KeptConversation) -> ConversationText:
        pieces = [Piece(kind="prompt", text=kept.prompt)]
        return ConversationText(about=Summary(title=kept.title), pieces=pieces, prompts=1)


def _kept(number: int, parcel: dict[str, Any]) -> KeptConversation:
    return KeptConversation(
        conversation=parcel["id"],
        title=f"parcel {number}",
        prompt=parcel["text"],
        cwd=parcel["cwd"],
        model="",
        branch="",
        started_ms=number,
        modified_ms=number,
        size=len(parcel["text"]),
    )
