"""What a live session knows, and the step that changes it.

A step gathers everything one read, one command or one tick causes: events folded into the
state as they are decided, lines for the agent, ledger rows, drafts. It becomes one
``Write``. If the commit fails, the whole memory is thrown away and loaded anew: there is no
way to take back half a fold, and none is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from flybridge.errors import LocalProtocolError
from flybridge.model import events as e
from flybridge.model.capabilities import Mode
from flybridge.model.commands import SendInput
from flybridge.model.content import Text
from flybridge.model.deliveries import Answer, Batch, Entry, Gauge, Preview
from flybridge.model.facts import AcceptsInput, Fact
from flybridge.model.ids import IncarnationId, InputKey, SessionId
from flybridge.session.absorb import absorb
from flybridge.session.alarms import Taken, nobody_has
from flybridge.session.drafts import Drafts
from flybridge.session.effects import Decision, Effect, Kill, Send, Stop
from flybridge.session.evolve import evolve
from flybridge.session.incarnations import transport_of
from flybridge.session.ledger import rows_of
from flybridge.session.ports import (
    Blobs,
    Driver,
    IncarnationRow,
    InputRow,
    Journal,
    Line,
    Loaded,
    OutLine,
    Place,
    SessionRow,
    Write,
)
from flybridge.session.secrets import Secrets
from flybridge.session.state import State, decode_state, encode_state
from flybridge.wire.native.entries import encode_entries
from flybridge.wire.native.messages import EventLine, decode_gateway

SNAPSHOT_EVERY = 256
READ_BYTES = 1 << 20
PIECE_BYTES = 128 << 10
DELETING = "flybridge.deleting"  # the label of a session that is to be deleted
_events = msgspec.json.Decoder(e.Event)
_encode = msgspec.json.Encoder().encode
_CLOSING = (e.TextDone, e.ThinkingDone, e.ToolStarted, e.ToolResult)  # an open text is over


class Memory(msgspec.Struct):
    """One session in memory. Everything here can be had again from the journal."""

    state: State
    epoch: int
    drafts: Drafts
    rows: dict[InputKey, InputRow]  # of open inputs
    created_ms: int = 0
    snapshot_seq: int = 0
    next_number: int = 1  # of the next line to the agent in this incarnation
    incarnation: IncarnationRow | None = None
    driver: Driver | None = None
    consumed: int = 0  # how far the agent's output has been taken in
    memo: bytes = b""  # of the driver, as last committed
    secrets: Secrets = msgspec.field(default_factory=Secrets)  # never in the journal
    agent_io: str = ""  # how the living agent is connected, as its keeper says

    @property
    def session(self) -> SessionId:
        return self.state.session

    def take_number(self) -> int:
        """The next number in this incarnation's one rising numbering."""
        number = self.next_number
        self.next_number += 1
        return number


def new_memory(session: SessionId, now_ms: int) -> Memory:
    return Memory(State(session=session), 1, Drafts(), {}, created_ms=now_ms)


def load_memory(journal: Journal, loaded: Loaded, secrets: Secrets | None = None) -> Memory:
    """Fold a session from its snapshot and the log after it."""
    row = loaded.row
    state = decode_state(loaded.snapshot[1]) if loaded.snapshot else State(session=row.session)
    for entry in replay(journal, row.session, state.seq):
        evolve(state, entry.event, entry.seq, entry.at_ms)
    rows = {key: found for key in state.inputs if (found := journal.find(row.session, key))}
    place = loaded.place
    here = loaded.incarnation
    current = place if place and here and place.incarnation == here.incarnation else None
    numbers = [one.number for one in loaded.outbox] + [one.number for one in rows.values()]
    return Memory(
        state,
        row.epoch,
        Drafts(loaded.drafts),
        rows,
        created_ms=row.created_ms,
        snapshot_seq=loaded.snapshot[0] if loaded.snapshot else 0,
        next_number=max(numbers, default=0) + 1,
        incarnation=here,
        consumed=current.out_offset if current else 0,
        memo=current.memo if current else b"",
        secrets=secrets or Secrets(),
    )


def replay(journal: Journal, session: SessionId, after: int) -> Iterable[Entry]:
    """Every entry after ``after``, decoded."""
    while batches := journal.read(session, after, READ_BYTES):
        for batch in batches:
            yield from entries_of(batch)
            after = batch.last_seq


def entries_of(batch: Batch) -> Iterable[Entry]:
    if batch.entries is not None:
        yield from batch.entries
        return
    for line in batch.wire.split(b"\n"):
        message = decode_gateway(line)
        if isinstance(message, EventLine):
            event = _events.decode(message.event)
            yield Entry(seq=message.seq, at_ms=message.at_ms, event=event)


