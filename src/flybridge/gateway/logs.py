"""How the gateway writes down what it does: one record a line, for people or for programs."""

from __future__ import annotations

import logging
import time
from typing import TextIO

import msgspec

_encode = msgspec.json.Encoder().encode


class JsonLines(logging.Formatter):
    """Each record a JSON object on a line of its own, whatever is in it."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, object] = {
            "at": _utc(record.created),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return _encode(told).decode()


class PlainLines(logging.Formatter):
    """For people: time, level, words. A newline in a message cannot look like a record."""

    def format(self, record: logging.LogRecord) -> str:
        words = record.getMessage().replace("\r", "\\r").replace("\n", "\n    ")
        told = f"{_utc(record.created)} {record.levelname.lower():7} {words}"
        if record.exc_info:
            told += "\n    " + self.formatException(record.exc_info).replace("\n", "\n    ")
        return told


def set_up(level: str, stream: TextIO, *, as_json: bool) -> None:
    """Send everything that is logged to a stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if as_json else PlainLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.getLogger("uvicorn").setLevel(logging.WARNING)


def _utc(at_s: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_s))
    return f"{whole}.{int(at_s % 1 * 1000):03}Z"
