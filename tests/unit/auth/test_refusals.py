from __future__ import annotations

from flybridge.auth.limiter import WINDOW_MS
from flybridge.auth.refusals import (
    IN_ALL,
    MAX_KINDS,
    MAX_SOURCES,
    PER_CALLER,
    PER_SOURCE,
    SUMMARY,
    RefusalLog,
)
from flybridge.errors import StorageFullError
from flybridge.model.audit import Record


class Clock:
    now_ms = 0

    def __call__(self) -> int:
        return self.now_ms


def refused(source: str = "a", *, event: str = "login", principal: str = "") -> Record:
    return Record(
        event=event, outcome="refused", code="password", source=source, principal=principal
    )


def test_a10_a_flood_of_refusals_is_limited_by_source_and_then_summarised() -> None:
    kept: list[Record] = []
    clock = Clock()
    log = RefusalLog(kept.append, clock)
    for _ in range(PER_SOURCE + 1440):
        log.write(refused())
    assert len(kept) == PER_SOURCE
    log.flush()
    assert len(kept) == PER_SOURCE  # not yet: there is one summary a minute
    clock.now_ms = WINDOW_MS
    log.flush()
    assert (kept[-1].event, kept[-1].outcome, kept[-1].source) == (SUMMARY, "refused", "a")
    assert kept[-1].detail == "and 1,440 more: login password 1,440"
    log.flush()
    assert len(kept) == PER_SOURCE + 1


def test_a10_sources_together_are_limited_too() -> None:
    kept: list[Record] = []
    clock = Clock()
    log = RefusalLog(kept.append, clock)
    for n in range(10_000):
        log.write(refused(f"source {n}"))
    assert len(kept) == IN_ALL
    clock.now_ms = WINDOW_MS
    log.write(refused("late"))  # the next record that fits comes after the summary
    assert [record.event for record in kept[IN_ALL:]] == [SUMMARY, "login"]
    assert kept[IN_ALL].detail.startswith(f"and {10_000 - IN_ALL:,} more")
    assert kept[IN_ALL].source == "many sources"


def test_a10_strangers_do_not_crowd_out_authenticated_callers() -> None:
    kept: list[Record] = []
    log = RefusalLog(kept.append, Clock())
    for n in range(1000):
        log.write(refused(str(n)))
    before = len(kept)
    log.write(refused(event="answer_permission", principal="agent:uid:1"))
    assert kept[before:] == [refused(event="answer_permission", principal="agent:uid:1")]


def test_a10_refusals_of_a_known_token_are_limited() -> None:
    kept: list[Record] = []
    log = RefusalLog(kept.append, Clock())
    for _ in range(PER_CALLER + 500):
        log.write(refused(event="route", principal="token:1"))
    assert len(kept) == PER_CALLER
    log.flush(closing=True)
    assert kept[-1].detail == "and 500 more: route password 500"


def test_a10_memory_is_bounded_and_every_refusal_is_counted() -> None:
    kept: list[Record] = []
    log = RefusalLog(kept.append, Clock())
    for n in range(10_000):
        log.write(refused(f"{n}" * 50, event=f"event {n}" * 50))
    assert len(log._unknown._kinds) <= MAX_KINDS + 1
    assert len(log._unknown._sources) <= MAX_SOURCES + 1
    log.flush(closing=True)
    assert kept[-1].detail.startswith(f"and {10_000 - IN_ALL:,} more: other ")


def test_what_was_done_and_acknowledgements_of_control_messages_are_always_recorded() -> None:
    kept: list[Record] = []
    log = RefusalLog(kept.append, Clock())
    for _ in range(1000):
        log.write(Record(event="open", outcome="done", principal="uid:1"))
        log.write(Record(event="control.stdin.ack", outcome="refused", principal="uid:1"))
    assert len(kept) == 2000


def test_a_full_disk_does_not_undo_what_was_done() -> None:
    def full(_: Record) -> None:
        raise StorageFullError("no space left")

    RefusalLog(full, Clock()).write(Record(event="open", outcome="done"))