class Step:
    """Everything one cause leads to. Use it once: feed it, ``write`` it, commit, publish."""

    def __init__(
        self,
        memory: Memory,
        now_ms: int,
        blobs: Blobs,
        new_incarnation: Callable[[IncarnationId], IncarnationRow],
        modes: Sequence[Mode] = (),
        taken: Taken = nobody_has,
    ) -> None:
        self._taken = taken
        self._modes = modes
        self.memory = memory
        self.now_ms = now_ms
        self.first_seq = memory.state.seq + 1
        self.entries: list[Entry] = []
        self.previews: dict[str, list[Preview]] = {}
        self.gauges: dict[str, Gauge] = {}
        self.answers: list[Answer] = []
        self.lines: list[OutLine] = []
        self.effects: list[Effect] = []
        self.outbox_done: list[int] = []
        self.incarnation_changed = False
        self.ready = False  # the driver said that its agent takes input
        self._batches: list[Batch] = []
        self._has_past = False
        self._claims: list[InputRow] = []
        self._inputs: dict[InputKey, InputRow] = {}
        self._blobs = blobs
        self._new_incarnation = new_incarnation

    @property
    def durable(self) -> bool:
        """Whether there is anything a restart must not forget."""
        return bool(self.entries or self.lines or self.outbox_done or self.incarnation_changed)

    def decided(self, decision: Decision) -> None:
        """Fold a decision, then let the driver put what is to be sent into words."""
        self._store(decision.blobs)
        for event in decision.events:
            self._fold(event)
        for effect in decision.effects:
            if not isinstance(effect, Send):
                self._effect(effect)
                continue
            if self.memory.driver is None:
                raise LocalProtocolError("an input was dispatched with no agent at hand")
            if isinstance(effect.command, SendInput) and effect.command.secret:
                for one in effect.command.content:
                    self.memory.secrets.add(one.text if isinstance(one, Text) else "")
            self.memory.driver.send(self.memory.session, effect.command, effect.key, self.now_ms)
            self.drain()

    def _effect(self, effect: Effect) -> None:
        """What is to be done after the commit; that an agent is to end is committed with it,
        so that a gateway that comes after this one does it if this one cannot."""
        self.effects.append(effect)
        row = self.memory.incarnation
        if isinstance(effect, Stop | Kill) and row is not None:
            row.asked_to_end = True
            self.incarnation_changed = True

    def begun(self, decision: Decision, past: Sequence[tuple[int, e.Event]]) -> None:
        """Begin a log: behind its first event comes what was before it, each at its own time,
        or at 0: now."""
        self._fold(decision.events[0])
        for at_ms, event in past:
            self._fold(event, at_ms)
        self._has_past = bool(past)
        self.decided(Decision(decision.events[1:], decision.effects))

    def fact(self, fact: Fact) -> None:
        memory = self.memory
        self.ready = self.ready or type(fact) is AcceptsInput
        text = memory.drafts.text
        self.decided(absorb(memory.state, fact, text, self._modes, self._taken))

    def drain(self) -> None:
        """Take in what the driver produced. Its own sends may produce more: bounded by them."""
        driver = self.memory.driver
        if driver is None:
            return
        output = driver.take()
        secrets = self.memory.secrets
        self._store(output.blobs)
        for line in output.lines:
            self._line(line)
        for _, what in output.out:
            if type(what) is Preview:
                if secrets:  # a secret may come in pieces: only whole texts can be cleaned
                    continue
                self.memory.drafts.apply(what)
                self.previews.setdefault(what.item, []).append(what)
            elif type(what) is Gauge:
                self.gauges[what.name] = what
            elif type(what) is Answer:
                self.answers.append(what)
            else:
                self.fact(what)  # type: ignore[arg-type]

    def _store(self, blobs: Mapping[str, bytes]) -> None:
        """Before the events that name them: a name may have to change with what is hidden."""
        secrets = self.memory.secrets
        for digest, data in blobs.items():
            clean, name = secrets.renamed(data, digest) if secrets else (data, digest)
            self._blobs.put(name, clean)

    def resend(self, line: Line) -> None:
        """Number a line of an earlier gateway anew: its keeper never got it."""
        self._line(line)

    def write(self) -> Write:
        """All of it, as one transaction."""
        memory = self.memory
        changed, gone = memory.drafts.unsaved()
        return Write(
            session=memory.session,
            batches=self.batches(),
            claims=self._claims,
            inputs=list(self._inputs.values()),
            outbox=[one for one in self.lines if not one.line.secret],
            outbox_done=tuple(self.outbox_done),
            place=self._place(),
            drafts=changed,
            drafts_gone=gone,
            incarnation=memory.incarnation if self.incarnation_changed else None,
            row=self._row() if self.entries else None,
            snapshot=self._snapshot(),
        )

    def batches(self) -> list[Batch]:
        """The events as they are stored and sent, encoded once: one batch of a step, or many
        small ones where a past is told."""
        if sum(one.count for one in self._batches) != len(self.entries):
            self._batches = list(self._pieces()) if self._has_past else [self._whole()]
        return self._batches

    def _whole(self) -> Batch:
        state = self.memory.state
        wire = encode_entries(
            state.session,
            self.memory.epoch,
            self.first_seq,
            self.now_ms,
            [_encode(one.event) for one in self.entries],
        )
        return self._batch(self.entries, wire)

    def _pieces(self) -> Iterable[Batch]:
        """What a client can take a piece at a time, each event with its own time."""
        session, epoch = self.memory.session, self.memory.epoch
        piece: list[Entry] = []
        lines: list[bytes] = []
        size = 0
        for one in self.entries:
            piece.append(one)
            lines.append(encode_entries(session, epoch, one.seq, one.at_ms, [_encode(one.event)]))
            size += len(lines[-1])
            if size >= PIECE_BYTES or one is self.entries[-1]:
                yield self._batch(piece, b"\n".join(lines))
                piece, lines, size = [], [], 0

    def _batch(self, entries: list[Entry], wire: bytes) -> Batch:
        return Batch(
            session=self.memory.session,
            epoch=self.memory.epoch,
            first_seq=entries[0].seq,
            count=len(entries),
            wire=wire,
            entries=tuple(entries),
        )

    def _fold(self, event: e.Event, at_ms: int = 0) -> None:
        memory = self.memory
        state = memory.state
        at_ms = at_ms or self.now_ms
        if memory.secrets:
            event = memory.secrets.clean(event)
        evolve(state, event, state.seq + 1, at_ms)
        self.entries.append(Entry(seq=state.seq, at_ms=at_ms, event=event))
        # a tool's output is streamed under the same name as its input was: it starts anew
        if isinstance(event, _CLOSING):
            memory.drafts.close(event.item)
            self.previews.pop(event.item, None)
        if isinstance(event, e.AgentStarted):
            self._new_life(event.incarnation)
        row, claim = rows_of(state, event, memory.rows)
        if row is None:
            return
        if claim:
            self._claims.append(row)
        else:
            self._changed(row)

    def _changed(self, row: InputRow) -> None:
        """A row the journal must update; one that this very step claims is written whole."""
        if not any(one is row for one in self._claims):
            self._inputs[row.key] = row

    def _new_life(self, incarnation: IncarnationId) -> None:
        """The row that says it was to be started is committed before anything is started."""
        memory = self.memory
        memory.incarnation = self._new_incarnation(incarnation)
        memory.incarnation.transport = transport_of(memory.state)
        memory.driver, memory.consumed, memory.memo, memory.next_number = None, 0, b"", 1
        self.incarnation_changed = True

    def _line(self, line: Line) -> None:
        memory = self.memory
        if memory.secrets and memory.secrets.holds(line.data):
            line = msgspec.structs.replace(line, secret=True)
        number = memory.take_number()
        self.lines.append(OutLine(number, line))
        if line.key is not None and (row := memory.rows.get(line.key)):
            row.number = number
            self._changed(row)

    def _place(self) -> Place | None:
        memory = self.memory
        if memory.incarnation is None or memory.driver is None:
            return None
        memo = memory.secrets.hide(memory.driver.memo(memory.session))
        return Place(memory.incarnation.incarnation, memory.consumed, memo)

    def _row(self) -> SessionRow:
        state = self.memory.state
        return SessionRow(
            session=state.session,
            agent=state.agent,
            kind=state.kind,
            cwd=state.cwd,
            title=state.title,
            created_ms=self.memory.created_ms,
            changed_ms=self.now_ms,
            archived=state.archived,
            closed=state.closed,
            epoch=self.memory.epoch,
            last_seq=state.seq,
            labels={**state.labels, DELETING: "1"} if state.deleting else state.labels,
            conversation=state.agent_session,
            conversations=tuple(state.conversations),
            alarm=state.alarm,
        )

    def _snapshot(self) -> tuple[int, bytes] | None:
        state = self.memory.state
        if state.seq - self.memory.snapshot_seq < SNAPSHOT_EVERY:
            return None
        return state.seq, encode_state(state)

    def committed(self) -> None:
        """The journal has it: what it holds now is what this memory holds."""
        memory = self.memory
        memory.drafts.saved()
        if memory.state.seq - memory.snapshot_seq >= SNAPSHOT_EVERY:
            memory.snapshot_seq = memory.state.seq
