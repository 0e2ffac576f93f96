"""A speaker whose words are read back at once."""

from __future__ import annotations

import json
from typing import IO

from flybridge.agents.demo.options import Options
from flybridge.agents.demo.stream import Session, Speaker
from tests.harness.agent_host import Json


class Said:
    """``messages`` are all that ``speaker`` wrote so far."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        session = Session(id="s1", cwd="/somewhere", model="m", mode="default")
        self.speaker = Speaker(session, Options(session_id="s1"), fd=self._file.fileno())

    @property
    def messages(self) -> list[Json]:
        self._file.seek(0)
        return [json.loads(line) for line in self._file]

    @property
    def subtypes(self) -> list[str]:
        return [str(message.get("subtype", message["type"])) for message in self.messages]
