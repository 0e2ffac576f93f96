"""A journal so plain that it is right by reading, and random lives to compare others with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from hypothesis import strategies as st

from flybridge.errors import FlybridgeError, StorageError
from flybridge.model.ids import InputKey, ItemId, SessionId
from flybridge.session.ports import Draft, Journal, Line, OutLine, Write
from flybridge.testing.steps import (
    ONE,
    PLENTY,
    TWO,
    batch_of,
    input_row,
    lines_of,
    read_all,
    session_row,
)


class Step(NamedTuple):
    """One attempt to write; many are wrong in one way or another."""

    session: SessionId
    opens: bool
    skip: int  # where the batches start, counted from the right place
    counts: tuple[int, ...]
    claim: str
    update: str
    out: int
    done: int
    draft: str
    gone: str


class Delete(NamedTuple):
    session: SessionId


class Restart(NamedTuple):
    clean: bool


Act: TypeAlias = Step | Delete | Restart

_keys = st.sampled_from(["", "", "me:1", "me:2", "me:3"])
_items = st.sampled_from(["", "", "itm_1", "itm_2"])
_sessions = st.sampled_from([ONE, ONE, TWO])
_steps = st.builds(
    Step,
    session=_sessions,
    opens=st.booleans(),
    skip=st.sampled_from([0, 0, 0, 0, -1, 1]),
    counts=st.lists(st.integers(1, 4), max_size=3).map(tuple),
    claim=_keys,
    update=_keys,
    out=st.integers(0, 3),
    done=st.integers(0, 3),
    draft=_items,
    gone=_items,
)
lives = st.lists(
    st.one_of(_steps, _steps, _steps, st.builds(Delete, _sessions), st.builds(Restart)),
    max_size=14,
)


class Session:
    """One session as the model sees it."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.stages: dict[str, str] = {}
        self.outbox: dict[int, bytes] = {}
        self.drafts: dict[str, int] = {}


class Model:
    """What a journal should hold after a number of acts."""

    def __init__(self) -> None:
        self.sessions: dict[SessionId, Session] = {}
        self._at = 0

    def write(self, step: Step) -> tuple[Write, bool]:
        """Return the step as a journal takes it, and whether it should."""
        self._at += 1
        known = self.sessions.get(step.session)
        held = known or Session()
        first = len(held.lines) + 1 + step.skip
        write = Write(session=step.session, row=session_row(step.session) if step.opens else None)
        for count in step.counts:
            write.batches.append(batch_of(first, count, session=step.session))
            first += count
        stage = f"stage {self._at}"
        if step.claim:
            write.claims.append(input_row(step.claim, stage=stage, session=step.session))
        if step.update:
            write.inputs.append(input_row(step.update, stage=stage, session=step.session))
        if step.out:
            write.outbox.append(OutLine(step.out, Line(data=stage.encode())))
        write.outbox_done = (step.done,) if step.done else ()
        if step.draft:
            write.drafts[ItemId(step.draft)] = Draft(self._at, "text")
        write.drafts_gone = (ItemId(step.gone),) if step.gone else ()
        return write, self._takes(step, known)

    def _takes(self, step: Step, known: Session | None) -> bool:
        held = known or Session()
        if known is None and not step.opens:
            return False
        if step.counts and step.skip:
            return False
        if step.claim in held.stages:
            return False
        if step.update and step.update not in {*held.stages, step.claim}:
            return False
        if step.out and step.out in held.outbox and step.out != step.done:
            return False
        if step.counts:
            whole = batch_of(len(held.lines) + 1, sum(step.counts), session=step.session)
            held.lines += lines_of(whole)
        for key in (step.claim, step.update):
            if key:
                held.stages[key] = f"stage {self._at}"
        held.outbox.pop(step.done, None)
        if step.out:
            held.outbox[step.out] = f"stage {self._at}".encode()
        if step.draft:
            held.drafts[step.draft] = self._at
        held.drafts.pop(step.gone, None)
        self.sessions[step.session] = held
        return True

    def check(self, journal: Journal) -> None:
        """Compare all that can be asked for, the log from every place in it."""
        assert {row.session for row in journal.sessions()} == set(self.sessions)
        for name in (ONE, TWO):
            held = self.sessions.get(name)
            loaded = journal.load(name)
            if held is None:
                assert loaded is None
                held = Session()
            else:
                assert loaded is not None
                assert loaded.row.last_seq == len(held.lines)
                assert {out.number: out.line.data for out in loaded.outbox} == held.outbox
                assert {item: one.count for item, one in loaded.drafts.items()} == held.drafts
            for after in range(len(held.lines) + 2):
                for max_bytes in (1, 100, PLENTY):
                    assert read_all(journal, name, after, max_bytes) == held.lines[after:]
            for key in ("me:1", "me:2", "me:3"):
                row = journal.find(name, InputKey(key))
                assert (row.stage if row else None) == held.stages.get(key)


def live(acts: list[Act], journal: Journal, restart: Callable[[Journal, bool], Journal]) -> None:
    """Let a journal and the model live the same life, and compare them all along."""
    model = Model()
    for act in acts:
        match act:
            case Step():
                write, takes = model.write(act)
                assert _took(journal, write) == takes
            case Delete():
                journal.delete(act.session)
                model.sessions.pop(act.session, None)
            case Restart():
                journal = restart(journal, act.clean)
        model.check(journal)
    journal.close()


def _took(journal: Journal, write: Write) -> bool:
    try:
        journal.commit(write)
    except StorageError:
        raise
    except FlybridgeError:
        return False
    return True
